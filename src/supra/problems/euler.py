r"""Second-order finite volumes for the Euler equations, as compiled loops over faces.

A cell's state is :math:`U = (\rho, \rho u, \rho v, E)`, its primitive variables are
:math:`W = (\rho, u, v, p)`, with :math:`E = p/(\gamma-1) + \rho(u^2+v^2)/2`. The residual of a cell
is what flows out of it, :math:`R_c = \sum_f F_f`: zero when the flow is steady.
"""

import numpy as np

from supra.problems.cell_mesh import CellMesh
from supra.problems.compiled import compiled
from supra.problems.gas import GAMMA, Four

ENTROPY_FIX = 0.05  # of the fastest wave: slower acoustic waves are damped as if they were so fast
SMOOTH = 1e-4  # differences whose squares are below this are not limited: they are no shocks


@compiled
def primitive(density: float, x_momentum: float, y_momentum: float, energy: float) -> Four:
    """W of a state U."""
    u, v = x_momentum / density, y_momentum / density
    return density, u, v, (GAMMA - 1) * (energy - 0.5 * density * (u * u + v * v))


@compiled
def all_primitive(U: np.ndarray) -> np.ndarray:
    """W of every cell."""
    W = np.empty_like(U)
    for c in range(len(U)):
        W[c, 0], W[c, 1], W[c, 2], W[c, 3] = primitive(U[c, 0], U[c, 1], U[c, 2], U[c, 3])
    return W


@compiled
def residual(mesh: CellMesh, W: np.ndarray, free: Four) -> np.ndarray:
    """What flows out of every cell, given the primitive variables and those of the free stream."""
    R = np.zeros_like(W)
    add_inner_fluxes(mesh, W, R)
    add_wall_fluxes(mesh, W, R)
    add_far_fluxes(mesh, W, free, R)
    return R


@compiled
def add_inner_fluxes(mesh: CellMesh, W: np.ndarray, R: np.ndarray) -> None:
    """What flows through the inner faces, out of their left cells and into the right ones."""
    for f in range(len(mesh.stencil)):
        far_left, left, right, far_right = mesh.stencil[f]
        on_left = face_state(W, far_left, left, right)
        on_right = face_state(W, far_right, right, left)
        flux = roe_flux(on_left, on_right, mesh.normals[f])
        for k in range(4):
            R[left, k] += flux[k]
            R[right, k] -= flux[k]


@compiled
def add_wall_fluxes(mesh: CellMesh, W: np.ndarray, R: np.ndarray) -> None:
    """Only pressure acts through a slip wall: linear from the two cells next to it."""
    for f in range(len(mesh.wall)):
        cell, next_cell = mesh.wall[f]
        # Never below half the cell's own, so that the first, wild steps cannot break down.
        pressure = max(1.5 * W[cell, 3] - 0.5 * W[next_cell, 3], 0.5 * W[cell, 3])
        R[cell, 1] += pressure * mesh.wall_normals[f, 0]
        R[cell, 2] += pressure * mesh.wall_normals[f, 1]


@compiled
def add_far_fluxes(mesh: CellMesh, W: np.ndarray, free: Four, R: np.ndarray) -> None:
    """Roe's flux against the free stream: leaving waves leave, entering ones carry nothing."""
    for f in range(len(mesh.far)):
        cell = mesh.far[f]
        inside = (W[cell, 0], W[cell, 1], W[cell, 2], W[cell, 3])
        flux = roe_flux(inside, free, mesh.far_normals[f])
        for k in range(4):
            R[cell, k] += flux[k]


@compiled
def face_state(W: np.ndarray, before: int, here: int, after: int) -> Four:
    """W at the face between cells ``here`` and ``after``, seen from ``here``."""
    if before < 0:  # beyond the boundary the flow goes on linearly: the face has the mean
        return (
            0.5 * (W[here, 0] + W[after, 0]),
            0.5 * (W[here, 1] + W[after, 1]),
            0.5 * (W[here, 2] + W[after, 2]),
            0.5 * (W[here, 3] + W[after, 3]),
        )
    return (
        face_value(W[before, 0], W[here, 0], W[after, 0]),
        face_value(W[before, 1], W[here, 1], W[after, 1]),
        face_value(W[before, 2], W[here, 2], W[after, 2]),
        face_value(W[before, 3], W[here, 3], W[after, 3]),
    )


