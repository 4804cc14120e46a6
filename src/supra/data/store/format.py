"""The pieces of our HDF5 files: arrays with checksums, text, and named errors.

The format itself is written down in ``docs/data_format.md``.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, Literal, get_args

import h5py
import numpy as np

from supra.data.errors import DataError
from supra.domain import DomainError

FORMAT = "supra-data"
VERSION = 1
Split = Literal["train", "valid", "test"]
SPLITS: tuple[str, ...] = get_args(Split)
# Since 1.10 HDF5 puts checksums on its own tables: files are written as that version does.
LIBVER = ("v110", "v110")
CHUNK_BYTES = 2**30  # HDF5 allows chunks below 4 GiB
UNCOMPRESSED = {h5py.h5z.FILTER_SHUFFLE, h5py.h5z.FILTER_FLETCHER32}
FILTER_FAILED = "filter returned failure"  # what HDF5 says of a wrong checksum
KINDS = {"iu": "whole numbers", "fiu": "real numbers", "SO": "text"}


@contextmanager
def reading(path: Path, part: str = "it") -> Iterator[None]:
    """Turn whatever is wrong with a file into a `DataError` that names it."""
    try:
        yield
    except (DataError, DomainError) as error:
        raise DataError(f"Data file {str(path)!r}: {error}") from None
    except Exception as error:  # h5py raises OSError, KeyError, RuntimeError, ValueError, …
        said = first_line(error)
        reason = "its checksum does not match" if FILTER_FAILED in said else said
        raise DataError(
            f"Data file {str(path)!r}: {part} cannot be read: {reason}. Is the file complete, "
            f"undamaged HDF5? Copy or write it anew."
        ) from error


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn a disk that refuses into a `DataError` that names the file."""
    try:
        yield
    except OSError as error:
        raise DataError(
            f"Data file {str(path)!r} cannot be written: {first_line(error)}. Is there space, and "
            f"may you write there?"
        ) from error


def first_line(error: Exception) -> str:
    """What an error says, in one line."""
    quoted = isinstance(error, KeyError) and error.args  # the only one that quotes what it says
    said = str(error.args[0] if quoted else error).strip().splitlines()
    return said[0].rstrip(".") if said else type(error).__name__


# ---- arrays -----------------------------------------------------------------------------------


def write_array(group: h5py.Group, name: str, values: np.ndarray) -> None:
    """Store an array with a checksum; an empty one has nothing to check."""
    chunks = whole_chunk(values.shape, values.dtype.itemsize) if values.size else None
    group.create_dataset(name, data=values, chunks=chunks, fletcher32=chunks is not None or None)


def whole_chunk(shape: Sequence[int], itemsize: int) -> tuple[int, ...]:
    """One chunk for all of an array, or the fewest that HDF5 allows."""
    chunk = list(shape)
    while itemsize * int(np.prod(chunk, dtype=object)) > CHUNK_BYTES:
        longest = int(np.argmax(chunk))
        chunk[longest] = -(-chunk[longest] // 2)
    return tuple(chunk)


def read_array(group: h5py.Group, name: str, kind: str, axes: int) -> np.ndarray:
    """The whole of an array of one ``kind`` of numbers."""
    return native(array_of(group, name, kind, axes)[()])


def array_of(group: h5py.Group, name: str, kind: str, axes: int) -> h5py.Dataset:
    """An array that is there, of the kind of numbers it must have, and was written."""
    found = member(group, name, h5py.Dataset, "dataset")
    if found.dtype.kind not in kind or len(found.shape or ()) != axes:
        raise DataError(
            f"dataset {found.name!r} must hold {KINDS[kind]} on {axes} axes: got {found.dtype} of "
            f"shape {found.shape}."
        )
    _check_written(found)
    return found


def member(group: h5py.Group, name: str, kind: type, word: str) -> Any:
    """The dataset or group of that name."""
    if name not in group or not isinstance(found := group[name], kind):
        held = ", ".join(map(repr, islice(group, 8))) or "nothing"
        more = ", …" if len(group) > 8 else ""
        raise DataError(f"{word} {name!r} is missing in {group.name!r}, which holds {held}{more}.")
    return found


def native(values: np.ndarray) -> np.ndarray:
    """The values as C-contiguous numbers in this machine's byte order."""
    return np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("="))


def _check_written(found: h5py.Dataset) -> None:
    """HDF5 gives zeros for what was never written; without compression that shows in the size."""
    options = found.id.get_create_plist()
    filters = {options.get_filter(number)[0] for number in range(options.get_nfilters())}
    stored = found.id.get_storage_size()
    if filters <= UNCOMPRESSED and stored < found.nbytes:
        raise DataError(
            f"dataset {found.name!r} of shape {found.shape} needs {found.nbytes} bytes and has "
            f"{stored}: it was not written to its end."
        )


# ---- text -------------------------------------------------------------------------------------


def write_text(attributes: h5py.AttributeManager, name: str, value: str | Sequence[str]) -> None:
    """Store text of fixed length: HDF5's checksums do not cover text of variable length."""
    array = encoded(value)
    kind = h5py.string_dtype("utf-8", array.dtype.itemsize)
    attributes.create(name, array, dtype=kind)


def encoded(value: str | Sequence[str]) -> np.ndarray:
    """Text as UTF-8 bytes, each at least one byte long as HDF5 wants it."""
    several = [value] if isinstance(value, str) else list(value)
    if any("\0" in text for text in several):
        raise DataError(f"Text in a data file holds no NUL character: got {value!r}.")
    raw = [text.encode() for text in several]
    array = np.array(raw, dtype=f"S{max(map(len, raw), default=0) or 1}")
    return array[0:1].reshape(()) if isinstance(value, str) else array


def read_text(attributes: h5py.AttributeManager, name: str, default: str | None = None) -> str:
    """An attribute that is one text."""
    value = attributes.get(name, default)
    if not isinstance(value, str | bytes):
        raise DataError(f"attribute {name!r} must be text: got {value!r}.")
    return value.decode() if isinstance(value, bytes) else value


def read_texts(attributes: h5py.AttributeManager, name: str) -> tuple[str, ...]:
    """An attribute that is a list of texts; none where it is missing."""
    return decoded(attributes.get(name, np.empty(0, dtype="S1")), f"attribute {name!r}")


def decoded(values: Any, what: str) -> tuple[str, ...]:
    """Texts of fixed or variable length."""
    array = np.asarray(values)
    texts = array.ravel().tolist()
    wrong = [text for text in texts if not isinstance(text, str | bytes)]
    if array.ndim != 1 or wrong:
        raise DataError(f"{what} must be a list of texts: got {array.dtype} of {array.shape}.")
    return tuple(text.decode() if isinstance(text, bytes) else text for text in texts)
