"""A run: from an experiment to a folder with a trained surrogate and its errors."""

import json
import os
import platform
import shutil
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
import yaml

from supra.basis.eigen import Report
from supra.data import Dataset, Splits
from supra.data.replacement import replacing
from supra.domain import Grid
from supra.experiment.build import (
    build_augmentation,
    build_collate,
    build_data,
    build_predictor,
    build_subspace,
)
from supra.experiment.config import Experiment
from supra.experiment.generate import PARTS, Request, generate, make_problem
from supra.experiment.preset import parse_experiment, read_yaml
from supra.experiment.recommend import with_recommended_basis
from supra.experiment.seen import Seen
from supra.experiment.subspace import OwnSubspace
from supra.experiment.surrogate import Surrogate
from supra.train import LATEST, History, Job, TrainError, World, fit
from supra.train.world import ALONE

CONFIG, RESULT = "config.yaml", "result.json"
_FEW = 50


def train(
    experiment: Experiment,
    folder: Path,
    *,
    resume: bool = False,
    world: World = ALONE,
    report: Report = lambda *_: None,
) -> dict[str, Any]:
    """Make the data if need be, train, test the best weights once, and write ``result.json``."""
    root = experiment.data.root.absolute()  # the run is used from other folders, too
    data_config = experiment.data.model_copy(update={"root": root})
    experiment = experiment.model_copy(update={"data": data_config})
    if world.writes:
        ensure_data(experiment, report)
    world.wait()
    torch.manual_seed(experiment.seed)
    data = build_data(experiment)
    experiment = with_recommended_basis(experiment, data.train)
    if world.writes:
        _write_text(folder / CONFIG, yaml.safe_dump(experiment.model_dump(mode="json")))
    report("computing the basis", 0, 1)
    started = time.perf_counter()
    surrogate = new_surrogate(experiment, data.train)
    prepare_bases(surrogate, data, world, report)
    preparation_seconds = time.perf_counter() - started
    job = Job(
        predictor=surrogate.predictor,
        data=data,
        collate=surrogate.collate,
        settings=experiment.train,
        folder=folder,
        seed=experiment.seed,
        world=world,
        augment=build_augmentation(experiment, data.train),
        header=surrogate.header(),
    )
    history = fit(job, resume, report)
    if not world.writes:
        return {}
    best = Surrogate.load(folder, world.device)
    trained = best.evaluate(data.train, experiment.train.batch_size).summary()
    result = {
        **errors_on_test(best, data, experiment),
        "train_error": trained["relative_l2"],
        **_costs(history, preparation_seconds),
        "parameters": sum(w.numel() for w in surrogate.predictor.parameters()),
        "seed": experiment.seed,
        "provenance": provenance(world),
    }
    _write_text(folder / RESULT, json.dumps(result, indent=2) + "\n")
    return result


def new_surrogate(experiment: Experiment, train: Dataset) -> Surrogate:
    """The basis, the normalisers and a network that has not learned anything yet."""
    subspace = build_subspace(experiment, train)
    predictor = build_predictor(experiment, train, build_collate(experiment, subspace), subspace)
    dimensions = train[0].domain.points.shape[1]
    return Surrogate(predictor, subspace, experiment, dimensions, train.domain, Seen.of(train))


def prepare_bases(
    surrogate: Surrogate, data: Splits, world: World = ALONE, report: Report = lambda *_: None
) -> None:
    """Make the basis of every sample once, where each has its own.

    The first epoch would do it otherwise, and look slower than it is. Processes share the work:
    they find each other's eigenfunctions in the cache on disk.
    """
    if not _has_many_bases(surrogate, data.train):
        return
    for dataset in (data.train, data.valid):
        for number in range(world.rank, len(dataset), world.size):
            report("computing the bases", number, len(dataset))
            surrogate.subspace(dataset[number].domain)
    world.wait()


def _has_many_bases(surrogate: Surrogate, train: Dataset) -> bool:
    """Functions of a grid do not depend on where its points are, those of a domain do."""
    if train.domain is not None:
        return False
    return isinstance(surrogate.subspace, OwnSubspace) or not isinstance(train[0].domain, Grid)


def ensure_data(experiment: Experiment, report: Report = lambda *_: None) -> None:
    """Make the data of an experiment that says how, where they are not there yet."""
    data, wanted = experiment.data, experiment.data.generate
    if wanted is None or (data.root.exists() and not (data.root / PARTS).exists()):
        return
    options = {name: str(value) for name, value in wanted.options.items()}
    request = Request(make_problem(data.name, options), wanted.train, wanted.test, wanted.seed)
    # A few samples are made sooner than other processes are started.
    workers = 1 if wanted.train + wanted.test < _FEW else os.cpu_count() or 1
    generate(request, data.root, workers, report=report)


def prepare_folder(folder: Path, resume: bool, overwrite: bool) -> None:
    """Refuse to touch an earlier run unless told what to do with it."""
    if folder.is_file():
        raise TrainError(f"{folder} is a file: a run needs a folder.")
    if resume and not (folder / LATEST).exists():
        raise TrainError(f"There is no run to resume in {folder}: {folder / LATEST} is missing.")
    if resume and overwrite:
        raise TrainError("A run is either resumed or overwritten: choose one.")
    if _has_begun(folder) and not resume:
        if not overwrite:
            raise TrainError(
                f"{folder} is not empty. Go on with it by --resume, replace it by --overwrite, or "
                f"name another folder by --out."
            )
        if not (folder / CONFIG).exists():
            raise TrainError(f"{folder} is not a run's folder ({CONFIG} is missing): not deleted.")
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)


def _has_begun(folder: Path) -> bool:
    """Whether there is anything to lose: more than a configuration and files without content."""
    others = (path for path in folder.glob("*") if path.name != CONFIG)
    return any(path.is_dir() or path.stat().st_size for path in others)


def load_config(folder: Path) -> Experiment:
    """The experiment of a run."""
    path = folder / CONFIG
    if not path.exists():
        raise TrainError(f"{folder} is not a run's folder: {path} is missing.")
    return parse_experiment(read_yaml(path.read_text(), str(path)), str(path))


def errors_on_test(surrogate: Surrogate, data: Splits, experiment: Experiment) -> dict[str, Any]:
    """Errors on the test set, and how long a prediction takes."""
    start = time.perf_counter()
    evaluation = surrogate.evaluate(data.test, experiment.train.batch_size)
    seconds = (time.perf_counter() - start) / len(data.test)
    return {"test": evaluation.summary(), "seconds_per_prediction": seconds}


def provenance(world: World = ALONE) -> dict[str, Any]:
    """What a result depends on besides its configuration."""
    return {
        "command": " ".join([Path(sys.argv[0]).name, *sys.argv[1:]]),
        "supra": version("supra-operator"),
        "torch": torch.__version__,
        "python": platform.python_version(),
        "commit": _commit(),
        "device": str(world.device),
        "processes": world.size,
        "threads": torch.get_num_threads(),
    }


def _costs(history: History, preparation_seconds: float) -> dict[str, Any]:
    lines = history.lines
    return {
        "epochs": history.epochs,
        "best_epoch": history.best,
        "valid_error": min(history.errors),
        "training_seconds": sum(line["seconds"] for line in lines),
        "training_cpu_seconds": sum(line["cpu_seconds"] for line in lines),
        "preparation_seconds": preparation_seconds,
    }


def _commit() -> str | None:
    """The version of the source, if it is under git."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def _write_text(path: Path, text: str) -> None:
    with replacing(path) as unfinished:
        unfinished.write_text(text)
