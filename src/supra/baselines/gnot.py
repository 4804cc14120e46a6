"""GNOT, the general neural operator transformer (Hao et al. 2023)."""

from typing import Literal

from jaxtyping import Bool, Float
from torch import Tensor, nn

from supra.baselines.network import Network
from supra.baselines.normalised_attention import NormalisedAttention
from supra.baselines.points import check_positive, check_sizes, real_points
from supra.baselines.residual_mlp import ResidualMLP
from supra.basis.sampled import Sampled

_HIDDEN = 3  # residual layers in the maps before and after the blocks
_RATIO = 4  # hidden width of experts and gate, relative to the width


class GatedExperts(nn.Module):
    r"""Several maps at each point, mixed by weights: :math:`\sum_e g_e(x)\, E_e(u(x))`."""

    def __init__(self, width: int, experts: int) -> None:
        super().__init__()
        self.experts = nn.ModuleList(
            nn.Sequential(
                nn.Linear(width, _RATIO * width), nn.GELU(), nn.Linear(_RATIO * width, width)
            )
            for _ in range(experts)
        )

    def forward(
        self,
        fields: Float[Tensor, "batch points channels"],
        gate: Float[Tensor, "batch points experts"],
    ) -> Float[Tensor, "batch points channels"]:
        first, *others = (
            weight * expert(fields)
            for weight, expert in zip(gate.split(1, dim=-1), self.experts, strict=True)
        )
        return sum(others, start=first)


class GnotBlock(nn.Module):
    """Cross-attention to the input functions, experts, self-attention, experts; all residual.

    Attentions see normed functions; the experts' outcome is normed. Both sets of experts share
    one gate, a softmax over experts of an MLP of the position.
    """

    def __init__(self, width: int, heads: int, space: int, experts: int) -> None:
        super().__init__()
        inner = _RATIO * width
        self.gate = nn.Sequential(
            nn.Linear(space, inner),
            nn.GELU(),
            nn.Linear(inner, inner),
            nn.GELU(),
            nn.Linear(inner, experts),
            nn.Softmax(dim=-1),
        )
        self.target_norm, self.source_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.cross = NormalisedAttention(width, heads)
        self.cross_experts = GatedExperts(width, experts)
        self.cross_experts_norm = nn.LayerNorm(width)
        self.self_norm = nn.LayerNorm(width)
        self.itself = NormalisedAttention(width, heads)
        self.self_experts = GatedExperts(width, experts)
        self.self_experts_norm = nn.LayerNorm(width)

    def forward(
        self,
        fields: Float[Tensor, "batch points channels"],
        sources: Float[Tensor, "batch points channels"],
        positions: Float[Tensor, "batch points space"],
        real: Bool[Tensor, "batch points"] | None = None,
    ) -> Float[Tensor, "batch points channels"]:
        gate = self.gate(positions)
        fields = fields + self.cross(self.target_norm(fields), self.source_norm(sources), real)
        fields = fields + self.cross_experts_norm(self.cross_experts(fields, gate))
        normed = self.self_norm(fields)
        fields = fields + self.itself(normed, normed, real)
        return fields + self.self_experts_norm(self.self_experts(fields, gate))


class GNOT(Network):
    """Query points attend to the input functions and to each other, experts gated by position.

    Args:
        in_channels: input functions; the last ``space`` are positions.
        out_channels: output functions.
        space: number of position channels.
        width: features at each point.
        depth: number of blocks.
        heads: attention heads; ``width`` is a multiple of them.
        experts: maps that the gate mixes.
        trunk: what a query point knows before it attends: its ``"positions"``, as published, or
            all ``"inputs"`` there.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        space: int = 2,
        width: int = 128,
        depth: int = 3,
        heads: int = 8,
        experts: int = 3,
        trunk: Literal["positions", "inputs"] = "positions",
    ) -> None:
        super().__init__(in_channels, out_channels)
        check_sizes(in_channels, space, width, heads)
        check_positive(depth=depth, experts=experts)
        if trunk not in ("positions", "inputs"):
            raise ValueError(f"`trunk` is one of positions, inputs: got {trunk!r}.")
        self.space = space
        self.known = space if trunk == "positions" else in_channels
        self.trunk = ResidualMLP(self.known, width, width, _HIDDEN)
        self.branch = ResidualMLP(in_channels, width, width, _HIDDEN)
        self.blocks = nn.ModuleList(GnotBlock(width, heads, space, experts) for _ in range(depth))
        self.project = ResidualMLP(width, width, out_channels, _HIDDEN)

    def forward(
        self, inputs: Float[Tensor, "batch points in_channels"], basis: Sampled
    ) -> Float[Tensor, "batch points out_channels"]:
        self.check_inputs(inputs, basis)
        positions, real = inputs[..., -self.space :], real_points(basis)
        fields, sources = self.trunk(inputs[..., -self.known :]), self.branch(inputs)
        for block in self.blocks:
            fields = block(fields, sources, positions, real)
        return self.project(fields)
