"""The preconditioner against the mathematics it stands for."""

import numpy as np
import pytest

from supra.problems.c_grid import CGrid
from supra.problems.cell_mesh import CellMesh
from supra.problems.euler import all_primitive, roe_flux
from supra.problems.euler_jacobian import Blocks, factorise, first_order_jacobian, solve_factors
from supra.problems.gas import free_stream

MESH = CellMesh.from_grid(CGrid(12, 4, 5).points(np.zeros(8)), wake=4)
CELLS = len(MESH.areas)
FREE = free_stream(0.8, 2.0)


@pytest.fixture(scope="module")
def state() -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.array([1.0, 0.9, 0.1, 3.0]) * rng.uniform(0.95, 1.05, (CELLS, 4))


def dense(blocks: Blocks) -> np.ndarray:
    matrix = np.zeros((CELLS, 4, CELLS, 4))
    for c in range(CELLS):
        matrix[c, :, c] = blocks.own[c]
    for f, (_, left, right, _) in enumerate(MESH.stencil):
        matrix[left, :, right], matrix[right, :, left] = blocks.upper[f], blocks.lower[f]
    return matrix.reshape(4 * CELLS, 4 * CELLS)


def test_the_jacobian_of_homogeneous_fluxes_times_the_state_is_the_residual(
    state: np.ndarray,
) -> None:
    """Fluxes scale with the state, so by Euler's theorem J U = R; not so against a fixed stream."""
    W, out = all_primitive(state), np.zeros_like(state)
    for (_, left, right, _), normal in zip(MESH.stencil, MESH.normals, strict=True):
        flux = np.array(roe_flux(tuple(W[left]), tuple(W[right]), normal))
        out[left] += flux
        out[right] -= flux
    out[MESH.wall[:, 0], 1:3] += W[MESH.wall[:, 0], 3, None] * MESH.wall_normals
    jacobian = dense(first_order_jacobian(MESH, state, FREE, np.zeros(CELLS)))
    inside = np.setdiff1d(np.arange(CELLS), MESH.far)
    got = (jacobian @ state.ravel()).reshape(-1, 4)
    np.testing.assert_allclose(got[inside], out[inside], atol=1e-5)


def test_the_factors_agree_with_the_matrix_on_its_pattern(state: np.ndarray) -> None:
    inertia = np.full(CELLS, 0.5)
    matrix = dense(first_order_jacobian(MESH, state, FREE, inertia))
    factors = first_order_jacobian(MESH, state, FREE, inertia)
    factorise(MESH, factors)
    inverse_pivots = np.zeros_like(matrix)
    for c in range(CELLS):
        inverse_pivots[4 * c : 4 * c + 4, 4 * c : 4 * c + 4] = factors.own[c]
    pivots = np.linalg.inv(inverse_pivots)
    cell = np.arange(4 * CELLS) // 4
    lower, upper = matrix * (cell[:, None] > cell), matrix * (cell[:, None] < cell)
    product = (pivots + lower) @ inverse_pivots @ (pivots + upper)
    pattern = matrix != 0
    np.testing.assert_allclose(product[pattern], matrix[pattern], atol=1e-9)
    b = np.random.default_rng(1).normal(size=(CELLS, 4))
    x = solve_factors(MESH, factors, b)
    np.testing.assert_allclose(product @ x.ravel(), b.ravel(), atol=1e-8)
