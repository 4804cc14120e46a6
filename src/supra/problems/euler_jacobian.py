r"""How the residual changes with the state: blocks of a simpler scheme, incompletely factorised.

The derivative of the first-order scheme (every face sees its two cells' own values) couples only
neighbours. It stands in for the second-order one as the preconditioner of its linear systems.
"""

from typing import NamedTuple

import numpy as np

from supra.problems.cell_mesh import CellMesh
from supra.problems.compiled import compiled
from supra.problems.euler import primitive, roe_flux
from supra.problems.gas import Four

STEP = 1e-7  # of the differences that stand for derivatives


class Blocks(NamedTuple):
    r"""A matrix of 4×4 blocks: the cells' own, and two for every face between cells.

    Attributes:
        own: :math:`\partial R_c / \partial U_c`; after `factorise` the inverses of the pivots.
        upper: :math:`\partial R_l / \partial U_r` of a face's left and right cell.
        lower: :math:`\partial R_r / \partial U_l`.
    """

    own: np.ndarray
    upper: np.ndarray
    lower: np.ndarray


@compiled
def first_order_jacobian(mesh: CellMesh, U: np.ndarray, free: Four, inertia: np.ndarray) -> Blocks:
    """The first-order scheme's derivative, plus ``inertia`` (area / time step) on the diagonal."""
    faces = len(mesh.stencil)
    blocks = Blocks(np.zeros((len(U), 4, 4)), np.empty((faces, 4, 4)), np.empty((faces, 4, 4)))
    for c in range(len(U)):
        for k in range(4):
            blocks.own[c, k, k] = inertia[c]
    differentiate_inner_fluxes(mesh, U, blocks)
    differentiate_wall_fluxes(mesh, U, blocks.own)
    differentiate_far_fluxes(mesh, U, free, blocks.own)
    return blocks


@compiled
def nudged(state: np.ndarray, k: int) -> Four:
    """Primitive variables of a state whose component ``k`` is raised a little."""
    return primitive(
        state[0] + (STEP if k == 0 else 0.0),
        state[1] + (STEP if k == 1 else 0.0),
        state[2] + (STEP if k == 2 else 0.0),
        state[3] + (STEP if k == 3 else 0.0),
    )


@compiled
def differentiate_inner_fluxes(mesh: CellMesh, U: np.ndarray, blocks: Blocks) -> None:
    """Add the derivatives of what flows between cells; set the blocks between them."""
    for f in range(len(mesh.stencil)):
        left, right, normal = mesh.stencil[f, 1], mesh.stencil[f, 2], mesh.normals[f]
        on_left, on_right = nudged(U[left], -1), nudged(U[right], -1)
        flux = roe_flux(on_left, on_right, normal)
        for k in range(4):
            by_left = roe_flux(nudged(U[left], k), on_right, normal)
            by_right = roe_flux(on_left, nudged(U[right], k), normal)
            for m in range(4):
                out, back = (by_left[m] - flux[m]) / STEP, (by_right[m] - flux[m]) / STEP
                blocks.own[left, m, k] += out
                blocks.lower[f, m, k] = -out
                blocks.own[right, m, k] -= back
                blocks.upper[f, m, k] = back


@compiled
def differentiate_wall_fluxes(mesh: CellMesh, U: np.ndarray, own: np.ndarray) -> None:
    """Add those of the pressure on the wall, as if it were that of the cell."""
    for f in range(len(mesh.wall)):
        cell = mesh.wall[f, 0]
        pressure = nudged(U[cell], -1)[3]
        for k in range(4):
            change = (nudged(U[cell], k)[3] - pressure) / STEP
            own[cell, 1, k] += change * mesh.wall_normals[f, 0]
            own[cell, 2, k] += change * mesh.wall_normals[f, 1]


@compiled
def differentiate_far_fluxes(mesh: CellMesh, U: np.ndarray, free: Four, own: np.ndarray) -> None:
    """Add those of what flows through the outer boundary."""
    for f in range(len(mesh.far)):
        cell, normal = mesh.far[f], mesh.far_normals[f]
        flux = roe_flux(nudged(U[cell], -1), free, normal)
        for k in range(4):
            by_cell = roe_flux(nudged(U[cell], k), free, normal)
            for m in range(4):
                own[cell, m, k] += (by_cell[m] - flux[m]) / STEP


@compiled
def factorise(mesh: CellMesh, blocks: Blocks) -> None:
    r"""Incomplete LU factors in place: only the cells' own blocks change.

    No two neighbours of a cell are neighbours of each other, so elimination without fill-in leaves
    the blocks between cells as they are: with pivots
    :math:`P_r = A_{rr} - \sum_{l<r} A_{rl} P_l^{-1} A_{lr}` the factors are
    :math:`(P + L)\, P^{-1} (P + U)`.
    """
    for c in range(len(blocks.own)):
        blocks.own[c] = np.linalg.inv(blocks.own[c])
        for f in range(mesh.first_face[c], mesh.first_face[c + 1]):
            subtract_triple(
                blocks.lower[f], blocks.own[c], blocks.upper[f], blocks.own[mesh.stencil[f, 2]]
            )


@compiled
def subtract_triple(a: np.ndarray, b: np.ndarray, c: np.ndarray, out: np.ndarray) -> None:
    """``out -= a b c`` for 4×4 blocks."""
    for m in range(4):
        row = times(b.T, a[m])
        for k in range(4):
            out[m, k] -= row[0] * c[0, k] + row[1] * c[1, k] + row[2] * c[2, k] + row[3] * c[3, k]


@compiled
def times(block: np.ndarray, x: Four) -> Four:
    """Block times vector; a tuple, because arrays inside loops are slow to make."""
    return (
        block[0, 0] * x[0] + block[0, 1] * x[1] + block[0, 2] * x[2] + block[0, 3] * x[3],
        block[1, 0] * x[0] + block[1, 1] * x[1] + block[1, 2] * x[2] + block[1, 3] * x[3],
        block[2, 0] * x[0] + block[2, 1] * x[1] + block[2, 2] * x[2] + block[2, 3] * x[3],
        block[3, 0] * x[0] + block[3, 1] * x[1] + block[3, 2] * x[2] + block[3, 3] * x[3],
    )


@compiled
def solve_factors(mesh: CellMesh, factors: Blocks, b: np.ndarray) -> np.ndarray:
    """Solution of the incompletely factorised system: once forwards, once backwards."""
    x = b.copy()
    for c in range(len(x)):
        y = times(factors.own[c], x[c])
        x[c, 0], x[c, 1], x[c, 2], x[c, 3] = y
        for f in range(mesh.first_face[c], mesh.first_face[c + 1]):
            step = times(factors.lower[f], y)
            for k in range(4):
                x[mesh.stencil[f, 2], k] -= step[k]
    for c in range(len(x) - 1, -1, -1):
        for f in range(mesh.first_face[c], mesh.first_face[c + 1]):
            step = times(factors.own[c], times(factors.upper[f], x[mesh.stencil[f, 2]]))
            for k in range(4):
                x[c, k] -= step[k]
    return x
