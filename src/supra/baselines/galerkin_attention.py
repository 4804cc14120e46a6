"""Attention as integrals over the domain, without softmax (Cao 2021)."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.functional import layer_norm

_START = 1e-2  # size of the first query, key and value maps, and of what is added on the diagonal


class HeadNorm(nn.Module):
    """Layer norm of each head by itself, with a scale and a shift of its own."""

    def __init__(self, heads: int, share: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(heads, share))
        self.shift = nn.Parameter(torch.zeros(heads, share))

    def forward(
        self, fields: Float[Tensor, "batch points heads share"]
    ) -> Float[Tensor, "batch points heads share"]:
        # The maps start small, and a variance of 1e-4 must not drown in the constant.
        return layer_norm(fields, fields.shape[-1:], eps=1e-7) * self.scale + self.shift


class GalerkinAttention(nn.Module):
    r"""Attention without softmax, linear in the number of points :math:`M`.

    .. math:: z = Q\,(\tilde K^\top \tilde V) / M, \qquad
        z_j(x) = \sum_l q_l(x) \int \tilde k_l(y)\, \tilde v_j(y)\, dy

    per head, with layer norms on K and V. The position stands before the features in each head's
    q, k and v; an output map mixes the heads.
    """

    def __init__(self, width: int, heads: int, space: int) -> None:
        super().__init__()
        self.width, self.heads = width, heads
        self.query_key_value = nn.Linear(width, 3 * width)
        self.key_norm = HeadNorm(heads, width // heads)
        self.value_norm = HeadNorm(heads, width // heads)
        self.output = nn.Linear(width + heads * space, width)
        self._start()

    def forward(
        self,
        fields: Float[Tensor, "batch points channels"],
        positions: Float[Tensor, "batch points space"],
        real: Bool[Tensor, "batch points"] | None = None,
    ) -> Float[Tensor, "batch points channels"]:
        mapped = self.query_key_value(fields).unflatten(-1, (3, self.heads, -1))
        query, key, value = mapped.unbind(2)  # each (batch, points, heads, share)
        query = self._placed(query, positions)
        key = self._placed(self.key_norm(key), positions)
        value = self._placed(self.value_norm(value), positions)
        integrals = _over_points(key, real).mT @ value
        return self.output((query @ integrals).transpose(1, 2).flatten(2))

    def _placed(
        self,
        fields: Float[Tensor, "batch points heads share"],
        positions: Float[Tensor, "batch points space"],
    ) -> Float[Tensor, "batch heads points placed"]:
        """The position before every head's features."""
        everywhere = positions[:, :, None].expand(-1, -1, self.heads, -1)
        return torch.cat([everywhere.to(fields.dtype), fields], dim=-1).transpose(1, 2)

    def _start(self) -> None:
        """Small Xavier weights plus a multiple of the identity; zero biases."""
        with torch.no_grad():
            for block in self.query_key_value.weight.chunk(3):
                nn.init.xavier_uniform_(block, gain=_START)
                block += _START * torch.eye(self.width)
            self.query_key_value.bias.zero_()


def _over_points(
    keys: Float[Tensor, "batch heads points placed"], real: Bool[Tensor, "batch points"] | None
) -> Float[Tensor, "batch heads points placed"]:
    """Keys whose sum over the points is a mean over the real ones."""
    if real is None:
        return keys / keys.shape[2]
    count = real.sum(dim=1)[:, None, None, None]
    return keys.masked_fill(~real[:, None, :, None], 0) / count
