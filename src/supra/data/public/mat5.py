"""MATLAB's version 5 files, read without trusting a word they say.

Their arrays lie in MATLAB's order, first axis fastest. What a file declares is compared with its
size before memory is asked for: a damaged byte costs an error, never the machine's memory.
"""

import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import BinaryIO, Literal, Protocol, runtime_checkable

import numpy as np

from supra.data.errors import DataError

Slabs = Callable[[int], Iterator[np.ndarray]]
Endian = Literal["<", ">"]

HEADER = 128  # bytes before the first element
LIMIT = 2**31  # bytes of an array that every reader of version 5 accepts
_STORED = {  # types of numbers by their codes
    **{1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4"},
    **{7: "f4", 9: "f8", 12: "i8", 13: "u8"},
}
_CODES = {dtype: code for code, dtype in _STORED.items()}
_CLASSES = {"f8": 6, "f4": 7}
_NUMERIC = range(6, 16)  # classes of full arrays of numbers; below are cells, texts, sparse ones
_MATRIX, _COMPRESSED = 14, 15
_COMPLEX = 0x0800
_DEFLATE = 1032  # the most that one compressed byte can stand for
_FEED = 1 << 16


@runtime_checkable
class Source(Protocol):
    """Where an element's bytes come from: the file itself, or what is inflated from it."""

    def read(self, size: int, /) -> bytes: ...


@dataclass(frozen=True)
class Variable:
    """A named array of numbers in a file, not read yet.

    Attributes:
        shape: in MATLAB's order of axes.
        slabs: the slices along the last axis, every so many: the order they lie in on disk.
    """

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype
    slabs: Slabs


def is_version_5(head: bytes) -> bool:
    """Whether a file that starts so is MATLAB's version 5 (6 and 7 write it too)."""
    return len(head) >= HEADER and head[124:128] in (b"\x00\x01IM", b"\x01\x00MI")


def read_variables(path: Path) -> dict[str, Variable | None]:
    """The variables of a file by name; None for those that are no arrays of numbers."""
    size = path.stat().st_size
    found: dict[str, Variable | None] = {}
    with path.open("rb") as file:
        endian: Endian = "<" if file.read(HEADER)[126:] == b"IM" else ">"
        while file.tell() < size:
            start = file.tell() + 8
            kind, length = struct.unpack(endian + "II", _exactly(file, 8))
            if start + length > size:
                raise DataError(f"it is truncated: {start + length} bytes at least, not {size}")
            name, variable = _variable(path, file, kind, length, endian)
            found[name] = variable
            file.seek(start + length)
    return found


def _variable(
    path: Path, file: BinaryIO, kind: int, length: int, endian: Endian
) -> tuple[str, Variable | None]:
    start = file.tell()
    if kind == _MATRIX:
        name, shape, dtype = _head(file, endian, length)
        if shape is None:
            return name, None
        offset = file.tell()
        if offset + prod(shape) * dtype.itemsize > start + length:
            raise DataError(f"variable {name} {shape} does not fit into its {length} bytes")
        return name, Variable(name, shape, dtype, _Mapped(path, offset, shape, dtype))
    if kind == _COMPRESSED:
        inflated = _Inflated(file, length)
        _exactly(inflated, 8)  # the tag of the matrix inside
        name, shape, dtype = _head(inflated, endian, length * _DEFLATE)
        if shape is None:
            return name, None
        stream = _Stream(path, start, length, inflated.given, shape, dtype)
        return name, Variable(name, shape, dtype, stream)
    raise DataError(f"it holds an element of unknown type {kind}")


def _head(
    source: Source, endian: Endian, length: int
) -> tuple[str, tuple[int, ...] | None, np.dtype]:
    """Name, shape and stored type of a matrix, read up to its numbers; no shape if it has none."""
    flags = struct.unpack_from(endian + "I", _element(source, endian, 64))[0]
    dimensions = np.frombuffer(_element(source, endian, 256), endian + "i4")
    name = _element(source, endian, 256).decode("latin1")
    if (flags & 0xFF) not in _NUMERIC or flags & _COMPLEX:
        return name, None, np.dtype("f4")
    shape = tuple(int(n) for n in dimensions)
    code, stored, _ = _tag(source, endian)
    if code not in _STORED:
        raise DataError(f"variable {name} is stored as unknown type {code}")
    dtype = np.dtype(endian + _STORED[code])
    # Python's whole numbers do not overflow, so no shape is too absurd for this comparison.
    if min(shape, default=0) < 1 or prod(shape) * dtype.itemsize != stored or stored > length:
        raise DataError(f"variable {name} of shape {shape} declares {stored} bytes of {dtype}")
    return name, shape, dtype


def _tag(source: Source, endian: Endian) -> tuple[int, int, bool]:
    """Type and size of an element, and whether it is a small one: size and type in one word."""
    (word,) = struct.unpack(endian + "I", _exactly(source, 4))
    if word >> 16:
        return word & 0xFFFF, word >> 16, True
    return word, struct.unpack(endian + "I", _exactly(source, 4))[0], False


def _element(source: Source, endian: Endian, most: int) -> bytes:
    """The bytes of an element that is at most so long, and past its padding."""
    _, size, small = _tag(source, endian)
    if size > (4 if small else most):
        raise DataError(f"an element declares {size} bytes where at most {most} make sense")
    return _exactly(source, 4 if small else _padded(size))[:size]


def _exactly(source: Source, size: int) -> bytes:
    data = source.read(size)
    if len(data) != size:
        raise DataError("it is truncated, within an array")
    return data


def _padded(size: int) -> int:
    return -(-size // 8) * 8


@dataclass(frozen=True)
class _Mapped:
    """Slabs of an array that lies in the file as it is."""

    path: Path
    offset: int
    shape: tuple[int, ...]
    dtype: np.dtype

    def __call__(self, step: int) -> Iterator[np.ndarray]:
        array = np.memmap(self.path, self.dtype, "r", self.offset, self.shape, order="F")
        return (array[..., number] for number in range(0, self.shape[-1], step))


@dataclass(frozen=True)
class _Stream:
    """Slabs of a compressed array, inflated one after the other."""

    path: Path
    start: int
    length: int
    skip: int
    shape: tuple[int, ...]
    dtype: np.dtype

    def __call__(self, step: int) -> Iterator[np.ndarray]:
        *slab, count = self.shape
        with self.path.open("rb") as file:
            file.seek(self.start)
            inflated = _Inflated(file, self.length)
            _exactly(inflated, self.skip)
            for number in range(count):
                data = _exactly(inflated, prod(slab) * self.dtype.itemsize)
                if number % step == 0:
                    yield np.frombuffer(data, self.dtype).reshape(slab, order="F")
            inflated.finish()


class _Inflated:
    """Reads what a stretch of the file holds compressed."""

    def __init__(self, file: BinaryIO, length: int) -> None:
        self.file, self.left, self.given = file, length, 0
        self.engine = zlib.decompressobj()

    def read(self, size: int, /) -> bytes:
        parts = bytearray()
        while len(parts) < size and not self.engine.eof:
            feed = self.engine.unconsumed_tail or self._compressed()
            part = self.engine.decompress(feed, size - len(parts))
            if not feed and not part:
                break
            parts += part
        self.given += len(parts)
        return bytes(parts)

    def finish(self) -> None:
        """Read to the end, where the checksum is compared; only padding may be left."""
        if len(self.read(8)) == 8 or not self.engine.eof:
            raise DataError("a compressed array is longer or shorter than it declares")

    def _compressed(self) -> bytes:
        data = self.file.read(min(_FEED, self.left))
        self.left -= len(data)
        return data


def file_header(text: str) -> bytes:
    """The first bytes of a file."""
    return text.encode("ascii")[:116].ljust(116) + bytes(8) + struct.pack("<H2s", 0x0100, b"IM")


def variable_header(name: str, shape: tuple[int, ...], dtype: np.dtype) -> tuple[bytes, int]:
    """All that stands before an array's numbers, and the padding that follows them."""
    kind, size = dtype.str[1:], prod(shape) * dtype.itemsize
    body = b"".join(
        [
            _packed(_CODES["u4"], struct.pack("<II", _CLASSES[kind], 0)),
            _packed(_CODES["i4"], np.array(shape, "<i4").tobytes()),
            _packed(_CODES["i1"], name.encode("ascii")),
            struct.pack("<II", _CODES[kind], size),
        ]
    )
    padding = _padded(size) - size
    return struct.pack("<II", _MATRIX, len(body) + size + padding) + body, padding


def _packed(code: int, data: bytes) -> bytes:
    if len(data) <= 4:
        return struct.pack("<HH", code, len(data)) + data.ljust(4, b"\0")
    return struct.pack("<II", code, len(data)) + data.ljust(_padded(len(data)), b"\0")
