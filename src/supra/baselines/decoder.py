"""From the features of a Galerkin Transformer to the output functions (Cao 2021)."""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import silu

from supra.baselines.points import grid_shape
from supra.baselines.spectral import FourierLayer
from supra.basis.sampled import Sampled

_CHANNELS = 32  # of the spectral decoder


class PointwiseDecoder(nn.Module):
    """A map at each point, with two hidden layers, of the features and the position."""

    def __init__(self, width: int, out_channels: int, space: int) -> None:
        super().__init__()
        self.lift = nn.Linear(width + space, width)
        self.project = nn.Sequential(
            nn.Linear(width, width),
            nn.SiLU(),
            nn.Linear(width, width),
            nn.SiLU(),
            nn.Linear(width, out_channels),
        )

    def forward(
        self,
        fields: Float[Tensor, "batch points channels"],
        positions: Float[Tensor, "batch points space"],
        basis: Sampled,
    ) -> Float[Tensor, "batch points out_channels"]:
        return self.project(self.lift(torch.cat([fields, positions], dim=-1)))


class SpectralDecoder(nn.Module):
    """Two Fourier layers with SiLU, for smooth outputs on a grid of two axes."""

    def __init__(self, width: int, out_channels: int, space: int, modes: int) -> None:
        super().__init__()
        self.lift = nn.Linear(width + space, _CHANNELS)
        self.layers = nn.ModuleList(FourierLayer(_CHANNELS, _CHANNELS, modes) for _ in range(2))
        self.project = nn.Sequential(
            nn.Linear(_CHANNELS, 4 * _CHANNELS), nn.SiLU(), nn.Linear(4 * _CHANNELS, out_channels)
        )

    def forward(
        self,
        fields: Float[Tensor, "batch points channels"],
        positions: Float[Tensor, "batch points space"],
        basis: Sampled,
    ) -> Float[Tensor, "batch points out_channels"]:
        shape = grid_shape(basis)
        if shape is None:
            where = "no grid" if basis.shape is None else f"a grid of {len(basis.shape)} axes"
            raise ValueError(
                f"A spectral decoder needs a grid of two axes: got {where}. Use "
                f"decoder='pointwise'."
            )
        grid = self.lift(torch.cat([fields, positions], dim=-1)).unflatten(1, shape)
        for layer in self.layers:
            grid = silu(layer(grid))
        return self.project(grid.flatten(1, 2))
