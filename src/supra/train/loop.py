"""The training loop."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

import torch
from torch.nn.utils import clip_grad_norm_
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from supra.basis.eigen import Report
from supra.data import Batch, Collate, Dataset, Splits, loader, stepwise
from supra.train.checkpoint import load_checkpoint, restore_weights, save_checkpoint
from supra.train.errors import TrainError
from supra.train.evaluate import mean_error
from supra.train.history import History
from supra.train.loss import Loss
from supra.train.objective import Objective
from supra.train.optimizer import make_optimizers, set_rate
from supra.train.predictor import Predictor
from supra.train.settings import TrainSettings
from supra.train.world import ALONE, World

LATEST, BEST = "checkpoint.pt", "best.pt"
_HOPELESS = 1e3  # relative errors are of order one; beyond this a run has blown up

Augment = Callable[[Batch, torch.Generator], Batch]


@dataclass(frozen=True)
class Job:
    """All that a training needs.

    Attributes:
        predictor: what is trained.
        data: the samples; those for testing are not touched.
        collate: puts samples together with their basis.
        settings: how to train.
        folder: where checkpoints and metrics go.
        seed: of the order of samples, of dropout and noise.
        world: the processes that train together.
        augment: changes a batch into another solution of the same equation.
        header: saved in every checkpoint beside the weights.
    """

    predictor: Predictor
    data: Splits
    collate: Collate
    settings: TrainSettings
    folder: Path
    seed: int = 0
    world: World = ALONE
    augment: Augment | None = None
    header: dict[str, Any] | None = None


def fit(job: Job, resume: bool = False, report: Report = lambda *_: None) -> History:
    """Train; the best weights on the validation set are in ``best.pt`` of the folder.

    With ``resume`` it goes on after the last finished epoch, to the same weights bit for bit as
    if it had never stopped.
    """
    settings, world = job.settings, job.world
    job.predictor.to(world.device)
    objective = Objective(job.predictor, Loss(**settings.loss.model_dump()), settings.noise)
    shared = world.wrapped(objective)
    optimizers = make_optimizers(job.predictor, settings)
    average = _average(job.predictor, settings)
    chosen: Any = job.predictor if average is None else average.module
    train = stepwise(job.data.train, settings.unroll)
    steps = -(-len(train) // settings.batch_size)
    history = _restore(job, optimizers, average) if resume else History.new(job.folder, world)

    for epoch in range(history.epochs, settings.epochs):
        if settings.patience and history.epochs_without_gain >= settings.patience:
            break
        start, cpu, total = time.perf_counter(), time.process_time(), 0.0
        torch.manual_seed(_seed_of(job.seed, epoch, world.rank))
        job.predictor.train()
        for step, (batch, factor) in enumerate(_batches(job, train, epoch)):
            rate = set_rate(optimizers, settings, (epoch + step / steps) / settings.epochs)
            with torch.autocast(
                world.device.type, torch.bfloat16, enabled=settings.precision == "bfloat16"
            ):
                loss = shared(batch)
            (factor * loss).backward()
            if settings.clip:
                clip_grad_norm_(job.predictor.parameters(), settings.clip)
            for optimizer in optimizers:
                optimizer.step()
                optimizer.zero_grad()
            if average is not None:
                average.update_parameters(job.predictor)
            total += loss.item() if factor else 0.0
            _check_finite(total, epoch, job.folder)
            report(_stage(history, settings), epoch * steps + step + 1, steps * settings.epochs)

        train_loss = world.total(torch.tensor(total, dtype=torch.float64)).item() / len(train)
        error = mean_error(chosen, job.data.valid or job.data.train, job.collate, settings, world)
        _check_sane(train_loss, error, epoch, job.folder)
        history = history.with_epoch(
            epoch=epoch + 1,
            train_loss=train_loss,
            valid_error=error,
            learning_rate=rate,
            seconds=time.perf_counter() - start,
            cpu_seconds=time.process_time() - cpu,
        )
        _save(job, chosen, optimizers, average, history)
    return history


def _stage(history: History, settings: TrainSettings) -> str:
    """What a progress bar says: the epoch under way and the error after the last one."""
    error = f", error {history.errors[-1]:.4f}" if history.epochs else ""
    return f"epoch {history.epochs + 1}/{settings.epochs}{error}"


def _batches(job: Job, train: Dataset, epoch: int) -> Iterator[tuple[Batch, float]]:
    """This process's batches of an epoch; their order depends on the seed and the epoch only."""
    random = torch.Generator().manual_seed(_seed_of(job.seed, epoch, -1))
    order = torch.randperm(len(train), generator=random).tolist()
    size = job.settings.batch_size
    whole = [order[start : start + size] for start in range(0, len(order), size)]
    parts, factors = zip(*map(job.world.part, whole), strict=True)
    random.manual_seed(_seed_of(job.seed, epoch, job.world.rank))
    batches = loader(train, job.collate, parts, job.settings.workers)
    for batch, factor in zip(batches, factors, strict=True):
        moved = batch.to(job.world.device)
        yield (job.augment(moved, random) if job.augment else moved), factor


def _seed_of(seed: int, epoch: int, rank: int) -> int:
    """Different for every epoch and process, and known without a generator's state."""
    return (seed * 1_000_003 + epoch) * 1_009 + rank + 1


def _average(predictor: Predictor, settings: TrainSettings) -> AveragedModel | None:
    if not settings.average:
        return None
    return AveragedModel(predictor, multi_avg_fn=get_ema_multi_avg_fn(settings.average))


def _save(
    job: Job, chosen: Any, optimizers: list, average: AveragedModel | None, history: History
) -> None:
    """The metrics first: on resuming, lines after the checkpoint's epoch are cut off."""
    if job.world.writes:
        history.write()
        header = {**(job.header or {}), "epoch": history.epochs}
        if history.is_best:
            save_checkpoint(job.folder / BEST, {**header, "weights": chosen.state_dict()})
        training = {
            "weights": job.predictor.state_dict(),
            "optimizers": [optimizer.state_dict() for optimizer in optimizers],
            "average": average.state_dict() if average is not None else None,
            "seed": job.seed,
        }
        save_checkpoint(job.folder / LATEST, {**header, **training})
    job.world.wait()


def _restore(job: Job, optimizers: list, average: AveragedModel | None) -> History:
    state = load_checkpoint(job.folder / LATEST, job.world.device)
    if state["seed"] != job.seed:
        raise TrainError(f"The run in {job.folder} has seed {state['seed']}, not {job.seed}.")
    restore_weights(job.predictor, state["weights"], job.folder / LATEST)
    for optimizer, saved in zip(optimizers, state["optimizers"], strict=True):
        optimizer.load_state_dict(saved)
    if average is not None:
        average.load_state_dict(state["average"])
    return History.read(job.folder, state["epoch"])


def _check_finite(total: float, epoch: int, folder: Path) -> None:
    if not isfinite(total):
        raise TrainError(_diverged(epoch, "the loss is not a number", folder))


def _check_sane(loss: float, error: float, epoch: int, folder: Path) -> None:
    if not isfinite(error) or max(loss, error) > _HOPELESS:
        reason = f"training loss {loss:.3g}, validation error {error:.3g}"
        raise TrainError(_diverged(epoch, reason, folder))


def _diverged(epoch: int, reason: str, folder: Path) -> str:
    kept = f" {folder / LATEST} holds the epoch before." if (folder / LATEST).exists() else ""
    return (
        f"The training diverged in epoch {epoch + 1}: {reason}.{kept} Lower the learning rate "
        f"(train.learning_rate) or the limit on gradients (train.clip)."
    )
