"""Reads the samples of public sets, each when it is asked for."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from supra.data.dataset import Sample
from supra.data.errors import DataError
from supra.data.public.layout import Array, PublicSet
from supra.data.public.npy import MappedArray
from supra.domain import Domain, Grid, PointSet


@dataclass(frozen=True, eq=False)
class PublicReader:
    """Takes a sample out of the arrays of a set; pickled with its set and the files' paths.

    Attributes:
        arrays: in memory, or mapped from files; axes as in the table of the set.
        domain: shared by all samples, or None: each brings its own positions.
        place: what messages call the source.
    """

    described: PublicSet
    arrays: Mapping[str, np.ndarray | MappedArray]
    domain: Domain | None
    place: str

    def __call__(self, index: int) -> Sample:
        values = {array.key: self._one(array, index) for array in self.described.needed}
        fields = self.described.assemble(values)
        inputs, targets = _ready(fields.inputs), _ready(fields.targets)
        if not (np.isfinite(inputs).all() and np.isfinite(targets).all()):
            raise DataError(
                f"Sample {index} of {self.described.name} in {self.place} holds NaN, infinite "
                f"values or values too large for single precision."
            )
        return Sample(inputs, targets, self.domain or self._own(fields.positions))

    def _one(self, array: Array, index: int) -> np.ndarray:
        return self.arrays[array.key][(slice(None),) * array.sample_axis + (index,)]

    def _own(self, positions: np.ndarray | None) -> Domain:
        points = np.array(positions, np.float64)
        return Grid(points.shape[:-1], points=points) if self.described.grid else PointSet(points)


def _ready(values: np.ndarray) -> Float[np.ndarray, "..."]:
    """A copy in single precision and C order: no one can change the set through a sample."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.array(values, np.float32, order="C")
