"""Generation: the same samples whoever makes them, nothing lost when it is killed."""

import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import scipy.io

from supra.data import DataError, load_dataset, open_dataset
from supra.domain import Mesh, PointSet, shapes
from supra.experiment.generate import PARTS, Request, generate, make_problem
from supra.experiment.parts import Parts
from supra.problems import (
    Ball,
    Darcy,
    NavierStokes,
    PerforatedPlate,
    PlatePoints,
    Problem,
    ProblemError,
    Solution,
    Surface,
)

pytestmark = pytest.mark.usefixtures("unchecked")
SQUARE = shapes.square(4)
SMALL = Request(Darcy(resolution=11), train=5, test=3)


def darcy_file(folder: Path, number: int = 1) -> dict[str, np.ndarray]:
    return scipy.io.loadmat(folder / f"piececonst_r421_N1024_smooth{number}.mat")


def test_the_files_hold_the_problem_s_own_samples(tmp_path):
    generate(SMALL, tmp_path, workers=2)
    for number, split, count in ((1, "train", 5), (2, "test", 3)):
        content = darcy_file(tmp_path, number)
        assert content["coeff"].shape == (count, 11, 11)
        for k, sample in enumerate(SMALL.problem.generate(count, split=split)):
            np.testing.assert_array_equal(content["coeff"][k], sample["coeff"])
            np.testing.assert_array_equal(content["sol"][k], sample["sol"])
    assert not (tmp_path / PARTS).exists()


def test_counts_come_from_the_files(tmp_path):
    generate(Request(NavierStokes(resolution=16, stored=8, steps=20), 3, 2), tmp_path)
    splits = load_dataset("navier_stokes", tmp_path, valid=0)
    assert (len(splits.train), len(splits.test)) == (3, 2)
    assert splits.train[0].targets.shape == (10, 64, 1)


def test_any_number_of_workers_makes_identical_files(tmp_path):
    for workers in (1, 2):
        generate(SMALL, tmp_path / str(workers), workers=workers)
    for name in sorted(path.name for path in (tmp_path / "1").iterdir()):
        one, two = ((tmp_path / folder / name).read_bytes() for folder in "12")
        assert one == two, name


