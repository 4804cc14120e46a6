"""Our own data files: one self-describing HDF5 file, written sample by sample.

A file appears under its name when it is complete, or not at all; see ``docs/data_format.md``.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

import h5py
import numpy as np

from supra.data.dataset import Channel, Layout, Sample
from supra.data.errors import DataError
from supra.data.replacement import Replacement
from supra.data.store.domain import same_domain, write_domain
from supra.data.store.field import field_shape, storable_fields
from supra.data.store.format import (
    FORMAT,
    LIBVER,
    SPLITS,
    VERSION,
    Split,
    encoded,
    whole_chunk,
    write_array,
    write_text,
    writing,
)
from supra.data.store.reader import Store, open_store
from supra.domain import Domain
from supra.domain.choice import check_choice

Precision = Literal["float32", "float64"]


class StoreWriter:
    """Writes samples to a data file: ``with StoreWriter(path, layout) as store: store.add(…)``.

    All is written to a hidden file beside it, which takes the name when the block ends without an
    error. An exception or a killed process leaves what was there before.

    Args:
        path: the file, usually ``.h5``; replaced if it exists.
        layout: channels and times of all samples.
        domain: where all samples live; ``None`` if each has its own.
        metadata: anything that JSON can hold.
        precision: of the stored fields; domains are always stored in float64.
    """

    def __init__(
        self,
        path: str | Path,
        layout: Layout,
        domain: Domain | None = None,
        *,
        metadata: Mapping[str, Any] | None = None,
        precision: Precision = "float32",
    ) -> None:
        check_choice("precision", precision, Precision, DataError)
        self.layout, self.domain, self.metadata = layout, domain, dict(metadata or {})
        self._type = np.dtype(precision)
        self._splits: dict[str, list[int]] = {split: [] for split in SPLITS}
        self._names: list[str] = []
        self._place = Replacement(path)
        self._open("w-")
        try:
            self._write_head()
        except BaseException:
            self._discard()
            raise

    @classmethod
    def append(cls, path: str | Path) -> "StoreWriter":
        """A writer of more samples for an existing file.

        It works on a copy: whoever reads the file meanwhile sees the samples it had, and so does
        everybody if the writer is killed.
        """
        writer = cls.__new__(cls)
        writer._place = Replacement(path)
        writer._describe(open_store(path))
        try:
            with writing(writer.path):
                writer._place.copy()
            writer._open("r+")
            writer._type = writer._stored_type()
        except BaseException:
            writer._place.discard()
            raise
        return writer

    @property
    def path(self) -> Path:
        """The file to be."""
        return self._place.path

    def __len__(self) -> int:
        return len(self._names)

    def add(self, sample: Sample, split: Split = "train", name: str = "") -> None:
        """Add one sample to a split; ``name`` (such as a file's) is kept beside it."""
        check_choice("split", split, Split, DataError)
        number = len(self)
        who = f"Sample {number} ({name})" if name else f"Sample {number}"
        self._check_domain(sample.domain, who)
        inputs, targets = storable_fields(sample, self.layout, self._type, who)
        with writing(self.path):
            if self.domain is None:
                self._add_group(number, inputs, targets, sample.domain)
            else:
                self._add_row("inputs", number, inputs)
                self._add_row("targets", number, targets)
        self._splits[split].append(number)
        self._names.append(name)

    def _check_domain(self, domain: Domain, who: str) -> None:
        if self.domain is not None and not same_domain(domain, self.domain):
            raise DataError(
                f"{who} lives on another domain than {self.domain!r}, which all share. Make the "
                f"file with `domain=None` to store one domain per sample."
            )

    def __enter__(self) -> "StoreWriter":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if error is None:
                self._finish()
        finally:
            self._discard()

    # ---- the file -----------------------------------------------------------------------------

    def _open(self, mode: str) -> None:
        with writing(self.path):
            self._file = h5py.File(self._place.unfinished, mode, libver=LIBVER)

    def _describe(self, store: Store) -> None:
        """Take up where an existing file ends."""
        self.layout, self.domain, self.metadata = store.layout, store.domain, store.metadata
        self._splits = {split: store.dataset(split).indices.tolist() for split in SPLITS}
        self._names = list(store.names)

    def _stored_type(self) -> np.dtype:
        """Precision of the samples that a file has, if it can take more of them."""
        part = self._file if self.domain is not None else self._file.get("samples/0", {})
        kept = part.get("targets")
        is_fixed = kept is not None and self.domain is not None and kept.maxshape[0] is not None
        if kept is None or kept.dtype.kind != "f" or is_fixed:
            raise DataError(
                f"Data file {str(self.path)!r} cannot grow: it needs at least one sample, fields "
                f"of floating-point numbers, and resizable arrays (maxshape=(None, …)) on a shared "
                f"domain. Write it anew with StoreWriter."
            )
        return np.dtype(kept.dtype.newbyteorder("="))

    def _discard(self) -> None:
        self._file.close()
        self._place.discard()

    def _write_head(self) -> None:
        file, layout = self._file, self.layout
        write_text(file.attrs, "format", FORMAT)
        file.attrs["version"] = VERSION
        _write_channels(file, "input", layout.inputs)
        _write_channels(file, "target", layout.targets)
        write_text(file.attrs, "time", layout.time)
        file.attrs["times"] = np.array(layout.times, dtype=np.float64)
        if self.domain is None:
            file.create_group("samples")
            return
        write_domain(file.create_group("domain"), self.domain)
        self._create_rows("inputs", field_shape(layout, self.domain, "inputs"))
        self._create_rows("targets", field_shape(layout, self.domain, "targets"))

    def _create_rows(self, name: str, shape: tuple[int, ...]) -> None:
        """An array that grows by samples, each in a chunk of its own: read at once, alone."""
        if not shape[-1]:  # only geometry is given; HDF5 has no empty chunks
            return
        self._file.create_dataset(
            name,
            shape=(0, *shape),
            maxshape=(None, *shape),
            chunks=(1, *whole_chunk(shape, self._type.itemsize)),
            dtype=self._type,
            fletcher32=True,
        )

    def _add_row(self, name: str, number: int, values: np.ndarray) -> None:
        if values.shape[-1]:
            self._file[name].resize(number + 1, axis=0)
            self._file[name][number] = values

    def _add_group(
        self, number: int, inputs: np.ndarray, targets: np.ndarray, domain: Domain
    ) -> None:
        samples = self._file["samples"]
        if str(number) in samples:  # the rest of one that could not be written
            del samples[str(number)]
        group = samples.create_group(str(number))
        if inputs.shape[-1]:
            write_array(group, "inputs", inputs)
        write_array(group, "targets", targets)
        write_domain(group.create_group("domain"), domain)

    def _finish(self) -> None:
        if not len(self):
            raise DataError(f"A data file needs at least one sample: {self.path} would have none.")
        with writing(self.path):
            self._write_tail()
            self._file.close()
            self._place.take_place()

    def _write_tail(self) -> None:
        for name in {"splits", "names"} & set(self._file):
            del self._file[name]
        write_array(self._file, "names", encoded(self._names))
        for split, numbers in self._splits.items():
            if numbers or split != "valid":  # without it, readers cut one from "train"
                write_array(self._file, f"splits/{split}", np.array(numbers, dtype=np.int64))
        write_text(self._file.attrs, "metadata", _json(self.metadata))


def _write_channels(file: h5py.File, what: str, channels: tuple[Channel, ...]) -> None:
    write_text(file.attrs, f"{what}s", [channel.name for channel in channels])
    write_text(file.attrs, f"{what}_units", [channel.unit for channel in channels])


def _json(metadata: Mapping[str, Any]) -> str:
    try:
        return json.dumps(metadata)
    except (TypeError, ValueError) as error:
        raise DataError(f"`metadata` must be what JSON can hold: {error}.") from None
