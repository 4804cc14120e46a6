"""Written files are looked at by numpy, scipy and h5py, not by the library's own reader."""

import json
from pathlib import Path

import h5py
import numpy as np
import pytest
import scipy.io

from supra.data.errors import DataError
from supra.data.public.load import load_dataset
from supra.data.public.write import write_public

from .public_files import CELL, PLASTIC, SMALL, SMOOTH, VORTICITY, as_written, solutions, write

EACH = pytest.mark.parametrize("name", list(SMALL))


def stacked(samples: list, key: str, axis: int = 0) -> np.ndarray:
    return np.stack([sample[key] for sample in samples], axis=axis)


@pytest.mark.parametrize("version", ["5", "7.3"])
@pytest.mark.parametrize(("name", "file"), [("navier_stokes", VORTICITY), ("plasticity", PLASTIC)])
def test_written_mat_files_are_what_independent_readers_expect(
    name: str, file: str, version: str, tmp_path: Path
) -> None:
    samples = write(name, tmp_path, version=version)
    if version == "5":
        read = scipy.io.loadmat(tmp_path / file)
    else:
        with h5py.File(tmp_path / file) as hdf5:
            read = {key: hdf5[key][:].T for key in hdf5}
    for key in SMALL[name]:
        np.testing.assert_array_equal(read[key], stacked(samples, key))


def test_written_darcy_files_hold_training_and_test_samples(tmp_path: Path) -> None:
    samples = write("darcy", tmp_path, train=3, test=2)
    for number, part in ((1, samples[:3]), (2, samples[3:])):
        read = scipy.io.loadmat(tmp_path / SMOOTH.format(number))
        for key in ("coeff", "sol"):
            np.testing.assert_array_equal(read[key], stacked(part, key))


@pytest.mark.parametrize(
    ("name", "files", "axis"),
    [
        ("airfoil", {k: f"NACA_Cylinder_{k}.npy" for k in "XYQ"} | {"theta": "NACA_theta.npy"}, 0),
        ("pipe", {k: f"Pipe_{k}.npy" for k in "XYQ"}, 0),
        ("elasticity", {k: CELL.format(k) for k in ("XY", "sigma", "rr")}, -1),
    ],
)
def test_written_npy_files_are_what_numpy_expects(
    name: str, files: dict[str, str], axis: int, tmp_path: Path
) -> None:
    samples = write(name, tmp_path)
    for key, file in files.items():
        read = np.load(tmp_path / file, allow_pickle=False)
        np.testing.assert_array_equal(read, stacked(samples, key, axis))


@pytest.mark.parametrize("version", ["5", "7.3"])
@EACH
def test_generated_sets_are_read_back_identically(name: str, version: str, tmp_path: Path) -> None:
    samples = write(name, tmp_path, train=5, test=3, version=version)
    data = load_dataset(name.replace("_", "-"), tmp_path, valid=0)
    as_written(name, samples[:5], "train", data)
    as_written(name, samples[5:], "test", data)


def test_samples_are_written_in_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("supra.data.public.write._MOST", 2)
    samples = write("navier_stokes", tmp_path, train=5, test=2)
    as_written("navier_stokes", samples[5:], "test", load_dataset("navier_stokes", tmp_path))
    samples = write("elasticity", tmp_path / "e", train=5, test=2)
    as_written("elasticity", samples[5:], "test", load_dataset("elasticity", tmp_path / "e"))


def test_the_record_tells_counts_and_origin(tmp_path: Path) -> None:
    write("pipe", tmp_path, train=3, test=2)
    record = json.loads((tmp_path / "generated.json").read_text())
    told = {key: record[key] for key in ("problem", "train", "test", "seed", "version")}
    assert told == {"problem": "pipe", "train": 3, "test": 2, "seed": 1, "version": "0.1.0"}
    assert record["options"] == {"resolution": 6}


def test_a_set_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    def broken():
        yield from solutions("pipe", 2, 3)
        raise RuntimeError("the solver failed")

    samples = write("pipe", tmp_path, train=3, test=2)
    with pytest.raises(RuntimeError, match="solver"):
        write_public("pipe", tmp_path, broken(), iter([]), counts=(3, 2))
    as_written("pipe", samples[3:], "test", load_dataset("pipe", tmp_path))
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        *(f"Pipe_{key}.npy" for key in "QXY"),
        "generated.json",
    ]


@pytest.mark.parametrize(("train", "test"), [(2, 2), (4, 2), (3, 1), (3, 3)])
def test_the_numbers_of_samples_must_be_those_announced(
    train: int, test: int, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match=r"must give \d samples, as `counts` says"):
        write_public(
            "pipe",
            tmp_path,
            solutions("pipe", train, 0),
            solutions("pipe", test, 0),
            counts=(3, 2),
        )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"Q": np.zeros((3, 4, 6))}, r"must have the axes .* beside .*j=5"),
        ({"Q": np.zeros((2, 4, 5))}, r"quantity=3"),
        ({"Q": np.full((3, 4, 5), np.nan)}, "finite"),
        ({"X": np.full((4, 5), np.inf)}, "finite"),
        ({"P": np.zeros(3)}, "consists of X, Y, Q: got X, Y, Q, P"),
    ],
)
def test_samples_that_are_no_samples_of_the_set_are_not_written(
    change: dict, message: str, tmp_path: Path
) -> None:
    (good,) = solutions("pipe", 1, 0)
    with pytest.raises(DataError, match=message):
        write_public("pipe", tmp_path, [{**good, **change}], [good], counts=(1, 1))


def test_a_later_sample_of_another_shape_is_not_written(tmp_path: Path) -> None:
    good, other = solutions("pipe", 2, 0)
    other["X"] = np.zeros((2, 5))
    with pytest.raises(DataError, match=r"shape \(4, 5\) in every sample"):
        write_public("pipe", tmp_path, [good], [other], counts=(1, 1))


def test_two_generated_sets_do_not_share_a_folder(tmp_path: Path) -> None:
    write("pipe", tmp_path)
    with pytest.raises(DataError, match="a folder of its own"):
        write("darcy", tmp_path)
    with pytest.raises(DataError, match="at least 1 sample"):
        write("pipe", tmp_path, test=0)
