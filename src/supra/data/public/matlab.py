"""Arrays in MATLAB's files: version 5 and version 7.3, which is HDF5 with the axes reversed.

MATLAB stores the first axis fastest, so in both versions one sample (first axis) is scattered
through the whole file, and what lies together is a slice of the last axis. Arrays are therefore
read once, slice by slice, thinned out on the way, and kept in memory with the samples first.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, Literal

import h5py
import numpy as np

from supra.data.errors import DataError
from supra.data.public import mat5, raw
from supra.data.public.broken import readable
from supra.data.public.mat5 import Variable
from supra.domain.choice import check_choice

Version = Literal["auto", "5", "7.3"]
Shapes = Mapping[str, tuple[tuple[int, ...], np.dtype]]

_USERBLOCK = 512  # bytes of a version 7.3 file before HDF5 begins; MATLAB's header is in them
_TEXT = "MATLAB {} MAT-file, Platform: {}, Created by: supra"
_CLASSES = {"f4": "single", "f8": "double"}
# Room for all chunks that one slice of the last axis touches: each is inflated once.
_CACHE = {"rdcc_nbytes": 1 << 28, "rdcc_nslots": 100_003}
_DEFLATE = 1032


def read_variables(path: Path) -> dict[str, Variable | None]:
    """What a file holds, by name; None for what is no array of numbers (texts, cells, ...)."""
    with readable(path):
        with path.open("rb") as file:
            head = file.read(mat5.HEADER)
        if h5py.is_hdf5(path):
            return _hdf5_variables(path)
        if mat5.is_version_5(head):
            return mat5.read_variables(path)
        raise DataError("it is no MATLAB file of version 5 or 7.3")


def find_variable(path: Path, name: str) -> Variable:
    """The array of that name, not read yet."""
    found = read_variables(path)
    if name not in found:
        names = ", ".join(found) or "nothing"
        raise DataError(f"{path} has no variable {name!r}: it holds {names}.")
    variable = found[name]
    if variable is None:
        raise DataError(f"{path}: {name!r} is not an array of real numbers.")
    return variable


def read_array(
    path: Path, name: str, steps: Sequence[int] | None = None, dtype: Any = np.float32
) -> np.ndarray:
    """An array in C order, of every axis each ``steps``-th entry."""
    variable = find_variable(path, name)
    steps = [1] * len(variable.shape) if steps is None else steps
    with readable(path):
        shape = [-(-n // step) for n, step in zip(variable.shape, steps, strict=True)]
        array = np.empty(shape, dtype)
        thin = tuple(slice(None, None, step) for step in steps[:-1])
        with np.errstate(over="ignore", invalid="ignore"):  # values are looked at by the caller
            for number, slab in enumerate(variable.slabs(steps[-1])):
                array[..., number] = slab[thin]
    return array


def _hdf5_variables(path: Path) -> dict[str, Variable | None]:
    with h5py.File(path, "r") as file:
        names = [name for name in file if not name.startswith("#")]  # those are MATLAB's own
        return {name: _hdf5_variable(path, name, file[name]) for name in names}


def _hdf5_variable(path: Path, name: str, item: Any) -> Variable | None:
    text = isinstance(item, h5py.Dataset) and item.attrs.get("MATLAB_class") == b"char"
    if not isinstance(item, h5py.Dataset) or item.dtype.kind not in "fiu" or text:
        return None
    _check_stored(path, name, item)
    return Variable(name, item.shape[::-1], item.dtype, _Slabs(path, name))


def _check_stored(path: Path, name: str, item: h5py.Dataset) -> None:
    """Compare what is declared with what is there, before memory is asked for."""
    stored = item.id.get_storage_size()
    declared = prod(item.shape) * item.dtype.itemsize
    most = stored * (_DEFLATE if item.id.get_create_plist().get_nfilters() else 1)
    if not item.ndim or not declared or declared > most or stored > path.stat().st_size:
        raise DataError(f"variable {name} of shape {item.shape[::-1]} has {stored} bytes of data")


@dataclass(frozen=True)
class _Slabs:
    """Slices of an HDF5 array along its first axis: MATLAB's last."""

    path: Path
    name: str

    def __call__(self, step: int) -> Iterator[np.ndarray]:
        with h5py.File(self.path, "r", **_CACHE) as file:
            array = file[self.name]
            for number in range(0, len(array), step):
                yield array[number].T


@contextmanager
def create(
    path: Path, arrays: Shapes, version: Version = "auto", block: int = 1
) -> Iterator[Mapping[str, Any]]:
    """A new file of arrays to assign to, ``block`` samples (of the first axis) at a time.

    Version 5 holds arrays below 2 GB and is what ``scipy.io.loadmat`` reads; ``"auto"`` takes
    version 7.3 for larger ones.
    """
    check_choice("version", version, Version, DataError)
    large = [name for name, spec in arrays.items() if _bytes(*spec) >= mat5.LIMIT]
    if large and version == "5":
        raise DataError(f"Version 5 holds arrays below 2 GB: {large[0]} is larger. Use 7.3.")
    if large or version == "7.3":
        with _create_hdf5(path, arrays, block) as targets:
            yield targets
    else:
        with raw.lay_out(path, _version_5(arrays)) as slots:
            yield slots


def _version_5(arrays: Shapes) -> Iterator[bytes | raw.Slot]:
    yield mat5.file_header(_TEXT.format("5.0", "posix"))
    for name, (shape, dtype) in arrays.items():
        header, padding = mat5.variable_header(name, shape, dtype)
        yield from (header, raw.Slot(name, shape, dtype, "F"), bytes(padding))


@contextmanager
def _create_hdf5(path: Path, arrays: Shapes, block: int) -> Iterator[Mapping[str, Any]]:
    with h5py.File(path, "w", userblock_size=_USERBLOCK, libver="earliest") as file:
        yield {name: _Reversed(_dataset(file, name, block, *spec)) for name, spec in arrays.items()}
    with path.open("r+b") as head:
        text = _TEXT.format("7.3", "GLNXA64") + " HDF5 schema 1.00 ."
        head.write(mat5.file_header(text)[:124] + b"\x00\x02IM")


def _dataset(
    file: h5py.File, name: str, block: int, shape: tuple[int, ...], dtype: np.dtype
) -> h5py.Dataset:
    """Chunks hold the samples that are written together, so each is written once."""
    chunk = (min(block, shape[0]), *shape[1:2], *(1 for _ in shape[2:]))
    array = file.create_dataset(name, shape[::-1], dtype, chunks=chunk[::-1])
    array.attrs["MATLAB_class"] = np.bytes_(_CLASSES[dtype.str[1:]])
    return array


@dataclass(frozen=True)
class _Reversed:
    """Assigns to an HDF5 array by MATLAB's order of axes."""

    array: h5py.Dataset

    def __setitem__(self, index: tuple[slice, ...], values: np.ndarray) -> None:
        self.array[index[::-1]] = values.T


def _bytes(shape: tuple[int, ...], dtype: np.dtype) -> int:
    return prod(shape) * dtype.itemsize
