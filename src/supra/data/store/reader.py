"""Reading our own data files, sample by sample as they are asked for."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from jaxtyping import Int

from supra.data.dataset import Dataset, Layout, Sample, Splits
from supra.data.errors import DataError
from supra.data.store.domain import read_domain
from supra.data.store.field import What, field_shape
from supra.data.store.format import member, native, read_array, reading
from supra.data.store.head import (
    check_shape,
    check_version,
    count_samples,
    read_layout,
    read_metadata,
    read_names,
    read_splits,
)
from supra.domain import Domain


class _Handle:
    """An open file of this process; another process, forked or spawned, opens its own."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: h5py.File | None = None
        self._process = 0

    def __call__(self) -> h5py.File:
        if self._file is None or self._process != os.getpid():
            # A sample is read whole, in its own chunk: keeping chunks would only take memory.
            self._file = h5py.File(self.path, "r", rdcc_nbytes=0)
            self._process = os.getpid()
        return self._file

    def __reduce__(self) -> tuple[type, tuple[Path]]:
        return type(self), (self.path,)


@dataclass(frozen=True, eq=False, repr=False)
class Store:
    """What a data file holds. Called with a sample's number, it reads that sample.

    Attributes:
        path: the file.
        layout: channels and times of all samples.
        domain: where all samples live; ``None`` if each has its own.
        splits: numbers of the samples of "train", "test" and perhaps "valid".
        names: what each sample is called, "" where it has no name.
        metadata: what its writer noted.
    """

    path: Path
    layout: Layout
    domain: Domain | None
    splits: Mapping[str, Int[np.ndarray, "..."]]
    names: tuple[str, ...]
    metadata: dict[str, Any]
    _handle: _Handle = field(repr=False)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        counts = ", ".join(f"{len(numbers)} {name}" for name, numbers in self.splits.items())
        return f"Store({self.path.name!r}, {len(self)} samples: {counts})"

    def __call__(self, index: int) -> Sample:
        with reading(self.path, f"sample {index}"):
            if not 0 <= index < len(self):
                raise DataError(f"it has samples 0 to {len(self) - 1}: got {index}.")
            file = self._handle()
            if self.domain is None:
                return self._from_group(file, index)
            return self._from_rows(file, index, self.domain)

    def dataset(self, split: str) -> Dataset:
        """The samples of one split; none where the file does not have it."""
        numbers = self.splits.get(split, np.empty(0, dtype=np.int64))
        return Dataset(self.layout, self, numbers, self.domain, self.path.stem)

    def _from_rows(self, file: h5py.File, index: int, domain: Domain) -> Sample:
        inputs = file["inputs"][index] if self.layout.inputs else _nothing(domain)
        return _sample(index, inputs, file["targets"][index], domain)

    def _from_group(self, file: h5py.File, index: int) -> Sample:
        group = member(file["samples"], str(index), h5py.Group, "group")
        domain = read_domain(member(group, "domain", h5py.Group, "group"))
        inputs = self._field(group, "inputs", domain) if self.layout.inputs else _nothing(domain)
        return _sample(index, inputs, self._field(group, "targets", domain), domain)

    def _field(self, group: h5py.Group, what: What, domain: Domain) -> np.ndarray:
        axes = len(field_shape(self.layout, domain, what))
        values = read_array(group, what, "fiu", axes)
        check_shape(f"{group.name}/{what}", values.shape, self.layout, domain, what)
        return values


def open_dataset(path: str | Path, valid: int | float = 0.1, seed: int = 0) -> Splits:
    """The splits of a data file, read as they are asked for.

    The validation samples are those of the file's split "valid"; without it, ``valid`` of the
    training samples (a count, or a fraction below 1), chosen at random by ``seed``.
    """
    store = open_store(path)
    train, test = store.dataset("train"), store.dataset("test")
    if not len(train):
        raise DataError(f"Data file {str(path)!r} has no samples in 'splits/train'. Append some.")
    if "valid" not in store.splits:
        return Splits.of(train, test, valid, seed)
    whole = Splits.of(train, test, 0)
    return Splits(whole.train, store.dataset("valid"), whole.test)


def open_store(path: str | Path) -> Store:
    """Look at a data file: all but the samples is read and checked."""
    path = Path(path).absolute()
    if not path.is_file():
        raise DataError(f"A data file is needed: {str(path)!r} does not exist. Check the path.")
    handle = _Handle(path)
    with reading(path):
        file = handle()
        check_version(file)
        layout = read_layout(file)
        domain = read_domain(file["domain"]) if "domain" in file else None
        count = count_samples(file, layout, domain)
        splits, names = read_splits(file, count), read_names(file, count)
        return Store(path, layout, domain, splits, names, read_metadata(file), handle)


def _sample(index: int, inputs: np.ndarray, targets: np.ndarray, domain: Domain) -> Sample:
    inputs, targets = _floats(inputs), _floats(targets)
    for name, values in (("inputs", inputs), ("targets", targets)):
        if not np.isfinite(values).all():
            raise DataError(f"{name} of sample {index} are not all finite. Write it anew.")
    return Sample(inputs, targets, domain)


def _nothing(domain: Domain) -> np.ndarray:
    """Inputs where only the geometry is given."""
    return np.empty((len(domain.points), 0), dtype=np.float32)


def _floats(values: np.ndarray) -> np.ndarray:
    """Real numbers in the precision that the file keeps; whole numbers as float32."""
    return native(values if values.dtype.kind == "f" else values.astype(np.float32))
