"""Ready-made meshes: their sizes, their topology, and the quality of their cells."""

from math import pi

import numpy as np
import pytest

from supra.domain import Mesh, MeshError
from supra.domain.plate import random_plate
from supra.domain.shapes import (
    SHAPES,
    annulus,
    ball,
    c_grid_points,
    disk,
    perforated_plate,
    sphere,
    torus,
)

# By name: measure, Euler characteristic, whether cells and shape coincide exactly.
FACTS = {
    "interval": (1, 1, True),
    "square": (1, 1, True),
    "l-shape": (3 / 4, 1, True),
    "disk": (pi, 1, False),
    "annulus": (pi * (1 - 0.5**2), 0, False),
    "perforated-plate": (None, 1 - 3, False),
    "cube": (1, 1, True),
    "ball": (4 / 3 * pi, 1, False),
    "sphere": (4 * pi, 2, False),
    "torus": (4 * pi**2 * 0.4, 0, False),
}
every_shape = pytest.mark.parametrize("name", SHAPES)
CURVED = [name for name, (_, _, exact) in FACTS.items() if not exact]


def longest_edge(mesh):
    return np.linalg.norm(np.diff(mesh.points[mesh.edges], axis=1), axis=2).max()


def plate_area(holes, seed):
    return 1 - pi * (random_plate(holes, np.random.default_rng(seed)).radii ** 2).sum()


def smallest_angle(mesh):
    """Between edges of triangles, between faces of tetrahedra; degrees."""
    if mesh.dimension == 2:
        a = mesh.points[mesh.cells]
        along = np.roll(a, -1, axis=1) - a
        back = np.roll(a, 1, axis=1) - a
    else:  # the angle between two faces is that between minus their inner normals
        pairs = [(i, j) for i in range(4) for j in range(i)]
        along = mesh.gradients[:, [i for i, _ in pairs]]
        back = -mesh.gradients[:, [j for _, j in pairs]]
    cosine = (along * back).sum(-1) / np.linalg.norm(along, axis=-1) / np.linalg.norm(back, axis=-1)
    return np.degrees(np.arccos(np.clip(cosine, -1, 1))).min()


@every_shape
@pytest.mark.parametrize("resolution", [1, 2, 3, 7])
def test_every_resolution_is_a_sound_mesh_of_the_right_topology(name, resolution):
    mesh = SHAPES[name](resolution).check()
    assert mesh.euler_characteristic == FACTS[name][1]
    assert mesh.component_count == 1
    assert mesh.is_manifold
    assert mesh.name == name


@pytest.mark.parametrize("name", [name for name, (_, _, exact) in FACTS.items() if exact])
def test_straight_shapes_have_their_exact_measure(name):
    assert SHAPES[name](6).measure == pytest.approx(FACTS[name][0], rel=1e-12)


@pytest.mark.parametrize("name", CURVED)
def test_the_measure_of_curved_shapes_converges_at_second_order(name):
    exact = FACTS[name][0] or plate_area(holes=3, seed=0)
    start = 32 if name == "perforated-plate" else 6
    errors = [abs(SHAPES[name](start * factor).measure - exact) for factor in (1, 2)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.2)


@every_shape
def test_doubling_the_resolution_halves_the_edges(name):
    start = 32 if name == "perforated-plate" else 6
    ratio = longest_edge(SHAPES[name](start)) / longest_edge(SHAPES[name](2 * start))
    assert ratio == pytest.approx(2, rel=0.1)


@every_shape
def test_edges_are_about_one_over_the_resolution_long(name):
    assert 0.9 < longest_edge(SHAPES[name](10)) * 10 < 2.0


@pytest.mark.parametrize("name", [name for name in SHAPES if name != "interval"])
@pytest.mark.parametrize("resolution", [4, 8, 16])
def test_no_cell_is_thin(name, resolution):
    assert smallest_angle(SHAPES[name](resolution)) > 20


@pytest.mark.parametrize("shape", [disk, ball])
def test_boundary_nodes_of_round_shapes_are_on_the_unit_circle_or_sphere(shape):
    mesh = shape(5)
    radius = np.linalg.norm(mesh.points, axis=1)
    np.testing.assert_allclose(radius[mesh.boundary_nodes], 1, rtol=1e-14)
    assert np.delete(radius, mesh.boundary_nodes).max() < 0.9


def test_nodes_of_the_sphere_and_the_torus_satisfy_their_equations():
    np.testing.assert_allclose(np.linalg.norm(sphere(5).points, axis=1), 1, rtol=1e-14)
    x, y, z = torus(5, major=2.0, minor=0.5).points.T
    np.testing.assert_allclose((np.hypot(x, y) - 2) ** 2 + z**2, 0.25, rtol=1e-12)


def test_the_sphere_has_ten_times_the_squared_frequency_plus_two_nodes():
    for frequency in (1, 2, 3, 5):
        assert len(sphere(frequency).points) == 10 * frequency**2 + 2