@compiled
def face_value(before: float, here: float, after: float) -> float:
    r"""Value half way between ``here`` and ``after``: by a parabola where smooth, else limited.

    Van Albada's :math:`s = 2\Delta_-\Delta_+ / (\Delta_-^2 + \Delta_+^2)` is differentiable where
    it is positive, which Newton's method needs; s = 1 gives the parabola, s = 0 the cell's value.
    """
    back, ahead = here - before, after - here
    s = (2 * back * ahead + SMOOTH) / (back * back + ahead * ahead + SMOOTH)
    s = max(s, 0.0)
    return here + 0.25 * s * ((1 - s / 3) * back + (1 + s / 3) * ahead)


@compiled
def damped(speed: float, floor: float) -> float:
    """Absolute value, rounded off below ``floor``: Harten's fix against expansion shocks."""
    size = abs(speed)
    return size if size > floor else 0.5 * (size * size / floor + floor)


@compiled
def roe_flux(left: Four, right: Four, normal: np.ndarray) -> Four:
    r"""Roe's flux through a face, times its length.

    :math:`F = \tfrac12 (F(W_l) + F(W_r)) - \tfrac12 |\hat A| (U_r - U_l)`; the second part is a sum
    over the waves of Roe's average of both states: two sound waves, entropy and shear.
    """
    rl, ul, vl, pl = left
    rr, ur, vr, pr = right
    length = np.sqrt(normal[0] ** 2 + normal[1] ** 2)
    nx, ny = normal[0] / length, normal[1] / length
    ql, qr = ul * nx + vl * ny, ur * nx + vr * ny  # normal velocities
    hl = GAMMA / (GAMMA - 1) * pl / rl + 0.5 * (ul * ul + vl * vl)  # total enthalpies
    hr = GAMMA / (GAMMA - 1) * pr / rr + 0.5 * (ur * ur + vr * vr)

    root = np.sqrt(rr / rl)
    of_left, of_right = 1 / (1 + root), root / (1 + root)
    r = root * rl
    u, v = of_left * ul + of_right * ur, of_left * vl + of_right * vr
    h = of_left * hl + of_right * hr
    q, kinetic = u * nx + v * ny, 0.5 * (u * u + v * v)
    sound2 = (GAMMA - 1) * (h - kinetic)
    sound = np.sqrt(sound2)

    floor = ENTROPY_FIX * (abs(q) + sound)
    dp, dq = pr - pl, qr - ql
    against = damped(q - sound, floor) * (dp - r * sound * dq) / (2 * sound2)
    along = damped(q + sound, floor) * (dp + r * sound * dq) / (2 * sound2)
    entropy = abs(q) * (rr - rl - dp / sound2)
    shear_x = abs(q) * r * (ur - ul - dq * nx)
    shear_y = abs(q) * r * (vr - vl - dq * ny)

    waves, swing = against + along + entropy, sound * (along - against)
    ml, mr, p = rl * ql, rr * qr, pl + pr
    heat = (against + along) * h + swing * q + entropy * kinetic + u * shear_x + v * shear_y
    return (
        0.5 * length * (ml + mr - waves),
        0.5 * length * (ml * ul + mr * ur + p * nx - waves * u - swing * nx - shear_x),
        0.5 * length * (ml * vl + mr * vr + p * ny - waves * v - swing * ny - shear_y),
        0.5 * length * (ml * hl + mr * hr - heat),
    )


@compiled
def wave_speeds(mesh: CellMesh, W: np.ndarray) -> np.ndarray:
    """For every cell the fastest wave's speed through its faces, times half their lengths."""
    speeds = np.zeros(len(W))
    for f in range(len(mesh.stencil)):
        nx, ny = mesh.normals[f]
        length = np.sqrt(nx * nx + ny * ny)
        for c in mesh.stencil[f, 1:3]:
            sound = np.sqrt(GAMMA * W[c, 3] / W[c, 0])
            speeds[c] += 0.5 * (abs(W[c, 1] * nx + W[c, 2] * ny) + length * sound)
    return speeds
