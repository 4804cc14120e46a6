"""The Galerkin Transformer (Cao 2021): attention as integrals over the domain, no softmax."""

from typing import Literal

from jaxtyping import Bool, Float
from torch import Tensor, nn

from supra.baselines.decoder import PointwiseDecoder, SpectralDecoder
from supra.baselines.galerkin_attention import GalerkinAttention
from supra.baselines.network import Network
from supra.baselines.points import check_positive, check_sizes, real_points
from supra.basis.sampled import Sampled


class GalerkinBlock(nn.Module):
    """``x + attention(norm(x))``, then ``x + mlp(norm(x))``."""

    def __init__(self, width: int, heads: int, space: int, *, norm: bool, dropout: float) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(width) if norm else nn.Identity()
        self.mlp_norm = nn.LayerNorm(width) if norm else nn.Identity()
        self.attention = GalerkinAttention(width, heads, space)
        self.dropout = nn.Dropout(dropout)
        self.mlp = nn.Sequential(
            nn.Linear(width, 2 * width),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(2 * width, width),
            nn.Dropout(dropout),
        )

    def forward(
        self,
        fields: Float[Tensor, "batch points channels"],
        positions: Float[Tensor, "batch points space"],
        real: Bool[Tensor, "batch points"] | None = None,
    ) -> Float[Tensor, "batch points channels"]:
        attended = self.attention(self.attention_norm(fields), positions, real)
        fields = fields + self.dropout(attended)
        return fields + self.mlp(self.mlp_norm(fields))


class GalerkinTransformer(Network):
    """Lifting, blocks of Galerkin attention at all points, and a decoder.

    Args:
        in_channels: input functions; the last ``space`` are positions.
        out_channels: output functions.
        space: number of position channels.
        width: features at each point.
        depth: number of blocks.
        heads: attention heads; ``width`` is a multiple of them.
        decoder: ``"pointwise"``, or ``"spectral"`` on grids of two axes.
        modes: frequencies per axis and direction of the spectral decoder.
        norm: a layer norm before attention and before the map at each point. The author has norms
            inside the attention only; at the usual learning rate the loss then jumps.
        dropout: probability on both branches of a block; the author takes 0 to 0.05.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        space: int = 2,
        width: int = 128,
        depth: int = 6,
        heads: int = 4,
        decoder: Literal["pointwise", "spectral"] = "pointwise",
        modes: int = 12,
        norm: bool = True,
        dropout: float = 0.0,
    ) -> None:
        super().__init__(in_channels, out_channels)
        check_sizes(in_channels, space, width, heads)
        check_positive(depth=depth)
        if decoder not in ("pointwise", "spectral"):
            raise ValueError(f"`decoder` is one of pointwise, spectral: got {decoder!r}.")
        self.space = space
        self.lift = nn.Linear(in_channels, width)
        self.blocks = nn.ModuleList(
            GalerkinBlock(width, heads, space, norm=norm, dropout=dropout) for _ in range(depth)
        )
        self.decoder = (
            PointwiseDecoder(width, out_channels, space)
            if decoder == "pointwise"
            else SpectralDecoder(width, out_channels, space, modes)
        )

    def forward(
        self, inputs: Float[Tensor, "batch points in_channels"], basis: Sampled
    ) -> Float[Tensor, "batch points out_channels"]:
        self.check_inputs(inputs, basis)
        positions, real = inputs[..., -self.space :], real_points(basis)
        fields = self.lift(inputs)
        for block in self.blocks:
            fields = block(fields, positions, real)
        return self.decoder(fields, positions, basis)
