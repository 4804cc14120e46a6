"""Arrays in ``.npy`` files, left on disk until a sample is asked for."""

from dataclasses import dataclass
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any, Literal

import numpy as np

from supra.data.errors import DataError
from supra.data.public.broken import readable


@dataclass(frozen=True)
class MappedArray:
    """An array in a file, mapped into memory. Pickled as its path, and mapped again elsewhere.

    Attributes:
        path: of the file.
        steps: every how many values of each axis; by default all.
    """

    path: Path
    steps: tuple[int, ...] = ()

    @cached_property
    def values(self) -> np.ndarray:
        with readable(self.path):
            shape, order, dtype, offset = self._header()
            # Compared in Python's whole numbers, which no shape makes overflow.
            size, needed = self.path.stat().st_size, offset + prod(shape) * dtype.itemsize
            if dtype.kind not in "fiu":
                raise DataError(f"it holds {dtype}, not real numbers")
            if size != needed:
                raise DataError(f"an array of shape {shape} makes {needed} bytes: it has {size}")
            mapped = np.memmap(self.path, dtype, "r", offset, shape, order)
            return mapped[tuple(slice(None, None, step) for step in self.steps)]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    def __getitem__(self, index: Any) -> np.ndarray:
        return self.values[index]

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path, "steps": self.steps}

    def _header(self) -> tuple[tuple[int, ...], Literal["C", "F"], np.dtype, int]:
        """Shape, order of axes and type of the numbers, and where they begin."""
        with self.path.open("rb") as file:
            version = np.lib.format.read_magic(file)
            reads = {1: np.lib.format.read_array_header_1_0, 2: np.lib.format.read_array_header_2_0}
            if version[0] not in reads:
                raise DataError(f"version {version} of the format holds other than numbers")
            shape, fortran, dtype = reads[version[0]](file)
            return shape, "F" if fortran else "C", dtype, file.tell()
