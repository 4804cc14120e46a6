"""The profile and its deformation against what their formulas must give."""

import numpy as np
import pytest

from supra.problems.naca import naca_0012, vertical_displacement

BOX = [(x, y) for y in (-0.1, 0.1) for x in (-0.25, 0.25, 0.75, 1.25)]
ROUND_THE_BOX = BOX[:4] + BOX[:3:-1]  # bottom from left to right, top from right to left


def test_the_profile_is_closed_and_twelve_per_cent_thick() -> None:
    x = np.linspace(0, 1, 1001)
    half = naca_0012(x)
    assert half[[0, -1]] == pytest.approx(0, abs=1e-12)
    assert 2 * half.max() == pytest.approx(0.12, abs=1e-4)
    assert x[half.argmax()] == pytest.approx(0.3, abs=0.01)


@pytest.mark.parametrize("moved", range(8))
def test_a_control_node_moves_itself_and_no_other(moved: int) -> None:
    x, y = np.array(ROUND_THE_BOX).T
    np.testing.assert_allclose(vertical_displacement(np.eye(8)[moved], x, y), np.eye(8)[moved])


def test_displacements_cubic_along_and_linear_across_are_met_exactly() -> None:
    def cubic(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return (1 - 2 * x + 3 * x**2 - x**3) * (2 + 5 * y)

    x, y = np.random.default_rng(0).uniform([0, -0.1], [1, 0.1], (50, 2)).T
    theta = cubic(*np.array(ROUND_THE_BOX).T)
    np.testing.assert_allclose(vertical_displacement(theta, x, y), cubic(x, y), atol=1e-12)
