"""Whatever is wrong with a file, the error names it and says what to do."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
import scipy.io
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from supra.data.errors import DataError
from supra.data.public.load import load_dataset
from supra.data.public.sets import SETS

from .public_files import SMALL, SMOOTH, hand_made, write

KINDS = {  # set, version of .mat files, file to be damaged
    "version 5": ("darcy", "5", SMOOTH.format(1)),
    "version 5 compressed": ("darcy", "scipy", SMOOTH.format(2)),
    "version 7.3": ("navier_stokes", "7.3", SETS["navier_stokes"].files[0]),
    "npy": ("pipe", "auto", "Pipe_Q.npy"),
    "npy, samples last": ("elasticity", "auto", "Random_UnitCell_XY_10.npy"),
    "two arrays in a file": ("plasticity", "5", SETS["plasticity"].files[0]),
    "record": ("airfoil", "auto", "generated.json"),
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A sound set of every kind."""
    made = {}
    for kind, (name, version, file) in KINDS.items():
        made[kind] = tmp_path_factory.mktemp("sound")
        write(name, made[kind], version="5" if version == "scipy" else version)
        if version == "scipy":
            arrays = scipy.io.loadmat(made[kind] / file)
            kept = {key: arrays[key] for key in ("coeff", "sol")}
            scipy.io.savemat(made[kind] / file, kept, do_compression=True)
    return made


def shapes(name: str, root: Path) -> list[tuple[int, ...]]:
    """Shapes of all that is read."""
    data = load_dataset(name, root, valid=0)
    return [array.shape for part in (data.train, data.test) for s in part for array in read(s)]


def read(sample) -> tuple[np.ndarray, np.ndarray]:
    assert np.isfinite(sample.inputs).all()
    assert np.isfinite(sample.targets).all()
    return sample.inputs, sample.targets


@st.composite
def damage(draw: st.DrawFn) -> Callable[[bytes], bytes]:
    """Cuts off the end, changes bytes, removes or repeats a stretch."""
    at, length = draw(st.floats(0, 1)), draw(st.integers(1, 40))
    kind = draw(st.sampled_from(["cut", "change", "remove", "repeat"]))
    # Headers are short and at the front: half of the damage is done there.
    front = draw(st.booleans())
    new = draw(st.binary(min_size=1, max_size=4) | st.sampled_from([b"\xff" * 4, b"\0" * 4, b"9"]))

    def apply(data: bytes) -> bytes:
        place = int(at * (min(len(data), 1000 if front else len(data)) - 1))
        if kind == "cut":
            return data[:place]
        if kind == "change":
            return data[:place] + new + data[place + len(new) :]
        if kind == "remove":
            return data[:place] + data[place + length :]
        return data[: place + length] + data[place:]

    return apply


@pytest.mark.parametrize("kind", list(KINDS))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(damage=damage())
def test_a_damaged_file_gives_a_named_error_or_only_other_numbers(
    folders: dict[str, Path], kind: str, damage: Callable[[bytes], bytes]
) -> None:
    name, _, file = KINDS[kind]
    path = folders[kind] / file
    sound = path.read_bytes()
    expected = shapes(name, folders[kind])
    path.write_bytes(damage(sound))
    try:
        found, message = outcome(name, folders[kind])
    finally:
        path.write_bytes(sound)
    assert found == expected or file in message or str(folders[kind]) in message


def outcome(name: str, root: Path) -> tuple[list, str]:
    """What is read, or the message of the error."""
    try:
        return shapes(name, root), ""
    except DataError as error:
        return [], str(error)


@pytest.mark.parametrize("kind", ["npy", "npy, samples last", "version 5", "version 7.3"])
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_a_reshaped_array_gives_an_error_that_tells_both_shapes(
    folders: dict[str, Path], kind: str, data: st.DataObject
) -> None:
    name, _, file = KINDS[kind]
    array = next(a for a in SETS[name].arrays if file in (a.file, a.test_file))
    inner = list(SMALL[name][array.key])
    shape = [*inner[: array.sample_axis], 5 if name == "darcy" else 7, *inner[array.sample_axis :]]
    changes = [tuple(shape[::-1]), (*shape, 1), tuple(shape[1:]), (shape[0] + 1, *shape[1:])]
    changed = data.draw(st.sampled_from([c for c in changes if c != tuple(shape)]))
    path = folders[kind] / file
    sound = path.read_bytes()
    try:
        replace_array(path, array.key, np.ones(changed, np.float32))
        with pytest.raises(DataError) as caught:
            shapes(name, folders[kind])
    finally:
        path.write_bytes(sound)
    assert str(changed) in str(caught.value) or changed[-1] == 1
    assert f"supra generate {name} --out {folders[kind]}" in str(caught.value)


def replace_array(path: Path, key: str, array: np.ndarray) -> None:
    if path.suffix == ".npy":
        np.save(path, array)
    elif h5py.is_hdf5(path):
        with h5py.File(path, "r+") as file:
            del file[key]
            file[key] = array.T
    else:
        arrays = {k: v for k, v in scipy.io.loadmat(path).items() if not k.startswith("_")}
        scipy.io.savemat(path, {**arrays, key: array})


