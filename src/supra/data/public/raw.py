"""Files whose layout is known before their numbers are: headers, and room between them."""

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from math import prod
from pathlib import Path
from typing import BinaryIO, Literal

import numpy as np


@dataclass(frozen=True)
class Slot:
    """Room for an array."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype
    order: Literal["C", "F"] = "C"

    @property
    def size(self) -> int:
        return prod(self.shape) * self.dtype.itemsize


@contextmanager
def lay_out(path: Path, parts: Iterable[bytes | Slot]) -> Iterator[dict[str, np.memmap]]:
    """Write the given bytes and leave room for the arrays: those, to assign to, by name."""
    offsets: list[tuple[Slot, int]] = []
    with path.open("wb") as file:
        for part in parts:
            if isinstance(part, Slot):
                offsets.append((part, file.tell()))
                file.seek(part.size, os.SEEK_CUR)
            else:
                file.write(part)
        _reserve(file, file.tell())
    arrays = {
        slot.name: np.memmap(path, slot.dtype, "r+", offset, slot.shape, order=slot.order)
        for slot, offset in offsets
    }
    yield arrays
    for array in arrays.values():
        array.flush()


def npy_header(shape: tuple[int, ...], dtype: np.dtype) -> bytes:
    """The first bytes of an ``.npy`` file of an array in C order."""
    buffer = BytesIO()
    np.lib.format.write_array_header_1_0(
        buffer, {"shape": shape, "fortran_order": False, "descr": dtype.str}
    )
    return buffer.getvalue()


def _reserve(file: BinaryIO, size: int) -> None:
    """Take the room now: a disk found full while writing to mapped memory kills the process."""
    file.flush()
    file.truncate(size)
    if not hasattr(os, "posix_fallocate"):
        return
    try:
        os.posix_fallocate(file.fileno(), 0, size)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise  # else the file system cannot reserve, and the room comes as it is needed
