r"""A rectangular sheet of four-node quadrilaterals: its nodes, and the forces inside it.

Forces are those of the undeformed body ("total Lagrangian"),

.. math:: f_a = \int P\, \nabla_X N_a \, dX,

by Gauss's two by two points, where the elements are equal rectangles and the gradients known once
for all. Two by two points, because one point needs an artificial stiffness against "hourglass"
modes that plastic flow does not have; they do not lock, because the sheet's thickness is free.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from supra.problems.compiled import compiled
from supra.problems.elastoplastic import (
    Four,
    Moduli,
    conjugate,
    inlined,
    logarithm,
    respond,
)
from supra.problems.errors import ProblemError

GAUSS = 3**-0.5
POINTS = ((-GAUSS, -GAUSS), (GAUSS, -GAUSS), (GAUSS, GAUSS), (-GAUSS, GAUSS))
# Elements are worked on in strips of this many, whose numbers lie in rows of this length: with
# lengths that are known the compiler treats several elements at once.
WIDTH = 32


class Sheet(NamedTuple):
    """Where a sheet is and how it moves; the loops change it in place.

    Nodes are numbered along x first, the lowest row first. A tuple of arrays, because compiled
    loops take it as it is. `from_rectangle` makes one.

    Attributes:
        position: x and y of the nodes.
        velocity: of the nodes, half a step of time behind the positions.
        force: of the material on the nodes.
        mass: of the nodes.
        corners: an element's nodes, counterclockwise, for full strips: the last ones are repeated.
        state: plastic state, in strips: for each Gauss point the rows C_p^{-1} 11, 12, 22, and α.
        cells: number of elements along x and y.
        size: of an undeformed element, along x and y.
        density: of the undeformed material.
    """

    position: Float[np.ndarray, "2 nodes"]
    velocity: Float[np.ndarray, "2 nodes"]
    force: Float[np.ndarray, "2 nodes"]
    mass: Float[np.ndarray, " nodes"]
    corners: Int[np.ndarray, "4 padded"]
    state: Float[np.ndarray, "strips 4 rows"]
    cells: tuple[int, int]
    size: tuple[float, float]
    density: float

    @classmethod
    def from_rectangle(
        cls, length: float, height: float, cells: tuple[int, int], density: float
    ) -> "Sheet":
        """An undeformed sheet [0, length] × [0, height] at rest, of unit thickness."""
        nx, ny = cells
        if min(nx, ny) < 1 or min(length, height) <= 0:
            raise ProblemError(
                "A sheet needs positive sides and at least one element along each: got "
                f"{length} × {height} in {nx} × {ny} elements."
            )
        x, y = np.linspace(0, length, nx + 1), np.linspace(0, height, ny + 1)
        corners = _corners(nx, ny)
        size = (length / nx, height / ny)
        nodes = (nx + 1) * (ny + 1)
        share = density * size[0] * size[1] / 4
        mass = share * np.bincount(corners.ravel(), minlength=nodes)
        strips = -(-nx * ny // WIDTH)
        virgin = np.repeat([1.0, 0.0, 1.0, 0.0], WIDTH)
        return cls(
            position=np.stack([np.tile(x, ny + 1), np.repeat(y, nx + 1)]),
            velocity=np.zeros((2, nodes)),
            force=np.zeros((2, nodes)),
            mass=mass,
            corners=np.pad(corners, ((0, 0), (0, strips * WIDTH - nx * ny)), mode="edge"),
            state=np.tile(virgin, (strips, 4, 1)),
            cells=cells,
            size=size,
            density=density,
        )

    @property
    def grid(self) -> Float[np.ndarray, "columns rows 2"]:
        """Where the nodes are, by column and row; the lowest row first."""
        nx, ny = self.cells
        return self.position.reshape(2, ny + 1, nx + 1).transpose(2, 1, 0).copy()

    @property
    def outline(self) -> Int[np.ndarray, " outline"]:
        """The nodes on the sides and the top, without those on the bottom."""
        nx, ny = self.cells
        number = np.arange((nx + 1) * (ny + 1)).reshape(ny + 1, nx + 1)
        return np.concatenate([number[1:-1, 0], number[1:-1, -1], number[-1]])

    def plastic(self) -> Float[np.ndarray, "elements 4 4"]:
        """For every element and Gauss point the entries 11, 12, 22 of C_p^{-1}, and α."""
        strips = len(self.state)
        rows = self.state.reshape(strips, 4, 4, WIDTH).transpose(0, 3, 1, 2)
        return rows.reshape(strips * WIDTH, 4, 4)[: self.cells[0] * self.cells[1]]


def _corners(nx: int, ny: int) -> np.ndarray:
    number = np.arange((nx + 1) * (ny + 1)).reshape(ny + 1, nx + 1)
    around = (number[:-1, :-1], number[:-1, 1:], number[1:, 1:], number[1:, :-1])
    return np.stack([nodes.ravel() for nodes in around])


@compiled
def set_forces(sheet: Sheet, law: Moduli) -> None:
    """Update the state to where the nodes are now, and set the material's forces on them."""
    sheet.force[:] = 0
    elements = sheet.cells[0] * sheet.cells[1]
    work = np.empty(16 * WIDTH)
    for s in range(len(sheet.state)):
        gather(sheet, s * WIDTH, work)
        for point in range(4):
            update_strip(work, sheet.state[s, point], POINTS[point], sheet.size, law)
        scatter(sheet, s * WIDTH, min(WIDTH, elements - s * WIDTH), work)


