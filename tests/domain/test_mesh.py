"""What a mesh measures, how it is connected, and its changed copies."""

from dataclasses import replace

import numpy as np
import pytest

from supra.domain import Mesh, MeshError, MeshWarning, shapes, simplex

EVERY_SHAPE = [shape(3) for shape in shapes.SHAPES.values()]
FLAT_SHAPES = [mesh for mesh in EVERY_SHAPE if not mesh.is_embedded]
SQUARE = [[0, 0], [1, 0], [1, 1], [0, 1]]
TWO_TRIANGLES = [[0, 1, 2], [0, 2, 3]]


def by_name(meshes):
    return pytest.mark.parametrize("mesh", meshes, ids=[mesh.name for mesh in meshes])


def cut_annulus(across=4, around=24):
    """A structured grid wrapped round a hole, its first and last column in the same place."""
    radius, angle = np.linspace(1, 2, across + 1), np.linspace(0, 2 * np.pi, around + 1)
    r, t = np.meshgrid(radius, angle, indexing="ij")
    return Mesh.from_structured(np.stack([r * np.cos(t), r * np.sin(t)], axis=-1))


def with_groups(mesh):
    """The lower half of the cells, and the part of the boundary left of the middle."""
    centre = mesh.points.mean(axis=0)
    low = np.flatnonzero(mesh.points[mesh.cells].mean(axis=1)[:, -1] < centre[-1])
    facets = mesh.boundary_facets
    left = facets[mesh.points[facets].mean(axis=1)[:, 0] < centre[0]]
    return replace(mesh, regions={"low": low}, boundaries={"left": left})


def measure_of(mesh, group):
    if group in mesh.regions:
        return mesh.cell_measures[mesh.regions[group]].sum()
    facets = mesh.boundaries[group]
    if facets.shape[1] == 1:
        return float(len(facets))
    return simplex.measures(mesh.points, facets).sum()


# ---- what it measures -------------------------------------------------------------------------


@by_name(EVERY_SHAPE)
def test_node_measures_sum_to_the_measure_and_weights_to_one(mesh):
    assert mesh.node_measures.sum() == pytest.approx(mesh.measure, rel=1e-12)
    assert mesh.weights.sum() == pytest.approx(1, rel=1e-12)


def test_lists_of_quadrilaterals_and_hexahedra_are_taken():
    assert Mesh(SQUARE, [[0, 1, 2, 3]]).measure == pytest.approx(1)
    corners = np.array([[*xy, z] for z in (0, 1) for xy in SQUARE])
    cube = Mesh(corners, [range(8)], regions={"all": [0]})
    assert cube.measure == pytest.approx(1)
    assert len(cube.regions["all"]) == len(cube.cells) == 6


def test_a_structured_array_of_any_dimension_fills_its_box():
    for shape in [(5,), (4, 6), (3, 4, 5)]:
        axes = [np.linspace(0, 2, n) for n in shape]
        points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
        mesh = Mesh.from_structured(points).check()
        assert mesh.measure == pytest.approx(2.0 ** len(shape))
        np.testing.assert_array_equal(mesh.points, points.reshape(-1, len(shape)))


def test_arrays_of_a_mesh_cannot_be_written_to():
    points = np.array(SQUARE, dtype=float)
    mesh = Mesh(points, TWO_TRIANGLES)
    points[0] = 99
    assert mesh.measure == pytest.approx(1)
    with pytest.raises(ValueError, match="read-only"):
        mesh.points[0] = 99


@by_name(FLAT_SHAPES)
def test_boundary_normals_obey_the_divergence_theorem(mesh):
    """∮ n = 0, and ∮ x·n is the dimension times the measure."""
    facets, normals = mesh.boundary_facets, mesh.boundary_normals
    size = simplex.measures(mesh.points, facets) if mesh.dimension > 1 else np.ones(len(facets))
    np.testing.assert_allclose(size @ normals, 0, atol=1e-12)
    outflow = size @ (normals * mesh.points[facets].mean(axis=1)).sum(axis=1)
    assert outflow == pytest.approx(mesh.dimension * mesh.measure, rel=1e-12)


