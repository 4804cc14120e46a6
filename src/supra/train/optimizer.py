"""Optimisers and the learning rate over time."""

from collections.abc import Iterator
from math import cos, pi

from torch import nn
from torch.nn.modules.conv import _ConvNd
from torch.optim import AdamW, Optimizer

from supra.train.muon import Muon
from supra.train.settings import TrainSettings

_START, _END = 1 / 25, 1 / 25e4  # of the largest rate, at the two ends of a onecycle


def make_optimizers(model: nn.Module, settings: TrainSettings) -> list[Optimizer]:
    """One optimiser, or Muon for the blocks' matrices beside AdamW for everything else."""
    rate, decay = settings.learning_rate, settings.weight_decay
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    matrices = list(_inner_matrices(model)) if settings.optimizer == "muon" else []
    if not matrices:
        return [AdamW(weights, lr=rate, betas=settings.betas, weight_decay=decay)]
    inside = {id(weight) for weight in matrices}
    rest = [weight for weight in weights if id(weight) not in inside]
    muon = Muon(matrices, lr=rate, weight_decay=decay)
    return [muon, AdamW(rest, lr=rate, betas=settings.betas, weight_decay=decay)]


def set_rate(optimizers: list[Optimizer], settings: TrainSettings, progress: float) -> float:
    """Set the learning rate for a moment of the training, 0 at its start and 1 at its end."""
    rate = settings.learning_rate * rate_factor(settings, progress)
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["lr"] = rate
    return rate


def rate_factor(settings: TrainSettings, progress: float) -> float:
    """The learning rate relative to its largest value."""
    if settings.schedule == "constant":
        return 1.0
    if settings.schedule == "cosine":
        return _between(1.0, 0.0, progress)
    if progress < settings.warmup:
        return _between(_START, 1.0, progress / settings.warmup)
    return _between(1.0, _END, (progress - settings.warmup) / (1 - settings.warmup))


def _between(start: float, end: float, progress: float) -> float:
    """Half a cosine wave from one value to another."""
    return end + (start - end) * (1 + cos(pi * progress)) / 2


def _inner_matrices(model: nn.Module) -> Iterator[nn.Parameter]:
    """Weights of the linear maps between hidden layers; a map per mode is a stack of matrices.

    Kernels of convolutions are none: their last axes are places.
    """
    for name, module in model.named_modules():
        weight = getattr(module, "weight", None)
        if not isinstance(weight, nn.Parameter) or isinstance(module, _ConvNd):
            continue
        inside = "blocks." in name or "layers." in name
        if inside and weight.ndim >= 2 and weight.requires_grad:
            yield weight
