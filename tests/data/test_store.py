"""Our own data files: what is written is read back, and nothing is ever half written."""

import multiprocessing
import os
import pickle
import re
import signal
import time
import tracemalloc
from itertools import count
from pathlib import Path

import h5py
import numpy as np
import pytest
from torch.utils.data import DataLoader

import supra.data
from supra.data import Channel, DataError, Layout, Sample
from supra.data.store.domain import same_domain
from supra.data.store.reader import open_dataset, open_store
from supra.data.store.writer import StoreWriter
from supra.domain import Grid, Mesh, PointSet, SphereGrid, shapes

STEADY = Layout((Channel("a", "m²/s"), Channel("f")), (Channel("u", "K"),))
IN_TIME = Layout((Channel("w"),), (Channel("w"),), "rollout", (0.5, 1.0, 1.5))
MARKED = Mesh(
    shapes.square(2).points,
    shapes.square(2).cells,
    regions={"rotor/2": np.array([0, 3])},
    boundaries={".": shapes.square(2).boundary_facets[:2]},
    name="marked",
)
DOMAINS = {
    "mesh": MARKED,
    "surface": shapes.sphere(1),
    "grid": Grid((4, 3), periodic=(True, False)),
    "mapped grid": Grid((3, 3), points=np.random.default_rng(0).normal(size=(3, 3, 3))),
    "Chebyshev grid": Grid((5,), nodes="chebyshev"),
    "points": PointSet(np.random.default_rng(0).normal(size=(7, 2)), np.arange(7)),
    "sphere": SphereGrid(4),
}


def samples(layout, domains, seed=0):
    """A random sample on each of the domains, in float32."""
    random = np.random.default_rng(seed)
    steps = (len(layout.times),) if layout.times else ()
    for domain in domains:
        points = len(domain.points)
        inputs = random.normal(size=(points, len(layout.inputs))).astype("float32")
        targets = random.normal(size=(*steps, points, len(layout.targets))).astype("float32")
        yield Sample(inputs, targets, domain)


def write(path, layout, domains, shared=None, **options):
    """A file with a sample on each domain, the last one for testing; returns the samples."""
    written = list(samples(layout, domains))
    with StoreWriter(path, layout, shared, **options) as store:
        for sample in written[:-1]:
            store.add(sample)
        store.add(written[-1], "test", "last")
    return written


def assert_equal(one, other):
    np.testing.assert_array_equal(one.inputs, other.inputs, strict=True)
    np.testing.assert_array_equal(one.targets, other.targets, strict=True)
    assert same_domain(one.domain, other.domain)


# ---- round trip ----------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", [STEADY, IN_TIME], ids=["steady", "in time"])
@pytest.mark.parametrize("kind", DOMAINS)
def test_samples_on_a_shared_domain_are_read_back(kind, layout, tmp_path):
    domain = DOMAINS[kind]
    written = write(tmp_path / "data.h5", layout, [domain] * 3, domain)
    store = open_store(tmp_path / "data.h5")
    assert store.layout == layout
    for number, sample in enumerate(written):
        assert_equal(store(number), sample)
        assert store(number).domain is store.domain


@pytest.mark.parametrize("layout", [STEADY, IN_TIME], ids=["steady", "in time"])
def test_samples_of_different_domains_and_sizes_are_read_back(layout, tmp_path):
    written = write(tmp_path / "data.h5", layout, DOMAINS.values())
    store = open_store(tmp_path / "data.h5")
    assert store.domain is None
    for number, sample in enumerate(written):
        assert_equal(store(number), sample)
        assert store(number).inputs.flags.c_contiguous


def test_names_of_regions_boundaries_and_meshes_are_kept(tmp_path):
    write(tmp_path / "data.h5", STEADY, [MARKED])
    mesh = open_store(tmp_path / "data.h5")(0).domain
    assert (mesh.name, list(mesh.regions), list(mesh.boundaries)) == ("marked", ["rotor/2"], ["."])