def test_normals_at_the_rim_of_a_surface_are_tangential_and_point_out():
    sphere = shapes.sphere(6)
    upper = np.flatnonzero((sphere.points[sphere.cells][..., 2] > -1e-9).all(axis=1))
    cap = Mesh(sphere.points, sphere.cells[upper]).without_unused_points()
    rim = cap.points[cap.boundary_facets]
    along = np.diff(rim, axis=1)[:, 0]
    np.testing.assert_allclose(np.linalg.norm(cap.boundary_normals, axis=1), 1)
    np.testing.assert_allclose((along * cap.boundary_normals).sum(axis=1), 0, atol=1e-12)
    assert (cap.boundary_normals[:, 2] < 0).all()


# ---- topology -----------------------------------------------------------------------------------


def test_components_are_counted():
    one = shapes.disk(2)
    away = Mesh(
        np.vstack([one.points, one.points + 5]),
        np.vstack([one.cells, one.cells + len(one.points)]),
    )
    assert one.component_count == 1
    assert away.component_count == 2
    assert len(set(away.components[: len(one.points)])) == 1


def test_a_closed_surface_has_no_boundary():
    assert shapes.torus(2).boundary_nodes.size == 0


def test_a_strip_welded_with_a_twist_is_a_moebius_band():
    around = 30
    angle, across = np.meshgrid(
        np.linspace(0, 2 * np.pi, around + 1), [-0.3, 0, 0.3], indexing="ij"
    )
    ring = 1 + across * np.cos(angle / 2)
    band = np.stack([ring * np.cos(angle), ring * np.sin(angle), across * np.sin(angle / 2)], -1)
    mesh = Mesh.from_structured(band).welded()
    assert mesh.euler_characteristic == 0
    rim = Mesh(mesh.points, mesh.boundary_facets).without_unused_points()
    assert rim.component_count == 1  # an annulus has two


# ---- changed copies -----------------------------------------------------------------------------


def test_welding_closes_a_cut_annulus_and_maps_its_nodes():
    cut = cut_annulus()
    closed = cut.welded().check()
    assert (cut.euler_characteristic, closed.euler_characteristic) == (1, 0)
    assert closed.measure == pytest.approx(cut.measure)
    np.testing.assert_allclose(closed.points[closed.node_map], cut.points, atol=1e-12)


def test_welding_closes_a_c_grid_along_part_of_one_side():
    """Round a slit plate: the first and last nodes of the inner line coincide in the wake."""
    wake, arc = np.linspace(3, 1, 9), np.linspace(0, 2 * np.pi, 33)[1:-1]
    inner = np.vstack(
        [
            np.column_stack([wake, 0 * wake]),
            np.column_stack([np.cos(arc), np.sin(arc)]),
            np.column_stack([wake[::-1], 0 * wake]),
        ]
    )
    outer = np.vstack(
        [
            np.column_stack([wake, 2 + 0 * wake]),
            2 * np.column_stack([np.cos(arc), np.sin(arc)]),
            np.column_stack([wake[::-1], -2 + 0 * wake]),
        ]
    )
    outer[len(wake) : -len(wake), 0] -= 1
    layers = np.linspace(0, 1, 5)[:, None, None]
    cut = Mesh.from_structured((1 - layers) * inner + layers * outer)
    closed = cut.welded()
    assert len(cut.points) - len(closed.points) == len(wake)
    assert (cut.euler_characteristic, closed.euler_characteristic) == (1, 0)
    np.testing.assert_allclose(closed.points[closed.node_map], cut.points, atol=1e-12)


def test_welding_what_is_whole_changes_nothing():
    mesh = shapes.ball(2)
    np.testing.assert_array_equal(mesh.welded().cells, mesh.cells)
    np.testing.assert_array_equal(mesh.welded().points, mesh.points)


