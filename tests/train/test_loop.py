"""The loop: it learns, resumes bit for bit, notices divergence, and chooses by validation."""

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.train.small import job

from supra.train import BEST, LATEST, History, TrainError, evaluate, fit
from supra.train.checkpoint import load_checkpoint, save_checkpoint
from supra.train.optimizer import rate_factor
from supra.train.settings import TrainSettings

pytestmark = pytest.mark.usefixtures("unchecked")


def weights(path: Path) -> dict[str, torch.Tensor]:
    return load_checkpoint(path)["weights"]


def assert_same(one: Path, other: Path) -> None:
    a, b = weights(one), weights(other)
    assert a.keys() == b.keys()
    for name in a:
        assert torch.equal(a[name], b[name]), name


@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
def test_one_batch_is_learned_by_heart(tmp_path, optimizer):
    task = job(tmp_path, train=2, epochs=16, learning_rate=1e-2, optimizer=optimizer, clip=0.0)
    often = task.data.train.subset(np.tile(np.arange(2), 100))
    task = replace(task, data=replace(task.data, train=often))
    assert min(line["train_loss"] for line in fit(task).lines) < 1e-3


@pytest.mark.parametrize("time", ["steady", "rollout", "condition"])
def test_errors_fall_for_every_kind_of_time(tmp_path, time):
    task = job(tmp_path, time, train=16, epochs=40, learning_rate=1e-2)
    before = evaluate(task.predictor, task.data.test, task.collate).l2.mean()
    history = fit(task)
    after = evaluate(task.predictor, task.data.test, task.collate)
    assert after.l2.mean() < 0.35 * before
    assert history.epochs == 40
    if time != "steady":
        assert after.steps.shape == (2, len(task.data.test.layout.times))


OPTIONS = [
    {},
    {"average": 0.9},
    {"optimizer": "muon"},
    {"noise": 0.1, "unroll": 2},
    {"precision": "bfloat16"},
]


@pytest.mark.parametrize("options", OPTIONS, ids=repr)
def test_resuming_gives_the_same_weights_bit_for_bit(tmp_path, options):
    time = "rollout" if "unroll" in options else "steady"
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    fit(job(whole, time, epochs=4, schedule="constant", **options))
    fit(job(parts, time, epochs=2, schedule="constant", **options))
    history = fit(job(parts, time, epochs=4, schedule="constant", **options), resume=True)
    assert history.epochs == 4
    assert_same(whole / LATEST, parts / LATEST)
    assert_same(whole / BEST, parts / BEST)
    errors = [History.read(folder).errors for folder in (whole, parts)]
    assert errors[0] == errors[1]