def test_metadata_names_and_splits_are_kept(tmp_path):
    metadata = {"solver": "κ-ε 1.2", "numbers": list(range(30_000))}
    write(tmp_path / "data.h5", STEADY, [MARKED] * 3, MARKED, metadata=metadata)
    store = open_store(tmp_path / "data.h5")
    assert store.metadata == metadata
    assert store.names == ("", "", "last")
    assert {name: n.tolist() for name, n in store.splits.items()} == {"train": [0, 1], "test": [2]}
    assert repr(store) == "Store('data.h5', 3 samples: 2 train, 1 test)"


def test_samples_without_inputs_have_no_input_channels(tmp_path):
    layout = Layout((), (Channel("u"),))
    for shared in (MARKED, None):
        write(tmp_path / "data.h5", layout, [MARKED] * 2, shared)
        assert open_store(tmp_path / "data.h5")(0).inputs.shape == (len(MARKED.points), 0)


@pytest.mark.parametrize("shared", [MARKED, None], ids=["shared", "each its own"])
def test_double_precision_is_kept_if_asked_for(shared, tmp_path):
    values = np.random.default_rng(0).normal(size=(len(MARKED.points), 2))
    with StoreWriter(tmp_path / "data.h5", STEADY, shared, precision="float64") as store:
        store.add(Sample(values, values[:, :1], MARKED))
    np.testing.assert_array_equal(open_store(tmp_path / "data.h5")(0).inputs, values, strict=True)


def test_validation_samples_are_the_files_own_or_cut_from_training(tmp_path):
    write(tmp_path / "data.h5", STEADY, [MARKED] * 11, MARKED)
    splits = open_dataset(tmp_path / "data.h5", valid=3, seed=1)
    assert [len(part) for part in (splits.train, splits.valid, splits.test)] == [7, 3, 1]
    assert splits.test.name == "data test"
    with StoreWriter.append(tmp_path / "data.h5") as store:
        store.add(next(samples(STEADY, [MARKED])), "valid")
    splits = open_dataset(tmp_path / "data.h5", valid=3, seed=1)
    assert [part.indices.tolist() for part in (splits.valid, splits.test)] == [[11], [10]]


# ---- appending, and being killed -----------------------------------------------------------------


@pytest.mark.parametrize("shared", [MARKED, None], ids=["shared", "each its own"])
def test_appending_equals_writing_at_once(shared, tmp_path):
    domains = [MARKED] * 5 if shared else [*DOMAINS.values()][:5]
    written = write(tmp_path / "once.h5", STEADY, domains, shared, metadata={"a": 1})
    with StoreWriter(tmp_path / "twice.h5", STEADY, shared, metadata={"a": 1}) as store:
        store.add(written[0])
    with StoreWriter.append(tmp_path / "twice.h5") as store:
        for sample in written[1:-1]:
            store.add(sample)
    with StoreWriter.append(tmp_path / "twice.h5") as store:
        store.add(written[-1], "test", "last")
    once, twice = open_store(tmp_path / "once.h5"), open_store(tmp_path / "twice.h5")
    assert (once.names, once.metadata) == (twice.names, twice.metadata)
    assert str(once.splits) == str(twice.splits)
    for number in range(5):
        assert_equal(once(number), twice(number))


def add_for_ever(path, appending, added):
    make = StoreWriter.append if appending else lambda path: StoreWriter(path, STEADY, MARKED)
    with make(path) as store:
        sample = next(samples(STEADY, [MARKED]))
        for _ in count():
            store.add(sample)
            store._file.flush()
            added.value += 1


@pytest.mark.parametrize("appending", [True, False], ids=["append", "create"])
def test_a_killed_writer_leaves_the_file_as_it_was(appending, tmp_path):
    path = tmp_path / "data.h5"
    written = write(path, STEADY, [MARKED] * 3, MARKED)
    before, fork = path.read_bytes(), multiprocessing.get_context("fork")
    for delay in (0, 0.01, 0.1):
        added = fork.Value("i", 0)
        process = fork.Process(target=add_for_ever, args=(path, appending, added))
        process.start()
        while added.value == 0 and process.is_alive():
            time.sleep(0.001)
        time.sleep(delay)
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        assert process.exitcode == -signal.SIGKILL
        assert path.read_bytes() == before
    assert len(list(tmp_path.glob(".data.h5-*.unfinished"))) == 3
    with StoreWriter.append(path) as store:
        store.add(written[0])
    assert_equal(open_store(path)(3), written[0])