def test_welding_keeps_groups():
    cut = with_groups(cut_annulus())
    closed = cut.welded()
    for group in ("low", "left"):
        assert measure_of(closed, group) == pytest.approx(measure_of(cut, group))


def test_a_negative_welding_distance_is_refused():
    with pytest.raises(MeshError, match=r"tolerance.*-1"):
        shapes.square(2).welded(-1.0)


def test_node_maps_of_copies_of_copies_lead_from_the_first():
    cut = cut_annulus()
    spare = Mesh(np.vstack([[[9.0, 9.0]], cut.points]), cut.cells + 1)
    clean = spare.without_unused_points().welded()
    assert clean.node_map[0] == -1
    np.testing.assert_allclose(clean.points[clean.node_map[1:]], cut.points, atol=1e-12)


@by_name(EVERY_SHAPE)
def test_refining_keeps_measure_topology_and_groups(mesh):
    coarse = with_groups(mesh)
    fine = coarse.refined().check()
    assert len(fine.cells) == 2**mesh.dimension * len(mesh.cells)
    assert fine.measure == pytest.approx(mesh.measure, rel=1e-12)
    assert fine.euler_characteristic == mesh.euler_characteristic
    assert measure_of(fine, "low") == pytest.approx(measure_of(coarse, "low"))
    assert measure_of(fine, "left") == pytest.approx(measure_of(coarse, "left"))
    own = {tuple(facet) for facet in fine.boundary_facets}
    assert {tuple(sorted(facet)) for facet in fine.boundaries["left"]} <= own


@by_name(EVERY_SHAPE)
def test_refining_halves_the_longest_edge_of_every_cell_or_nearly(mesh):
    def longest(m):
        return np.linalg.norm(np.diff(m.points[m.edges], axis=1), axis=2).max()

    halved = longest(mesh.refined()) / longest(mesh)
    assert 0.49 < halved < 0.75  # the new edge inside a tetrahedron may be longer than half


def test_the_mean_of_meshes_is_the_mesh_of_mean_positions():
    mesh = shapes.square(3)
    moved = [mesh.with_points(mesh.points * s) for s in (1.0, 2.0, 6.0)]
    np.testing.assert_allclose(Mesh.mean(moved).points, 3 * mesh.points)
    with pytest.raises(MeshError, match="same cells"):
        Mesh.mean([mesh, shapes.square(4)])
    with pytest.raises(MeshError, match="at least one"):
        Mesh.mean([])


def test_other_positions_must_be_as_many_and_may_be_in_another_space():
    mesh = shapes.square(4)
    roof = mesh.with_points(np.column_stack([mesh.points, mesh.points[:, 0]]))
    assert roof.measure == pytest.approx(np.sqrt(2))
    with pytest.raises(MeshError, match="25"):
        mesh.with_points(mesh.points[:-1])


# ---- health -----------------------------------------------------------------------------------


def test_what_is_unused_degenerate_or_repeated_is_named_and_can_be_removed():
    points = [*SQUARE, [9, 9], [0.5, 0.5]]
    cells = [*TWO_TRIANGLES, [0, 5, 2], [2, 1, 0]]
    mesh = Mesh(points, cells, regions={"all": [0, 1, 2, 3], "second": [1]}, name="patient")
    with pytest.raises(MeshError, match=r"'patient' has 1 point.*first: 4.*without_unused_points"):
        mesh.check()
    mesh = mesh.without_unused_points()
    with pytest.raises(MeshError, match=r"zero measure.*cell 2.*without_degenerate_cells"):
        mesh.check()
    mesh = mesh.without_degenerate_cells().without_unused_points()
    with pytest.raises(MeshError, match=r"repeat.*cell 2.*without_duplicate_cells"):
        mesh.check()
    mesh = mesh.without_duplicate_cells().check()
    assert mesh.measure == pytest.approx(1)
    assert mesh.regions["all"].tolist() == [0, 1]
    assert mesh.regions["second"].tolist() == [1]


