import struct
import zlib
from pathlib import Path

import h5py
import numpy as np
import pytest
import scipy.io

from supra.data.errors import DataError
from supra.data.public import mat5
from supra.data.public.matlab import create, find_variable, read_array, read_variables

CUBE = np.arange(5 * 6 * 7, dtype=np.float32).reshape(5, 6, 7)
TABLE = CUBE[:, :, 0].astype(np.float64) / 3
ARRAYS = {"coeff": CUBE, "sol": TABLE}


def written(path: Path, version: str, arrays: dict = ARRAYS) -> Path:
    """Arrays written two samples at a time."""
    specs = {name: (array.shape, array.dtype) for name, array in arrays.items()}
    with create(path, specs, version, block=2) as targets:
        for name, array in arrays.items():
            for start in range(0, len(array), 2):
                block = array[start : start + 2]
                rest = (slice(None),) * (array.ndim - 1)
                targets[name][(slice(start, start + len(block)), *rest)] = block
    return path


@pytest.fixture(params=["5", "7.3", "scipy", "scipy compressed", "h5py compressed"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The same arrays in every form a file can have."""
    path = tmp_path / "arrays.mat"
    if request.param.startswith("scipy"):
        scipy.io.savemat(path, ARRAYS, do_compression="compressed" in request.param)
    elif request.param.startswith("h5py"):
        with h5py.File(path, "w") as hdf5:
            for name, array in ARRAYS.items():
                hdf5.create_dataset(name, data=array.T, compression="gzip", shuffle=True)
    else:
        written(path, request.param)
    return path


@pytest.mark.parametrize("step", [1, 2, 3])
def test_arrays_are_read_alike_from_every_form_of_file(file: Path, step: int) -> None:
    thinned = read_array(file, "coeff", (1, step, step))
    np.testing.assert_array_equal(thinned, CUBE[:, ::step, ::step])
    assert thinned.flags.c_contiguous
    np.testing.assert_array_equal(read_array(file, "sol", dtype=np.float64), TABLE)


def test_shapes_are_known_before_the_numbers_are_read(file: Path) -> None:
    assert {k: v.shape for k, v in read_variables(file).items()} == {
        "coeff": (5, 6, 7),
        "sol": (5, 6),
    }


def test_scipy_reads_what_is_written_as_version_5(tmp_path: Path) -> None:
    read = scipy.io.loadmat(written(tmp_path / "a.mat", "5"))
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(read[name], array)
        assert read[name].dtype == array.dtype


def test_h5py_reads_what_is_written_as_version_7_3_with_reversed_axes(tmp_path: Path) -> None:
    path = written(tmp_path / "a.mat", "7.3")
    head = path.read_bytes()[:128]
    assert head.startswith(b"MATLAB 7.3 MAT-file")
    assert head[124:] == b"\x00\x02IM"
    with h5py.File(path) as file:
        assert file.userblock_size == 512
        np.testing.assert_array_equal(file["coeff"][:].T, CUBE)
        classes = [file[name].attrs["MATLAB_class"] for name in ARRAYS]
    assert classes == [b"single", b"double"]


def test_arrays_too_large_for_version_5_are_written_as_7_3(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mat5, "LIMIT", CUBE.nbytes)
    assert h5py.is_hdf5(written(tmp_path / "a.mat", "auto"))
    with pytest.raises(DataError, match=r"below 2 GB: coeff is larger\. Use 7\.3"):
        written(tmp_path / "b.mat", "5")


def test_whole_numbers_stored_as_bytes_and_other_byte_orders_are_read(tmp_path: Path) -> None:
    # By hand: MATLAB stores doubles that are whole numbers as bytes, here on a big-endian machine.
    body = struct.pack(">IIII", 6, 8, 6, 0) + struct.pack(">IIii", 5, 8, 2, 3)
    body += struct.pack(">HH4s", 1, 1, b"a") + struct.pack(
        ">II8s", 2, 6, bytes([3, 12, 1, 2, 0, 9])
    )
    path = tmp_path / "a.mat"
    head = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x01\x00MI"
    path.write_bytes(head + struct.pack(">II", 14, len(body)) + body)
    np.testing.assert_array_equal(read_array(path, "a"), [[3, 1, 0], [12, 2, 9]])
    np.testing.assert_array_equal(scipy.io.loadmat(path)["a"], [[3, 1, 0], [12, 2, 9]])


@pytest.mark.parametrize("compressed", [False, True])
def test_only_real_arrays_are_taken(tmp_path: Path, compressed: bool) -> None:
    path = tmp_path / "a.mat"
    others = {
        "text": "abc",
        "cell": np.array([1, "a"], object),
        "struct": {"a": 1},
        "z": 1j * TABLE,
    }
    scipy.io.savemat(path, {**others, "sol": TABLE}, do_compression=compressed)
    for name in others:
        with pytest.raises(DataError, match=f"'{name}' is not an array of real numbers"):
            read_array(path, name)
    with pytest.raises(
        DataError, match=r"has no variable 'u': it holds text, cell, struct, z, sol"
    ):
        read_array(path, "u")


def test_texts_and_groups_of_version_7_3_are_no_arrays(tmp_path: Path) -> None:
    path = tmp_path / "a.mat"
    with h5py.File(path, "w") as file:
        file.create_group("struct")
        file["text"] = np.array([97, 98], np.uint16)
        file["text"].attrs["MATLAB_class"] = np.bytes_("char")
    for name in ("struct", "text"):
        with pytest.raises(DataError, match="not an array of real numbers"):
            find_variable(path, name)


@pytest.mark.parametrize("content", [b"", b"no MATLAB file", bytes(200), b"\x89HDF\r\n\x1a\n" * 40])
def test_other_files_are_named_in_the_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.mat"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"a\.mat cannot be read"):
        read_array(path, "coeff")
    with pytest.raises(DataError, match=r"b\.mat does not exist"):
        read_array(tmp_path / "b.mat", "coeff")


@pytest.mark.parametrize("compressed", [False, True])
def test_no_memory_is_taken_for_an_absurd_shape(tmp_path: Path, compressed: bool) -> None:
    path = tmp_path / "a.mat"
    huge = (2**30, 2**30, 2**30)
    header, _ = mat5.variable_header("coeff", (1, 1, 1), np.dtype("<f4"))
    body = header.replace(struct.pack("<3i", 1, 1, 1), struct.pack("<3i", *huge)) + bytes(8)
    if compressed:
        packed = zlib.compress(body)
        body = struct.pack("<II", 15, len(packed)) + packed
    path.write_bytes(mat5.file_header("MATLAB 5.0") + body)
    with pytest.raises(DataError, match="declares"):
        read_array(path, "coeff")


def test_no_memory_is_taken_for_hdf5_without_data(tmp_path: Path) -> None:
    path = tmp_path / "a.mat"
    with h5py.File(path, "w") as file:
        file.create_dataset("coeff", (10**6, 10**6), "f4", chunks=(100, 100))
    with pytest.raises(DataError, match="has 0 bytes of data"):
        read_array(path, "coeff")


def test_a_damaged_byte_of_compressed_numbers_is_found(tmp_path: Path) -> None:
    path = tmp_path / "a.mat"
    noise = np.random.default_rng(0).random((5, 6))
    scipy.io.savemat(path, {"u": noise}, do_compression=True)
    data = bytearray(path.read_bytes())
    data[-1] ^= 1  # of the checksum
    path.write_bytes(data)
    with pytest.raises(DataError, match="cannot be read"):
        read_array(path, "u")
