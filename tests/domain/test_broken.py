"""Random broken meshes and files: a `MeshError`, or a mesh one can compute with."""

import tempfile
import warnings
from math import factorial
from pathlib import Path

import meshio
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from supra.domain import Mesh, MeshError, MeshWarning, shapes
from supra.domain.files import WRITABLE, read_fields, write_mesh

CALM = {
    "derandomize": True,
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
}
WHOLE = [
    shapes.interval(4),
    shapes.square(2),
    shapes.annulus(1),
    shapes.cube(1),
    shapes.ball(1),
    shapes.sphere(1),
    shapes.torus(1),
]
pytestmark = pytest.mark.usefixtures("unchecked")


# ---- arrays --------------------------------------------------------------------------------------


def nothing(points, cells, random):
    return points, cells


def not_finite(points, cells, random):
    points[random.integers(len(points)), 0] = random.choice([np.nan, np.inf, -np.inf])
    return points, cells


def huge_or_tiny(points, cells, random):
    return points * random.choice([1e-200, 1e-12, 1e12, 1e200]), cells


def out_of_range(points, cells, random):
    cells[random.integers(len(cells)), 0] = random.choice([-1, len(points), 2**40])
    return points, cells


def unused_point(points, cells, random):
    return np.vstack([points, points[:1] + 9]), cells


def repeated_cell(points, cells, random):
    return points, np.vstack([cells, random.permutation(cells[random.integers(len(cells))])])


def repeated_corner(points, cells, random):
    cells[random.integers(len(cells)), :2] = cells[0, 0]
    return points, cells


def coincident_points(points, cells, random):
    points[cells[0, 0]] = points[cells[0, 1]]
    return points, cells


def flattened(points, cells, random):
    points[:, -1] = 0
    return points, cells


def inverted(points, cells, random):
    points[random.integers(len(points))] += 3 * random.standard_normal(points.shape[1])
    return points, cells


def random_cells(points, cells, random):
    return points, random.integers(len(points), size=cells.shape)


def ragged(points, cells, random):
    return points, [*cells.tolist(), [0]]


def ragged_points(points, cells, random):
    return [*points.tolist(), [0.0] * 7], cells


def empty(points, cells, random):
    return points, cells[:0]


def no_points(points, cells, random):
    return points[:0], cells


def of_real_numbers(points, cells, random):
    return points, cells.astype(float)


def of_words(points, cells, random):
    return points.astype(str), cells.astype(str) if random.integers(2) else cells


def of_objects(points, cells, random):
    return points, np.array([None, *cells.tolist()], dtype=object)


def of_complex_numbers(points, cells, random):
    return points + 1j, cells


def of_another_dimension(points, cells, random):
    return points[:, :-1], cells


def in_four_dimensions(points, cells, random):
    return np.hstack([points, np.ones((len(points), 4 - points.shape[1]))]), cells


def with_an_axis_too_many(points, cells, random):
    return (points[None], cells) if random.integers(2) else (points, cells[..., None])


def with_an_axis_too_few(points, cells, random):
    return (points.ravel(), cells) if random.integers(2) else (points, cells.ravel())


def with_a_corner_too_many(points, cells, random):
    return points, np.hstack([cells, cells[:, :1]])


def nothing_at_all(points, cells, random):
    return None, None


DAMAGES = [
    nothing,
    not_finite,
    huge_or_tiny,
    out_of_range,
    unused_point,
    repeated_cell,
    repeated_corner,
    coincident_points,
    flattened,
    inverted,
    random_cells,
    ragged,
    ragged_points,
    empty,
    no_points,
    of_real_numbers,
    of_words,
    of_objects,
    of_complex_numbers,
    of_another_dimension,
    in_four_dimensions,
    with_an_axis_too_many,
    with_an_axis_too_few,
    with_a_corner_too_many,
    nothing_at_all,
]


def volume_by_gram(points, corners):
    """√det(E Eᵀ) / d!, one cell at a time."""
    edges = points[corners[1:]] - points[corners[0]]
    return np.sqrt(max(np.linalg.det(edges @ edges.T), 0)) / factorial(len(edges))


def assert_usable(mesh):
    assert np.isfinite(mesh.points).all()
    assert mesh.cells.min() >= 0
    assert mesh.cells.max() < len(mesh.points)
    for facets in mesh.boundaries.values():
        assert facets.size == 0 or 0 <= facets.min() <= facets.max() < len(mesh.points)
    for cells in mesh.regions.values():
        assert cells.size == 0 or 0 <= cells.min() <= cells.max() < len(mesh.cells)


@settings(max_examples=500, **CALM)
@given(
    whole=st.sampled_from(WHOLE),
    damage=st.sampled_from(DAMAGES),
    seed=st.integers(0, 2**32 - 1),
)
def test_broken_arrays_give_a_named_error_or_a_mesh_with_the_right_measure(whole, damage, seed):
    random = np.random.default_rng(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MeshWarning)
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            mesh = Mesh(*damage(whole.points.copy(), whole.cells.copy(), random)).check()
        except MeshError:
            assert damage is not nothing
            return
        assert_usable(mesh)
        scale = np.ptp(mesh.points, axis=0).max() or 1.0
        right = sum(volume_by_gram(mesh.points / scale, corners) for corners in mesh.cells)
        assert mesh.with_points(mesh.points / scale).measure == pytest.approx(right, rel=1e-9)


