"""Attention between functions, by their coordinates in a subspace."""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import dropout, scaled_dot_product_attention

_TINY = 1e-12  # against 0 / 0 where all functions vanish


class SubspaceAttention(nn.Module):
    r"""Multi-head attention whose tokens are functions and whose embedding is their coordinates.

    With coordinates :math:`\hat u_i` of the functions :math:`u_i`, a head computes

    .. math:: \hat z_i = \sum_j \mathrm{softmax}_j(\hat u_i^\top A\hat u_j / \sqrt d)\, B \hat u_j

    with :math:`A = W_Q^\top W_K` and :math:`B = W_V` on its share of the coordinates; an output map
    mixes the heads. Four matrices of ``modes × modes``.

    Args:
        modes: length of a coordinate vector.
        heads: number of attention heads.
        rank: numbers that queries, keys and values of all heads have together, a multiple of
            ``heads``; as many as modes if not given. Fewer make the maps cheaper.
        self_bias: if given, a learned number per head is added to the logit of each function with
            itself, starting at this value. A large one starts the layer near "each function for
            itself", i.e. as the linear operator B; without it, at the start every function
            receives nearly the same mean.
        gain: if given, coordinates are divided by their root mean square over the sample before
            the maps, so that logits are of order one whatever the size of the functions, and the
            result is multiplied by it and by this number: twice the functions give twice the
            result. None is the paper's attention, on coordinates as they are.
        dropout: probability with which attention weights are dropped in training.
    """

    def __init__(
        self,
        modes: int,
        heads: int,
        *,
        rank: int | None = None,
        self_bias: float | None = None,
        gain: float | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        name, size = ("modes", modes) if rank is None else ("rank", rank)
        if heads < 1 or size < 1 or size % heads:
            raise ValueError(
                f"`{name}` must be a multiple of `heads`: got {name}={size}, heads={heads}."
            )
        self.modes, self.heads, self.gain, self.dropout = modes, heads, gain, dropout
        self.query_key_value = nn.Linear(modes, 3 * size)
        self.output = nn.Linear(size, modes)
        start = None if self_bias is None else torch.full((heads, 1, 1), float(self_bias))
        self.self_bias = None if start is None else nn.Parameter(start)

    def forward(
        self, coordinates: Float[Tensor, "batch channels modes"]
    ) -> Float[Tensor, "batch channels modes"]:
        if self.gain is None:
            return self._attended(coordinates)
        size = _size(coordinates)
        return self._attended(coordinates / size) * (self.gain * size)

    def _attended(
        self, coordinates: Float[Tensor, "batch channels modes"]
    ) -> Float[Tensor, "batch channels modes"]:
        query, key, value = self._projected(coordinates)
        probability = self.dropout if self.training else 0.0
        if self.self_bias is None:
            mixed = scaled_dot_product_attention(query, key, value, dropout_p=probability)
        else:  # written out, because the other one is slow with a mask that is learned
            mixed = dropout(self._weights(query, key), probability) @ value
        return self.output(mixed.transpose(1, 2).flatten(2))

    def attention_matrix(
        self, coordinates: Float[Tensor, "batch channels modes"]
    ) -> Float[Tensor, "batch heads channels channels"]:
        """How much each function (row) takes of every other (column); each row sums to one."""
        if self.gain is not None:
            coordinates = coordinates / _size(coordinates)
        query, key, _ = self._projected(coordinates)
        return self._weights(query, key)

    def _weights(self, query: Tensor, key: Tensor) -> Tensor:
        logits = query @ key.mT / query.shape[-1] ** 0.5
        if self.self_bias is not None:  # of each head, on the diagonal
            diagonal = torch.eye(query.shape[2], dtype=logits.dtype, device=logits.device)
            logits = logits + self.self_bias.to(logits.dtype) * diagonal
        return logits.softmax(dim=-1)

    def _projected(
        self, coordinates: Float[Tensor, "batch channels modes"]
    ) -> Float[Tensor, "3 batch heads channels share"]:
        """Query, key and value of every head."""
        # (batch, channels, 3 * rank) -> three of (batch, heads, channels, rank / heads)
        mapped = self.query_key_value(coordinates).unflatten(2, (3, self.heads, -1))
        return mapped.permute(2, 0, 3, 1, 4)

    def extra_repr(self) -> str:
        return f"modes={self.modes}, heads={self.heads}, gain={self.gain}"


def _size(coordinates: Float[Tensor, "batch channels modes"]) -> Float[Tensor, "batch 1 1"]:
    """Root mean square of each sample's coordinates."""
    return (coordinates.square().mean(dim=(1, 2), keepdim=True) + _TINY).sqrt()
