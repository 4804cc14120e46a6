"""Functions on meshes, grids and points, looked at anywhere."""

import warnings

import numpy as np
import pytest

from supra.domain import (
    Domain,
    DomainError,
    Grid,
    Mesh,
    OutsideWarning,
    PointSet,
    SphereGrid,
    shapes,
)
from supra.domain.probe import Probe

from .test_interpolate import MESHES, inside

RNG = np.random.default_rng(0)
SLOPES = np.array([[1.0, -2.0], [0.5, 3.0], [2.0, 0.25]])  # two linear functions of x, y, z


def linear(points: np.ndarray) -> np.ndarray:
    return 1 + points @ SLOPES[: points.shape[1]]


def bent(shape: tuple[int, int]) -> Grid:
    """A grid mapped to a quarter of a ring."""
    radius, angle = np.meshgrid(*(np.linspace(0, 1, n) for n in shape), indexing="ij")
    ring = (1 + radius) * np.exp(0.5j * np.pi * angle)
    return Grid(shape, points=np.stack([ring.real, ring.imag], axis=-1))


DOMAINS: dict[str, tuple[Domain, np.ndarray]] = {
    **{name: (mesh, inside(mesh, 200)) for name, mesh in MESHES.items()},
    "line": (Grid(7), RNG.random((50, 1))),
    "grid": (Grid((5, 8)), RNG.random((200, 2))),
    "chebyshev": (Grid((5, 8), nodes="chebyshev"), RNG.random((200, 2))),
    "box": (Grid((4, 3, 5)), RNG.random((200, 3))),
    "mapped": (bent((6, 9)), inside(bent((6, 9)).to_mesh(), 200)),
    "cloud": (PointSet(RNG.random((300, 2))), 0.1 + 0.8 * RNG.random((50, 2))),
    "cloud in 3-D": (PointSet(RNG.random((500, 3))), 0.1 + 0.8 * RNG.random((50, 3))),
}


@pytest.mark.parametrize("name", DOMAINS)
def test_linear_functions_are_exact(name):
    domain, queries = DOMAINS[name]
    probe = Probe.of(domain, queries)
    assert not probe.outside.any()
    np.testing.assert_allclose(probe(linear(domain.points)), linear(queries), atol=1e-9)


@pytest.mark.parametrize("name", DOMAINS)
def test_nodes_take_their_own_values(name):
    domain, _ = DOMAINS[name]
    values = np.random.default_rng(1).normal(size=(len(domain.points), 2))
    np.testing.assert_allclose(Probe.of(domain, domain.points)(values), values, atol=1e-8)


def test_a_grid_is_multilinear():
    """Products of linear functions of one axis each, which no triangles would give exactly."""
    grid, queries = DOMAINS["box"]

    def function(points: np.ndarray) -> np.ndarray:
        return np.prod(1 + points * [1.0, -0.5, 2.0], axis=1, keepdims=True)

    np.testing.assert_allclose(Probe.of(grid, queries)(function(grid.points)), function(queries))


def test_a_periodic_axis_has_no_end():
    grid = Grid((4, 3), periodic=(True, False))
    values = np.array([0.0, 1.0, 4.0, 2.0])[:, None].repeat(3, axis=1).reshape(-1, 1)
    x = np.array([0.25, 0.875, -0.125, 7.25, -1e-18])
    found = Probe.of(grid, np.stack([x, np.full(5, 0.4)], axis=1))(values)
    np.testing.assert_allclose(found[:, 0], [1.0, 1.0, 1.0, 1.0, 0.0], atol=1e-12)


def test_a_point_off_a_surface_takes_the_value_at_the_closest_place():
    mesh = shapes.sphere(8)
    on_facets = inside(mesh, 100)
    normals = on_facets / np.linalg.norm(on_facets, axis=1, keepdims=True)
    probe = Probe.of(mesh, on_facets + 1e-3 * normals)
    assert not probe.outside.any()
    np.testing.assert_allclose(probe(mesh.points), on_facets, atol=2e-4)


def test_points_of_the_circle_are_in_its_polygon():
    mesh = shapes.disk(8)
    angle = np.linspace(0, 2 * np.pi, 100)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    assert not Probe.of(mesh, circle).outside.any()


@pytest.mark.parametrize("name", ["plate", "ball", "sphere", "grid", "mapped", "cloud"])
def test_points_outside_are_counted_and_have_no_value(name):
    domain, queries = DOMAINS[name]
    away = queries.copy()
    away[[3, 5]] += 7.0
    with pytest.warns(OutsideWarning, match=rf"2 of {len(away)} points .* \(first: point 3;"):
        probe = Probe.of(domain, away)
    found = probe(linear(domain.points))
    assert np.flatnonzero(np.isnan(found).any(axis=1)).tolist() == [3, 5]
    np.testing.assert_allclose(np.delete(found - linear(queries), [3, 5], axis=0), 0, atol=1e-9)


def test_a_point_in_a_hole_is_outside():
    ring = shapes.annulus(8, inner=0.5)
    with pytest.warns(OutsideWarning, match="1 of 2"):
        assert Probe.of(ring, np.array([[0.7, 0.0], [0.3, 0.0]])).outside.tolist() == [False, True]


def test_points_that_are_all_outside_are_an_error():
    with pytest.raises(DomainError, match=r"None of the 2 points .* same units\?"):
        Probe.of(shapes.square(4), np.array([[500.0, 300.0], [200.0, 100.0]]))


@pytest.mark.parametrize("domain", [shapes.square(3), Grid((3, 3)), PointSet(RNG.random((20, 2)))])
def test_another_dimension_and_values_that_are_not_numbers_are_named(domain):
    with pytest.raises(DomainError, match=r"\(queries, 2\): got \(4, 3\)"):
        Probe.of(domain, np.zeros((4, 3)))
    with pytest.raises(DomainError, match="1 of 2 are not"):
        Probe.of(domain, np.array([[0.5, 0.5], [np.nan, 0.5]]))


def test_no_points_give_no_values():
    assert Probe.of(shapes.square(3), np.empty((0, 2)))(np.zeros((16, 5))).shape == (0, 5)
    assert Probe.of(Grid((3, 3)), np.empty((0, 2)))(np.zeros((9, 5))).shape == (0, 5)


def test_leading_axes_and_precision_stay():
    mesh = shapes.square(3)
    fields = np.ones((2, 6, len(mesh.points), 3), dtype=np.float32)
    found = Probe.of(mesh, np.array([[0.3, 0.2]]))(fields)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, np.ones((2, 6, 1, 3)))


def test_cells_without_area_do_not_matter():
    points = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0]], dtype=float)
    mesh = Mesh(points, np.array([[0, 1, 2], [0, 2, 3], [0, 4, 1]]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        probe = Probe.of(mesh, np.array([[0.2, 0.7]]))
    np.testing.assert_allclose(probe(points), [[0.2, 0.7]])


def test_a_smooth_function_on_a_grid_of_the_sphere_is_found_between_its_points():
    grid = SphereGrid(24)
    queries = inside(shapes.sphere(6), 50)
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    queries = queries[np.abs(queries[:, 2]) < 0.9]
    np.testing.assert_allclose(
        Probe.of(grid, queries)(linear(grid.points)), linear(queries), atol=0.05
    )
