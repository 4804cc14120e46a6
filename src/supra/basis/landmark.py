"""Functions known at any point, to which the bases of different domains are compared."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int

from supra.basis.base import Boundary
from supra.basis.cosine import CosineBasis
from supra.basis.errors import BasisError

_DIGITS = 9  # eigenvalues that agree in so many keep the order of their wave numbers


@dataclass(frozen=True, eq=False)
class Landmarks:
    r"""The smoothest eigenfunctions of a box: products of cosines, or of sines if held at zero.

    Unlike a `CosineBasis` they are the first by eigenvalue, whatever the proportions of the box:
    as close as functions of the box come to the first eigenfunctions of a domain inside of it.

    Attributes:
        low, high: corners of the box; an axis without extent takes no part.
        count: how many.
        boundary: cosines for a free boundary, sines for one held at zero.
        waves: number of each function along each axis, made here.

    >>> Landmarks(np.zeros(2), np.array([2.0, 1.0]), 4).waves.tolist()
    [[0, 0], [1, 0], [2, 0], [0, 1]]
    """

    low: Float[np.ndarray, " axes"]
    high: Float[np.ndarray, " axes"]
    count: int
    boundary: Boundary = "neumann"
    waves: Int[np.ndarray, "count extended_axes"] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.low.shape != self.high.shape or not (self.high > self.low).any():
            raise BasisError(
                f"A box needs two corners apart from each other: got {self.low} and {self.high}."
            )
        extents = (self.high - self.low)[self._extended]
        waves = _smoothest(extents, self.count, first=int(self.boundary == "dirichlet"))
        object.__setattr__(self, "waves", waves)

    @classmethod
    def around(
        cls, clouds: Sequence[np.ndarray], count: int, boundary: Boundary = "neumann"
    ) -> "Landmarks":
        """Of the box around the points of all domains."""
        return cls(*bounding_box(clouds), count, boundary)

    def __call__(self, points: Float[np.ndarray, "points axes"]) -> Float[np.ndarray, "points k"]:
        """The functions at some points; outside of the box they go on periodically."""
        extended = self._extended
        extents = (self.high - self.low)[extended]
        inside = (points[:, extended] - self.low[extended]) / extents
        values = np.ones((len(points), self.count))
        for axis, numbers in enumerate(self.waves.T):
            most = int(numbers.max()) + 1
            of_axis = CosineBasis(most, self.boundary).axis_values(most, inside[:, axis])
            values *= of_axis[:, numbers]
        return values

    @property
    def _extended(self) -> np.ndarray:
        return self.high > self.low


def bounding_box(clouds: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest coordinates of all points."""
    low = np.min([points.min(axis=0) for points in clouds], axis=0)
    high = np.max([points.max(axis=0) for points in clouds], axis=0)
    return low, high


def _smoothest(extents: np.ndarray, count: int, first: int) -> Int[np.ndarray, "count axes"]:
    """Wave numbers, less ``first``, of the ``count`` lowest eigenvalues; ties in order of axes."""
    radius = 1 / extents.max()
    while True:
        axes = [np.arange(int(radius * extent) + 1) for extent in extents]
        waves = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(extents))
        size = (((waves + first) / extents) ** 2).sum(axis=1)
        # Within the radius none is left out; beyond it some are.
        complete = size <= radius**2
        if complete.sum() >= count:
            break
        radius *= 1.5
    waves, size = waves[complete], size[complete]
    tied = np.round(size / size.max(), _DIGITS)
    # Of equal eigenvalues those first that vary along the first axes.
    order = np.lexsort((*-waves.T[::-1], tied))
    return waves[order[:count]]