def add_and_fail(writer):
    with writer as store:
        store.add(next(samples(STEADY, [MARKED])))
        raise RuntimeError("the solver diverged")


def test_an_exception_leaves_the_file_as_it_was_and_nothing_else(tmp_path):
    path = tmp_path / "data.h5"
    write(path, STEADY, [MARKED] * 3, MARKED)
    before = path.read_bytes()
    for make in (StoreWriter.append, lambda path: StoreWriter(path, STEADY, MARKED)):
        with pytest.raises(RuntimeError, match="diverged"):
            add_and_fail(make(path))
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_reader_keeps_its_samples_while_the_file_grows(tmp_path):
    written = write(tmp_path / "data.h5", STEADY, [MARKED] * 3, MARKED)
    store = open_store(tmp_path / "data.h5")
    with StoreWriter.append(tmp_path / "data.h5") as more:
        more.add(written[0])
    assert_equal(store(2), written[2])
    assert (len(store), len(open_store(tmp_path / "data.h5"))) == (3, 4)


def test_the_second_of_two_that_append_at_once_gets_an_error(tmp_path):
    path = tmp_path / "data.h5"
    written = write(path, STEADY, [MARKED] * 3, MARKED)
    slow = StoreWriter.append(path)
    slow.add(written[0])
    with StoreWriter.append(path) as fast:
        fast.add(written[1])
    with pytest.raises(DataError, match="another process"):
        slow.__exit__(None, None, None)
    assert len(open_store(path)) == 4


# ---- what may not be written ---------------------------------------------------------------------


def sample_of(inputs=2, targets=1, domain=MARKED, value=1.0):
    points = len(MARKED.points)
    return Sample(np.full((points, inputs), value), np.full((points, targets), value), domain)


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        (sample_of(inputs=3), r"Sample 0 \(case\).*\(9, 3\).*ask for \(9, 2\)"),
        (sample_of(targets=2), r"\(9, 2\).*ask for \(9, 1\)"),
        (sample_of(value=np.nan), "finite in float32: 18 of 18"),
        (sample_of(value=1e39), "finite in float32"),
        (sample_of(domain=shapes.square(1)), "another domain.*domain=None"),
    ],
)
def test_a_sample_that_does_not_fit_is_refused_by_name(sample, message, tmp_path):
    with (
        pytest.raises(DataError, match=message),
        StoreWriter(tmp_path / "data.h5", STEADY, MARKED) as store,
    ):
        store.add(sample, name="case")
    assert not list(tmp_path.iterdir())


def test_bad_requests_to_write_are_named(tmp_path):
    class Circle:
        points, weights = np.zeros((3, 2)), np.ones(3) / 3

    with pytest.raises(DataError, match="does not exist"):
        StoreWriter(tmp_path / "no" / "data.h5", STEADY)
    with pytest.raises(DataError, match=r"got Circle.*as a PointSet"):
        StoreWriter(tmp_path / "data.h5", STEADY, Circle())
    with pytest.raises(DataError, match="at least one sample"):
        StoreWriter(tmp_path / "data.h5", STEADY).__exit__(None, None, None)
    with (
        pytest.raises(DataError, match="JSON"),
        StoreWriter(tmp_path / "data.h5", STEADY, metadata={"x": np.ones(2)}) as store,
    ):
        store.add(sample_of())
    with pytest.raises(DataError, match="does not exist"):
        StoreWriter.append(tmp_path / "none.h5")
    assert not list(tmp_path.iterdir())


# ---- lazily, in other processes ------------------------------------------------------------------