@pytest.mark.parametrize("name", list(SMALL))
def test_every_missing_file_is_named_with_the_command_that_makes_it(
    name: str, tmp_path: Path
) -> None:
    write(name, tmp_path)
    for file in {array.file_of(s) for array in SETS[name].needed for s in ("train", "test")}:
        shutil.move(tmp_path / file, tmp_path / "away")
        with pytest.raises(DataError) as caught:
            load_dataset(name, tmp_path)
        message = str(caught.value)
        assert f"{tmp_path / file} does not exist." in message
        assert f"To make it: supra generate {name} --out {tmp_path}" in message
        assert SETS[name].held_by(file)[0].key in message
        shutil.move(tmp_path / "away", tmp_path / file)


@pytest.mark.parametrize("name", ["navier_stokes", "airfoil", "plasticity", "elasticity"])
def test_files_that_are_not_ours_must_have_the_published_axes(name: str, tmp_path: Path) -> None:
    write(name, tmp_path)
    (tmp_path / "generated.json").unlink()
    with pytest.raises(DataError, match=r"must have the axes \(.*=\d+.*its shape is \("):
        load_dataset(name, tmp_path)


def test_plasticity_with_swapped_axes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / SETS["plasticity"].files[0]
    arrays = {"input": np.zeros((3, 101)), "output": np.zeros((3, 31, 101, 20, 4))}
    scipy.io.savemat(path, arrays)
    with pytest.raises(DataError, match=r"output must have .*x=101, y=31.* is \(3, 31, 101, 20, 4"):
        load_dataset("plasticity", tmp_path)


def test_a_wrong_variable_is_told_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / SETS["navier_stokes"].files[0]
    scipy.io.savemat(path, {"a": np.zeros((3, 64, 64)), "text": "u"})
    with pytest.raises(
        DataError, match=r"no variable 'u': it holds a, text\. Expected: u \(sample"
    ):
        load_dataset("navier_stokes", tmp_path)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e300])
def test_values_that_are_no_numbers_are_found(bad: float, tmp_path: Path) -> None:
    arrays = {"u": np.zeros((3, 64, 64, 20))}
    arrays["u"][1, 2, 3, 4] = bad
    scipy.io.savemat(tmp_path / SETS["navier_stokes"].files[0], arrays)
    with pytest.raises(DataError, match="u holds NaN, infinite or too large values"):
        load_dataset("navier_stokes", tmp_path)
    stress = hand_made("elasticity", tmp_path, 6)["sigma"].astype(np.float64)
    stress[3, 1] = bad
    np.save(tmp_path / SETS["elasticity"].files[1], stress)
    data = load_dataset("elasticity", tmp_path, valid=0).train
    assert data[0].targets.shape == (972, 1)
    with pytest.raises(DataError, match="Sample 1 of elasticity"):
        data[1]


@pytest.mark.parametrize("dtype", [object, complex, "U3", bool, [("a", "f4")]])
def test_npy_files_of_anything_but_real_numbers_are_refused(dtype: object, tmp_path: Path) -> None:
    hand_made("elasticity", tmp_path, 2)
    np.save(tmp_path / SETS["elasticity"].files[0], np.zeros((972, 2, 2), dtype))
    with pytest.raises(DataError, match=r"XY_10\.npy cannot be read"):
        load_dataset("elasticity", tmp_path)


def test_no_memory_is_taken_for_an_absurd_npy_header(tmp_path: Path) -> None:
    hand_made("elasticity", tmp_path, 2)
    path = tmp_path / SETS["elasticity"].files[0]
    header = {"descr": "<f8", "fortran_order": False, "shape": (972, 2, 10**15)}
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
    with pytest.raises(DataError, match=r"XY_10\.npy cannot be read"):
        load_dataset("elasticity", tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"train": 4}, "records 4 training and 2 test samples, but the files hold 7"),
        ({"train": -5}, "not a number of at least 1"),
        ({"train": True}, "not a number of at least 1"),
        ({"test": "2"}, "not a number of at least 1"),
        ({"shapes": {}}, r"records None: remove that file"),
        ({"shapes": []}, "is not a record"),
    ],
)
def test_a_record_that_contradicts_the_files_is_refused(
    change: dict, message: str, tmp_path: Path
) -> None:
    write("pipe", tmp_path)
    path = tmp_path / "generated.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(DataError, match=message) as caught:
        load_dataset("pipe", tmp_path)
    assert "generated.json" in str(caught.value)


def test_arrays_that_disagree_are_refused(tmp_path: Path) -> None:
    hand_made("pipe", tmp_path, 4)
    np.save(tmp_path / "Pipe_Y.npy", np.zeros((3, 129, 129)))
    with pytest.raises(DataError, match=r"Y must have .* beside sample=4"):
        load_dataset("pipe", tmp_path)
    for number, points in ((1, 5), (2, 9)):
        square = np.zeros((2, points, points))
        scipy.io.savemat(tmp_path / SMOOTH.format(number), {"coeff": square, "sol": square})
    with pytest.raises(DataError, match=r"one resolution: got \(5, 5\) and \(9, 9\)"):
        load_dataset("darcy", tmp_path)


def test_a_grid_of_one_line_or_no_samples_are_refused(tmp_path: Path) -> None:
    for number in (1, 2):
        line = np.zeros((2, 1, 5))
        scipy.io.savemat(tmp_path / SMOOTH.format(number), {"coeff": line, "sol": line})
    with pytest.raises(DataError, match="at least 2 points per axis: got sample=2, x=1, y=5"):
        load_dataset("darcy", tmp_path)
    hand_made("pipe", tmp_path, 0)
    with pytest.raises(DataError, match=r"needs at least 1 sample|Pipe_X\.npy cannot be read"):
        load_dataset("pipe", tmp_path)