@compiled
def gather(sheet: Sheet, first: int, work: np.ndarray) -> None:
    """Coordinates of a strip's corners: x of the four, then y; and no forces yet."""
    for corner in range(4):
        for k in range(WIDTH):
            node = sheet.corners[corner, first + k]
            work[corner * WIDTH + k] = sheet.position[0, node]
            work[(4 + corner) * WIDTH + k] = sheet.position[1, node]
    work[8 * WIDTH :] = 0


@compiled
def scatter(sheet: Sheet, first: int, count: int, work: np.ndarray) -> None:
    """Add the forces of a strip's first ``count`` elements to the nodes."""
    for corner in range(4):
        for k in range(count):
            node = sheet.corners[corner, first + k]
            sheet.force[0, node] += work[(8 + corner) * WIDTH + k]
            sheet.force[1, node] += work[(12 + corner) * WIDTH + k]


@compiled
def update_strip(
    work: np.ndarray,
    state: np.ndarray,
    point: tuple[float, float],
    size: tuple[float, float],
    law: Moduli,
) -> None:
    """One Gauss point of each element in a strip: new state, and its share of the forces."""
    low, high = 0.5 * (1 - point[1]) / size[0], 0.5 * (1 + point[1]) / size[0]
    left, right = 0.5 * (1 - point[0]) / size[1], 0.5 * (1 + point[0]) / size[1]
    weight = 0.25 * size[0] * size[1]
    for k in range(WIDTH):
        x0, x1, x2, x3 = work[k], work[WIDTH + k], work[2 * WIDTH + k], work[3 * WIDTH + k]
        y0, y1 = work[4 * WIDTH + k], work[5 * WIDTH + k]
        y2, y3 = work[6 * WIDTH + k], work[7 * WIDTH + k]
        F = (
            low * (x1 - x0) + high * (x2 - x3),
            left * (x3 - x0) + right * (x2 - x1),
            low * (y1 - y0) + high * (y2 - y3),
            left * (y3 - y0) + right * (y2 - y1),
        )
        plastic = (state[k], state[WIDTH + k], state[2 * WIDTH + k])
        stress, plastic, alpha = respond(F, plastic, state[3 * WIDTH + k], law)
        state[k], state[WIDTH + k], state[2 * WIDTH + k] = plastic
        state[3 * WIDTH + k] = alpha
        xx, xy = weight * stress[0], weight * stress[1]
        yx, yy = weight * stress[2], weight * stress[3]
        work[8 * WIDTH + k] += low * xx + left * xy
        work[9 * WIDTH + k] += right * xy - low * xx
        work[10 * WIDTH + k] -= high * xx + right * xy
        work[11 * WIDTH + k] += high * xx - left * xy
        work[12 * WIDTH + k] += low * yx + left * yy
        work[13 * WIDTH + k] += right * yy - low * yx
        work[14 * WIDTH + k] -= high * yx + right * yy
        work[15 * WIDTH + k] += high * yx - left * yy


