"""Normalisation of fields: over channels at each point, or over the domain for each function."""

from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from supra.basis.sampled import Sampled

Norm = Literal["layer", "instance", "none"]


class LayerNorm(nn.LayerNorm):
    """Over the channels of each point; the weights of the points play no role."""

    def forward(  # type: ignore[override]
        self, fields: Float[Tensor, "batch points channels"], basis: Sampled
    ) -> Float[Tensor, "batch points channels"]:
        return super().forward(fields)


class InstanceNorm(nn.Module):
    """Over the domain, for each function: mean 0 and mean square 1 in the quadrature's weights.

    Weighting makes it independent of where the mesh is fine, and of padded points.
    """

    def __init__(self, channels: int, epsilon: float = 1e-5) -> None:
        super().__init__()
        self.epsilon = epsilon
        self.scale = nn.Parameter(torch.ones(channels))
        self.shift = nn.Parameter(torch.zeros(channels))

    def forward(
        self, fields: Float[Tensor, "batch points channels"], basis: Sampled
    ) -> Float[Tensor, "batch points channels"]:
        row = basis.weights.unsqueeze(-2)  # (…, 1, points)
        centred = fields - row @ fields
        factor = self.scale * torch.rsqrt(row @ centred.square() + self.epsilon)
        return torch.addcmul(self.shift, centred, factor)


class NoNorm(nn.Module):
    """Leaves fields as they are."""

    def forward(self, fields: Tensor, basis: Sampled) -> Tensor:
        return fields


def make_norm(kind: Norm, channels: int) -> nn.Module:
    """The normalisation of that name for fields of so many channels."""
    if kind == "layer":
        return LayerNorm(channels)
    if kind == "instance":
        return InstanceNorm(channels)
    if kind == "none":
        return NoNorm()
    raise ValueError(f"`norm` must be 'layer', 'instance' or 'none': got {kind!r}.")
