"""The finite-element solver, by manufactured solutions and what every solution satisfies."""

import numpy as np
import pytest

from supra.basis.fem import mass_matrix, stiffness_matrix
from supra.domain import Mesh, shapes
from supra.problems import ProblemError
from supra.problems.diffusion import solve_diffusion


def error(mesh: Mesh, solution: np.ndarray, exact: np.ndarray) -> float:
    away = solution - exact
    return float(np.sqrt(away @ mass_matrix(mesh) @ away))


def manufactured(mesh: Mesh) -> float:
    """u = sin(πx) cos(2y) with a = 1 + x y: f by hand."""
    x, y = mesh.points.T
    exact = np.sin(np.pi * x) * np.cos(2 * y)
    a = 1 + x * y
    u_x, u_y = np.pi * np.cos(np.pi * x) * np.cos(2 * y), -2 * np.sin(np.pi * x) * np.sin(2 * y)
    force = -(y * u_x + x * u_y) + a * (np.pi**2 + 4) * exact
    held = mesh.boundary_nodes
    return error(mesh, solve_diffusion(mesh, a, force, held, exact[held]), exact)


@pytest.mark.parametrize("shape", [shapes.square, shapes.l_shape, shapes.perforated_plate])
def test_a_manufactured_solution_converges_at_second_order(shape):
    errors = [manufactured(shape(n)) for n in (12, 24, 48)]
    rates = np.log2(np.divide(errors[:-1], errors[1:]))
    assert rates.min() > 1.8, rates


def test_the_cube_converges_at_second_order():
    def run(n: int) -> float:
        mesh = shapes.cube(n)
        exact = np.prod(np.sin(np.pi * mesh.points), axis=1)
        one = np.ones(len(exact))
        found = solve_diffusion(mesh, one, 3 * np.pi**2 * exact, mesh.boundary_nodes)
        return error(mesh, found, exact)

    assert np.log2(run(8) / run(16)) > 1.8


def test_no_flux_passes_a_free_boundary():
    """Between radii 1/2 and 1, free inside: u = (1 - r²)/4 + (1/8) log r."""
    mesh = shapes.annulus(40)
    r = np.linalg.norm(mesh.points, axis=1)
    one, held = np.ones(len(r)), np.unique(mesh.boundaries["outer"])
    exact = (1 - r**2) / 4 + np.log(r) / 8
    assert error(mesh, solve_diffusion(mesh, one, one, held), exact) < 1e-4


def test_a_linear_function_is_exact():
    mesh = shapes.perforated_plate(12)
    exact = 1 + mesh.points @ [2.0, -3.0]
    held = mesh.boundary_nodes
    one = np.ones(len(exact))
    found = solve_diffusion(mesh, one, 0 * one, held, exact[held])
    np.testing.assert_allclose(found, exact, atol=1e-12)


def test_flux_into_the_held_nodes_balances_the_force():
    mesh = shapes.perforated_plate(12)
    rng = np.random.default_rng(0)
    a, f = rng.uniform(1, 2, len(mesh.points)), rng.normal(size=len(mesh.points))
    held = np.unique(mesh.boundaries["outer"])
    solution = solve_diffusion(mesh, a, f, held)
    load = mass_matrix(mesh) @ f
    reaction = stiffness_matrix(mesh, a) @ solution - load
    assert abs(reaction[held].sum() + load.sum()) < 1e-12
    np.testing.assert_allclose(np.delete(reaction, held), 0, atol=1e-12)


def test_a_coefficient_that_is_not_positive_is_refused():
    mesh = shapes.square(4)
    zero = np.zeros(len(mesh.points))
    with pytest.raises(ProblemError, match="positive"):
        solve_diffusion(mesh, zero, zero, mesh.boundary_nodes)


def test_a_part_without_a_held_node_is_refused():
    mesh = shapes.square(4)
    one = np.ones(len(mesh.points))
    with pytest.raises(ProblemError, match="1 of 1 parts have none"):
        solve_diffusion(mesh, one, one, np.array([], dtype=int))
