"""Normalised linear attention between functions on the same points (Hao et al. 2023)."""

from jaxtyping import Bool, Float
from torch import Tensor, nn


class NormalisedAttention(nn.Module):
    r"""Attention of kernel form, normalised, linear in the number of points.

    .. math:: z_t = \tilde q_t + \sum_i \alpha_{ti} v_i, \qquad
        \alpha_{ti} = \frac{\tilde q_t \cdot \tilde k_i}{\sum_j \tilde q_t \cdot \tilde k_j}

    per head, where :math:`\tilde q, \tilde k` are softmaxes over a head's features, so that all
    :math:`\alpha` are positive. Queries come from one function, keys and values from another, or
    from the same one in self-attention.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key_value = nn.Linear(width, 2 * width)
        self.output = nn.Linear(width, width)

    def forward(
        self,
        targets: Float[Tensor, "batch points channels"],
        sources: Float[Tensor, "batch points channels"],
        real: Bool[Tensor, "batch points"] | None = None,
    ) -> Float[Tensor, "batch points channels"]:
        key, value = self.key_value(sources).chunk(2, dim=-1)
        query, key, value = map(self._split, (self.query(targets), key, value))
        query, key = query.softmax(dim=2), key.softmax(dim=2)
        if real is not None:
            key = key.masked_fill(~real[:, None, None], 0)
        total = key.sum(dim=3)[:, :, None] @ query
        mixed = query + (value @ key.mT) @ query / total
        return self.output(mixed.flatten(1, 2).mT)

    def _split(
        self, fields: Float[Tensor, "batch points channels"]
    ) -> Float[Tensor, "batch heads share points"]:
        """Points come last: softmaxes over a few features are slow where these lie side by side."""
        return fields.mT.unflatten(1, (self.heads, -1))