@pytest.mark.parametrize("whole", WHOLE, ids=lambda mesh: mesh.name)
@pytest.mark.parametrize(
    "damage", [d for d in DAMAGES if d not in (nothing, huge_or_tiny, inverted, flattened)]
)
def test_what_is_certainly_broken_is_always_refused(whole, damage):
    """A surface may cross itself or be pressed flat; that is a warning or nothing."""
    random = np.random.default_rng(0)
    points, cells = damage(whole.points.copy(), whole.cells.copy(), random)
    with warnings.catch_warnings():
        warnings.simplefilter("error", MeshWarning)
        with pytest.raises((MeshError, MeshWarning)):
            Mesh(points, cells).check()


# ---- files ---------------------------------------------------------------------------------------


def whole_files():
    """Contents of sound files by extension, of several kinds."""
    files = []
    plane, solid = shapes.annulus(1), shapes.ball(1)
    with tempfile.TemporaryDirectory() as folder:
        for extension in WRITABLE:
            path = Path(folder) / f"mesh{extension}"
            write_mesh(path, plane)
            files.append((extension, path.read_bytes()))
        for extension in (".msh", ".vtk", ".vtu", ".xdmf"):
            path = Path(folder) / f"mesh{extension}"
            write_mesh(path, solid, {"height": solid.points[:, 2]})
            files.append((extension, path.read_bytes()))
        lifted = np.column_stack([plane.points, 0 * plane.points[:, 0]])
        content = meshio.Mesh(lifted, [("triangle", plane.cells)])
        for extension, style in [
            (".msh", {"file_format": "gmsh", "binary": False}),
            (".msh", {"file_format": "gmsh", "binary": True}),
            (".vtk", {"file_format": "vtk42", "binary": False}),
            (".vtu", {"binary": False}),
            (".ply", {"binary": False}),
            (".stl", {"binary": False}),
        ]:
            path = Path(folder) / f"mesh{extension}"
            content.write(path, **style)
            files.append((extension, path.read_bytes()))
    return files


FILES = whole_files()


def cut_short(content, random):
    return content[: random.integers(len(content))]


def cut_out(content, random):
    start, end = np.sort(random.integers(len(content) + 1, size=2))
    return content[:start] + content[end:]


def with_other_bytes(content, random):
    content = bytearray(content)
    for place in random.integers(len(content), size=random.integers(1, 6)):
        content[place] = random.integers(256)
    return bytes(content)


def with_other_digits(content, random):
    content = bytearray(content)
    digits = [place for place, byte in enumerate(content) if chr(byte).isdigit()]
    for place in random.choice(digits, size=random.integers(1, 4)) if digits else []:
        content[place] = ord("0") + random.integers(10)
    return bytes(content)


def repeated(content, random):
    return content + content


def garbage(content, random):
    return random.bytes(random.integers(1, 2000))


def garbage_after_its_head(content, random):
    head = content[: random.integers(1, 200)]
    return head + random.bytes(random.integers(1, 500))


def emptied(content, random):
    return b""


FILE_DAMAGES = [
    cut_short,
    cut_short,
    cut_out,
    with_other_bytes,
    with_other_digits,
    with_other_digits,
    repeated,
    garbage,
    garbage_after_its_head,
    emptied,
]


def read_anything(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MeshWarning)
        try:
            mesh, fields = read_fields(path)
        except MeshError as error:
            said = str(error)
        else:
            said = mesh.name
            assert_usable(mesh)
            assert all(len(values) == len(mesh.points) for values in fields.values())
    assert path.name in said


@settings(max_examples=500, **CALM)
@given(
    file=st.sampled_from(FILES),
    damage=st.sampled_from(FILE_DAMAGES),
    seed=st.integers(0, 2**32 - 1),
)
def test_a_broken_file_gives_an_error_that_names_it_or_a_usable_mesh(tmp_path, file, damage, seed):
    extension, content = file
    path = tmp_path / f"broken{extension}"
    path.write_bytes(damage(content, np.random.default_rng(seed)))
    read_anything(path)


@settings(max_examples=100, **CALM)
@given(file=st.sampled_from(FILES), extension=st.sampled_from([*WRITABLE, ".mesh", ".inp", ".txt"]))
def test_a_file_under_another_extension_gives_an_error_that_names_it(tmp_path, file, extension):
    path = tmp_path / f"renamed{extension}"
    path.write_bytes(file[1])
    read_anything(path)


@pytest.mark.parametrize("number", range(len(FILES)))
def test_the_files_to_be_broken_are_whole(tmp_path, number):
    extension, content = FILES[number]
    (tmp_path / f"whole{extension}").write_bytes(content)
    mesh = read_fields(tmp_path / f"whole{extension}")[0].check()
    right = shapes.ball(1) if mesh.dimension == 3 else shapes.annulus(1)
    assert mesh.measure == pytest.approx(right.measure, rel=1e-6)
