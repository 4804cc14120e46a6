"""Geometry of single simplices, against formulas that do not share its code."""

from itertools import product
from math import factorial

import numpy as np
import pytest

from supra.domain import Mesh, simplex

random = np.random.default_rng(0)
DIMENSIONS = [1, 2, 3]
CUBE = np.array(list(product((0.0, 1.0), repeat=3)))[[0, 4, 6, 2, 1, 5, 7, 3]]  # VTK's order


def rotation(dimension):
    return np.linalg.qr(random.standard_normal((dimension, dimension)))[0]


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_the_reference_simplex_measures_one_over_the_factorial(dimension):
    points = np.vstack([np.zeros(dimension), np.eye(dimension)])
    found = simplex.measures(points, np.arange(dimension + 1)[None])
    assert found == pytest.approx([1 / factorial(dimension)])


@pytest.mark.parametrize(("dimension", "space"), [(1, 2), (1, 3), (2, 3)])
def test_an_embedded_simplex_measures_the_same_in_any_position(dimension, space):
    flat = random.standard_normal((dimension + 1, dimension))
    lifted = np.pad(flat, ((0, 0), (0, space - dimension))) @ rotation(space) + 3
    cells = np.arange(dimension + 1)[None]
    expected = simplex.measures(flat, cells)
    np.testing.assert_allclose(simplex.measures(lifted, cells), expected, rtol=1e-12)


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_hat_gradients_rebuild_the_gradient_of_a_linear_function(dimension):
    points = random.standard_normal((dimension + 1, dimension))
    slope = random.standard_normal(dimension)
    gradients = simplex.gradients(points, np.arange(dimension + 1)[None])[0]
    np.testing.assert_allclose((points @ slope + 7) @ gradients, slope, rtol=1e-8)


def test_hat_gradients_on_a_surface_are_the_tangential_part():
    points = random.standard_normal((3, 3))
    slope = random.standard_normal(3)
    normal = np.cross(points[1] - points[0], points[2] - points[0])
    normal /= np.linalg.norm(normal)
    gradients = simplex.gradients(points, np.array([[0, 1, 2]]))[0]
    tangential = slope - (slope @ normal) * normal
    np.testing.assert_allclose((points @ slope) @ gradients, tangential, rtol=1e-8, atol=1e-10)


def test_unique_rows_equals_numpy_for_small_and_for_huge_indices():
    small = random.integers(0, 5, size=(200, 3))
    for rows in (small, small * 10**15):
        expected = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
        for found, right in zip(simplex.unique_rows(rows), expected, strict=True):
            np.testing.assert_array_equal(found, right.reshape(found.shape))


@pytest.mark.parametrize(("kind", "corners"), [("hexahedron", 8), ("wedge", 6), ("pyramid", 5)])
def test_every_numbering_of_a_solid_is_cut_into_parts_that_fill_it(kind, corners):
    solids = {
        "hexahedron": (CUBE, 1),
        "wedge": (CUBE[[0, 1, 3, 4, 5, 7]], 1 / 2),
        "pyramid": (np.vstack([CUBE[:4], [0.5, 0.5, 1]]), 1 / 3),
    }
    corner_positions, volume = solids[kind]
    for _ in range(200):
        numbering = random.permutation(corners)
        points = np.empty((corners, 3))
        points[numbering] = corner_positions
        cells, parents = simplex.split(numbering[None], kind)
        assert (parents == 0).all()
        assert Mesh(points, cells).check().measure == pytest.approx(volume)


def test_neighbours_of_different_kinds_cut_their_common_side_alike():
    """The facets in only one cell are the surface: a house of a cube, a wedge and a pyramid."""
    roof = np.array([[0.5, 0.0, 1.5], [0.5, 1.0, 1.5]])
    below = np.array([[0.5, 0.5, -1.0]])
    positions = np.vstack([CUBE, roof, below])
    solids = [
        ("hexahedron", [0, 1, 2, 3, 4, 5, 6, 7]),
        ("wedge", [4, 5, 8, 7, 6, 9]),
        ("pyramid", [0, 1, 2, 3, 10]),
    ]
    surface = 4 + 2 * (0.5 * 0.5) + 2 * np.sqrt(0.5) + 4 * (0.5 * np.sqrt(1.25))
    for _ in range(100):
        numbering = random.permutation(len(positions))
        points = np.empty_like(positions)
        points[numbering] = positions
        cells = [simplex.split(numbering[None, corners], kind)[0] for kind, corners in solids]
        house = Mesh(points, np.concatenate(cells)).check()
        assert house.measure == pytest.approx(1 + 0.25 + 1 / 3)
        area = simplex.measures(points, house.boundary_facets).sum()
        assert area == pytest.approx(surface)


@pytest.mark.parametrize(("corners", "space"), [(2, 2), (3, 2), (3, 3), (4, 3)])
def test_the_closest_point_of_a_simplex_sees_all_of_it_on_the_far_side(corners, space):
    """x in a convex set is closest to q exactly if (q - x)·(v - x) ≤ 0 for all its corners v."""
    simplices = random.standard_normal((500, corners, space))
    queries = 2 * random.standard_normal((500, space))
    weights = simplex.closest_barycentric(queries, simplices)
    assert (weights >= -1e-12).all()
    np.testing.assert_allclose(weights.sum(axis=1), 1)
    nearest = np.einsum("qa,qad->qd", weights, simplices)
    towards = np.einsum("qd,qad->qa", queries - nearest, simplices - nearest[:, None])
    assert towards.max() < 1e-9


@pytest.mark.parametrize(("corners", "space"), [(2, 2), (3, 2), (3, 3), (4, 3)])
def test_barycentric_coordinates_give_a_point_of_the_simplex_back(corners, space):
    simplices = random.standard_normal((200, corners, space))
    weights = random.dirichlet(np.ones(corners), 200)
    queries = np.einsum("qa,qad->qd", weights, simplices)
    np.testing.assert_allclose(simplex.barycentric(queries, simplices), weights, atol=1e-6)
