"""The community's public data sets, read from its own files: downloaded or generated."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from supra.data.dataset import Dataset, Splits
from supra.data.errors import DataError
from supra.data.public.layout import Array, PublicSet, Split, check_axes
from supra.data.public.matlab import find_variable, read_array
from supra.data.public.npy import MappedArray
from supra.data.public.reader import PublicReader
from supra.data.public.sets import SETS, public_set
from supra.data.public.sidecar import SIDECAR, Sidecar
from supra.domain import Grid
from supra.domain.choice import whole_numbers

Sizes = dict[str, int]


def load_dataset(
    name: str, root: str | Path, *, valid: int | float = 0.1, seed: int = 0, **options: Any
) -> Splits:
    """A public data set from the folder of its files.

    Training and test samples are the published ones. A smaller set that we generated says in
    ``generated.json`` how many samples are for training; other small files are cut in the
    published proportion.

    Args:
        name: darcy, navier_stokes, airfoil, pipe, plasticity or elasticity.
        root: folder with the files, under their public names.
        valid: samples to cut from those for training: a number, or a fraction.
        seed: of the choice of those.
        options: ``stride`` (sets on grids): use every so-many-th point per axis. The 421 points
            of Darcy are thinned to the benchmark's 85 unless another one is given.
    """
    described, root = public_set(name), Path(root).absolute()
    record = read_record(described, root)
    splits: tuple[Split, ...] = ("train", "test") if described.separate else ("train",)
    sizes = [_look(described, root, split, record) for split in splits]
    stride = _stride(described, sizes[0], options)
    _check_alike(described, sizes, root)
    domain = _shared_domain(described, sizes[0], stride)
    chosen = _choose(described, [size["sample"] for size in sizes], record, root)
    readers = [
        PublicReader(described, _arrays(described, root, split, stride), domain, str(root))
        for split in splits
    ]
    train, test = (
        Dataset(described.layout, reader, indices, domain, described.name)
        for reader, indices in zip((readers[0], readers[-1]), chosen, strict=True)
    )
    return Splits.of(train, test, valid, seed)


def find_sets(root: str | Path) -> tuple[str, ...]:
    """Names of the public sets that have a file in a folder."""
    there = Path(root)
    return tuple(
        name for name, each in SETS.items() if any((there / f).exists() for f in each.files)
    )


def read_record(described: PublicSet, root: Path) -> Sidecar | None:
    """What is recorded about a generated set; None if its files are not ours."""
    record = Sidecar.read(root)
    return record if record is not None and record.problem == described.name else None


def stored_shape(path: Path, key: str) -> tuple[int, ...]:
    """The shape of an array, without reading it."""
    return MappedArray(path).shape if path.suffix == ".npy" else find_variable(path, key).shape


@contextmanager
def _explained(described: PublicSet, path: Path) -> Iterator[None]:
    """Errors about a file say what it should be and how to make it."""
    try:
        yield
    except DataError as error:
        named = "" if str(path) in str(error) else f"{path}: "
        raise DataError(f"{named}{error} {described.way_out(path)}") from error


def _look(described: PublicSet, root: Path, split: Split, record: Sidecar | None) -> Sizes:
    """Sizes of all axes; errors for files that are missing or not what they should be."""
    sizes: Sizes = {}
    for array in described.needed:
        path = root / array.file_of(split)
        with _explained(described, path):
            shape = stored_shape(path, array.key)
            check_axes(array, shape, sizes, generated=record is not None)
            _check_recorded(array, path, shape, record)
    if sizes["sample"] < 1 or any(sizes[axis] < 2 for axis in described.grid):
        got = ", ".join(f"{name}={size}" for name, size in sizes.items())
        raise DataError(
            f"{described.name} in {root} needs at least 1 sample and a grid of at least 2 points "
            f"per axis: got {got}."
        )
    return sizes


def _check_recorded(
    array: Array, path: Path, shape: tuple[int, ...], record: Sidecar | None
) -> None:
    recorded = shape if record is None else record.shapes.get(path.name, {}).get(array.key)
    if recorded != shape:
        raise DataError(
            f"{array.key} has shape {shape}, but {SIDECAR} records {recorded}: remove that file "
            f"if others took the place of the generated ones."
        )


def _check_alike(described: PublicSet, sizes: list[Sizes], root: Path) -> None:
    first, last = ({**each, "sample": 0} for each in (sizes[0], sizes[-1]))
    if first != last:
        shapes = [tuple(each[axis] for axis in described.grid) for each in (first, last)]
        raise DataError(
            f"Training and test samples of {described.name} in {root} must have one resolution: "
            f"got {shapes[0]} and {shapes[1]}."
        )


def _stride(described: PublicSet, sizes: Sizes, options: Mapping[str, Any]) -> int:
    allowed = ("stride",) if described.grid else ()
    unknown = [option for option in options if option not in allowed]
    if unknown:
        has = "has the option `stride`" if allowed else "has no options"
        raise DataError(f"The data set {described.name} {has}: got `{unknown[0]}`.")
    stride = options.get("stride")
    if stride is None:
        published = {axis.name: axis.size for array in described.needed for axis in array.axes}
        usual = all(sizes[axis] == published[axis] for axis in described.grid)
        return described.stride if usual else 1
    return _checked_stride(stride, described, sizes)


def _checked_stride(stride: Any, described: PublicSet, sizes: Sizes) -> int:
    points = [sizes[axis] for axis in described.grid]
    intervals = points if described.periodic else [n - 1 for n in points]
    possible = [n for n in range(1, min(intervals) + 1) if not any(k % n for k in intervals)]
    steps = whole_numbers("stride", stride, DataError)
    if len(steps) != 1 or steps[0] not in possible:
        raise DataError(
            f"`stride` must divide the {' × '.join(map(str, intervals))} intervals of the grid, so "
            f"that its ends stay: got {stride!r}. Possible are {', '.join(map(str, possible))}."
        )
    return steps[0]


def _shared_domain(described: PublicSet, sizes: Sizes, stride: int) -> Grid | None:
    """The unit box where positions are not among the inputs."""
    own = {"x", "y"} <= {channel.name for channel in described.layout.inputs}
    if own:
        return None
    shape = tuple(len(range(0, sizes[axis], stride)) for axis in described.grid)
    return Grid(shape, periodic=described.periodic)


def _choose(
    described: PublicSet, samples: list[int], record: Sidecar | None, root: Path
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the samples for training and for the test."""
    train, test = _counts(described, samples, record, root)
    first = 0 if described.separate else samples[0] - test if described.test_last else train
    return np.arange(train), np.arange(first, first + test)


