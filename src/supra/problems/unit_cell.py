"""A square cell with a hole, its bottom clamped and its top pulled: mesh and boundary."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import pi

import numpy as np
from jaxtyping import Bool, Float, Int

from supra.problems.errors import ProblemError
from supra.problems.rubber import Rubber
from supra.problems.solid import Places, Solid

SIDES = 4  # right, top, left, bottom: as they are met on the way around


@dataclass(frozen=True, eq=False)
class UnitCell:
    r"""The unit square around a hole as an O-grid of biquadratic elements.

    Grid lines are rays from the centre, evenly spaced in the angle from the lower right corner
    counterclockwise, so that corners are nodes, and rings from the hole to the square. Along a ray
    distances from the centre grow geometrically: elements keep their proportions and are small at
    the hole, where stresses are concentrated. No hole folds this grid, and within each side nodes
    are smooth functions of their place in it.

    Nodes are numbered along the ring first, the innermost ring first.

    Attributes:
        radius: of the hole by the angle, less than ½.
        around: elements around the hole, a multiple of 4.
        outwards: elements from the hole to the square.
    """

    radius: Callable[[Float[np.ndarray, " n"]], Float[np.ndarray, " n"]]
    around: int
    outwards: int

    def __post_init__(self) -> None:
        if self.around < 2 * SIDES or self.around % SIDES or self.outwards < 1:
            raise ProblemError(
                f"A cell needs a multiple of 4, at least 8, elements `around` its hole and at "
                f"least 1 `outwards`: got around={self.around}, outwards={self.outwards}."
            )

    @cached_property
    def grid(self) -> Float[np.ndarray, "rings rays 2"]:
        """The nodes, by ring and ray."""
        angle = pi * (np.arange(2 * self.around) / self.around - 1 / 4)
        ray = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
        inner, outer = self.radius(angle), 0.5 / np.abs(ray).max(axis=1)
        if not (inner.min() > 0 and (inner < outer).all()):
            raise ProblemError(
                f"A hole must have a positive radius and stay inside the cell: its radius goes "
                f"from {inner.min():.3g} to {inner.max():.3g}."
            )
        t = np.linspace(0, 1, 2 * self.outwards + 1)[:, None]
        distance = inner ** (1 - t) * outer**t
        return 0.5 + distance[..., None] * ray

    def solid(self, law: Rubber) -> Solid:
        """The undeformed cell of a material."""
        return Solid(self.grid.reshape(-1, 2), self.cells, law)

    @cached_property
    def cells(self) -> Int[np.ndarray, "elements 9"]:
        """Nodes of the elements: the inner ones first, counterclockwise in each ring."""
        number = self._numbers
        closed = np.concatenate([number, number[:, :1]], axis=1)
        windows = np.lib.stride_tricks.sliding_window_view(closed, (3, 3))
        return windows[::2, ::2].reshape(-1, 9)

    @property
    def bottom(self) -> Int[np.ndarray, " nodes"]:
        """Nodes on the bottom, from left to right."""
        return self._side(3)

    @property
    def top(self) -> Int[np.ndarray, " nodes"]:
        """Nodes on the top, from right to left."""
        return self._side(1)

    @property
    def clamped(self) -> Bool[np.ndarray, "nodes 2"]:
        """The bottom, held in both directions."""
        held = np.zeros((self._numbers.size, 2), dtype=bool)
        held[self.bottom] = True
        return held

    def pull(self, traction: float) -> Float[np.ndarray, "nodes 2"]:
        """Forces on the nodes of an upward force per undeformed length of the top."""
        along = self.grid.reshape(-1, 2)[self.top, 0]
        pieces = np.lib.stride_tricks.sliding_window_view(np.arange(len(along)), 3)[::2]
        # ∫ φ_i φ_j' ds of the quadratic functions on a piece
        product = np.array([[-3, 4, -1], [-4, 0, 4], [1, -4, 3]]) / 6
        load = np.zeros((self._numbers.size, 2))
        np.add.at(load[:, 1], self.top[pieces], -traction * along[pieces] @ product.T)
        return load

    def gauss_grid(self, blocks: tuple[int, int]) -> Places:
        """3 × 3 Gauss points of each of so many blocks of elements, outwards and around.

        A block is a rectangle of elements of the grid. Points are numbered as nodes are: those
        of the innermost ring first.
        """
        rings, rays = (
            _gauss_along(elements, count)
            for elements, count in zip((self.outwards, self.around), blocks, strict=True)
        )
        ring, ray = np.meshgrid(rings[0], rays[0], indexing="ij")
        local = np.stack(np.meshgrid(rings[1], rays[1], indexing="ij"), axis=-1)
        return Places((ring * self.around + ray).ravel(), local.reshape(-1, 2))

    def _side(self, side: int) -> np.ndarray:
        per_side = 2 * self.around // SIDES
        rays = np.arange(side * per_side, (side + 1) * per_side + 1) % (2 * self.around)
        return self._numbers[-1, rays]

    @property
    def _numbers(self) -> np.ndarray:
        shape = (2 * self.outwards + 1, 2 * self.around)
        return np.arange(shape[0] * shape[1]).reshape(shape)


def _gauss_along(elements: int, blocks: int) -> tuple[np.ndarray, np.ndarray]:
    """Gauss points of blocks along an axis: in which element each one is, and where in it."""
    gauss = (1 + np.polynomial.legendre.leggauss(3)[0]) / 2
    position = (np.arange(blocks)[:, None] + gauss).ravel() * (elements // blocks)
    element = np.floor(position).astype(int)
    return element, position - element
