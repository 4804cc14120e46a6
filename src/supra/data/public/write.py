"""Writes generated samples as the community's files, block by block."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from supra.data.errors import DataError
from supra.data.public import matlab, raw
from supra.data.public.layout import Array, PublicSet, Split, check_axes
from supra.data.public.matlab import Version
from supra.data.public.sets import public_set
from supra.data.public.sidecar import SIDECAR, Shapes, Sidecar
from supra.data.replacement import Replacement

Solution = Mapping[str, np.ndarray]

_BLOCK = 1 << 26  # bytes of samples that are held back and written at once
_MOST = 256


def write_public(
    name: str,
    root: str | Path,
    train: Iterable[Solution],
    test: Iterable[Solution],
    *,
    counts: tuple[int, int],
    provenance: Mapping[str, Any] | None = None,
    version: Version = "auto",
) -> tuple[Path, ...]:
    """Write samples as the files of a public set, and ``generated.json`` with their counts.

    Samples are taken one by one, training first, and never all held in memory. The files appear
    under their names only when all of them are complete.

    Args:
        name: of the public set.
        root: folder of the files; made if missing.
        train, test: one mapping of arrays per sample, as the set's problem makes them.
        counts: how many samples ``train`` and ``test`` give.
        provenance: seed, options, version and whatever else tells where the samples come from.
        version: of ``.mat`` files: ``"5"``, ``"7.3"``, or the older while arrays are below 2 GB.

    Returns:
        The paths written.
    """
    described, root = public_set(name), Path(root).absolute()
    if min(counts) < 1:
        raise DataError(f"A set has at least 1 sample for training and for the test: got {counts}.")
    root.mkdir(parents=True, exist_ok=True)
    _check_own(described, root)
    given = [_exactly(train, counts[0], "train"), _exactly(test, counts[1], "test")]
    with _replacing(root, (SIDECAR, *described.files)) as part:
        streams = [
            _Stream(described, split, samples, count, version)
            for split, samples, count in _streams(described, given, counts)
        ]
        shapes: Shapes = {}
        for stream in streams:
            shapes |= stream.write(part)
        record = Sidecar(described.name, *counts, shapes, provenance or {})
        part[SIDECAR].write_text(record.to_json())
    return tuple(root / file for file in (*described.files, SIDECAR))


def _streams(
    described: PublicSet, given: Sequence[Iterator[Solution]], counts: tuple[int, int]
) -> list[tuple[Split, Iterator[Solution], int]]:
    if described.separate:
        return [("train", given[0], counts[0]), ("test", given[1], counts[1])]
    return [("train", chain(*given), sum(counts))]


def _exactly(samples: Iterable[Solution], count: int, split: Split) -> Iterator[Solution]:
    number = 0
    for number, sample in enumerate(samples, 1):
        if number > count:
            break
        yield sample
    if number != count:
        came = f"more than {count}" if number > count else number
        raise DataError(f"`{split}` must give {count} samples, as `counts` says: got {came}.")


@dataclass(frozen=True)
class _Stream:
    """Samples that go into the files of one split, one after the other."""

    described: PublicSet
    split: Split
    samples: Iterator[Solution]
    count: int
    version: Version

    def write(self, part: Mapping[str, Path]) -> Shapes:
        """Write all samples to the given paths: the shapes written, by file and key."""
        first = next(self.samples)
        shapes = self._shapes(first)
        block = self._block(first)
        samples = chain([first], self.samples)
        with ExitStack() as stack:
            targets: dict[str, Any] = {}
            for file, arrays in shapes.items():
                specs = {key: (shape, self._dtype(key)) for key, shape in arrays.items()}
                created = _create(file, part[file], specs, self.version, block)
                targets |= stack.enter_context(created)
            for start in range(0, self.count, block):
                self._put(targets, start, list(islice(samples, block)), shapes)
            next(samples, None)  # lets the last samples be counted
        return shapes

    def _put(
        self, targets: Mapping[str, Any], start: int, group: list[Solution], shapes: Shapes
    ) -> None:
        for array in self.described.arrays:
            shape = shapes[array.file_of(self.split)][array.key]
            whole = [slice(None)] * len(shape)
            whole[array.sample_axis] = slice(start, start + len(group))
            values = [_value(array, sample, shape) for sample in group]
            targets[array.key][tuple(whole)] = np.stack(values, axis=array.sample_axis)

    def _shapes(self, first: Solution) -> Shapes:
        keys = [array.key for array in self.described.arrays]
        if sorted(first) != sorted(keys):
            raise DataError(
                f"A sample of {self.described.name} consists of {', '.join(keys)}: got "
                f"{', '.join(first) or 'nothing'}."
            )
        shapes: Shapes = {}
        sizes: dict[str, int] = {}
        for array in self.described.arrays:
            shape = list(np.shape(first[array.key]))
            shape.insert(array.sample_axis, self.count)
            check_axes(array, tuple(shape), sizes, generated=True)
            shapes.setdefault(array.file_of(self.split), {})[array.key] = tuple(shape)
        return shapes

    def _block(self, first: Solution) -> int:
        size = sum(np.size(first[a.key]) * self._dtype(a.key).itemsize for a in self._arrays)
        return max(1, min(_BLOCK // max(size, 1), _MOST))

    @property
    def _arrays(self) -> tuple[Array, ...]:
        return self.described.arrays

    def _dtype(self, key: str) -> np.dtype:
        return np.dtype(next(array.dtype for array in self._arrays if array.key == key))


def _value(array: Array, sample: Solution, shape: tuple[int, ...]) -> np.ndarray:
    expected = (*shape[: array.sample_axis], *shape[array.sample_axis + 1 :])
    with np.errstate(over="ignore"):
        value = np.asarray(sample.get(array.key, np.nan)).astype(array.dtype)
    if value.shape != expected or not np.isfinite(value).all():
        raise DataError(
            f"`{array.key}` must be finite numbers of shape {expected} in every sample, as in the "
            f"first: got shape {value.shape} or values that are not finite."
        )
    return value


def _create(file: str, path: Path, specs: matlab.Shapes, version: Version, block: int) -> Any:
    if not file.endswith(".npy"):
        return matlab.create(path, specs, version, block)
    ((key, (shape, dtype)),) = specs.items()
    return raw.lay_out(path, [raw.npy_header(shape, dtype), raw.Slot(key, shape, dtype)])


def _check_own(described: PublicSet, root: Path) -> None:
    record = Sidecar.read(root)
    if record is not None and record.problem != described.name:
        raise DataError(
            f"{root} holds a generated set of {record.problem}: {described.name} needs a folder "
            f"of its own, as {SIDECAR} describes one set."
        )


@contextmanager
def _replacing(root: Path, files: Sequence[str]) -> Iterator[Mapping[str, Path]]:
    """Paths to write to; all take their places when everything is written, or none does."""
    parts = {file: Replacement(root / file) for file in files}
    try:
        yield {file: part.unfinished for file, part in parts.items()}
        # Old files go first: a crash from here on leaves a set that lacks files, which is seen,
        # and never one that mixes old files with new ones, which is not.
        for part in parts.values():
            part.path.unlink(missing_ok=True)
        for part in parts.values():
            part.take_place()
    except OSError as error:
        raise DataError(f"Writing to {root} failed: {error}.") from error
    finally:
        for part in parts.values():
            part.discard()
