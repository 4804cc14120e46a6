"""Mesh files: what goes out comes back, and what others write is understood."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import meshio
import numpy as np
import pytest

from supra.domain import Mesh, MeshError, MeshWarning, shapes, simplex
from supra.domain.files import CHANNELS, SURFACE_ONLY, WRITABLE, read_fields, read_mesh, write_mesh
from supra.domain.memory import STATUS

EVERY_SHAPE = [shape(3) for shape in shapes.SHAPES.values()]
KEEPS_GROUPS = [extension for extension in WRITABLE if extension not in SURFACE_ONLY]
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=float)
CUBE = np.vstack([CORNERS, CORNERS + np.array([0, 0, 1])])

GMSH_2 = """$MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
3
1 7 "wall"
2 1 "fluid"
2 2 "solid body"
$EndPhysicalNames
$Nodes
6
10 0 0 0
20 1 0 0
30 2 0 0
40 0 1 0
50 1 1 0
60 2 1 0
$EndNodes
$Elements
6
1 15 2 0 1 10
2 1 2 7 1 10 20
3 1 2 7 1 20 30
4 1 2 0 2 30 60
5 3 2 1 1 10 20 50 40
6 3 2 2 2 20 30 60 50
$EndElements
"""

GMSH_4 = """$MeshFormat
4.1 0 8
$EndMeshFormat
$PhysicalNames
2
1 7 "wall"
2 1 "fluid"
$EndPhysicalNames
$Entities
0 1 1 0
1 0 0 0 1 0 0 1 7 0
1 0 0 0 1 1 0 1 1 1 1
$EndEntities
$Nodes
1 4 1 4
2 1 0 4
1
2
3
4
0 0 0
1 0 0
1 1 0
0 1 0
$EndNodes
$Elements
2 3 1 3
1 1 1 1
1 1 2
2 1 2 2
2 1 2 3
3 1 3 4
$EndElements
"""


def grouped(mesh):
    """Two groups of cells that do not meet, and a part of the boundary."""
    height = mesh.points[mesh.cells].mean(axis=1)[:, -1]
    low = height < np.median(height)
    facets = mesh.boundary_facets
    boundaries = {"a wall": facets[: len(facets) // 2]} if len(facets) else {}
    regions = {"low": np.flatnonzero(low), "high": np.flatnonzero(~low)}
    return replace(mesh, regions=regions, boundaries=boundaries)


def sorted_rows(facets):
    return sorted(map(sorted, facets.tolist()))


# ---- there and back ------------------------------------------------------------------------------


@pytest.mark.parametrize("extension", [e for e in WRITABLE if e != ".stl"])
@pytest.mark.parametrize("mesh", EVERY_SHAPE, ids=lambda mesh: mesh.name)
def test_a_mesh_comes_back_as_it_was_written(tmp_path, extension, mesh):
    path = tmp_path / f"mesh{extension}"
    if extension in SURFACE_ONLY and mesh.dimension != 2:
        with pytest.raises(MeshError, match="triangles only"):
            write_mesh(path, mesh)
        return
    write_mesh(path, mesh)
    back = read_mesh(path)
    np.testing.assert_array_equal(back.points, mesh.points)
    np.testing.assert_array_equal(back.cells, mesh.cells)
    assert back.name == path.name
    assert back.node_map is None
    assert [p.name for p in tmp_path.iterdir()] == [path.name]  # one file, nothing left over


def test_an_stl_file_keeps_the_surface_in_single_precision(tmp_path):
    mesh = shapes.torus(4)
    write_mesh(tmp_path / "torus.stl", mesh)
    back = Mesh.from_file(tmp_path / "torus.stl").check()
    assert back.measure == pytest.approx(mesh.measure, rel=1e-6)
    assert back.euler_characteristic == 0


@pytest.mark.parametrize("extension", KEEPS_GROUPS)
@pytest.mark.parametrize("mesh", EVERY_SHAPE, ids=lambda mesh: mesh.name)
def test_regions_and_boundaries_come_back_by_name(tmp_path, extension, mesh):
    mesh = grouped(mesh)
    if (extension, mesh.dimension) == (".xdmf", 1):
        with pytest.raises(MeshError, match=r"boundaries of segments.*\.vtu"):
            write_mesh(tmp_path / "mesh.xdmf", mesh)
        return
    write_mesh(tmp_path / f"mesh{extension}", mesh)
    back = read_mesh(tmp_path / f"mesh{extension}")
    assert set(back.regions) == set(mesh.regions)
    assert set(back.boundaries) == set(mesh.boundaries)
    for name, cells in mesh.regions.items():
        np.testing.assert_array_equal(back.regions[name], cells)
    for name, facets in mesh.boundaries.items():
        assert sorted_rows(back.boundaries[name]) == sorted_rows(facets)


@pytest.mark.parametrize("extension", KEEPS_GROUPS)
def test_groups_that_overlap_come_back_or_are_refused(tmp_path, extension):
    mesh = shapes.square(2)
    mesh = replace(mesh, regions={"all": np.arange(8), "first": np.array([0])})
    if extension == ".msh":
        with pytest.raises(MeshError, match=r"without common cells.*'first'.*\.vtu"):
            write_mesh(tmp_path / "mesh.msh", mesh)
        assert not list(tmp_path.iterdir())
        return
    write_mesh(tmp_path / f"mesh{extension}", mesh)
    back = read_mesh(tmp_path / f"mesh{extension}")
    assert {name: cells.tolist() for name, cells in back.regions.items()} == {
        "all": list(range(8)),
        "first": [0],
    }


@pytest.mark.parametrize("extension", [e for e in WRITABLE if CHANNELS.get(e) != ()])
@pytest.mark.parametrize("channels", [None, 1, 2, 3, 4, 9])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, bool])
def test_fields_come_back_or_are_refused(tmp_path, extension, channels, dtype):
    mesh = shapes.disk(2)
    shape = (len(mesh.points),) if channels is None else (len(mesh.points), channels)
    values = (10 * np.random.default_rng(0).standard_normal(shape)).astype(dtype)
    path = tmp_path / f"mesh{extension}"
    allowed = CHANNELS.get(extension)
    if allowed is not None and (channels or 1) not in allowed:
        with pytest.raises(MeshError, match=rf"'speed' has {channels}.*\.vtu"):
            write_mesh(path, mesh, {"speed": values})
        return
    write_mesh(path, mesh, {"speed": values})
    fields = read_fields(path)[1]
    assert list(fields) == ["speed"]
    expected = values[:, 0] if channels == 1 else values
    np.testing.assert_array_equal(fields["speed"], expected)
    assert fields["speed"].dtype.isnative


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("u", np.zeros(5), r"'u' has \(5,\)"),
        ("u", np.array(1.0), r"'u' has \(\)"),
        ("u", np.zeros((7, 2, 2)), r"\(7, 2, 2\)"),
        ('"u"', np.zeros(7), "quote"),
        ("", np.zeros(7), "Rename"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_fields_that_no_file_can_hold_are_refused(tmp_path, name, values, said):
    with pytest.raises(MeshError, match=said):
        write_mesh(tmp_path / "mesh.vtu", shapes.disk(1), {name: values})
    assert not list(tmp_path.iterdir())


# ---- written by others ---------------------------------------------------------------------------


def test_physical_groups_of_gmsh_become_regions_and_boundaries(tmp_path):
    (tmp_path / "two.msh").write_text(GMSH_2)
    mesh = read_mesh(tmp_path / "two.msh").check()
    assert mesh.points.shape == (6, 2)
    assert {n: mesh.cell_measures[c].sum() for n, c in mesh.regions.items()} == {
        "fluid": 1.0,
        "solid body": 1.0,
    }
    assert sorted_rows(mesh.boundaries["wall"]) == [[0, 1], [1, 2]]
    assert sorted_rows(mesh.boundaries["boundary"]) == [[2, 5]]  # of no group


def test_groups_of_a_gmsh_4_file_are_read(tmp_path):
    (tmp_path / "four.msh").write_text(GMSH_4)
    mesh = read_mesh(tmp_path / "four.msh").check()
    assert mesh.measure == pytest.approx(1)
    assert mesh.regions["fluid"].tolist() == [0, 1]
    assert sorted_rows(mesh.boundaries["wall"]) == [[0, 1]]
    assert set(mesh.boundaries) == {"wall"}


def test_cell_sets_become_regions(tmp_path):
    content = meshio.Mesh(CUBE, [("hexahedron", [range(8)])], cell_sets={"block": [np.array([0])]})
    content.write(tmp_path / "cube.inp")
    mesh = read_mesh(tmp_path / "cube.inp")
    assert mesh.cell_measures[mesh.regions["block"]].sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("kind", "corners", "nodes", "measure"),
    [
        ("line3", 2, 3, 1),
        ("triangle6", 3, 6, 1 / 2),
        ("quad8", 4, 8, 1),
        ("quad9", 4, 9, 1),
        ("tetra10", 4, 10, 1 / 6),
        ("hexahedron20", 8, 20, 1),
        ("hexahedron27", 8, 27, 1),
        ("wedge18", 6, 18, 1 / 2),
        ("pyramid14", 5, 14, 1 / 3),
    ],
)
def test_curved_cells_are_reduced_to_their_corners_and_fields_follow(
    tmp_path, kind, corners, nodes, measure
):
    solids = {"tetra10": [0, 1, 3, 4], "wedge18": [0, 1, 3, 4, 5, 7], "pyramid14": range(5)}
    positions = CUBE[list(solids.get(kind, range(corners)))]
    flat = kind.startswith(("line", "triangle", "quad"))
    spread = np.random.default_rng(0).uniform(size=(nodes - corners, 3)) * [1, 1, not flat]
    order = np.random.default_rng(1).permutation(nodes)  # corners are not the first points
    points = np.empty((nodes, 3))
    points[order] = np.vstack([positions, spread])
    content = meshio.Mesh(points, [(kind, order[None])], point_data={"number": np.arange(nodes)})
    extension, style = (".msh", "gmsh") if kind == "pyramid14" else (".vtu", "vtu")
    path = tmp_path / f"curved{extension}"
    content.write(path, file_format=style)
    mesh, fields = read_fields(path)
    assert mesh.check().measure == pytest.approx(measure)
    kept = np.sort(order[:corners])
    np.testing.assert_array_equal(fields["number"], kept)
    np.testing.assert_array_equal(mesh.points, points[kept, : mesh.points.shape[1]])


def test_mixed_solids_fit_together_and_their_quadrilateral_sides_are_sides_of_tetrahedra(tmp_path):
    roof = [[0.5, 0, 1.5], [0.5, 1, 1.5]]
    random = np.random.default_rng(3)
    for _ in range(10):
        number = random.permutation(10)
        points = np.empty((10, 3))
        points[number] = np.vstack([CUBE, roof])
        cells = [
            ("hexahedron", number[None, :8]),
            ("wedge", number[None, [4, 5, 8, 7, 6, 9]]),
            ("quad", number[None, [0, 1, 5, 4]]),
            ("quad", number[None, [5, 6, 9, 8]]),
            ("triangle", number[None, [4, 5, 8]]),
        ]
        meshio.Mesh(points, cells).write(tmp_path / "house.vtu")
        mesh = read_mesh(tmp_path / "house.vtu").check()  # a side that fits not would be a warning
        assert mesh.measure == pytest.approx(1.25)
        surface = simplex.measures(mesh.points, mesh.boundary_facets).sum()
        assert surface == pytest.approx(5 + 2 * 0.25 + 2 * np.sqrt(0.5))
        named = simplex.measures(mesh.points, mesh.boundaries["boundary"]).sum()
        assert named == pytest.approx(1 + 0.25 + np.sqrt(0.5))


def test_polygons_are_cut_into_fans(tmp_path):
    angle = 2 * np.pi * np.arange(5) / 5
    points = np.column_stack([np.cos(angle), np.sin(angle), 0 * angle])
    meshio.Mesh(points, [("polygon", [range(5)])]).write(tmp_path / "pentagon.vtu")
    area = 5 / 2 * np.sin(2 * np.pi / 5)
    assert read_mesh(tmp_path / "pentagon.vtu").measure == pytest.approx(area)


@pytest.mark.parametrize(
    ("tilt", "space"), [([0, 0, 0], 2), ([0, 0, 5], 2), ([0.1, 0, 0], 3), ([0, 1e-3, 0], 3)]
)
def test_a_mesh_of_constant_height_is_flat_and_any_other_is_a_surface(tmp_path, tilt, space):
    mesh = shapes.square(3)
    height = mesh.points @ tilt[:2] + tilt[2]
    lifted = mesh.with_points(np.column_stack([mesh.points, height]))
    write_mesh(tmp_path / "sheet.vtu", lifted)
    assert read_mesh(tmp_path / "sheet.vtu").points.shape[1] == space


def test_points_of_no_cell_are_kept_so_that_their_owner_hears_of_them(tmp_path):
    points = np.vstack([CORNERS, [[5, 5, 0]]])
    cells = [("triangle", [[0, 1, 2], [0, 2, 3]]), ("vertex", [[4]])]
    meshio.Mesh(points, cells).write(tmp_path / "spare.vtu")
    mesh = read_mesh(tmp_path / "spare.vtu")
    assert len(mesh.points) == 5
    with pytest.raises(MeshError, match=r"'spare.vtu' has 1 point.*first: 4"):
        mesh.check()


def test_segments_that_are_no_sides_are_left_out_with_a_warning(tmp_path):
    cells = [("triangle", [[0, 1, 2], [0, 2, 3]]), ("line", [[0, 1], [1, 3]])]
    meshio.Mesh(CORNERS, cells).write(tmp_path / "strut.vtu")
    with pytest.warns(MeshWarning, match="1 facet"):
        mesh = read_mesh(tmp_path / "strut.vtu")
    assert mesh.boundaries["boundary"].tolist() == [[0, 1]]


def test_obj_files_of_modelling_tools_are_read(tmp_path):
    (tmp_path / "model.obj").write_text(
        "# a comment\nmtllib paint.mtl\no thing\n"
        "v 0 0 0 1.0 0.5 0.5\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0.5 0.5 1\n"
        "vt 0 0\nvt 1 0\nvn 0 0 1\nusemtl red\ns off\n"
        "f 1/1/1 2/2/1 3/1/1 4/2/1\n"
        "f 1//1 2//1 5//1\nf 2/1 3/2 5/1\nf -3 -2 -1\nf 4 1 5\n"
    )
    mesh = read_mesh(tmp_path / "model.obj").check()
    assert (len(mesh.points), len(mesh.cells), mesh.euler_characteristic) == (5, 6, 2)
    assert mesh.measure == pytest.approx(1 + 4 * (0.5 * np.sqrt(1.25)))


# ---- what goes wrong -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("no/such.vtu", None, "does not exist"),
        ("mesh.step", b"x", r"'\.step'.*\.msh.*\.vtu"),
        ("mesh", b"x", r"''.*\.msh"),
        ("mesh.off", b"OFF\n", r"'\.off'.*\.msh"),
        ("mesh.vtu", b"", "0 bytes"),
        ("mesh.ply", b"ply\nformat ascii 1.0\n", "header has no end"),
        ("mesh.obj", b"v 0 0 0\n", "no cells"),
        ("mesh.obj", b"f 1 2 3\n", "cell 0"),
        ("mesh.obj", b"v 0 0 x\nf 1 1 1\n", "cannot be read"),
        ("mesh.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n", r"\[0, 1, 8\]"),
        *[(f"mesh{e}", bytes(range(256)), "mesh") for e in WRITABLE],
    ],
)
def test_what_is_no_mesh_file_is_named_with_a_way_out(tmp_path, capfd, name, content, said):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(MeshError, match=said) as raised:
        read_mesh(tmp_path / name)
    assert name.split("/")[-1] in str(raised.value)
    assert capfd.readouterr() == ("", "")


@pytest.mark.skipif(not STATUS.exists(), reason="the system keeps no limit on memory")
def test_a_small_file_that_asks_for_much_memory_is_refused(tmp_path):
    """A node numbered 9 billion, for which the reader would make a table of 72 gigabytes."""
    (tmp_path / "greedy.msh").write_text(GMSH_4.replace("\n4\n0 0 0", "\n9000000000\n0 0 0"))
    with pytest.raises(MeshError, match=r"greedy\.msh.*Unable to allocate"):
        read_mesh(tmp_path / "greedy.msh")


def test_a_folder_is_no_mesh_file(tmp_path):
    with pytest.raises(MeshError, match="is a folder"):
        read_mesh(tmp_path)


def test_a_file_of_points_only_is_refused(tmp_path):
    meshio.Mesh(CORNERS, [("vertex", [[0], [1]])]).write(tmp_path / "cloud.vtu")
    with pytest.raises(MeshError, match=r"'cloud.vtu' has no cells.*4 point"):
        read_mesh(tmp_path / "cloud.vtu")


@pytest.mark.parametrize(("name", "said"), [("a.step", r"\.step.*\.vtu"), ("no/a.vtu", "folder")])
def test_files_that_cannot_be_written_are_refused(tmp_path, name, said):
    with pytest.raises(MeshError, match=said):
        write_mesh(tmp_path / name, shapes.disk(1))


@pytest.mark.parametrize("failure", [OSError("disk full"), SystemExit(1)])
def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, failure):
    path = tmp_path / "mesh.vtu"
    write_mesh(path, shapes.disk(1))
    before = path.read_bytes()

    def half_a_file(filename, *_, **__):
        filename.write_text("<VTKFile")
        raise failure

    monkeypatch.setattr(meshio, "write", half_a_file)
    with pytest.raises(MeshError, match=r"mesh\.vtu.*cannot be written"):
        write_mesh(path, shapes.disk(2))
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["mesh.vtu"]


def test_files_can_be_read_in_threads(tmp_path, capsys):
    """What reading redirects and limits for the whole process is put back."""
    write_mesh(tmp_path / "disk.vtu", shapes.disk(6))
    with ThreadPoolExecutor(4) as pool:
        meshes = list(pool.map(read_mesh, [tmp_path / "disk.vtu"] * 12))
    assert {len(mesh.points) for mesh in meshes} == {len(shapes.disk(6).points)}
    print("still heard")
    assert "still heard" in capsys.readouterr().out
