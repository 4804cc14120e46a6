"""Errors of a predictor on a set of samples."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from supra.data import Batch, Collate, Dataset, in_order, loader
from supra.domain import Domain, Grid, Mesh
from supra.train.loss import relative_h1, relative_l2
from supra.train.predictor import Predictor
from supra.train.settings import TrainSettings
from supra.train.symmetrized import Symmetrized
from supra.train.world import World

Errors = Float[np.ndarray, "samples"]
_TINY = 1e-300  # the size of a field that is zero everywhere


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Errors per sample, relative to the size of the truth unless said otherwise.

    Attributes:
        l2: over points, steps and channels: the error that the field's papers report.
        channels: of each target channel, by name.
        steps: of each time step; None if steady.
        largest: largest deviation at any point, relative to the largest value.
        h1: of the gradient; None on scattered points.
        boundary: L2 error at the boundary's nodes, relative to the whole field; None without one.
    """

    l2: Errors
    channels: dict[str, Errors]
    steps: Float[np.ndarray, "samples steps"] | None
    largest: Errors
    h1: Errors | None
    boundary: Errors | None

    def summary(self) -> dict[str, Any]:
        """Plain numbers, as ``result.json`` holds them."""
        result: dict[str, Any] = {
            "samples": len(self.l2),
            "relative_l2": float(self.l2.mean()),
            "relative_l2_median": float(np.median(self.l2)),
            "relative_l2_worst": float(self.l2.max()),
            "largest_error": float(self.largest.mean()),
            "channels": {name: float(errors.mean()) for name, errors in self.channels.items()},
        }
        if self.h1 is not None:
            result["relative_h1"] = float(self.h1.mean())
        if self.boundary is not None:
            result["boundary"] = float(self.boundary.mean())
        if self.steps is not None:
            result["steps"] = self.steps.mean(axis=0).tolist()
        return result


def evaluate(
    predictor: Predictor | Symmetrized, dataset: Dataset, collate: Collate, batch_size: int = 8
) -> Evaluation:
    """All errors on all samples; a rollout is fed its own predictions."""
    parts = [
        _errors(prediction, batch, predictor.layout.targets)
        for prediction, batch in predictions(predictor, dataset, collate, batch_size)
    ]
    names = [channel.name for channel in predictor.layout.targets]

    def joined(name: str) -> Any:
        found = [part[name] for part in parts]
        return None if found[0] is None else torch.cat(found).numpy()

    return Evaluation(
        l2=joined("l2"),
        channels=dict(zip(names, joined("channels").T, strict=True)),
        steps=joined("steps"),
        largest=joined("largest"),
        h1=joined("h1"),
        boundary=joined("boundary"),
    )


def predictions(
    predictor: Predictor | Symmetrized, dataset: Dataset, collate: Collate, batch_size: int
) -> Iterator[tuple[Float[Tensor, "batch *steps points targets"], Batch]]:
    """Batches of the set with what is predicted for them."""
    device = next(predictor.parameters()).device
    was_training = predictor.training
    predictor.eval()
    try:
        with torch.inference_mode():
            for batch in loader(dataset, collate, in_order(dataset, batch_size)):
                moved = batch.to(device)
                yield predictor.predict(moved.inputs, moved.basis), moved
    finally:
        predictor.train(was_training)


def mean_error(
    predictor: Predictor, dataset: Dataset, collate: Collate, settings: TrainSettings, world: World
) -> float:
    """The mean relative L2 error, computed by all processes together."""
    own = dataset.subset(slice(world.rank, None, world.size))
    total = torch.zeros(2, dtype=torch.float64)
    for prediction, batch in predictions(predictor, own, collate, settings.batch_size):
        errors = relative_l2(prediction, batch.targets, batch.weights)
        total += torch.tensor([errors.double().sum().item(), len(batch)])
    error, count = world.total(total).tolist()
    return error / count


def _errors(prediction: Tensor, batch: Batch, channels: tuple) -> dict[str, Any]:
    weights = batch.weights.double().cpu()
    prediction, truth = prediction.double().cpu(), batch.targets.double().cpu()
    per_channel = [
        relative_l2(prediction[..., k : k + 1], truth[..., k : k + 1], weights)
        for k in range(len(channels))
    ]
    seen = (weights > 0).view(_shape(weights, truth))
    deviation = ((prediction - truth).abs() * seen).flatten(1).amax(1)
    return {
        "l2": relative_l2(prediction, truth, weights),
        "channels": torch.stack(per_channel, dim=1),
        "steps": _step_errors(prediction, truth, weights),
        "largest": deviation / truth.abs().flatten(1).amax(1).clamp_min(_TINY),
        "h1": _gradient_errors(prediction, truth, batch),
        "boundary": _boundary_errors(prediction, truth, batch, weights),
    }


def _shape(weights: Tensor, fields: Tensor) -> tuple[int, ...]:
    """The weights' shape among that of fields (batch, steps, points, channels)."""
    batch = weights.shape[0] if weights.ndim == 2 else 1
    return (batch, *[1] * (fields.ndim - 3), weights.shape[-1], 1)


def _step_errors(prediction: Tensor, truth: Tensor, weights: Tensor) -> Tensor | None:
    if truth.ndim == 3:
        return None
    pairs = zip(prediction.unbind(1), truth.unbind(1), strict=True)
    return torch.stack([relative_l2(p, t, weights) for p, t in pairs], dim=1)


def _gradient_errors(prediction: Tensor, truth: Tensor, batch: Batch) -> Tensor | None:
    if not all(isinstance(domain, Grid | Mesh) for domain in batch.domains):
        return None
    return relative_h1(prediction, truth, batch.domains)


def _boundary_errors(
    prediction: Tensor, truth: Tensor, batch: Batch, weights: Tensor
) -> Tensor | None:
    """The mean square error over the boundary's nodes, relative to the field's mean square."""
    at_boundary = [_boundary_nodes(domain) for domain in batch.domains]
    if not all(len(nodes) for nodes in at_boundary):
        return None
    marked = torch.zeros_like(weights).view(len(batch.domains), -1)
    for row, nodes in zip(marked, at_boundary, strict=True):
        row[torch.as_tensor(nodes)] = 1 / len(nodes)
    marked = marked if weights.ndim == 2 else marked[0]
    scale = _shape(weights, truth)
    squares = ((prediction - truth).square() * marked.view(scale)).flatten(1).sum(1)
    size = (truth.square() * weights.view(scale)).flatten(1).sum(1)
    return (squares / size.clamp_min(_TINY)).sqrt()


def _boundary_nodes(domain: Domain) -> Int[np.ndarray, " nodes"]:
    """Numbers of the points on the boundary; none where that is not known."""
    if isinstance(domain, Mesh):
        return domain.boundary_nodes
    nothing = np.empty(0, dtype=int)
    if not isinstance(domain, Grid):
        return nothing
    numbers = np.arange(len(domain.points)).reshape(domain.shape)
    ends = [
        numbers.take([0, -1], axis=axis).ravel()
        for axis, periodic in enumerate(domain.periodic)
        if not periodic
    ]
    return np.unique(np.concatenate([nothing, *ends]))
