"""Tensor-product bases on the unit box: a subclass gives the functions of one axis."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from math import prod

import numpy as np
from jaxtyping import Float

from supra.basis.base import Basis
from supra.basis.errors import BasisError
from supra.basis.orthonormal import Defect, sampled_orthonormal
from supra.basis.sampled import Sampled, SeparableBasis
from supra.domain import Domain, Grid
from supra.domain.choice import whole_numbers


class TensorBasis(Basis):
    """Products of one-dimensional functions on [0, 1], one factor per axis.

    On a `Grid` the result is separable. On any other domain the functions are evaluated at its
    points, taken relative to their bounding box.

    Attributes:
        counts: the number asked for per axis (what it counts is the subclass's to say).
    """

    def __init__(self, counts: int | Sequence[int]) -> None:
        self.counts = whole_numbers("counts", counts, BasisError)
        if not 1 <= len(self.counts) <= 3 or min(self.counts) < 1:
            raise BasisError(
                f"{type(self).__name__} takes 1 to 3 positive counts, one per axis: got {counts}."
            )

    @abstractmethod
    def axis_modes(self, count: int) -> int:
        """Number of functions of one axis."""

    @abstractmethod
    def axis_values(self, count: int, x: Float[np.ndarray, " n"]) -> Float[np.ndarray, "n modes"]:
        """The functions of one axis at ``x`` in [0, 1], orthonormal there for the mean of uv."""

    def axis_eigenvalues(self, count: int) -> Float[np.ndarray, " modes"]:
        """Eigenvalues of −d²/dx² of the axis functions, if they are eigenfunctions."""
        raise NotImplementedError(f"{type(self).__name__} is not made of Laplacian eigenfunctions.")

    def prepared(
        self, values: Float[np.ndarray, "n modes"], weights: Float[np.ndarray, " n"]
    ) -> Float[np.ndarray, "n modes"]:
        """Values as used with these weights; by default unchanged."""
        return values

    @property
    def orthonormal(self) -> bool:
        """Whether the functions are meant to be orthonormal; others are taken as they are."""
        return True

    @property
    def modes(self) -> int:
        return prod(self.axis_modes(count) for count in self.counts)

    @property
    def eigenvalues(self) -> Float[np.ndarray, " modes"]:
        total = np.zeros(1)
        for count in self.counts:
            total = np.add.outer(total, self.axis_eigenvalues(count)).ravel()
        return total

    def _sample(self, domain: Domain, defect: Defect) -> Sampled:
        defect = defect if self.orthonormal else "keep"
        if isinstance(domain, Grid):
            return self._on_grid(domain, defect)
        box = self._in_box(domain.points)
        values = np.ones((len(box), 1))
        for axis, count in enumerate(self.counts):
            factor = self.axis_values(count, box[:, axis])
            values = (values[:, :, None] * factor[:, None, :]).reshape(len(box), -1)
        values = self.prepared(values, domain.weights)
        return sampled_orthonormal(values, domain.weights, defect, repr(self))

    def _on_grid(self, grid: Grid, defect: Defect) -> SeparableBasis:
        if grid.dimension != len(self.counts):
            raise BasisError(
                f"{self!r} has {len(self.counts)} axes and cannot be sampled on {grid!r}."
            )
        axes, name = [], f"{self!r} along one axis"
        for count, x, weights, periodic in zip(
            self.counts, grid.axes, grid.axis_weights, grid.periodic, strict=True
        ):
            values = self.prepared(self.axis_values(count, x), weights)
            axis = sampled_orthonormal(values, weights, defect, name)
            axes.append(replace(axis, periodic=periodic))
        return SeparableBasis(tuple(axes))

    def _in_box(self, points: np.ndarray) -> np.ndarray:
        if points.shape[1] != len(self.counts):
            raise BasisError(
                f"{self!r} has {len(self.counts)} axes and cannot be sampled at points in "
                f"{points.shape[1]}-D."
            )
        low, extent = points.min(axis=0), np.ptp(points, axis=0)
        return (points - low) / np.where(extent > 0, extent, 1)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.counts})"
