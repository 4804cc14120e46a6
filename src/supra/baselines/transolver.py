"""Transolver: attention between learned slices of the domain (Wu et al., ICML 2024)."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from supra.baselines.network import Network
from supra.baselines.physics_attention import PhysicsAttention, needed_grid, small_linear
from supra.baselines.points import check_positive, check_sizes
from supra.basis.sampled import Sampled


class Transolver(Network):
    r"""A map at each point, blocks of `PhysicsAttention` with point-wise maps, a linear head.

    .. math::
        x_0 &= \mathrm{mlp}(a) + p, \\
        y_l &= x_{l-1} + \mathrm{attention}(\mathrm{norm}(x_{l-1})), \\
        x_l &= y_l + \mathrm{mlp}(\mathrm{norm}(y_l)), \\
        u &= W\,\mathrm{norm}(x_L) + b

    with a learned vector :math:`p`, the same at every point. The published sizes are the defaults;
    for Navier–Stokes they are ``width=256, slices=32``.

    Args:
        in_channels: input functions, of which the last ``space`` are positions.
        out_channels: output functions.
        space: coordinates of a position.
        width: features at each point.
        depth: number of blocks.
        heads: attention heads; ``width`` is a multiple of them.
        slices: slices per head.
        mlp_ratio: hidden width of the blocks' point-wise maps, relative to ``width``.
        dropout: probability in the attention.
        structured: 3×3 convolutions make the slices' features, for grids of two axes; otherwise
            linear maps do, for any points.
        reference: if positive, the distances to a reference grid of this many points per axis, all
            on the unit square of the structured grid's indices, stand in for the positions. The
            authors take 8 for Darcy and Navier–Stokes.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        space: int = 2,
        width: int = 128,
        depth: int = 8,
        heads: int = 8,
        slices: int = 64,
        mlp_ratio: float = 1.0,
        dropout: float = 0.0,
        structured: bool = True,
        reference: int = 0,
    ) -> None:
        super().__init__(in_channels, out_channels)
        check_sizes(in_channels, space, width, heads)
        check_positive(depth=depth, slices=slices)
        if reference < 0 or (reference and not structured):
            raise ValueError(
                f"Distances to a reference grid need `structured=True`: got reference={reference}, "
                f"structured={structured}."
            )
        self.space = space
        self.reference = reference
        lifted = in_channels - space + reference**2 if reference else in_channels
        self.lift = _two_layers(lifted, 2 * width, width)
        self.placeholder = nn.Parameter(torch.rand(width) / width)
        self.blocks = nn.ModuleList(
            TransolverBlock(
                width,
                PhysicsAttention(width, heads, slices, structured=structured, dropout=dropout),
                mlp_ratio=mlp_ratio,
            )
            for _ in range(depth)
        )
        self.head = nn.Sequential(nn.LayerNorm(width), small_linear(width, out_channels))

    def forward(
        self, inputs: Float[Tensor, "batch points in_channels"], basis: Sampled
    ) -> Float[Tensor, "batch points out_channels"]:
        self.check_inputs(inputs, basis)
        if self.reference:
            distances = _distances(needed_grid(basis), self.reference, inputs)
            inputs = torch.cat([inputs[..., : -self.space], distances], dim=-1)
        fields = self.lift(inputs) + self.placeholder
        for block in self.blocks:
            fields = block(fields, basis)
        return self.head(fields)

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, reference={self.reference}"


class TransolverBlock(nn.Module):
    """``x + attention(norm(x))``, then ``x + mlp(norm(x))``."""

    def __init__(self, width: int, attention: PhysicsAttention, *, mlp_ratio: float) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(width)
        self.attention = attention
        self.mlp_norm = nn.LayerNorm(width)
        self.mlp = _two_layers(width, max(1, round(width * mlp_ratio)), width)

    def forward(
        self, fields: Float[Tensor, "batch points width"], basis: Sampled
    ) -> Float[Tensor, "batch points width"]:
        fields = fields + self.attention(self.attention_norm(fields), basis)
        return fields + self.mlp(self.mlp_norm(fields))


def _two_layers(inputs: int, hidden: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(small_linear(inputs, hidden), nn.GELU(), small_linear(hidden, outputs))


def _distances(
    shape: tuple[int, int], reference: int, like: Float[Tensor, "batch points channels"]
) -> Float[Tensor, "batch points references"]:
    """From every point of a grid on the unit square to every point of a coarser one."""
    points, references = _unit_grid(shape, like), _unit_grid((reference, reference), like)
    apart = torch.cdist(points, references, compute_mode="donot_use_mm_for_euclid_dist")
    return apart.expand(len(like), -1, -1)


def _unit_grid(shape: tuple[int, int], like: Tensor) -> Float[Tensor, "points 2"]:
    axes = [torch.linspace(0, 1, n, dtype=like.dtype, device=like.device) for n in shape]
    return torch.cartesian_prod(*axes)
