"""Normalisation of fields: over channels at each point, or over the domain for each function.

A norm standardises, then scales and shifts every channel by learned numbers. Maps that follow take
the standardised values and have scale and shift worked into their weights: two passes over all
points less.
"""

from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from supra.basis.sampled import Sampled
from supra.model.frugal import Fields, standardised

Norm = Literal["layer", "instance", "none"]


class ChannelNorm(nn.Module):
    """Standardised fields times a learned scale plus a learned shift, of each channel."""

    def __init__(self, channels: int, epsilon: float = 1e-5) -> None:
        super().__init__()
        self.epsilon = epsilon
        self.weight: Tensor | None = nn.Parameter(torch.ones(channels))
        self.bias: Tensor | None = nn.Parameter(torch.zeros(channels))

    def forward(self, fields: Fields, basis: Sampled) -> Fields:
        _, values, _ = self.standardised(fields, basis)
        if self.weight is None or self.bias is None:
            return values
        return torch.addcmul(self.bias, values, self.weight)

    def standardised(self, fields: Fields, basis: Sampled) -> tuple[Fields, Fields, Fields]:
        """The fields, to go on with, and their standardised values for one use and for another."""
        raise NotImplementedError

    def scaled(self, weight: Float[Tensor, "out channels"]) -> Float[Tensor, "out channels"]:
        """Weights that do to standardised values what the given ones do to scaled values."""
        return weight if self.weight is None else weight * self.weight

    def shifted(
        self, weight: Float[Tensor, "out channels"], bias: Float[Tensor, " out"]
    ) -> Float[Tensor, " out"]:
        """The bias that goes with `scaled` weights where values are shifted, too."""
        return bias if self.bias is None else bias + weight @ self.bias

    def coefficients(self, values: Fields, basis: Sampled) -> Float[Tensor, "batch channels modes"]:
        """Coordinates of the normed fields, from their standardised values."""
        coordinates = basis.coefficients(values)
        if self.weight is None or self.bias is None:
            return coordinates
        shift = self.bias[:, None] * basis.constant.unsqueeze(-2)  # (…, channels, modes)
        return torch.addcmul(shift, coordinates, self.weight[:, None])


class LayerNorm(ChannelNorm):
    """Over the channels of each point; the weights of the points play no role."""

    def standardised(self, fields: Fields, basis: Sampled) -> tuple[Fields, Fields, Fields]:
        return standardised(fields, self.epsilon)


class InstanceNorm(ChannelNorm):
    """Over the domain, for each function: mean 0 and mean square 1 in the quadrature's weights.

    Weighting makes it independent of where the mesh is fine, and of padded points.
    """

    def standardised(self, fields: Fields, basis: Sampled) -> tuple[Fields, Fields, Fields]:
        row = basis.weights.unsqueeze(-2)  # (…, 1, points)
        centred = fields - row @ fields
        values = centred * torch.rsqrt(row @ centred.square() + self.epsilon)
        return fields, values, values


class NoNorm(ChannelNorm):
    """Leaves fields as they are."""

    def __init__(self) -> None:
        super().__init__(0)
        self.weight = self.bias = None

    def standardised(self, fields: Fields, basis: Sampled) -> tuple[Fields, Fields, Fields]:
        return fields, fields, fields


def make_norm(kind: Norm, channels: int) -> ChannelNorm:
    """The normalisation of that name for fields of so many channels."""
    if kind == "layer":
        return LayerNorm(channels)
    if kind == "instance":
        return InstanceNorm(channels)
    if kind == "none":
        return NoNorm()
    raise ValueError(f"`norm` must be 'layer', 'instance' or 'none': got {kind!r}.")
