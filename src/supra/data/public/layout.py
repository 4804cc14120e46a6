"""How a public data set is described: reading, writing and messages are derived from it."""

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from supra.data.dataset import Layout
from supra.data.errors import DataError

Split = Literal["train", "test"]
Vary = Literal["never", "generated", "always"]
Values = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Axis:
    """An axis of an array: its published size, and who may have another one.

    ``"always"``: any file. ``"generated"``: only a file that we wrote, whose size is recorded
    beside it; an unexpected size elsewhere is a wrong file. Axes of one name have one size.
    """

    name: str
    size: int
    vary: Vary = "never"

    def __str__(self) -> str:
        return self.name if self.vary == "always" else f"{self.name}={self.size}"


@dataclass(frozen=True)
class Array:
    """An array of a set: its key in a solution, and where and how the community stores it.

    Attributes:
        key: key in a solution, and the name of the variable in a ``.mat`` file.
        file: file of all samples, or of those for training if ``test_file`` is given.
        needed: read with the samples; else it is only written.
    """

    key: str
    file: str
    axes: tuple[Axis, ...]
    dtype: str = "<f4"
    test_file: str = ""
    needed: bool = True

    @property
    def sample_axis(self) -> int:
        return [axis.name for axis in self.axes].index("sample")

    def file_of(self, split: Split) -> str:
        return self.test_file if split == "test" and self.test_file else self.file

    @property
    def named(self) -> str:
        """Its axes, as messages write them."""
        return f"({', '.join(map(str, self.axes))})"

    def __str__(self) -> str:
        return f"{self.key} {self.named}"


class Fields(NamedTuple):
    """A sample's functions, and the positions ``(*shape, 2)`` if it has a domain of its own."""

    inputs: np.ndarray
    targets: np.ndarray
    positions: np.ndarray | None = None


@dataclass(frozen=True)
class PublicSet:
    """All there is to know about a public data set.

    Attributes:
        name: what `load_dataset` and ``supra generate`` call it.
        arrays: what its files hold.
        layout: what its samples hold.
        assemble: makes a sample's functions of its arrays.
        train, test: published numbers of samples.
        test_last: test samples are the file's last; else those right after the training samples.
        grid: names of the axes of the grid; none if the points are scattered.
        periodic: whether the grid is.
        stride: every how many points of the published grid are usual.
    """

    name: str
    arrays: tuple[Array, ...]
    layout: Layout
    assemble: Callable[[Values], Fields]
    train: int
    test: int
    test_last: bool = False
    grid: tuple[str, ...] = ()
    periodic: bool = False
    stride: int = 1

    @property
    def needed(self) -> tuple[Array, ...]:
        return tuple(array for array in self.arrays if array.needed)

    @property
    def separate(self) -> bool:
        """Whether test samples have files of their own."""
        return any(array.test_file for array in self.arrays)

    @property
    def files(self) -> tuple[str, ...]:
        """Names of all files."""
        names = (a.file_of(split) for split in ("train", "test") for a in self.arrays)
        return tuple(dict.fromkeys(names))

    def held_by(self, file: str) -> tuple[Array, ...]:
        """The arrays in a file."""
        return tuple(array for array in self.arrays if file in (array.file, array.test_file))

    def way_out(self, path: Path) -> str:
        """What a file must hold and how to get one."""
        arrays = " and ".join(map(str, self.held_by(path.name)))
        folder = shlex.quote(str(path.parent))
        return f"Expected: {arrays}. To make it: supra generate {self.name} --out {folder}"


def check_axes(
    array: Array, shape: tuple[int, ...], sizes: dict[str, int], *, generated: bool
) -> None:
    """Compare a shape with the table, and with the ``sizes`` of axes met before; add its own."""
    free = ("always", "generated") if generated else ("always",)
    right = len(shape) == len(array.axes) and all(
        (size == axis.size or axis.vary in free) and size == sizes.get(axis.name, size)
        for axis, size in zip(array.axes, shape, strict=True)
    )
    if not right:
        before = ", ".join(f"{name}={size}" for name, size in sizes.items())
        met = f" beside {before}" if before else ""
        raise DataError(f"{array.key} must have the axes {array.named}{met}: its shape is {shape}.")
    sizes.update({axis.name: size for axis, size in zip(array.axes, shape, strict=True)})
