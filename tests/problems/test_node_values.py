"""From cells to nodes: exact for linear functions, second order for others."""

import numpy as np

from supra.problems.c_grid import CGrid
from supra.problems.cell_mesh import CellMesh
from supra.problems.node_values import node_values

THETA = np.array([0, 0.05, -0.03, 0, 0, 0.04, 0, -0.02])


def _nodes_and_exact(times: int, function) -> tuple[np.ndarray, np.ndarray]:
    points = CGrid(60 * times, 20 * times, 25 * times).points(THETA)
    centres = CellMesh.from_grid(points, wake=20 * times).centres
    got = node_values(points, centres, function(centres)[:, None], wake=20 * times)[0]
    return got, function(points)


def test_linear_functions_are_exact_at_every_node() -> None:
    got, exact = _nodes_and_exact(1, lambda x: 3 + 2 * x[..., 0] - x[..., 1])
    np.testing.assert_allclose(got, exact, atol=1e-9)


def test_the_error_falls_at_second_order_wall_and_wake_included() -> None:
    def wave(x: np.ndarray) -> np.ndarray:
        return np.sin(2 * x[..., 0] + x[..., 1]) * np.exp(-(x[..., 0] ** 2) - x[..., 1] ** 2)

    errors = [np.abs(np.subtract(*_nodes_and_exact(times, wave))).max() for times in (2, 4, 8)]
    rates = np.log2(np.divide(errors[:-1], errors[1:]))
    assert np.all(rates > 1.8), rates


def test_both_sides_of_the_wake_get_the_same_values() -> None:
    points = CGrid(24, 8, 10).points(THETA)
    centres = CellMesh.from_grid(points, wake=8).centres
    values = np.random.default_rng(0).normal(size=(len(centres), 2))
    nodes = node_values(points, centres, values, wake=8)
    np.testing.assert_array_equal(nodes[:, :9, 0], nodes[:, :31:-1, 0])
    assert nodes.shape == (2, 41, 11)