TRAINER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from tests.train.small import job
from supra.train import fit
fit(job(Path(sys.argv[1]), epochs=12), resume=sys.argv[2] == "resume")
"""


def start(folder: Path, resume: bool) -> subprocess.Popen:
    root = str(Path(__file__).parents[2])
    arguments = [str(folder), "resume" if resume else "new", root]
    return subprocess.Popen([sys.executable, "-c", TRAINER, *arguments])


def test_a_killed_run_goes_on_to_the_same_weights(tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert start(whole, resume=False).wait() == 0
    rng = np.random.default_rng(os.getpid())
    process = start(killed, resume=False)
    while not (killed / LATEST).exists():
        time.sleep(0.002)
    for _ in range(3):
        time.sleep(rng.uniform(0, 0.1))
        process.send_signal(signal.SIGKILL)
        process.wait()
        load_checkpoint(killed / LATEST)
        process = start(killed, resume=True)
        time.sleep(rng.uniform(2, 3))
    assert process.wait() == 0
    assert_same(whole / LATEST, killed / LATEST)
    assert History.read(killed).errors == History.read(whole).errors


def test_a_run_that_diverges_stops_and_keeps_the_last_good_checkpoint(tmp_path):
    fit(job(tmp_path, epochs=2, schedule="constant"))
    kept = weights(tmp_path / LATEST)
    broken = job(tmp_path, epochs=20, schedule="constant")
    object.__setattr__(broken.data.train, "read", _Broken(broken.data.train.read))
    with pytest.raises(TrainError, match=r"diverged in epoch 3.*holds the epoch before"):
        fit(broken, resume=True)
    after = weights(tmp_path / LATEST)
    assert all(torch.equal(kept[name], after[name]) for name in kept)


class _Broken:
    """A reader whose targets are not numbers."""

    def __init__(self, read):
        self.read = read

    def __call__(self, index):
        sample = self.read(index)
        sample.targets[0] = np.nan
        return sample


def test_the_best_weights_are_those_with_the_lowest_validation_error(tmp_path):
    task = job(tmp_path, epochs=6, learning_rate=3e-2, schedule="constant")
    history = fit(task)
    task.predictor.load_state_dict(weights(tmp_path / BEST))
    error = evaluate(task.predictor, task.data.valid, task.collate).l2.mean()
    assert error == pytest.approx(min(history.errors), rel=1e-5)


def test_patience_ends_a_run_that_gains_nothing(tmp_path):
    history = fit(job(tmp_path, epochs=50, learning_rate=1e-12, weight_decay=0.0, patience=3))
    assert history.epochs < 50
    assert history.epochs_without_gain == 3


def test_metrics_are_one_line_per_epoch(tmp_path):
    fit(job(tmp_path, epochs=3))
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert [line["epoch"] for line in lines] == [1, 2, 3]
    assert all(line["seconds"] > 0 and line["learning_rate"] > 0 for line in lines)


def test_metrics_written_after_the_checkpoint_are_forgotten(tmp_path):
    fit(job(tmp_path, epochs=2))
    with open(tmp_path / "metrics.jsonl", "a") as file:
        file.write('{"epoch": 3, "valid_error": 0.0}\n')
    assert fit(job(tmp_path, epochs=3), resume=True).epochs == 3
    assert min(History.read(tmp_path).errors) > 0


class _Malicious:
    def __reduce__(self):
        return (os.system, (f"touch {_Malicious.mark}",))


def test_a_malicious_checkpoint_is_refused_without_running_it(tmp_path):
    _Malicious.mark = tmp_path / "ran"
    bad = tmp_path / "bad.pt"
    torch.save({"format": "supra 1", "weights": _Malicious()}, bad)
    with pytest.raises(TrainError, match="cannot be read"):
        load_checkpoint(bad)
    bad.write_bytes(pickle.dumps(_Malicious()))
    with pytest.raises(TrainError, match="cannot be read"):
        load_checkpoint(bad)
    assert not _Malicious.mark.exists()


@pytest.mark.parametrize("content", [b"", b"nothing", {"other": 1}, [1, 2]])
def test_foreign_files_are_refused(tmp_path, content):
    path = tmp_path / "x.pt"
    path.write_bytes(content) if isinstance(content, bytes) else torch.save(content, path)
    with pytest.raises(TrainError, match=r"x\.pt"):
        load_checkpoint(path)
    with pytest.raises(TrainError, match="no file"):
        load_checkpoint(tmp_path / "missing.pt")


def test_a_checkpoint_cut_short_is_refused(tmp_path):
    path = tmp_path / "x.pt"
    save_checkpoint(path, {"weights": torch.ones(1000)})
    whole = path.read_bytes()
    for length in range(0, len(whole), 97):
        path.write_bytes(whole[:length])
        with pytest.raises(TrainError):
            load_checkpoint(path)


def test_learning_rates_rise_and_fall_as_asked():
    cycle = TrainSettings(warmup=0.25)
    rates = [rate_factor(cycle, p) for p in np.linspace(0, 1, 101)]
    assert np.argmax(rates) == 25
    assert rates[25] == pytest.approx(1)
    assert rates[0] == pytest.approx(1 / 25)
    assert rates[-1] < 1e-5
    cosine = TrainSettings(schedule="cosine")
    assert rate_factor(cosine, 0.5) == pytest.approx(0.5)
    assert rate_factor(TrainSettings(schedule="constant"), 0.7) == 1
