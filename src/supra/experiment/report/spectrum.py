"""Errors by frequency: the size of truth, prediction and error along each basis function."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from supra.basis.sampled import Sampled
from supra.basis.tensor import TensorBasis
from supra.experiment.subspace import FamilySubspace, MeshSubspace, Subspace

Fields = Float[Tensor, "batch *steps points channels"]
TRUTH, PREDICTION, ERROR = "truth", "prediction", "error"


@dataclass(frozen=True, eq=False)
class Ladder:
    """The basis functions from smooth to sharp.

    Attributes:
        order: their numbers in the basis, smoothest first.
        values: what they are ordered by, in that order.
        name: what that is.
    """

    order: Int[np.ndarray, " modes"]
    values: Float[np.ndarray, " modes"]
    name: str

    @classmethod
    def of(cls, subspace: Subspace) -> "Ladder":
        values, name = _sharpness(subspace)
        order = np.argsort(values, kind="stable")
        return cls(order, values[order].astype(float), name)


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Mean squared coefficients, relative to the truth's mean square in each channel.

    Attributes:
        sizes: of truth, prediction and error along each mode, by name.
        outside: the part of truth, prediction and error that the modes do not reach.
        ladder: the order of the modes.
    """

    sizes: dict[str, Float[np.ndarray, " modes"]]
    outside: dict[str, float]
    ladder: Ladder


class SpectrumSum:
    """Adds up squared coefficients batch by batch."""

    def __init__(self, ladder: Ladder) -> None:
        self.ladder = ladder
        self._inside: dict[str, Tensor] = {}
        self._whole: dict[str, Tensor] = {}

    def add(self, prediction: Fields, truth: Fields, basis: Sampled) -> None:
        """One batch."""
        fields = {TRUTH: truth, PREDICTION: prediction, ERROR: prediction - truth}
        for name, field in fields.items():
            inside, whole = _squares(field, basis)
            self._inside[name] = self._inside.get(name, torch.zeros(())) + inside
            self._whole[name] = self._whole.get(name, torch.zeros(())) + whole

    def result(self) -> Spectrum:
        """Channels count alike, whatever their units: each is relative to its own truth."""
        tiny = torch.finfo(torch.float64).tiny
        scale = self._whole[TRUTH].clamp_min(tiny)
        sizes, outside = {}, {}
        for name, inside in self._inside.items():
            sizes[name] = (inside / scale[:, None]).mean(0).numpy()[self.ladder.order]
            rest = (self._whole[name] - inside.sum(1)).clamp_min(0)
            outside[name] = float((rest / self._whole[name].clamp_min(tiny)).mean())
        return Spectrum(sizes, outside, self.ladder)


def _squares(
    fields: Fields, basis: Sampled
) -> tuple[Float[Tensor, "channels modes"], Float[Tensor, " channels"]]:
    """Sums over samples and steps of squared coefficients, and of the whole squared norm."""
    channels = fields.shape[-1]
    # A basis takes (batch, points, channels): steps are more channels to it.
    stepped = fields.unsqueeze(1) if fields.ndim == 3 else fields
    flat = stepped.movedim(1, 2).flatten(2)  # (batch, points, steps * channels)
    inside = basis.coefficients(flat).double().square().sum(0)
    whole = (flat.double().square() * basis.weights[..., None]).sum(dim=(0, 1))
    by_channel = inside.view(-1, channels, basis.modes).sum(0)
    return by_channel.cpu(), whole.view(-1, channels).sum(0).cpu()


def _sharpness(subspace: Subspace) -> tuple[np.ndarray, str]:
    """What grows with the frequency of a function, and its name."""
    if isinstance(subspace, MeshSubspace):
        return subspace.basis.eigenvalues, "eigenvalue"
    if isinstance(subspace, FamilySubspace) and isinstance(subspace.basis, TensorBasis):
        return _tensor_sharpness(subspace.basis)
    return np.arange(1, subspace.modes + 1), "mode"


def _tensor_sharpness(basis: TensorBasis) -> tuple[np.ndarray, str]:
    try:
        return basis.eigenvalues, "eigenvalue"
    except NotImplementedError:  # polynomials
        counts = [basis.axis_modes(count) for count in basis.counts]
        return np.indices(counts).sum(axis=0).ravel(), "degree"
