"""Relative errors, by quadrature: what is minimised and what is reported."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from supra.data import Batch
from supra.domain import Domain
from supra.train.gradient import gradient_on

Fields = Float[Tensor, "batch *steps points channels"]
Errors = Float[Tensor, " batch"]


def relative_l2(prediction: Fields, target: Fields, weights: Float[Tensor, "*batch p"]) -> Errors:
    r"""Per sample :math:`\|\hat u - u\| / \|u\|` over points, steps and channels."""
    return _ratio(_squares(prediction - target, weights), _squares(target, weights))


def relative_h1(prediction: Fields, target: Fields, domains: tuple[Domain, ...]) -> Errors:
    r"""Per sample :math:`\|\nabla(\hat u - u)\| / \|\nabla u\|`.

    ``domains`` is the one that all samples share, or one per sample, whose points come first.
    """
    error = _slopes(prediction - target, domains)
    return _ratio(error, _slopes(target, domains))


@dataclass(frozen=True)
class Loss:
    """A weighted sum of the relative L2 error and the relative error of the gradient.

    Attributes:
        l2: weight of the error.
        h1: weight of the gradient's error.
    """

    l2: float = 1.0
    h1: float = 0.0

    def __call__(self, prediction: Fields, batch: Batch) -> Errors:
        """The loss of each sample."""
        loss = self.l2 * relative_l2(prediction, batch.targets, batch.weights)
        if self.h1:
            loss = loss + self.h1 * relative_h1(prediction, batch.targets, batch.domains)
        return loss


def _ratio(error: Errors, size: Errors) -> Errors:
    # The square root has no derivative at 0, and a field may be 0 everywhere.
    tiny = torch.finfo(error.dtype).tiny
    return (error.clamp_min(tiny) / size.clamp_min(tiny)).sqrt()


def _squares(fields: Fields, weights: Float[Tensor, "*batch points"]) -> Errors:
    """The weighted sum of squares of each sample."""
    squares = fields.square().sum(dim=-1)
    if squares.ndim == 3:
        squares = squares.sum(dim=1)
    return (squares * weights.to(squares)).sum(dim=-1)


def _slopes(fields: Fields, domains: tuple[Domain, ...]) -> Errors:
    """The integral of the squared gradient of each sample."""
    steps_as_channels = fields.movedim(1, -1).flatten(2) if fields.ndim == 4 else fields
    parts = [steps_as_channels] if len(domains) == 1 else steps_as_channels.split(1)
    sums = []
    for domain, part in zip(domains, parts, strict=True):
        gradient = gradient_on(domain)
        slopes = gradient(part[:, : len(domain.points)]).square().sum(dim=(2, 3))
        sums.append(slopes @ gradient.weights.to(slopes))
    return torch.cat(sums)
