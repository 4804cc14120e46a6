"""The C-grid: its layout, that it fits the profile, and that it never folds."""

from itertools import product

import numpy as np
import pytest

from supra.problems import ProblemError
from supra.problems.c_grid import CGrid
from supra.problems.cell_mesh import CellMesh
from supra.problems.naca import naca_0012, vertical_displacement

THETA = np.array([0, 0.05, -0.03, 0.02, -0.05, 0.04, 0.01, -0.02])


def test_the_grid_has_the_community_s_layout() -> None:
    points = CGrid().points(THETA)
    assert points.shape == (221, 51, 2)
    np.testing.assert_array_equal(points[:51, 0], points[:169:-1, 0])
    assert points[50, 0, 0] == pytest.approx(1)
    assert points[110, 0, 0] == pytest.approx(0, abs=1e-12)
    assert len(np.unique(points.reshape(-1, 2), axis=0)) == 11220
    assert points[60, 0, 1] > points[160, 0, 1]  # the upper side comes first


def test_wall_nodes_lie_on_the_deformed_profile() -> None:
    wall = CGrid().points(THETA)[50:171, 0]
    x = np.clip(wall[:, 0], 0, 1)  # rounding may put the nose behind 0
    y = naca_0012(x) * np.where(np.arange(121) <= 60, 1, -1)
    np.testing.assert_allclose(wall[:, 1], y + vertical_displacement(THETA, x, y), atol=1e-9)


def test_the_outer_boundary_is_forty_chords_away() -> None:
    points = CGrid().points(THETA)
    outer = np.concatenate([points[:, -1], points[0], points[-1]])
    to_profile = np.linalg.norm(outer[:, None] - points[50:171:5, 0], axis=-1)
    assert to_profile.min() == pytest.approx(40, abs=0.1)


def test_grids_of_doubled_numbers_are_nested() -> None:
    fine = CGrid(240, 100, 100).points(THETA)
    np.testing.assert_allclose(fine[::2, ::2], CGrid().points(THETA), atol=1e-8)


def test_no_extreme_displacement_folds_the_grid() -> None:
    for signs in product([-0.05, 0.05], repeat=7):
        CellMesh.from_grid(CGrid().points(np.array([0, *signs])), wake=50)  # checks every cell


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ({"around": 7}, "around=7"),
        ({"wake": 2}, "wake=2"),
        ({"radius": 1.0}, "radius=1.0"),
        ({"around": 8, "wake": 100}, "at most about 54 of them here: got wake=100"),
    ],
)
def test_impossible_numbers_are_refused(numbers: dict, words: str) -> None:
    with pytest.raises(ProblemError, match=words):
        CGrid(**numbers)
