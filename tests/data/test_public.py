"""Expected values follow from the table of the community's conventions, not from the reader."""

import hashlib
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.io

from supra.data.errors import DataError
from supra.data.public import sets as public_sets
from supra.data.public.checksum import KNOWN, DataWarning, verify
from supra.data.public.load import find_sets, load_dataset
from supra.data.public.npy import MappedArray
from supra.data.public.sets import SETS
from supra.domain import Grid, PointSet

from .public_files import CELL, PLASTIC, SMALL, SMOOTH, hand_made, write

EACH = pytest.mark.parametrize("name", list(SMALL))


def flow(channel: int) -> Callable:
    def sample(arrays: dict[str, np.ndarray], n: int) -> tuple[np.ndarray, np.ndarray]:
        inputs = np.stack([arrays["X"][n].ravel(), arrays["Y"][n].ravel()], axis=1)
        return inputs, arrays["Q"][n, channel].reshape(-1, 1)

    return sample


def navier_stokes(arrays: dict[str, np.ndarray], n: int) -> tuple[np.ndarray, np.ndarray]:
    states = arrays["u"][n].reshape(-1, 20)
    return states[:, :10], np.stack([states[:, t : t + 1] for t in range(10, 20)])


def plasticity(arrays: dict[str, np.ndarray], n: int) -> tuple[np.ndarray, np.ndarray]:
    die = np.array([[arrays["input"][n, i]] for i in range(101) for _ in range(31)])
    steps = [arrays["output"][n, :, :, t].reshape(101 * 31, 4) for t in range(20)]
    return die, np.stack(steps)


EXPECTED: dict[str, Callable] = {
    "darcy": lambda a, n: (
        a["coeff"][n, ::5, ::5].reshape(-1, 1) + 1,
        a["sol"][n, ::5, ::5].reshape(-1, 1) + 1,
    ),
    "navier_stokes": navier_stokes,
    "airfoil": flow(4),
    "pipe": flow(0),
    "plasticity": plasticity,
    "elasticity": lambda a, n: (a["XY"][:, :, n], a["sigma"][:, n, None]),
}


@EACH
def test_every_entry_of_a_public_file_comes_to_its_place(name: str, tmp_path: Path) -> None:
    arrays = hand_made(name, tmp_path, 6)
    data = load_dataset(name, tmp_path, valid=0)
    for number, sample in zip(data.train.indices, data.train, strict=False):
        inputs, targets = EXPECTED[name](arrays, number)
        for got, wanted in ((sample.inputs, inputs), (sample.targets, targets)):
            np.testing.assert_array_equal(got, wanted)
            assert got.dtype == np.float32
            assert got.flags.c_contiguous


def test_test_samples_of_darcy_come_from_their_own_file(tmp_path: Path) -> None:
    arrays = hand_made("darcy", tmp_path, 2)
    sample = load_dataset("darcy", tmp_path, stride=84).test[1]
    np.testing.assert_array_equal(sample.targets.ravel(), arrays["sol"][1, ::84, ::84].ravel() + 2)


@EACH
def test_domains_and_layouts_are_those_of_the_benchmarks(name: str, tmp_path: Path) -> None:
    hand_made(name, tmp_path, 3)
    data = load_dataset(name, tmp_path, valid=0).train
    shapes = {
        "darcy": (85, 85),
        "navier_stokes": (64, 64),
        "airfoil": (221, 51),
        "pipe": (129, 129),
        "plasticity": (101, 31),
    }
    domain = data[0].domain
    if name == "elasticity":
        assert isinstance(domain, PointSet)
    else:
        assert isinstance(domain, Grid)
        assert domain.shape == shapes[name]
        assert domain.periodic == (name == "navier_stokes",) * 2
    own = name in ("airfoil", "pipe", "elasticity")
    assert data.domain is (None if own else domain)
    if own:
        np.testing.assert_array_equal(domain.points, data[0].inputs)
    assert len(data.layout.inputs) == data[0].inputs.shape[-1]
    assert len(data.layout.targets) == data[0].targets.shape[-1]
    times = {"navier_stokes": range(11, 21), "plasticity": np.linspace(0, 1, 20)}
    assert data.layout.times == tuple(times.get(name, ()))


# -- Counts ------------------------------------------------------------------------------------