@inlined
def gradient(sheet: Sheet, element: int, point: tuple[float, float]) -> Four:
    """Deformation gradient F at a Gauss point."""
    low, high = 0.5 * (1 - point[1]) / sheet.size[0], 0.5 * (1 + point[1]) / sheet.size[0]
    left, right = 0.5 * (1 - point[0]) / sheet.size[1], 0.5 * (1 + point[0]) / sheet.size[1]
    a, b = sheet.corners[0, element], sheet.corners[1, element]
    c, d = sheet.corners[2, element], sheet.corners[3, element]
    X = sheet.position
    return (
        low * (X[0, b] - X[0, a]) + high * (X[0, c] - X[0, d]),
        left * (X[0, d] - X[0, a]) + right * (X[0, c] - X[0, b]),
        low * (X[1, b] - X[1, a]) + high * (X[1, c] - X[1, d]),
        left * (X[1, d] - X[1, a]) + right * (X[1, c] - X[1, b]),
    )


@compiled
def stable_step(sheet: Sheet, element: int, law: Moduli) -> float:
    r"""The longest step of the leapfrog that an element allows, :math:`2 / \omega`; 0 if it folds.

    :math:`\omega^2 \le 4 c^2 \lambda` with the larger root λ of

    .. math:: \lambda^2 - (A + B) \lambda + (1 - \nu^2)\, D = 0, \qquad
              A = |\nabla X|^2 / h_x^2, \quad B = |\nabla Y|^2 / h_y^2, \quad
              D = (h_x h_y \det F)^{-2}.

    For a rectangle these are its two modes of uniform stretching; the bending modes are softer.
    """
    largest = 0.0
    hx, hy = sheet.size
    for point in POINTS:
        f11, f12, f21, f22 = gradient(sheet, element, point)
        determinant = f11 * f22 - f12 * f21
        if determinant <= 0:
            return 0.0
        D = 1 / (hx * hy * determinant) ** 2
        total = D * (hy * hy * (f22 * f22 + f12 * f12) + hx * hx * (f21 * f21 + f11 * f11))
        root = np.sqrt(max(total * total - 4 * (1 - law.poisson**2) * D, 0.0))
        largest = max(largest, 0.5 * (total + root))
    return 1 / (law.wave_speed * np.sqrt(largest))


@compiled
def weigh(sheet: Sheet, law: Moduli, shortest: float) -> float:
    r"""Set the nodes' masses, and return the step that is stable with them.

    An element that would need steps shorter than ``shortest`` is made heavier until it does not
    (selective mass scaling). An element that has folded gives 0.
    """
    longest = np.inf
    share = 0.25 * sheet.density * sheet.size[0] * sheet.size[1]
    sheet.mass[:] = 0
    for element in range(sheet.cells[0] * sheet.cells[1]):
        own = stable_step(sheet, element, law)
        if own <= 0:
            return 0.0
        longest = min(longest, max(own, shortest))
        for corner in range(4):
            sheet.mass[sheet.corners[corner, element]] += share * max(1.0, shortest / own) ** 2
    return longest


@compiled
def energies(sheet: Sheet, law: Moduli) -> tuple[float, float, float]:
    r"""Kinetic and elastic energy, and plastic work :math:`\int (\sigma_Y + H \alpha/2) \alpha`."""
    kinetic = 0.0
    for node in range(len(sheet.mass)):
        u, v = sheet.velocity[:, node]
        kinetic += 0.5 * sheet.mass[node] * (u * u + v * v)
    elastic, plastic = 0.0, 0.0
    weight = 0.25 * sheet.size[0] * sheet.size[1]
    for element in range(sheet.cells[0] * sheet.cells[1]):
        for p in range(4):
            rows = sheet.state[element // WIDTH, p]
            k = element % WIDTH
            C = (rows[k], rows[WIDTH + k], rows[2 * WIDTH + k])
            alpha = rows[3 * WIDTH + k]
            mean, half, _, _ = logarithm(conjugate(gradient(sheet, element, POINTS[p]), C))
            elastic += weight * (law.mean * mean * mean + 2 * law.shear * half * half)
            plastic += weight * (law.strength + 0.5 * law.hardening * alpha) * alpha
    return kinetic, elastic, plastic
