"""Attention between slices of the domain, to which every point belongs in parts."""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from supra.baselines.points import grid_shape, real_points
from supra.basis.sampled import Sampled

_COLDEST, _HOTTEST = 0.1, 5.0  # bounds of the temperature on grids
_TINY = 1e-5  # added to the total weight of a slice


class PhysicsAttention(nn.Module):
    r"""Points are shared out to slices, the slices attend to each other, and give back.

    Each head makes two kinds of features, :math:`g_p` and :math:`f_p`, and computes

    .. math::
        w_{ps} &= \mathrm{softmax}_s((A g_p + a)_s / \tau), \\
        t_s &= \textstyle\sum_p w_{ps} f_p \big/ \big(\sum_p w_{ps} + 10^{-5}\big), \\
        z_p &= \textstyle\sum_s w_{ps}\, \mathrm{attention}(Qt, Kt, Vt)_s

    with a learned temperature :math:`\tau`, kept between 0.1 and 5 on grids. All heads share
    :math:`A, Q, K, V`; an output map mixes the heads. The cost is linear in the points.
    """

    def __init__(
        self, width: int, heads: int, slices: int, *, structured: bool, dropout: float = 0.0
    ) -> None:
        super().__init__()
        share = width // heads
        self.heads, self.slices, self.dropout = heads, slices, dropout
        self.structured = structured
        self.features = (
            nn.Conv2d(width, 2 * width, 3, padding=1)
            if structured
            else small_linear(width, 2 * width)
        )
        self.slice_map = small_linear(share, slices)
        nn.init.orthogonal_(self.slice_map.weight)
        self.temperature = nn.Parameter(torch.full((heads, 1, 1), 0.5))
        self.query_key_value = small_linear(share, 3 * share, bias=False)
        self.output = small_linear(width, width)
        self.output_dropout = nn.Dropout(dropout)

    def forward(
        self, fields: Float[Tensor, "batch points width"], basis: Sampled
    ) -> Float[Tensor, "batch points width"]:
        slicing, features = self._features(fields, basis)
        weights = self.slice_weights(slicing, basis)
        totals = weights.sum(dim=2)[..., None]
        tokens = weights.mT @ features / (totals + _TINY)
        query, key, value = self.query_key_value(tokens).chunk(3, dim=-1)
        dropout = self.dropout if self.training else 0.0
        mixed = scaled_dot_product_attention(query, key, value, dropout_p=dropout)
        scattered = (weights @ mixed).transpose(1, 2).flatten(2)
        return self.output_dropout(self.output(scattered))

    def slice_weights(
        self, slicing: Float[Tensor, "batch heads points share"], basis: Sampled
    ) -> Float[Tensor, "batch heads points slices"]:
        """How much of each point belongs to each slice; sums to one over slices, 0 if padded."""
        free = self.temperature
        warmth = 1 / (free.clamp(_COLDEST, _HOTTEST) if self.structured else free)
        # The temperature divides the map, which is small, and not its outcome at all the points.
        scores = slicing @ (self.slice_map.weight * warmth).mT + self.slice_map.bias * warmth
        weights = scores.softmax(dim=-1)
        real = real_points(basis)
        return weights if real is None else weights * real[:, None, :, None]

    def _features(
        self, fields: Float[Tensor, "batch points width"], basis: Sampled
    ) -> Float[Tensor, "2 batch heads points share"]:
        """What makes the slices, and what they carry."""
        if self.structured:
            # Channels stay last in memory, so neither permutation copies anything.
            grid = fields.unflatten(1, needed_grid(basis)).permute(0, 3, 1, 2)
            made = self.features(grid).permute(0, 2, 3, 1).flatten(1, 2)
        else:
            made = self.features(fields)
        return made.unflatten(2, (2, self.heads, -1)).permute(2, 0, 3, 1, 4)

    def extra_repr(self) -> str:
        return f"heads={self.heads}, slices={self.slices}, structured={self.structured}"


def small_linear(inputs: int, outputs: int, bias: bool = True) -> nn.Linear:
    """A linear map that starts with small weights and no shift."""
    layer = nn.Linear(inputs, outputs, bias=bias)
    nn.init.trunc_normal_(layer.weight, std=0.02)
    if bias:
        nn.init.zeros_(layer.bias)
    return layer


def needed_grid(basis: Sampled) -> tuple[int, int]:
    """Points along both axes of the grid that convolutions need."""
    shape = grid_shape(basis)
    if shape is None:
        where = "no grid" if basis.shape is None else f"a grid of {len(basis.shape)} axes"
        raise ValueError(
            f"Transolver's convolutions need points on a grid of two axes: got {where}. Use "
            f"structured=False."
        )
    return shape
