"""What an epoch spends besides training: loading, validation, writing.

Usage: python benchmarks/throughput.py
"""

import tempfile
import time
from dataclasses import replace
from pathlib import Path
from statistics import median

import torch

from supra.experiment.build import (
    build_augmentation,
    build_collate,
    build_data,
    build_predictor,
    build_subspace,
)
from supra.experiment.generate import Request, generate
from supra.experiment.preset import load_experiment
from supra.problems import Darcy
from supra.train import History, Job, Loss
from supra.train.evaluate import mean_error
from supra.train.loop import _batches, _save
from supra.train.objective import Objective
from supra.train.optimizer import make_optimizers

SAMPLES, ROUNDS = 200, 3


def make_job(folder: Path) -> Job:
    """The preset `darcy` at scale small, on fewer samples."""
    generate(Request(Darcy(resolution=43), SAMPLES, 2), folder / "data", workers=2)
    changes = [f"data.root={folder / 'data'}", "data.options={}", f"data.valid={SAMPLES // 20}"]
    experiment = load_experiment("darcy", "small", changes)
    experiment = experiment.model_copy(
        update={"data": experiment.data.model_copy(update={"options": {}})}
    )
    data = build_data(experiment)
    subspace = build_subspace(experiment, data.train)
    collate = build_collate(experiment, subspace)
    predictor = build_predictor(experiment, data.train, collate, subspace)
    augment = build_augmentation(experiment, data.train)
    return Job(predictor, data, collate, experiment.train, folder, augment=augment)


def measure(job: Job) -> dict[str, float]:
    """Median seconds of the parts of an epoch, in turns."""
    optimizers = make_optimizers(job.predictor, job.settings)
    objective = Objective(job.predictor, Loss(**job.settings.loss.model_dump()))
    found: dict[str, list[float]] = {}

    def timed(name: str, start: float) -> None:
        found.setdefault(name, []).append(time.perf_counter() - start)

    for epoch in range(ROUNDS):
        start = time.perf_counter()
        batches = list(_batches(job, job.data.train, epoch))
        timed("loading", start)
        start = time.perf_counter()
        for batch, factor in batches:
            (factor * objective(batch)).backward()
            for optimizer in optimizers:
                optimizer.step()
                optimizer.zero_grad()
        timed("training", start)
        start = time.perf_counter()
        error = mean_error(job.predictor, job.data.valid, job.collate, job.settings, job.world)
        timed("validation", start)
        start = time.perf_counter()
        history = replace(History.new(job.folder), lines=({"epoch": 1, "valid_error": error},))
        _save(job, job.predictor, optimizers, None, history)
        timed("writing", start)
    return {name: median(times) for name, times in found.items()}


def main() -> None:
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        seconds = measure(make_job(Path(folder)))
    # Writing does not grow with the samples: per epoch of the preset's 950, not of these.
    whole = 950 / (SAMPLES * 19 / 20)
    seconds = {name: t if name == "writing" else t * whole for name, t in seconds.items()}
    total = sum(seconds.values())
    for name, value in seconds.items():
        print(f"{name:12}{value:9.3f} s{value / total:9.1%}")
    print(f"{'not training':12}{total - seconds['training']:9.3f} s", end="")
    print(f"{1 - seconds['training'] / total:9.1%}")


if __name__ == "__main__":
    main()
