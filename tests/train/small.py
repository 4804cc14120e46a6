"""Small problems to train on: smooth operators between random functions."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from supra.basis import CosineBasis
from supra.data import Channel, Collate, Dataset, Layout, Normalizer, Sample, Splits, stepwise
from supra.domain import Grid
from supra.model import SupraOperator
from supra.train import Job, Predictor, TrainSettings

GRID = Grid((9, 8))
HISTORY, STEPS = 2, 4
STATES = tuple(Channel(f"u{k}") for k in range(HISTORY))


@dataclass(frozen=True)
class Smooth:
    """u = a² + x of a random smooth a."""

    def __call__(self, index: int) -> Sample:
        x, y = GRID.points.T
        c = np.random.default_rng(index).normal(size=3)
        a = c[0] + c[1] * np.cos(np.pi * x) + c[2] * np.cos(np.pi * y)
        return Sample(a[:, None], (a**2 + x)[:, None], GRID)


@dataclass(frozen=True)
class Wave:
    """A wave that moves on by a tenth of the box per step."""

    def __call__(self, index: int) -> Sample:
        phase = np.random.default_rng(index).uniform(0, 2 * np.pi)
        x = GRID.points[:, 0]
        states = [
            np.sin(2 * np.pi * (x - 0.1 * t) + phase)[:, None] for t in range(HISTORY + STEPS)
        ]
        return Sample(np.concatenate(states[:HISTORY], axis=1), np.stack(states[HISTORY:]), GRID)


@dataclass(frozen=True)
class Heating:
    """u = t a."""

    def __call__(self, index: int) -> Sample:
        a = np.random.default_rng(index).normal() * np.cos(np.pi * GRID.points[:, :1]) + 2
        return Sample(a, np.stack([t * a for t in (0.5, 1.0)]), GRID)


LAYOUTS = {
    "steady": (Layout((Channel("a"),), (Channel("u"),)), Smooth()),
    "rollout": (
        Layout(STATES, (Channel("u"),), "rollout", tuple(map(float, range(STEPS)))),
        Wave(),
    ),
    "condition": (Layout((Channel("a"),), (Channel("u"),), "condition", (0.5, 1.0)), Heating()),
}


def splits(time: str = "steady", train: int = 8) -> Splits:
    layout, reader = LAYOUTS[time]
    whole = Dataset(layout, reader, np.arange(train + 4), GRID)
    return Splits(
        whole.subset(slice(train)),
        whole.subset(slice(train, train + 2)),
        whole.subset(slice(train + 2, None)),
    )


def collate() -> Collate:
    return Collate(CosineBasis((4, 4)).sample(GRID), weighting="uniform")


def job(folder: Path, time: str = "steady", train: int = 8, **settings: Any) -> Job:
    torch.manual_seed(0)
    data, together = splits(time, train), collate()
    moments = stepwise(data.train)
    numbers = range(len(moments))
    channels = len(moments.layout.inputs) + 2
    network = SupraOperator(channels, 1, 16, width=16, depth=2, heads=4)
    predictor = Predictor(
        network,
        data.train.layout,
        Normalizer.fit((together.inputs(moments[k]) for k in numbers), "channel"),
        Normalizer.fit((moments[k].targets for k in numbers), "channel"),
    )
    options = {"epochs": 4, "batch_size": 4, **settings}
    return Job(predictor, data, together, TrainSettings(**options), folder)