def test_a_mesh_of_only_bad_cells_says_so_instead_of_becoming_empty():
    line = Mesh([[0, 0], [1, 0], [2, 0]], [[0, 1, 2]])
    with pytest.raises(MeshError, match="no cells left"):
        line.without_degenerate_cells()


def test_a_fold_is_found_and_named():
    mesh = Mesh([[0, 0], [1, 0], [1, 1], [0.9, 0.5]], TWO_TRIANGLES)
    assert np.sort(mesh.folded_cells).tolist() == [[0, 1]]
    with pytest.raises(MeshError, match=r"cells (0 and 1|1 and 0)"):
        mesh.check()


def test_the_orientation_of_cells_does_not_matter():
    mesh = shapes.disk(3)
    turned = mesh.cells.copy()
    turned[::2] = turned[::2, ::-1]
    assert Mesh(mesh.points, turned).check().measure == pytest.approx(mesh.measure)


def test_three_sheets_at_one_edge_warn_in_space_and_fail_in_the_plane():
    cells = [[0, 1, 2], [0, 1, 3], [0, 1, 4]]
    space = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1]]
    with pytest.warns(MeshWarning, match="not a manifold"):
        Mesh(space, cells).check()
    plane = [[0, 0], [1, 0], [0, 1], [0, -1], [1, 1]]
    with pytest.raises(MeshError):
        Mesh(plane, cells).check()


@pytest.mark.parametrize(
    ("points", "cells", "said"),
    [
        (SQUARE, [], "no cells"),
        (SQUARE, [[0, 1, 4]], r"\[0, 1, 4\].*0 to 3"),
        (SQUARE, [[0, 1, -1]], r"\[0, 1, -1\]"),
        (SQUARE, [[0.0, 1.0, 2.0]], "whole numbers"),
        (SQUARE, [[0, 1, 2], [0, 1]], "different numbers of corners"),
        (SQUARE, [0, 1, 2], "shape"),
        (SQUARE, [[0, 1, 2, 3, 0]], "5 corners in 2"),
        ([[0, 0], [1, np.nan], [1, 1]], [[0, 1, 2]], r"not finite.*point 1"),
        ([0, 1, 2], [[0, 1]], "shape"),
        ([["a", "b"]], [[0, 1]], "not numbers"),
    ],
)
def test_arrays_that_are_no_mesh_are_refused_with_what_came(points, cells, said):
    with pytest.raises(MeshError, match=said):
        Mesh(points, cells)


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        ({"regions": {"a": [0, 2]}}, r"'a'.*number 2.*there are 2"),
        ({"regions": {"a": [True, False]}}, "whole numbers"),
        ({"boundaries": {"b": [[0, 9]]}}, r"'b'.*number 9.*there are 4"),
        ({"boundaries": {"b": [[0, 1, 2]]}}, r"'b'.*\(facets, 2\)"),
        ({"boundaries": {"b": [[0, 1], [2]]}}, "ragged"),
    ],
)
def test_groups_of_what_is_not_there_are_refused(groups, said):
    with pytest.raises(MeshError, match=said):
        Mesh(SQUARE, TWO_TRIANGLES, **groups)


def test_quads_in_space_are_a_surface_not_tetrahedra():
    """A bent strip of two unit squares has area 2, a boundary, and the topology of a disk."""
    points = np.array(
        [[0, 0, 0], [1, 0, 0], [1, 0, 1], [0, 1, 0], [1, 1, 0], [1, 1, 1]], dtype=float
    )
    strip = Mesh.from_quads(points, np.array([[0, 1, 4, 3], [1, 2, 5, 4]]))
    assert strip.dimension == 2
    assert strip.measure == pytest.approx(2)
    assert (strip.euler_characteristic, len(strip.boundary_facets)) == (1, 6)
