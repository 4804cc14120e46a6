"""Latent Neural Operator: a transformer on a few latent tokens (Wang & Wang, NeurIPS 2024)."""

from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from supra.baselines.network import Network
from supra.baselines.points import (
    check_positive,
    check_sizes,
    real_points,
    softmax_over_points,
)
from supra.baselines.residual_mlp import ResidualMLP
from supra.basis.sampled import Sampled


class LNO(Network):
    r"""Encode the points into latent tokens, attend among these, decode them at the points.

    .. math::
        z_k &= \textstyle\sum_p E_{pk}\, \mathrm{branch}(a_p), \\
        z &\leftarrow \mathrm{blocks}(z), \\
        u_p &= \mathrm{mlp}\big(\textstyle\sum_k D_{pk} z_k\big)

    with the weights :math:`E, D` of `PhysicsCrossAttention`. The published sizes are the defaults
    for Darcy, ``width=256, depth=8`` for Navier–Stokes, and ``depth=8, layers=3`` elsewhere.

    Args:
        in_channels: input functions, of which the last ``space`` are positions.
        out_channels: output functions.
        space: coordinates of a position.
        width: features of a point and of a latent token.
        depth: number of transformer blocks on the tokens.
        heads: attention heads; ``width`` is a multiple of them.
        modes: number of latent tokens.
        layers: residual hidden layers of each of the four point-wise networks.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        space: int = 2,
        width: int = 128,
        depth: int = 4,
        heads: int = 8,
        modes: int = 256,
        layers: int = 2,
    ) -> None:
        super().__init__(in_channels, out_channels)
        check_sizes(in_channels, space, width, heads)
        check_positive(depth=depth, modes=modes)
        self.space = space
        self.cross_attention = PhysicsCrossAttention(space, width, modes, layers)
        self.branch = ResidualMLP(in_channels, width, width, layers)
        self.blocks = nn.Sequential(*(LatentBlock(width, heads) for _ in range(depth)))
        self.project = ResidualMLP(width, width, out_channels, layers)

    def forward(
        self, inputs: Float[Tensor, "batch points in_channels"], basis: Sampled
    ) -> Float[Tensor, "batch points out_channels"]:
        self.check_inputs(inputs, basis)
        positions = inputs[..., -self.space :]
        encode, decode = self.cross_attention(positions, real_points(basis))
        tokens = self.blocks(encode.mT @ self.branch(inputs))
        return self.project(decode @ tokens)

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, modes={self.cross_attention.modes}"


class PhysicsCrossAttention(nn.Module):
    r"""Weights between points and latent modes, from the positions :math:`x_p` alone.

    .. math::
        s_p = \mathrm{score}(\mathrm{trunk}(x_p)), \qquad
        E_{pk} = \mathrm{softmax}_p(s_{pk}), \qquad D_{pk} = \mathrm{softmax}_k(s_{pk})

    Encoding and decoding share the scores; each is normalised over what it sums.
    """

    def __init__(self, space: int, width: int, modes: int, layers: int) -> None:
        super().__init__()
        self.modes = modes
        self.trunk = ResidualMLP(space, width, width, layers)
        self.score = ResidualMLP(width, width, modes, layers)

    def forward(
        self,
        positions: Float[Tensor, "batch points space"],
        real: Bool[Tensor, "batch points"] | None,
    ) -> tuple[Float[Tensor, "batch points modes"], Float[Tensor, "batch points modes"]]:
        """Encoder weights, which sum to one over points, and decoder weights, over modes."""
        scores = self.score(self.trunk(positions))
        return softmax_over_points(scores, real), scores.softmax(dim=-1)


class LatentBlock(nn.Module):
    """``z + attention(norm(z))``, then ``z + mlp(norm(z))``, with twice the width inside."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.attention_norm = nn.LayerNorm(width)
        self.query_key_value = nn.Linear(width, 3 * width)
        self.output = nn.Linear(width, width)
        self.mlp_norm = nn.LayerNorm(width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width)
        )

    def forward(
        self, tokens: Float[Tensor, "batch modes width"]
    ) -> Float[Tensor, "batch modes width"]:
        mapped = self.query_key_value(self.attention_norm(tokens))
        # (batch, modes, 3 * width) -> three of (batch, heads, modes, width / heads)
        query, key, value = mapped.unflatten(2, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        mixed = scaled_dot_product_attention(query, key, value)
        tokens = tokens + self.output(mixed.transpose(1, 2).flatten(2))
        return tokens + self.mlp(self.mlp_norm(tokens))
