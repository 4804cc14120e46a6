"""Broken data files: a `DataError` that names the file, or the right answer."""

import tempfile
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from supra.data import Channel, DataError, Layout, Sample
from supra.data.store.domain import same_domain
from supra.data.store.reader import open_dataset, open_store
from supra.data.store.writer import StoreWriter
from supra.domain import Grid, Mesh, PointSet, shapes

CALM = {
    "derandomize": True,
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow],
}
LAYOUT = Layout((Channel("a", "m"),), (Channel("u"), Channel("v")), "condition", (0.0, 1.0))
SQUARE = shapes.square(2)
MARKED = Mesh(SQUARE.points, SQUARE.cells, regions={"left": np.array([0, 1])})
DOMAINS = [MARKED, Grid((3, 3)), PointSet(np.random.default_rng(1).normal(size=(9, 2)))]


def write(path, shared):
    random = np.random.default_rng(0)
    with StoreWriter(path, LAYOUT, MARKED if shared else None, metadata={"x": 1}) as store:
        for number in range(12):
            domain = MARKED if shared else DOMAINS[number % 3]
            sample = Sample(random.normal(size=(9, 1)), random.normal(size=(2, 9, 2)), domain)
            store.add(sample, "test" if number > 8 else "train", f"case {number}")


@pytest.fixture(params=[True, False], ids=["shared", "each its own"])
def path(request, tmp_path):
    write(tmp_path / "data.h5", request.param)
    return tmp_path / "data.h5"


def everything(path):
    store = open_store(path)
    splits = {name: numbers.tolist() for name, numbers in store.splits.items()}
    head = store.layout, store.names, store.metadata, splits
    return head, [store(number) for number in range(len(store))]


def assert_same(one, other):
    assert one[0] == other[0]
    for a, b in zip(one[1], other[1], strict=True):
        np.testing.assert_array_equal(a.inputs, b.inputs)
        np.testing.assert_array_equal(a.targets, b.targets)
        assert same_domain(a.domain, b.domain)


# ---- random damage -------------------------------------------------------------------------------


def whole_file(shared):
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / "data.h5", shared)
        return (Path(folder) / "data.h5").read_bytes(), everything(Path(folder) / "data.h5")


WHOLE = {shared: whole_file(shared) for shared in (True, False)}


def damaged(data, content):
    """Cut short, one bit turned over, or up to 40 bytes overwritten."""
    at = data.draw(st.integers(0, len(content) - 1))
    how = data.draw(st.sampled_from(["cut", "bit", "bytes"]))
    if how == "cut":
        return content[:at]
    if how == "bit":
        new = bytes([content[at] ^ (1 << data.draw(st.integers(0, 7)))])
    else:
        new = data.draw(st.binary(min_size=1, max_size=40))
    return content[:at] + new + content[at + len(new) :]


@pytest.mark.usefixtures("unchecked")
@settings(max_examples=300, **CALM)
@given(data=st.data(), shared=st.booleans())
def test_a_damaged_file_gives_a_data_error_or_the_right_answer(data, shared):
    content, expected = WHOLE[shared]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "damaged.h5"
        path.write_bytes(damaged(data, content))
        try:
            found = everything(path)
        except DataError as error:
            assert "damaged.h5" in str(error)  # noqa: PT017
        else:
            assert_same(found, expected)


# ---- what is missing or wrong, by name -----------------------------------------------------------


def replace(name, values):
    def change(file):
        attributes = dict(file[name].attrs) if name in file else {}
        if name in file:
            del file[name]
        if values is not None:
            file[name] = values
            file[name].attrs.update(attributes)

    return change


def attribute(name, value, of="/"):
    def change(file):
        del file[of].attrs[name]
        if value is not None:
            file[of].attrs[name] = value

    return change


def one_field(name, values):
    """Put a field into the place of a shared array or of the first sample's."""

    def change(file):
        where = f"samples/0/{name}" if "samples" in file else name
        stacked = values if "samples" in file else np.stack([values] * 12)
        replace(where, stacked)(file)

    return change


def in_domain(change_of):
    def change(file):
        change_of("samples/0/domain" if "samples" in file else "domain")(file)

    return change


