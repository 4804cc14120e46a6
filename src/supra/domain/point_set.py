"""Scattered points with quadrature weights."""

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from supra.domain.errors import DomainError


@runtime_checkable
class Domain(Protocol):
    """Where functions are sampled: positions, and weights that sum to 1.

    `Mesh`, `Grid`, `SphereGrid` and `PointSet` are domains.
    """

    @property
    def points(self) -> Float[np.ndarray, "points dimensions"]: ...

    @property
    def weights(self) -> Float[np.ndarray, " points"]: ...

    def __hash__(self) -> int: ...


@dataclass(frozen=True, eq=False)
class PointSet:
    """Points without cells; equal weights unless given (they are scaled to sum to 1)."""

    points: Float[np.ndarray, "points dimensions"]
    weights: Float[np.ndarray, " points"]

    def __init__(self, points: Any, weights: Any = None) -> None:
        points = np.array(points, dtype=np.float64)
        if points.ndim != 2 or not len(points) or not 1 <= points.shape[1] <= 3:
            raise DomainError(
                f"Points must have shape (points, 1), (points, 2) or (points, 3) and not be "
                f"empty: got {points.shape}."
            )
        if not np.isfinite(points).all():
            raise DomainError("Points must be finite: got NaN or infinite coordinates.")
        weights = np.ones(len(points)) if weights is None else np.array(weights, dtype=np.float64)
        if weights.shape != (len(points),) or not (weights >= 0).all() or not weights.sum() > 0:
            raise DomainError(
                f"A point set needs one non-negative weight per point, not all zero: got "
                f"{weights.shape} weights for {len(points)} points."
            )
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "weights", weights / weights.sum())
