"""Poisson's equation in balls: closed forms, and what every sample has."""

import numpy as np
import pytest

from supra.basis.fem import mass_matrix, stiffness_matrix
from supra.domain import Mesh, MeshError
from supra.problems import Ball, ProblemError
from supra.problems.diffusion import solve_diffusion
from supra.problems.plane_waves import PlaneWaves

COARSE = Ball(resolution=4)


def ellipsoid(resolution: int, *half_axes: float) -> Mesh:
    smooth = Ball(resolution, bumps=0.0)
    return smooth.deformed(np.array(half_axes), PlaneWaves(np.zeros((1, 3)), np.zeros((1, 2))))


def solved(mesh: Mesh, force: np.ndarray) -> np.ndarray:
    return solve_diffusion(mesh, np.ones(len(force)), force, mesh.boundary_nodes)


def relative_error(mesh: Mesh, found: np.ndarray, exact: np.ndarray) -> float:
    away, mass = found - exact, mass_matrix(mesh)
    return float(np.sqrt((away @ mass @ away) / (exact @ mass @ exact)))


def uniform_error(resolution: int, *half_axes: float) -> float:
    """f = 1 in an ellipsoid: u = c (1 − x²/a² − y²/b² − z²/c²), 2c Σ 1/a² = 1."""
    mesh = ellipsoid(resolution, *half_axes)
    squares = 1 / np.square(half_axes)
    exact = (1 - mesh.points**2 @ squares) / (2 * squares.sum())
    return relative_error(mesh, solved(mesh, np.ones(len(exact))), exact)


def waved_error(resolution: int) -> float:
    """u = (1 − r²) e^x in the unit ball, f = (5 + 4x + r²) e^x."""
    mesh = ellipsoid(resolution, 1.0, 1.0, 1.0)
    x, square = mesh.points[:, 0], (mesh.points**2).sum(axis=1)
    exact, force = (1 - square) * np.exp(x), (5 + 4 * x + square) * np.exp(x)
    return relative_error(mesh, solved(mesh, force), exact)


@pytest.mark.parametrize(
    "error",
    [
        lambda n: uniform_error(n, 1.0, 1.0, 1.0),  # (1 − r²)/6
        lambda n: uniform_error(n, 1.3, 0.8, 1.0),
        waved_error,
    ],
    ids=["ball", "ellipsoid", "not constant"],
)
def test_closed_forms_converge_at_second_order(error):
    errors = [error(n) for n in (3, 6, 12)]
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert orders[1] > 1.8, orders
    assert orders[1] > orders[0], orders  # 1.92 from 12 to 16 shells


def test_heat_flows_out_through_the_surface():
    """The reaction of the held nodes is −∫f: for f = 1 the volume."""
    mesh = ellipsoid(8, 1.0, 1.0, 1.0)
    ones = np.ones(len(mesh.points))
    reaction = stiffness_matrix(mesh) @ solved(mesh, ones) - mass_matrix(mesh) @ ones
    assert reaction[mesh.boundary_nodes].sum() == pytest.approx(-mesh.measure, rel=1e-12)
    assert mesh.measure == pytest.approx(4 * np.pi / 3, rel=0.02)


def test_sources_heat_and_sinks_cool():
    """The maximum principle: u > 0 inside where f > 0, and more source never cools."""
    for number in range(5):
        sample = COARSE.sample(number)
        mesh = Mesh(sample["points"], sample["cells"])
        inside = np.setdiff1d(np.arange(len(mesh.points)), mesh.boundary_nodes)
        assert solved(mesh, np.abs(sample["f"]))[inside].min() > 0
        assert (solved(mesh, np.abs(sample["f"])) - sample["u"])[inside].min() > 0


def test_samples_solve_the_equation_on_a_mesh_that_fits():
    for sample in COARSE.generate(3):
        mesh = Mesh(sample["points"], sample["cells"]).check()
        assert mesh.euler_characteristic == 1
        residual = stiffness_matrix(mesh) @ sample["u"] - mass_matrix(mesh) @ sample["f"]
        np.testing.assert_allclose(np.delete(residual, mesh.boundary_nodes), 0, atol=1e-13)
        assert not sample["u"][mesh.boundary_nodes].any()


@pytest.mark.parametrize("problem", [Ball(), Ball(resolution=3, stretch=1.0, bumps=0.3)])
def test_no_tetrahedron_is_turned_over(problem):
    def volumes(points: np.ndarray, cells: np.ndarray) -> np.ndarray:
        corners = points[cells]
        return np.linalg.det(corners[:, 1:] - corners[:, :1])

    round_ball = ellipsoid(problem.resolution, 1.0, 1.0, 1.0)
    before = volumes(round_ball.points, round_ball.cells)
    rng = np.random.default_rng(0)
    for _ in range(50):
        half_axes = np.exp(rng.uniform(-problem.stretch, problem.stretch, 3))
        mesh = problem.deformed(half_axes, PlaneWaves.random(rng, 2.0))
        assert (volumes(mesh.points, mesh.cells) / before).min() > 0


def test_without_bumps_bodies_are_ellipsoids_and_with_them_they_are_not():
    def residual(problem: Ball) -> float:
        """Of the best fit of αx² + βy² + γz² = 1 to the boundary's nodes."""
        sample = problem.sample(0)
        mesh = Mesh(sample["points"], sample["cells"])
        squares = mesh.points[mesh.boundary_nodes] ** 2
        fit, *_ = np.linalg.lstsq(squares, np.ones(len(squares)))
        return float(np.abs(squares @ fit - 1).max())

    assert residual(Ball(resolution=4, bumps=0.0)) < 1e-12
    assert residual(COARSE) > 0.05


def test_a_sample_is_the_same_whenever_it_is_made():
    again = Ball(resolution=4).sample(2)
    for key, value in COARSE.sample(2).items():
        np.testing.assert_array_equal(again[key], value)
    assert not np.array_equal(COARSE.sample(2)["u"], COARSE.sample(2, split="test")["u"])
    assert not np.array_equal(COARSE.sample(2)["points"], COARSE.sample(2, seed=1)["points"])


def test_wrong_options_are_named():
    with pytest.raises(ProblemError, match=r"`bumps` must be between 0 and 0\.3: got 0\.5"):
        Ball(bumps=0.5)
    with pytest.raises(ProblemError, match="`stretch`"):
        Ball(stretch=-0.1)
    with pytest.raises(MeshError, match="resolution"):
        Ball(resolution=0)