@pytest.mark.parametrize("geometry", ["shared", "each"])
def test_plates_go_into_our_own_format(tmp_path, geometry):
    problem = PerforatedPlate(resolution=8, holes=2, geometry=geometry)
    generate(Request(problem, 3, 2), tmp_path)
    splits = open_dataset(tmp_path / "data.h5", valid=0)
    assert (len(splits.train), len(splits.test)) == (3, 2)
    assert (splits.train.domain is None) == (geometry == "each")
    expected = problem.sample(1)
    np.testing.assert_allclose(splits.train[1].targets[:, 0], expected["u"], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("problem", [Surface(3), Ball(2), PlatePoints(8, 2)], ids=lambda p: p.name)
def test_surfaces_volumes_and_points_go_into_our_own_format(tmp_path, problem):
    generate(Request(problem, 2, 1), tmp_path)
    splits = open_dataset(tmp_path / "data.h5", valid=0)
    expected, found = problem.sample(1), splits.train[1]
    np.testing.assert_allclose(found.targets[:, 0], expected["u"], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.inputs[:, -1], expected["f"], rtol=1e-6)
    np.testing.assert_array_equal(found.domain.points, expected["points"])
    if "cells" in expected:
        np.testing.assert_array_equal(found.domain.cells, expected["cells"])
    else:
        assert isinstance(found.domain, PointSet)


@dataclass(frozen=True)
class Waves(Problem):
    """Of a wave number, a wave and its slope on one square."""

    name: ClassVar[str] = "waves"
    given: ClassVar[tuple[str, ...]] = ("k",)
    asked: ClassVar[tuple[str, ...]] = ("wave", "slope")

    def shared_domain(self) -> Mesh:
        return SQUARE

    def solve(self, rng: np.random.Generator) -> Solution:
        k, x = rng.uniform(1, 2), SQUARE.points[:, 0]
        return {"k": np.full_like(x, k), "wave": np.sin(k * x), "slope": k * np.cos(k * x)}


def test_a_problem_of_one_s_own_says_what_is_given_and_asked_for(tmp_path):
    generate(Request(Waves(), train=3, test=1), tmp_path)
    data = open_dataset(tmp_path / "data.h5")
    assert [channel.name for channel in data.train.layout.targets] == ["wave", "slope"]
    np.testing.assert_array_equal(data.train.domain.points, SQUARE.points)
    (k,), x = data.test[0].inputs.T, SQUARE.points[:, 0]
    expected = np.stack([np.sin(k * x), k * np.cos(k * x)], axis=1)
    np.testing.assert_allclose(data.test[0].targets, expected, rtol=1e-5)  # stored in float32


def test_a_cluster_makes_the_same_files(tmp_path):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster:
        generate(SMALL, tmp_path / "cluster", cluster=cluster.scheduler_address)
    generate(SMALL, tmp_path / "here")
    for number in (1, 2):
        there, here = (darcy_file(tmp_path / name, number) for name in ("cluster", "here"))
        np.testing.assert_array_equal(there["sol"], here["sol"])


COMMAND = [sys.executable, "-m", "supra", "generate", "darcy", "--train", "8", "--test", "4"]


def test_a_killed_generation_goes_on_without_losing_or_redoing_samples(tmp_path):
    command = [*COMMAND, "--workers", "1", "--out", str(tmp_path), "-s", "resolution=21"]
    process = subprocess.Popen(command)
    parts = tmp_path / PARTS
    while len(list(parts.glob("train-*.npz"))) < 3:
        assert process.poll() is None
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = {path.name: path.stat().st_mtime_ns for path in parts.glob("train-*.npz")}
    assert len(kept) < 8
    request = Request(Darcy(resolution=21), 8, 4)
    seen: list[int] = []
    solved = Parts.open(parts, request.identity)
    assert len(solved.missing("train", 8)) == 8 - len(kept)
    generate(request, tmp_path, report=lambda stage, done, total: seen.append(done))
    assert seen[0] == len(kept)
    assert darcy_file(tmp_path)["sol"].shape == (8, 21, 21)
    last = request.problem.sample(7)["sol"]
    np.testing.assert_array_equal(darcy_file(tmp_path)["sol"][7], last)


def test_finished_files_are_not_made_again_and_others_not_replaced(tmp_path):
    generate(SMALL, tmp_path)
    before = (tmp_path / "generated.json").stat().st_mtime_ns
    generate(SMALL, tmp_path)
    assert (tmp_path / "generated.json").stat().st_mtime_ns == before
    with pytest.raises(DataError, match="another data set"):
        generate(Request(Darcy(resolution=11), 6, 3), tmp_path)


def test_parts_of_another_request_are_refused(tmp_path):
    Parts.open(tmp_path / PARTS, SMALL.identity)
    with pytest.raises(DataError, match="another request"):
        generate(Request(Darcy(resolution=13), 5, 3), tmp_path)


def test_a_damaged_part_is_named(tmp_path):
    parts = Parts.open(tmp_path, SMALL.identity)
    (tmp_path / "train-000000.npz").write_bytes(b"nothing")
    with pytest.raises(DataError, match=r"train-000000\.npz is damaged"):
        parts.load("train", 0)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("darcyy", {}, "Did you mean 'darcy'"),
        ("darcy", {"resolutoin": "3"}, "Did you mean 'resolution'"),
        ("darcy", {"resolution": "many"}, "resolution"),
        ("navier-stokes", {"stored": "60"}, "60"),
    ],
)
def test_wrong_problems_and_options_are_named(name, options, message):
    with pytest.raises(ProblemError, match=message):
        make_problem(name, options)


def test_no_scheduler_is_said_so(tmp_path):
    pytest.importorskip("distributed")
    with pytest.raises(ProblemError, match="No Dask scheduler"):
        generate(SMALL, tmp_path, cluster="not an address")
