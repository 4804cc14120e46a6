"""Normalisation of fields: over channels at each point, or over the domain for each function."""

from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

Norm = Literal["layer", "instance", "none"]


class LayerNorm(nn.LayerNorm):
    """Over the channels of each point; the weights of the points play no role."""

    def forward(  # type: ignore[override]
        self, fields: Float[Tensor, "batch points channels"], weights: Tensor
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
        self,
        fields: Float[Tensor, "batch points channels"],
        weights: Float[Tensor, "*batch points"],
    ) -> Float[Tensor, "batch points channels"]:
        row = weights.unsqueeze(-2)  # (…, 1, points)
        mean = row @ fields
        variance = (row @ fields.square() - mean.square()).clamp_min(0)
        factor = self.scale * torch.rsqrt(variance + self.epsilon)
        return torch.addcmul(self.shift - mean * factor, fields, factor)


class NoNorm(nn.Module):
    """Leaves fields as they are."""

    def forward(self, fields: Tensor, weights: Tensor) -> Tensor:
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