def shrink(name: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[int, ...]]:
    """The published counts on a tiny grid: shapes of the arrays."""
    described, shapes = SETS[name], {}
    arrays = []
    for array in described.arrays:
        rest = iter(SMALL[name][array.key])
        axes = [a if a.name == "sample" else replace(a, size=next(rest)) for a in array.axes]
        arrays.append(replace(array, axes=tuple(axes)))
        shapes[array.key] = tuple(axis.size for axis in axes)
    monkeypatch.setitem(public_sets.SETS, name, replace(described, arrays=tuple(arrays)))
    return shapes


@pytest.mark.parametrize(
    ("name", "train", "test"),
    [
        ("navier_stokes", range(1000), range(1000, 1200)),
        ("airfoil", range(1000), range(1000, 1200)),
        ("pipe", range(1000), range(1000, 1200)),
        ("plasticity", range(900), range(907, 987)),
        ("elasticity", range(1000), range(1800, 2000)),
    ],
)
def test_published_files_are_cut_as_published(
    name: str, train: range, test: range, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shapes = shrink(name, monkeypatch)
    for array in SETS[name].arrays:
        if array.file.endswith(".npy"):
            np.save(tmp_path / array.file, np.zeros(shapes[array.key], np.float32))
    mat = {key: np.zeros(shape, np.float32) for key, shape in shapes.items()}
    if SETS[name].files[0].endswith(".mat"):
        scipy.io.savemat(tmp_path / SETS[name].files[0], mat)
    data = load_dataset(name, tmp_path, valid=0)
    assert list(data.train.indices) == list(train)
    assert list(data.test.indices) == list(test)


def test_published_darcy_takes_1000_and_200_of_its_two_files(tmp_path: Path) -> None:
    for number in (1, 2):
        zeros = np.zeros((1024, 3, 3), np.float32)
        scipy.io.savemat(tmp_path / SMOOTH.format(number), {"coeff": zeros, "sol": zeros})
    data = load_dataset("darcy", tmp_path, valid=100)
    assert [len(part) for part in (data.train, data.valid, data.test)] == [900, 100, 200]


@pytest.mark.parametrize(
    ("samples", "counts"), [(1, (1, 0)), (2, (1, 1)), (6, (5, 1)), (12, (10, 2))]
)
def test_smaller_files_keep_the_published_proportion(
    samples: int, counts: tuple[int, int], tmp_path: Path
) -> None:
    hand_made("elasticity", tmp_path, samples)
    data = load_dataset("elasticity", tmp_path, valid=0)
    assert (len(data.train), len(data.test)) == counts
    assert sorted([*data.train.indices, *data.test.indices]) == list(range(samples))


# -- Splits, options, laziness -------------------------------------------------------------------


@EACH
def test_splits_are_disjoint_and_validation_is_cut_alike_every_time(
    name: str, tmp_path: Path
) -> None:
    write(name, tmp_path, train=8, test=3)
    first, again, other = (load_dataset(name, tmp_path, valid=0.5, seed=seed) for seed in (1, 1, 2))
    assert [len(part) for part in (first.train, first.valid, first.test)] == [4, 4, 3]
    np.testing.assert_array_equal(first.valid.indices, again.valid.indices)
    assert list(first.valid.indices) != list(other.valid.indices)
    assert sorted([*first.train.indices, *first.valid.indices]) == list(range(8))
    if name != "darcy":
        assert not set(first.test.indices) & set(range(8))


@pytest.mark.parametrize("version", ["5", "7.3"])
def test_darcy_is_thinned_by_any_stride_that_keeps_both_ends(version: str, tmp_path: Path) -> None:
    samples = write("darcy", tmp_path, version=version)
    assert load_dataset("darcy", tmp_path).train.domain.shape == (6, 6)
    thinned = load_dataset("darcy", tmp_path, stride=5, valid=0).train
    assert thinned.domain.shape == (2, 2)
    np.testing.assert_array_equal(thinned[0].inputs.ravel(), samples[0]["coeff"][::5, ::5].ravel())
    for stride in (2, 0, -1, 10, [1, 5], []):
        with pytest.raises(DataError, match=r"`stride` must divide .*Possible are 1, 5\."):
            load_dataset("darcy", tmp_path, stride=stride)
    for stride in (2.5, "x"):
        with pytest.raises(DataError, match="`stride` takes whole numbers"):
            load_dataset("darcy", tmp_path, stride=stride)


@pytest.mark.parametrize(
    ("name", "key", "shape"),
    [("airfoil", "X", (4, 2)), ("plasticity", "output", (3, 2)), ("navier_stokes", "u", (2, 2))],
)
def test_every_set_on_a_grid_can_be_thinned(
    name: str, key: str, shape: tuple[int, int], tmp_path: Path
) -> None:
    write(name, tmp_path)
    whole = load_dataset(name, tmp_path, valid=0).train[1]
    thin = pickle.loads(pickle.dumps(load_dataset(name, tmp_path, stride=2, valid=0).train))[1]
    assert thin.domain.shape == shape
    numbers = np.arange(len(whole.inputs)).reshape(SMALL[name][key][:2])[::2, ::2].ravel()
    np.testing.assert_array_equal(thin.inputs, whole.inputs[numbers])
    np.testing.assert_array_equal(thin.targets, whole.targets[..., numbers, :])
    np.testing.assert_allclose(thin.domain.points, whole.domain.points[numbers])
    with pytest.raises(DataError, match="`stride` must divide"):
        load_dataset(name, tmp_path, stride=3 if name != "airfoil" else 4)


def test_unknown_names_and_options_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"darcy, navier_stokes, airfoil.* got 'burgers'"):
        load_dataset("burgers", tmp_path)
    write("elasticity", tmp_path)
    with pytest.raises(DataError, match="elasticity has no options: got `stride`"):
        load_dataset("elasticity", tmp_path, stride=2)
    write("darcy", tmp_path / "darcy")
    with pytest.raises(DataError, match="has the option `stride`: got `step`"):
        load_dataset("darcy", tmp_path / "darcy", step=2)