def _counts(
    described: PublicSet, samples: list[int], record: Sidecar | None, root: Path
) -> tuple[int, int]:
    published, total = (described.train, described.test), sum(samples)
    if record is not None:
        recorded = (record.train, record.test)
        if samples != (list(recorded) if described.separate else [sum(recorded)]):
            raise DataError(
                f"{root / SIDECAR} records {record.train} training and {record.test} test "
                f"samples, but the files hold {' and '.join(map(str, samples))}."
            )
        return recorded
    if described.separate:
        return min(samples[0], published[0]), min(samples[1], published[1])
    if total >= sum(published):
        return published
    share = round(total * published[0] / sum(published))
    train = max(1, min(share, total - 1))
    return train, total - train


def _arrays(
    described: PublicSet, root: Path, split: Split, stride: int
) -> dict[str, np.ndarray | MappedArray]:
    arrays: dict[str, np.ndarray | MappedArray] = {}
    for array in described.needed:
        path = root / array.file_of(split)
        with _explained(described, path):
            arrays[array.key] = _array(described, array, path, stride)
    return arrays


def _array(described: PublicSet, array: Array, path: Path, stride: int) -> np.ndarray | MappedArray:
    steps = [stride if axis.name in described.grid else 1 for axis in array.axes]
    if path.suffix == ".npy":
        return MappedArray(path, tuple(steps))
    values = read_array(path, array.key, steps)
    if not np.isfinite(values).all():  # found now, not when the test set is read at the end
        raise DataError(f"{array.key} holds NaN, infinite or too large values.")
    return values
