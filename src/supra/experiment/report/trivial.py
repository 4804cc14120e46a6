"""Predictors that have learned nothing: what an error has to be compared with."""

from collections.abc import Iterator

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from supra.data import Batch, Dataset, Layout
from supra.domain import Domain, Grid
from supra.train import relative_l2

MEAN, LAST = "mean of the training targets", "last given state kept"


def trivial_guesses(
    batch: Batch, layout: Layout, mean: Float[Tensor, "*steps points targets"]
) -> Iterator[tuple[str, Float[Tensor, " batch"]]]:
    """Name and errors of each trivial predictor on a batch."""
    truth = batch.targets
    yield MEAN, relative_l2(mean.to(truth).expand_as(truth), truth, batch.weights)
    if layout.time == "rollout":
        given = batch.inputs[..., : len(layout.inputs)]
        last = given[..., -len(layout.targets) :].unsqueeze(1)
        yield LAST, relative_l2(last.expand_as(truth), truth, batch.weights)


def mean_targets(train: Dataset, test: Dataset) -> Float[Tensor, "*steps points targets"]:
    """The mean at each point where all samples share their points, else over all points."""
    pointwise = _share_points(train, test)
    total = np.zeros(1)
    for number in range(len(train)):
        sample = train[number]
        field = sample.targets.astype(np.float64)
        if not pointwise:
            field = np.average(field, axis=-2, weights=sample.domain.weights)[..., None, :]
        total = total + field / len(train)
    return torch.tensor(total)


def _share_points(train: Dataset, test: Dataset) -> bool:
    """One domain for all, or moved grids whose points correspond by their numbers."""
    if train.domain is not None and test.domain is not None:
        return np.array_equal(train.domain.points, test.domain.points)
    shapes = {
        _grid_shape(part[number].domain) for part in (train, test) for number in range(len(part))
    }
    return len(shapes) == 1 and None not in shapes


def _grid_shape(domain: Domain) -> tuple[int, ...] | None:
    return domain.shape if isinstance(domain, Grid) else None
