"""Tensor-product grids on the unit box, plain or mapped to physical positions."""

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Literal

import numpy as np
from jaxtyping import Float

from supra.domain.choice import check_choice, whole_numbers
from supra.domain.errors import DomainError
from supra.domain.mesh import Mesh

Nodes = Literal["uniform", "chebyshev"]


@dataclass(frozen=True, eq=False, init=False)
class Grid:
    """A grid of 1, 2 or 3 axes on the unit box, its points flattened in C order.

    A periodic axis has nodes ``i / n``; any other includes both ends, evenly spaced or at the
    Chebyshev points. ``points`` of shape ``(*shape, d)`` maps the grid to physical positions;
    bases of functions on the box use the box's own coordinates.

    >>> Grid((64, 64), periodic=True)
    Grid((64, 64), periodic=(True, True))
    """

    shape: tuple[int, ...]
    periodic: tuple[bool, ...]
    nodes: Nodes
    mapped: Float[np.ndarray, "points dimensions"] | None

    def __init__(
        self,
        shape: int | tuple[int, ...],
        periodic: bool | tuple[bool, ...] = False,
        *,
        points: Float[np.ndarray, "..."] | None = None,
        nodes: Nodes = "uniform",
    ) -> None:
        shape = whole_numbers("shape", shape, DomainError)
        each = np.full(len(shape), periodic) if np.ndim(periodic) == 0 else np.asarray(periodic)
        periodic = tuple(map(bool, each))
        _check_axes(shape, periodic, nodes)
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "periodic", periodic)
        object.__setattr__(self, "nodes", nodes)
        object.__setattr__(self, "mapped", None if points is None else _flattened(points, shape))

    @property
    def dimension(self) -> int:
        return len(self.shape)

    @cached_property
    def axes(self) -> tuple[Float[np.ndarray, " n"], ...]:
        """Coordinates of each axis in [0, 1]."""
        return tuple(self._axis(n, p) for n, p in zip(self.shape, self.periodic, strict=True))

    @cached_property
    def axis_weights(self) -> tuple[Float[np.ndarray, " n"], ...]:
        """Quadrature weights of each axis, summing to 1.

        Equal for a periodic axis, trapezoidal for an even one with ends, Clenshaw–Curtis for
        Chebyshev points.
        """
        return tuple(self._rule(n, p) for n, p in zip(self.shape, self.periodic, strict=True))

    @cached_property
    def coordinates(self) -> Float[np.ndarray, "points axes"]:
        """Coordinates of all points in the unit box."""
        return np.stack(np.meshgrid(*self.axes, indexing="ij"), axis=-1).reshape(-1, len(self.axes))

    @property
    def points(self) -> Float[np.ndarray, "points dimensions"]:
        """Physical positions of all points: the mapped ones, or those in the unit box."""
        return self.coordinates if self.mapped is None else self.mapped

    @cached_property
    def weights(self) -> Float[np.ndarray, " points"]:
        """Quadrature weights, summing to 1: of the box, or of the physical domain if mapped.

        Bases of functions on the box use those of the box in any case: `axis_weights`.
        """
        if self.mapped is not None:
            return self.to_mesh().weights
        weights = np.ones(1)
        for axis in self.axis_weights:
            weights = np.outer(weights, axis).ravel()
        return weights

    def to_mesh(self) -> Mesh:
        """The simplicial mesh of the physical positions; a periodic axis is left open."""
        return Mesh.from_structured(self.points.reshape(*self.shape, -1), name="grid")

    def _axis(self, count: int, periodic: bool) -> np.ndarray:
        if periodic:
            return np.arange(count) / count
        if self.nodes == "chebyshev":
            return (1 - np.cos(np.pi * np.arange(count) / (count - 1))) / 2
        return np.linspace(0, 1, count)

    def _rule(self, count: int, periodic: bool) -> np.ndarray:
        if periodic:
            return np.full(count, 1 / count)
        if self.nodes == "chebyshev":
            return clenshaw_curtis_weights(count)
        weights = np.full(count, 1 / (count - 1))
        weights[[0, -1]] /= 2
        return weights

    def __repr__(self) -> str:
        mapped = "" if self.mapped is None else f", mapped to {self.mapped.shape[1]}-D points"
        nodes = "" if self.nodes == "uniform" else f", nodes={self.nodes!r}"
        return f"Grid({self.shape}, periodic={self.periodic}{nodes}{mapped})"


def clenshaw_curtis_weights(count: int) -> Float[np.ndarray, " n"]:
    """Weights at the Chebyshev points of [0, 1] that integrate polynomials of degree n - 1."""
    last = count - 1
    angle = np.pi * np.arange(count) / last
    total = np.ones(count)
    for k in range(1, last // 2 + 1):
        factor = 1 if 2 * k == last else 2
        total -= factor * np.cos(2 * k * angle) / (4 * k**2 - 1)
    weights = total / last
    weights[[0, -1]] /= 2
    return weights


def _check_axes(shape: tuple[int, ...], periodic: tuple[bool, ...], nodes: str) -> None:
    if not 1 <= len(shape) <= 3 or min(shape) < 2:
        raise DomainError(f"A grid has 1 to 3 axes of at least 2 points: got shape {shape}.")
    if len(periodic) != len(shape):
        raise DomainError(f"`periodic` needs one value per axis of {shape}: got {periodic}.")
    check_choice("nodes", nodes, Nodes, DomainError)


def _flattened(points: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    points = np.array(points, dtype=np.float64)
    flat = (prod(shape),)
    if points.shape[:-1] not in (shape, flat) or not 1 <= points.shape[-1] <= 3:
        raise DomainError(
            f"A grid of shape {shape} is mapped by points of shape {(*shape, 'd')} or "
            f"{(*flat, 'd')}, d at most 3: got {points.shape}."
        )
    if not np.isfinite(points).all():
        raise DomainError("The points that a grid is mapped to must be finite.")
    return points.reshape(-1, points.shape[-1])