BROKEN = {
    "other format": (attribute("format", "netcdf"), "not a data file of ours.*netcdf"),
    "no format": (attribute("format", None), "docs/data_format.md"),
    "newer version": (attribute("version", 2), "version is 2.*Upgrade"),
    "no version": (attribute("version", None), "'version' must be 1: got None"),
    "no targets": (attribute("targets", None), "'targets' must name"),
    "names are numbers": (attribute("inputs", [1, 2]), "'inputs' must be a list of texts"),
    "too few units": (attribute("target_units", ["K"]), "'target_units' must have one"),
    "unknown time": (attribute("time", "later"), "`time` must be"),
    "steady with times": (attribute("time", "steady"), "if and only if"),
    "times not finite": (attribute("times", [0, np.nan]), "'times' must be"),
    "metadata": (attribute("metadata", "{"), "'metadata' must be JSON"),
    "metadata list": (attribute("metadata", "[]"), "JSON object"),
    "no splits": (replace("splits", None), "group 'splits' is missing"),
    "split out of range": (replace("splits/test", [11, 12]), r"samples 0 to 12.*there are 12"),
    "negative split": (replace("splits/test", [-1]), "samples -1 to 8"),
    "overlapping splits": (replace("splits/test", [8, 9]), r"twice \(first: 8\)"),
    "split of text": (replace("splits/test", ["a"]), "whole numbers"),
    "unknown split": (replace("splits/dev", [1]), "called train, valid, test: got dev"),
    "too few names": (replace("names", ["a"]), "one text per sample: 1 for 12"),
    "missing channel": (one_field("targets", np.ones((2, 9, 1))), r"\(2, 9, 2\) per sample: got"),
    "missing point": (one_field("inputs", np.ones((8, 1))), r"\(9, 1\) per sample: got \(8, 1\)"),
    "missing axis": (one_field("inputs", np.ones(9)), "must hold real numbers on"),
    "text": (one_field("inputs", np.full((9, 1), b"a")), "must hold real numbers"),
    "not finite": (one_field("inputs", np.full((9, 1), np.nan)), "inputs of sample 0 are not all"),
    "unknown domain": (in_domain(lambda d: attribute("kind", "cad", d)), "'kind'.*'cad'"),
    "no points": (in_domain(lambda d: replace(f"{d}/points", None)), "dataset 'points' is missing"),
    "no cells": (in_domain(lambda d: replace(f"{d}/cells", None)), "dataset 'cells' is missing"),
    "cells out of range": (
        in_domain(lambda d: replace(f"{d}/cells", [[0, 1, 9]])),
        "numbered 0 to 8",
    ),
    "region out of range": (
        in_domain(lambda d: replace(f"{d}/regions/0", [99])),
        "Region 'left'.*99",
    ),
}


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("what", BROKEN)
def test_what_is_wrong_is_said_with_the_files_name(what, path):
    change, message = BROKEN[what]
    with h5py.File(path, "r+") as file:
        change(file)
    with pytest.raises(DataError, match=rf"(?s)data\.h5.*{message}"):
        everything(path)


@pytest.mark.parametrize("name", ["inputs", "targets", "domain"])
def test_a_missing_part_is_named(name, path):
    with h5py.File(path, "r+") as file:
        del (file["samples/0"] if "samples" in file else file)[name]
    with pytest.raises(DataError, match=rf"data\.h5.*'{name}'"):
        everything(path)


def test_a_missing_sample_is_named(tmp_path):
    write(tmp_path / "data.h5", shared=False)
    with h5py.File(tmp_path / "data.h5", "r+") as file:
        file.move("samples/3", "samples/99")
    with pytest.raises(DataError, match="group '3' is missing in '/samples'"):
        everything(tmp_path / "data.h5")


def test_an_array_that_was_never_written_is_not_taken_for_zeros(tmp_path):
    write(tmp_path / "data.h5", shared=True)
    with h5py.File(tmp_path / "data.h5", "r+") as file:
        del file["inputs"]
        file.create_dataset("inputs", (12, 9, 1), "f4", chunks=(1, 9, 1))
        file["inputs"][:5] = 1
    with pytest.raises(DataError, match=r"'/inputs'.*needs 432 bytes and has 180"):
        open_store(tmp_path / "data.h5")


def test_a_compressed_array_is_read(tmp_path):
    write(tmp_path / "data.h5", shared=True)
    with h5py.File(tmp_path / "data.h5", "r+") as file:
        del file["inputs"]
        file.create_dataset("inputs", data=np.ones((12, 9, 1), "f4"), compression="gzip")
    assert (open_store(tmp_path / "data.h5")(0).inputs == 1).all()


def test_a_number_outside_the_file_is_named(path):
    with pytest.raises(DataError, match=r"samples 0 to 11: got 12"):
        open_store(path)(12)


def test_files_that_are_no_hdf5_are_named(tmp_path):
    (tmp_path / "text.h5").write_text("hello")
    (tmp_path / "empty.h5").write_bytes(b"")
    for name in ("text.h5", "empty.h5"):
        with pytest.raises(DataError, match=rf"{name}.*undamaged HDF5"):
            open_store(tmp_path / name)
    for name in ("none.h5", "."):
        with pytest.raises(DataError, match="does not exist"):
            open_dataset(tmp_path / name)


def test_a_file_without_training_samples_is_named(path):
    with h5py.File(path, "r+") as file:
        replace("splits/train", np.empty(0))(file)
    with pytest.raises(DataError, match=r"data\.h5.*no samples in 'splits/train'"):
        open_dataset(path)