@pytest.mark.parametrize("name", ["airfoil", "pipe", "elasticity"])
def test_npy_files_stay_on_disk_and_readers_travel_as_paths(name: str, tmp_path: Path) -> None:
    write(name, tmp_path, train=50)
    data = load_dataset(name, tmp_path).train
    for array in data.read.arrays.values():
        assert isinstance(array, MappedArray)
        assert isinstance(array.values, np.memmap)
    sent = pickle.dumps(data.read)
    assert len(sent) < 5000
    np.testing.assert_array_equal(pickle.loads(sent)(7).targets, data.read(7).targets)


@pytest.mark.parametrize("name", ["darcy", "navier_stokes", "plasticity"])
def test_readers_of_mat_files_travel_too(name: str, tmp_path: Path) -> None:
    write(name, tmp_path)
    data = load_dataset(name, tmp_path).train
    copy = pickle.loads(pickle.dumps(data))
    np.testing.assert_array_equal(copy[2].targets, data[2].targets)


def test_a_sample_can_be_changed_without_changing_the_set(tmp_path: Path) -> None:
    for name in ("darcy", "pipe"):
        write(name, tmp_path / name)
        data = load_dataset(name, tmp_path / name).train
        data[0].inputs[:] = 7
        assert not (data[0].inputs == 7).any()


# -- What is there, and whether it is the published one -------------------------------------------


def test_sets_in_a_folder_are_found(tmp_path: Path) -> None:
    assert find_sets(tmp_path) == ()
    write("pipe", tmp_path)
    (tmp_path / PLASTIC).touch()
    assert find_sets(tmp_path) == ("pipe", "plasticity")


def test_files_of_the_published_shape_are_compared_with_the_known_sums(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shapes = shrink("elasticity", monkeypatch)
    for key in ("XY", "sigma"):
        np.save(tmp_path / CELL.format(key), np.zeros(shapes[key], np.float32))
    with pytest.warns(DataWarning, match="has the published shape but not"):
        assert verify(tmp_path) == {CELL.format("XY"): False, CELL.format("sigma"): False}
    for key in ("XY", "sigma"):
        file = CELL.format(key)
        digest = hashlib.sha256((tmp_path / file).read_bytes()).hexdigest()
        monkeypatch.setitem(KNOWN, file, digest)
    assert verify(tmp_path) == {CELL.format("XY"): True, CELL.format("sigma"): True}


def test_generated_and_other_files_are_not_compared(tmp_path: Path) -> None:
    write("elasticity", tmp_path / "a")
    hand_made("elasticity", tmp_path, 3)
    assert verify(tmp_path / "a") == verify(tmp_path) == {}