@pytest.mark.parametrize("shared", [True, False], ids=["shared", "each its own"])
def test_only_the_sample_asked_for_is_read(shared, tmp_path):
    points = PointSet(np.random.default_rng(0).normal(size=(20_000, 2)))
    write(tmp_path / "data.h5", STEADY, [points] * 20, points if shared else None)
    tracemalloc.start()
    open_dataset(tmp_path / "data.h5").train[4]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    one = 20_000 * (3 * 4 + 3 * 8)  # fields in float32, points and weights in float64
    assert (tmp_path / "data.h5").stat().st_size > 5e6
    assert peak < 5 * one


def test_damage_to_one_sample_leaves_the_others_readable(tmp_path):
    written = write(tmp_path / "data.h5", STEADY, [MARKED] * 5, MARKED)
    content = bytearray((tmp_path / "data.h5").read_bytes())
    content[content.index(written[2].targets.tobytes())] ^= 1
    (tmp_path / "data.h5").write_bytes(content)
    store = open_store(tmp_path / "data.h5")
    for number in (0, 1, 3, 4):
        assert_equal(store(number), written[number])
    with pytest.raises(
        DataError, match=r"data\.h5.*sample 2 cannot be read: its checksum does not match"
    ):
        store(2)


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_loading_processes_read_the_same_samples(start, tmp_path):
    written = write(tmp_path / "data.h5", STEADY, [MARKED] * 9, MARKED)
    train = open_dataset(tmp_path / "data.h5", valid=0).train
    train[0]  # the file is open here before it is there
    read = DataLoader(
        train, batch_size=None, num_workers=2, multiprocessing_context=start, collate_fn=_as_it_is
    )
    for sample, expected in zip(read, written, strict=False):
        assert_equal(sample, expected)


def _as_it_is(sample):
    return sample


def test_a_pickled_set_keeps_one_domain_for_all(tmp_path):
    write(tmp_path / "data.h5", STEADY, [MARKED] * 3, MARKED)
    train = pickle.loads(pickle.dumps(open_dataset(tmp_path / "data.h5", valid=0).train))
    assert train[0].domain is train[1].domain is train.domain


# ---- the written format --------------------------------------------------------------------------


def test_the_examples_of_the_written_format_run_and_are_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(supra.data, "StoreWriter", StoreWriter, raising=False)
    monkeypatch.setattr(supra.data, "open_dataset", open_dataset, raising=False)
    page = Path(__file__).parents[2] / "docs" / "data_format.md"
    names: dict = {}
    for block in re.findall(r"^```python\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE):
        exec(compile(block, str(page), "exec"), names)
    splits = open_dataset("my_data.h5", valid=2)
    assert [len(part) for part in (splits.train, splits.valid, splits.test)] == [6, 2, 2]
    np.testing.assert_array_equal(splits.test[1].inputs, names["source"][9])
    assert [str(c) for c in splits.train.layout.targets] == ["T [K]", "q [W/m²]"]
    with StoreWriter.append("my_data.h5") as store:
        store.add(splits.test[1])
    assert_equal(open_store("my_data.h5")(10), splits.test[1])
    assert len(open_store("meshes.h5")) == 11


def test_a_file_of_whole_numbers_in_another_byte_order_is_read(tmp_path):
    write(tmp_path / "data.h5", STEADY, [MARKED] * 2, MARKED)
    with h5py.File(tmp_path / "data.h5", "r+") as file:
        shape = file["inputs"].shape
        del file["inputs"], file["targets"]
        file["inputs"] = np.full(shape, 7, dtype=">i4")
        file["targets"] = np.full((*shape[:2], 1), 0.1, dtype=">f8")
    sample = open_store(tmp_path / "data.h5")(1)
    assert (sample.inputs == 7).all()
    assert (sample.targets == 0.1).all()
    assert (sample.inputs.dtype, sample.targets.dtype) == (np.float32, np.float64)
    with pytest.raises(DataError, match=r"cannot grow.*maxshape"):
        StoreWriter.append(tmp_path / "data.h5")