def test_the_sphere_is_balanced():
    """Its symmetry gives the mean of x, xy, … exactly, and that of x² as 1/3."""
    mesh = sphere(4)
    moments = mesh.points.T @ (mesh.weights[:, None] * mesh.points)
    np.testing.assert_allclose(moments, np.eye(3) / 3, atol=1e-12)
    np.testing.assert_allclose(mesh.weights @ mesh.points, 0, atol=1e-12)


@pytest.mark.parametrize("inner", [0.02, 0.5, 0.9])
def test_an_annulus_of_any_width_has_two_circles_and_good_cells(inner):
    mesh = annulus(12, inner=inner).check()
    for name, radius in (("inner", inner), ("outer", 1)):
        on_it = mesh.points[mesh.boundaries[name]]
        np.testing.assert_allclose(np.linalg.norm(on_it, axis=2), radius, rtol=1e-12)
    assert sum(map(len, mesh.boundaries.values())) == len(mesh.boundary_facets)
    assert smallest_angle(mesh) > 20


@pytest.mark.parametrize(("holes", "seed"), [(0, 0), (1, 1), (5, 2), (12, 3)])
@pytest.mark.parametrize("resolution", [8, 24])
def test_every_hole_of_a_plate_is_resolved_by_nodes_on_its_circle(holes, seed, resolution):
    mesh = perforated_plate(resolution, holes=holes, seed=seed).check()
    assert mesh.euler_characteristic == 1 - holes
    plate = random_plate(holes, np.random.default_rng(seed))
    outer = mesh.points[mesh.boundaries["outer"]].reshape(-1, 2)
    np.testing.assert_array_equal(np.minimum(outer, 1 - outer).min(axis=1), 0)
    facets = mesh.boundaries.get("holes", np.empty((0, 2), dtype=int))
    assert len(facets) + len(mesh.boundaries["outer"]) == len(mesh.boundary_facets)
    ends = mesh.points[facets][:, :, None]  # (facets, ends, 1, 2)
    off = abs(np.linalg.norm(ends - plate.centres, axis=3) - plate.radii).max(axis=1)
    per_hole = (off < 1e-12).sum(axis=0)
    assert per_hole.sum() == len(facets)
    assert (per_hole >= 16).all()
    assert smallest_angle(mesh) > 20


@pytest.mark.parametrize("seed", range(5))
def test_holes_keep_apart_from_each_other_and_from_the_edges(seed):
    plate = random_plate(8, np.random.default_rng(seed))
    assert len(plate.radii) == 8
    between = np.linalg.norm(plate.centres[:, None] - plate.centres, axis=2)
    gaps = between - plate.radii[:, None] - plate.radii
    np.fill_diagonal(gaps, 1)
    assert gaps.min() > 0.02
    assert (np.minimum(plate.centres, 1 - plate.centres).min(axis=1) > plate.radii + 0.02).all()


def test_a_plate_depends_on_its_seed_and_on_nothing_else():
    one, again, other = (perforated_plate(12, seed=seed) for seed in (4, 4, 5))
    np.testing.assert_array_equal(one.points, again.points)
    np.testing.assert_array_equal(one.cells, again.cells)
    assert one.measure != other.measure


def test_the_holes_of_a_plate_do_not_depend_on_the_resolution():
    coarse, fine = (perforated_plate(resolution, holes=4, seed=1) for resolution in (12, 48))
    assert coarse.measure == pytest.approx(plate_area(4, 1), rel=0.01)
    assert fine.measure == pytest.approx(plate_area(4, 1), rel=0.001)


@pytest.mark.parametrize("holes", [-1, 2.5, 10_000])
@pytest.mark.usefixtures("unchecked")
def test_impossible_numbers_of_holes_are_refused(holes):
    with pytest.raises(MeshError, match=f"holes.*{holes}"):
        perforated_plate(8, holes=holes)


@every_shape
@pytest.mark.parametrize("resolution", [0, -3, 2.5, "4"])
@pytest.mark.usefixtures("unchecked")
def test_impossible_resolutions_are_refused(name, resolution):
    with pytest.raises(MeshError, match=f"resolution.*{resolution}"):
        SHAPES[name](resolution)


@pytest.mark.parametrize("inner", [0.0, 1.0, -0.5, float("nan")])
def test_impossible_rings_are_refused(inner):
    with pytest.raises(MeshError, match="inner"):
        annulus(4, inner=inner)
    with pytest.raises(MeshError, match="minor"):
        torus(4, major=1.0, minor=inner)


def test_a_c_grid_is_glued_along_its_wake_into_a_ring():
    cut = Mesh.from_structured(c_grid_points(61, 11))
    glued = cut.welded()
    in_wake = int((np.abs(np.linspace(-1.6, 1.6, 61)) > 1).sum())
    assert len(cut.points) - len(glued.points) == in_wake // 2
    assert (cut.euler_characteristic, glued.euler_characteristic) == (1, 0)
    assert glued.measure == pytest.approx(cut.measure)
    glued.check()
