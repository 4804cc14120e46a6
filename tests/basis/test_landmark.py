"""Eigenfunctions of a box at any points."""

import numpy as np
import pytest

from supra.basis import BasisError, CosineBasis
from supra.basis.landmark import Landmarks
from supra.domain import Grid


@pytest.mark.parametrize("boundary", ["neumann", "dirichlet"])
@pytest.mark.parametrize("extents", [(1.0,), (2.0, 0.3), (1.0, 1.0), (1.0, 2.0, 0.7)])
def test_they_are_the_box_eigenfunctions_of_lowest_eigenvalue(extents, boundary):
    extents = np.array(extents)
    found = Landmarks(np.zeros(len(extents)), extents, 12, boundary)
    first = boundary == "dirichlet"
    tensor = np.indices((13,) * len(extents)).reshape(len(extents), -1).T + first
    every = np.sort(((tensor / extents) ** 2).sum(axis=1))
    eigenvalues = (((found.waves + first) / extents) ** 2).sum(axis=1)
    np.testing.assert_allclose(eigenvalues, every[:12])
    assert len({tuple(wave) for wave in found.waves.tolist()}) == 12


@pytest.mark.parametrize("boundary", ["neumann", "dirichlet"])
def test_they_are_products_of_the_axes_functions(boundary):
    points = np.random.default_rng(0).uniform(size=(7, 2)) * [2, 1] + [5, -1]
    found = Landmarks(np.array([5.0, -1.0]), np.array([7.0, 0.0]), 6, boundary)
    axis = CosineBasis(9, boundary)
    x, y = (points - found.low).T / [[2.0], [1.0]]
    for values, (i, j) in zip(found(points).T, found.waves, strict=True):
        expected = axis.axis_values(9, x)[:, i] * axis.axis_values(9, y)[:, j]
        np.testing.assert_allclose(values, expected, atol=1e-12)


def test_they_are_orthonormal_in_the_box():
    grid = Grid((40, 40))
    values = Landmarks.around([grid.points], 30)(grid.points)
    gram = values.T @ (grid.weights[:, None] * values)
    np.testing.assert_allclose(gram, np.eye(30), atol=1e-12)


def test_the_box_is_around_all_points_and_a_flat_axis_takes_no_part():
    clouds = [np.array([[0.0, 0.0, 1.0], [1.0, 0.5, 1.0]]), np.array([[-1.0, 0.2, 1.0]])]
    found = Landmarks.around(clouds, 5)
    np.testing.assert_array_equal(found.low, [-1, 0, 1])
    np.testing.assert_array_equal(found.high, [1, 0.5, 1])
    assert found.waves.shape == (5, 2)
    assert np.isfinite(found(clouds[0])).all()


def test_a_box_without_extent_is_refused():
    with pytest.raises(BasisError, match="two corners"):
        Landmarks(np.zeros(2), np.zeros(2), 3)
