r"""Steady compressible flow, by Newton's method with a pseudo time step that grows.

Every step solves :math:`(A/\Delta t + R'(U))\,\delta = -R(U)` roughly, by GMRES: the product with
:math:`R'` is a difference of two residuals of the second-order scheme, the preconditioner the
incomplete factors of the first-order scheme's. As the residual falls the local time steps grow
like its inverse, and the iteration turns into Newton's.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.sparse.linalg import LinearOperator, gmres
from threadpoolctl import threadpool_limits

from supra.problems.cell_mesh import CellMesh
from supra.problems.euler import all_primitive, residual, wave_speeds
from supra.problems.euler_jacobian import factorise, first_order_jacobian, solve_factors
from supra.problems.gas import GAMMA, Four, NoSteadyStateError

DIFFERENCE = 1e-7  # relative size of the differences that stand for derivatives
LARGEST_CHANGE = 0.5  # of density or pressure in one step, relative: keeps both positive

States = Float[np.ndarray, "cells 4"]


@dataclass(frozen=True)
class Pace:
    """How boldly the iteration proceeds.

    Attributes:
        courant: Courant number of the first step.
        growth: largest factor by which it grows from one step to the next.
        steps: how many steps are made before giving up.
        krylov: how many products with the Jacobian a step may take.
    """

    courant: float = 10.0
    growth: float = 2.0
    steps: int = 150
    krylov: int = 30


PACES = (Pace(), Pace(courant=2.0, growth=1.3, steps=500, krylov=60))


def steady_flow(mesh: CellMesh, free: Four, tolerance: float) -> States:
    """Density, velocity and pressure in every cell, of the flow that the free stream becomes.

    The residual's norm has fallen to ``tolerance`` of the undisturbed free stream's.

    Raises:
        NoSteadyStateError: if it has not, not even at the safest pace.
    """
    reached = []
    for pace in PACES:
        # On one thread: sums in another order would make another sample, and slowly, for vectors
        # of this length.
        with threadpool_limits(1):
            state, drop = _iterate(mesh, free, tolerance, pace)
        if drop <= tolerance:
            return all_primitive(state)
        reached.append(f"{drop:.1e} after {pace.steps}")
    raise NoSteadyStateError(
        f"No steady flow was found: the residual should fall to {tolerance:g} of its start, "
        f"but reached {' and '.join(reached)} steps."
    )


def _iterate(mesh: CellMesh, free: Four, tolerance: float, pace: Pace) -> tuple[States, float]:
    """The state after at most ``pace.steps`` steps, and its residual relative to the first."""
    state = _uniform(free, len(mesh.areas))
    out = residual(mesh, all_primitive(state), free)
    start = norm = _norm(mesh, out)
    courant = pace.courant
    for _ in range(pace.steps):
        if norm <= tolerance * start:
            break
        inertia = wave_speeds(mesh, all_primitive(state)) / courant
        step = _newton_step(mesh, free, state, out, inertia, pace.krylov)
        fraction, state, out = _damped_step(mesh, free, state, step, 2 * norm)
        before, norm = norm, _norm(mesh, out)
        if fraction < 0.3:
            courant = max(courant / 2, 1.0)
        elif fraction == 1 and norm < before:
            courant = max(courant, min(pace.growth * courant, pace.courant * start / norm))
    return state, norm / start


def _uniform(free: Four, cells: int) -> States:
    density, u, v, pressure = free
    energy = pressure / (GAMMA - 1) + 0.5 * density * (u * u + v * v)
    return np.tile([density, density * u, density * v, energy], (cells, 1))


def _norm(mesh: CellMesh, out: States) -> float:
    """L2 norm over the domain of the rate of change that the residual stands for."""
    return float(np.sqrt((out**2 / mesh.areas[:, None]).sum()))


def _newton_step(
    mesh: CellMesh, free: Four, state: States, out: States, inertia: np.ndarray, krylov: int
) -> States:
    """GMRES without restart, to a tenth: the next step repairs the rest."""
    factors = first_order_jacobian(mesh, state, free, inertia)
    factorise(mesh, factors)
    scale = DIFFERENCE * np.linalg.norm(state)

    def product(flat: np.ndarray) -> np.ndarray:
        direction = flat.reshape(-1, 4)
        size = scale / max(float(np.linalg.norm(flat)), 1e-300)
        moved = residual(mesh, all_primitive(state + size * direction), free)
        return ((moved - out) / size + inertia[:, None] * direction).ravel()

    def precondition(flat: np.ndarray) -> np.ndarray:
        return solve_factors(mesh, factors, flat.reshape(-1, 4)).ravel()

    square = (out.size, out.size)
    step, _ = gmres(
        LinearOperator(square, product, dtype=float),
        -out.ravel(),
        M=LinearOperator(square, precondition, dtype=float),
        rtol=0.1,
        restart=krylov,
        maxiter=1,
    )
    return step.reshape(-1, 4)


def _damped_step(
    mesh: CellMesh, free: Four, state: States, step: States, limit: float
) -> tuple[float, States, States]:
    """The largest fraction 1, 1/2, 1/4, … of a step that is harmless, where it leads, its residual.

    Harmless: density and pressure change moderately, and the residual stays below ``limit``. If
    none is, the state stays, and the fraction is 0.
    """
    before = all_primitive(state)
    for halvings in range(12):
        moved = state + 0.5**halvings * step
        after = all_primitive(moved)
        if np.all(np.abs(after - before)[:, ::3] < LARGEST_CHANGE * before[:, ::3]):
            out = residual(mesh, after, free)
            if _norm(mesh, out) < limit:
                return 0.5**halvings, moved, out
    return 0.0, state, residual(mesh, before, free)
