"""What a data file says about its samples, read and checked when it is opened."""

import json
from typing import Any

import h5py
import numpy as np

from supra.data.dataset import Channel, Layout
from supra.data.errors import DataError
from supra.data.store.field import What, field_shape
from supra.data.store.format import (
    FORMAT,
    SPLITS,
    VERSION,
    array_of,
    decoded,
    member,
    read_array,
    read_text,
    read_texts,
)
from supra.domain import Domain


def check_version(file: h5py.File) -> None:
    """Raise a `DataError` unless this software reads the file."""
    found = read_text(file.attrs, "format", default="")
    if found != FORMAT:
        raise DataError(
            f"it is HDF5, but not a data file of ours: the attribute 'format' must be {FORMAT!r}, "
            f"got {found!r}. docs/data_format.md says what such a file holds."
        )
    version = file.attrs.get("version")
    if not isinstance(version, int | np.integer) or version < 1:
        raise DataError(f"attribute 'version' must be {VERSION}: got {version!r}.")
    if version > VERSION:
        raise DataError(
            f"its version is {version}, and this software reads up to {VERSION}. Upgrade supra."
        )


def read_layout(file: h5py.File) -> Layout:
    """Channels and times."""
    time: Any = read_text(file.attrs, "time", default="steady")
    times = np.asarray(file.attrs.get("times", ()), dtype=np.float64)
    if times.ndim != 1 or not np.isfinite(times).all():
        raise DataError(f"attribute 'times' must be a list of finite numbers: got {times!r}.")
    if not read_texts(file.attrs, "targets"):
        raise DataError("attribute 'targets' must name the channels to predict: it names none.")
    channels = _channels(file, "input"), _channels(file, "target")
    return Layout(*channels, time, tuple(times.tolist()))


def _channels(file: h5py.File, what: str) -> tuple[Channel, ...]:
    names, units = read_texts(file.attrs, f"{what}s"), read_texts(file.attrs, f"{what}_units")
    if units and len(units) != len(names):
        raise DataError(
            f"attribute '{what}_units' must have one text for each of {names}: got {units}."
        )
    return tuple(map(Channel, names, units or [""] * len(names)))


def count_samples(file: h5py.File, layout: Layout, domain: Domain | None) -> int:
    """Number of samples, after a look at the shapes of those on one domain."""
    return _count_groups(file) if domain is None else _count_rows(file, layout, domain)


def _count_rows(file: h5py.File, layout: Layout, domain: Domain) -> int:
    targets = array_of(file, "targets", "fiu", axes=4 if layout.times else 3)
    check_shape("targets", targets.shape[1:], layout, domain, "targets")
    if layout.inputs:
        inputs = array_of(file, "inputs", "fiu", axes=3)
        check_shape("inputs", inputs.shape[1:], layout, domain, "inputs")
        if len(inputs) != len(targets):
            raise DataError(f"it has {len(inputs)} inputs and {len(targets)} targets.")
    return len(targets)


def _count_groups(file: h5py.File) -> int:
    if "samples" not in file:
        raise DataError(
            "it has neither the group 'domain' (one for all samples) nor the group 'samples' (each "
            "with its own domain)."
        )
    return len(member(file, "samples", h5py.Group, "group"))


def check_shape(
    name: str, shape: tuple[int, ...], layout: Layout, domain: Domain, what: What
) -> None:
    """Shape of one sample's field against the layout and the number of points."""
    wanted = field_shape(layout, domain, what)
    if shape != wanted:
        axes = "(times, points, channels)" if len(wanted) == 3 else "(points, channels)"
        raise DataError(f"dataset {name!r} must hold {axes} = {wanted} per sample: got {shape}.")


def read_splits(file: h5py.File, count: int) -> dict[str, np.ndarray]:
    """Numbers of the samples of each split: those of the file's, each once."""
    group = member(file, "splits", h5py.Group, "group")
    unknown = sorted(set(group) - set(SPLITS))
    if unknown:
        raise DataError(f"splits are called {', '.join(SPLITS)}: got {', '.join(unknown)}.")
    splits = {name: _numbers(group, name) for name in SPLITS if name in group}
    every = np.concatenate([np.empty(0, dtype=np.int64), *splits.values()])
    if every.size and not 0 <= every.min() <= every.max() < count:
        raise DataError(
            f"splits name samples {every.min()} to {every.max()}, but there are {count}, counted "
            f"from 0."
        )
    twice = np.flatnonzero(np.bincount(every, minlength=1) > 1)
    if twice.size:
        raise DataError(f"{twice.size} sample(s) are in the splits twice (first: {twice[0]}).")
    return splits


def _numbers(group: h5py.Group, name: str) -> np.ndarray:
    found = member(group, name, h5py.Dataset, "dataset")
    if not found.size:  # an empty list has the type of floats when written by plain h5py
        return np.empty(0, dtype=np.int64)
    return read_array(group, name, "iu", axes=1).astype(np.int64)


def read_names(file: h5py.File, count: int) -> tuple[str, ...]:
    """What each sample is called."""
    if "names" not in file:
        return ("",) * count
    found = array_of(file, "names", "SO", axes=1)
    names = decoded(found[()], "dataset 'names'")
    if len(names) != count:
        raise DataError(f"'names' must have one text per sample: {len(names)} for {count}.")
    return names


def read_metadata(file: h5py.File) -> dict[str, Any]:
    """What the file's writer noted."""
    try:
        metadata = json.loads(read_text(file.attrs, "metadata", default="{}"))
    except json.JSONDecodeError as error:
        raise DataError(f"attribute 'metadata' must be JSON: {error}.") from None
    if not isinstance(metadata, dict):
        raise DataError(f"attribute 'metadata' must be a JSON object: got {metadata!r}.")
    return metadata
