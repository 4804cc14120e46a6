"""The grid of the sphere integrates polynomials exactly."""

from itertools import product
from math import gamma, pi

import numpy as np
import pytest

from supra.domain import DomainError, SphereGrid


def mean_on_sphere(*powers):
    """Mean of x^a y^b z^c over the unit sphere (Folland, Am. Math. Monthly 108, 2001)."""
    if any(power % 2 for power in powers):
        return 0.0
    halves = [(power + 1) / 2 for power in powers]
    return 2 * np.prod([gamma(half) for half in halves]) / gamma(sum(halves)) / (4 * pi)


@pytest.mark.parametrize("latitudes", [1, 2, 5, 8])
def test_products_of_two_harmonics_below_the_number_of_latitudes_are_exact(latitudes):
    grid = SphereGrid(latitudes)
    degree = 2 * (latitudes - 1)
    for powers in product(range(degree + 1), repeat=3):
        if sum(powers) <= degree:
            found = grid.weights @ np.prod(grid.points**powers, axis=1)
            assert found == pytest.approx(mean_on_sphere(*powers), abs=1e-13)


def test_points_are_on_the_unit_sphere_from_south_to_north():
    grid = SphereGrid(6, 9)
    assert grid.shape == (6, 9)
    np.testing.assert_allclose(np.linalg.norm(grid.points, axis=1), 1)
    assert (np.diff(grid.points[:, 2].reshape(grid.shape)[:, 0]) > 0).all()


@pytest.mark.parametrize("counts", [(0, 4), (3, -1)])
def test_a_grid_without_points_is_refused(counts):
    with pytest.raises(DomainError, match="at least one"):
        SphereGrid(*counts)
