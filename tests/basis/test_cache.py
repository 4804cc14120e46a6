"""Eigenpairs kept on disk."""

import io
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from supra.basis import BasisWarning, LaplacianBasis, cache, laplacian
from supra.basis.eigen import Eigenpairs
from supra.domain import Mesh, shapes

PAIRS = Eigenpairs(np.arange(3.0), np.arange(12.0).reshape(4, 3), np.zeros(3), "dense")


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("SUPRA_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def mesh() -> Mesh:
    return shapes.square(4)


def must_not_compute() -> Eigenpairs:
    raise AssertionError("computed again")


def test_the_second_time_nothing_is_solved(folder, mesh, monkeypatch):
    first = LaplacianBasis.from_mesh(mesh, 5)
    assert len(list(folder.iterdir())) == 1
    monkeypatch.setattr(laplacian, "lowest_eigenspaces", must_not_compute)
    second = LaplacianBasis.from_mesh(mesh, 5)
    assert np.array_equal(first.values, second.values)
    assert np.array_equal(first.eigenvalues, second.eigenvalues)
    assert np.array_equal(first.residuals, second.residuals)
    assert first.method == second.method


def test_clouds_are_kept_too(folder, monkeypatch):
    points = np.random.default_rng(0).uniform(size=(100, 2))
    first = LaplacianBasis.from_points(points, 5)
    monkeypatch.setattr(laplacian, "lowest_eigenspaces", must_not_compute)
    assert np.array_equal(LaplacianBasis.from_points(points, 5).values, first.values)


def test_without_the_cache_nothing_is_kept(folder, mesh):
    LaplacianBasis.from_mesh(mesh, 5, cache=False)
    assert not folder.exists()


@pytest.mark.parametrize("word", ["off", "OFF", "0", "none", "false"])
def test_the_cache_can_be_switched_off(tmp_path, monkeypatch, mesh, word):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SUPRA_CACHE", word)
    assert cache.directory() is None
    LaplacianBasis.from_mesh(mesh, 5)
    assert not list(tmp_path.iterdir())


def test_by_default_entries_are_in_the_folder_of_the_platform(monkeypatch, tmp_path):
    monkeypatch.delenv("SUPRA_CACHE")
    monkeypatch.setattr(cache.platformdirs, "user_cache_dir", lambda name: tmp_path / name)
    assert cache.directory() == tmp_path / "supra" / "basis"


def broken_copies(entry: bytes) -> dict[str, bytes]:
    random = np.random.default_rng(0)
    array = io.BytesIO()
    np.save(array, np.zeros(3))
    return {
        "empty": b"",
        "cut in half": entry[: len(entry) // 2],
        "cut at the end": entry[:-1],
        "garbage": random.bytes(1000),
        "a lone array": array.getvalue(),
        "another archive": b"PK\x05\x06" + bytes(18),
        "a pickle": b"\x80\x04K\x01.",
    }


@pytest.mark.parametrize("damage", broken_copies(b""))
def test_an_entry_that_cannot_be_read_is_computed_again(folder, mesh, damage):
    first = LaplacianBasis.from_mesh(mesh, 5)
    (entry,) = folder.iterdir()
    entry.write_bytes(broken_copies(entry.read_bytes())[damage])
    with pytest.warns(BasisWarning, match="cannot be read"):
        again = LaplacianBasis.from_mesh(mesh, 5)
    assert np.array_equal(again.values, first.values)
    assert np.array_equal(LaplacianBasis.from_mesh(mesh, 5).values, first.values)  # mended


def test_a_changed_byte_never_gives_other_numbers(folder):
    cache.remembered("entry", lambda: PAIRS)
    (path,) = folder.iterdir()
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pairs, _ = cache.remembered("entry", lambda: PAIRS)
        assert np.array_equal(pairs.values, PAIRS.values), place
        assert np.array_equal(pairs.vectors, PAIRS.vectors), place
        assert pairs.method == PAIRS.method, place


def test_many_writers_of_one_entry_leave_a_whole_one(folder):
    def write(_: int) -> None:
        for _ in range(20):
            cache._write(folder / "entry.npz", PAIRS)
            assert np.array_equal(cache._read(folder / "entry.npz").vectors, PAIRS.vectors)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    assert [path.name for path in folder.iterdir()] == ["entry.npz"]


def test_a_folder_that_cannot_be_written_costs_a_warning_only(tmp_path, monkeypatch, mesh):
    monkeypatch.setenv("SUPRA_CACHE", str(tmp_path / "cache"))

    def read_only(*arguments: object, **options: object) -> None:
        raise PermissionError("read-only")

    monkeypatch.setattr(cache.tempfile, "mkstemp", read_only)
    with pytest.warns(BasisWarning, match=r"could not be kept in .*read-only"):
        basis = LaplacianBasis.from_mesh(mesh, 5)
    assert basis.orthonormality < 1e-9


def test_a_full_disk_leaves_no_rubbish(folder, monkeypatch, mesh):
    def full(*arguments: object, **options: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(cache.np, "savez", full)
    with pytest.warns(BasisWarning, match="no space left"):
        LaplacianBasis.from_mesh(mesh, 5)
    assert not list(folder.iterdir())


def test_everything_the_result_depends_on_is_in_the_key(monkeypatch):
    points, cells = np.eye(3), np.array([[0, 1, 2]])
    keys = [
        cache.key("mesh", points, cells, 3, "neumann", "auto"),
        cache.key("points", points, cells, 3, "neumann", "auto"),
        cache.key("mesh", points + 1e-15, cells, 3, "neumann", "auto"),
        cache.key("mesh", points, cells[:, ::-1], 3, "neumann", "auto"),
        cache.key("mesh", points, cells, 4, "neumann", "auto"),
        cache.key("mesh", points, cells, 3, "dirichlet", "auto"),
        cache.key("mesh", points, cells, 3, "neumann", "dense"),
        cache.key("mesh", points.reshape(1, 9), cells, 3, "neumann", "auto"),
    ]
    monkeypatch.setattr(cache, "_VERSION", "another")
    keys.append(cache.key("mesh", points, cells, 3, "neumann", "auto"))
    assert len(set(keys)) == len(keys)


def test_options_have_entries_of_their_own(folder, mesh):
    LaplacianBasis.from_mesh(mesh, 5)
    LaplacianBasis.from_mesh(mesh, 4)
    LaplacianBasis.from_mesh(mesh, 5, "dirichlet")
    LaplacianBasis.from_mesh(mesh, 5, method="dense")
    LaplacianBasis.from_mesh(mesh.with_points(2 * mesh.points), 5)
    LaplacianBasis.from_mesh(mesh.with_name("the same"), 5)
    assert len(list(folder.iterdir())) == 5
