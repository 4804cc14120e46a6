"""Attention between functions, by their coordinates in a subspace."""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention


class SubspaceAttention(nn.Module):
    r"""Multi-head attention whose tokens are functions and whose embedding is their coordinates.

    With coordinates :math:`\hat u_i` of the functions :math:`u_i`, a head computes

    .. math:: \hat z_i = \sum_j \mathrm{softmax}_j(\hat u_i^\top A\hat u_j / \sqrt d)\, B \hat u_j

    with :math:`A = W_Q^\top W_K` and :math:`B = W_V` on its share of the coordinates; an output map
    mixes the heads. Four matrices of ``modes × modes``.

    Args:
        modes: length of a coordinate vector, a multiple of ``heads``.
        heads: number of attention heads.
        self_bias: if given, a learned number per head is added to the logit of each function with
            itself, starting at this value. A large one starts the layer near "each function for
            itself", i.e. as the linear operator B; without it, at the start every function
            receives nearly the same mean.
        gain: factor on the coordinates before the maps. Functions of unit size have coordinates
            of size ``1/√modes``; ``√modes`` makes the logits of order one.
        dropout: probability with which attention weights are dropped in training.
    """

    def __init__(
        self,
        modes: int,
        heads: int,
        *,
        self_bias: float | None = None,
        gain: float = 1.0,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if heads < 1 or modes % heads:
            raise ValueError(
                f"`modes` must be a multiple of `heads`: got modes={modes}, heads={heads}."
            )
        self.modes, self.heads, self.gain, self.dropout = modes, heads, gain, dropout
        self.query_key_value = nn.Linear(modes, 3 * modes)
        self.output = nn.Linear(modes, modes)
        start = None if self_bias is None else torch.full((heads, 1, 1), float(self_bias))
        self.self_bias = None if start is None else nn.Parameter(start)

    def forward(
        self, coordinates: Float[Tensor, "batch channels modes"]
    ) -> Float[Tensor, "batch channels modes"]:
        query, key, value = self._projected(coordinates)
        dropout = self.dropout if self.training else 0.0
        mixed = scaled_dot_product_attention(
            query, key, value, attn_mask=self._mask(query), dropout_p=dropout
        )
        return self.output(mixed.transpose(1, 2).reshape(coordinates.shape))

    def attention_matrix(
        self, coordinates: Float[Tensor, "batch channels modes"]
    ) -> Float[Tensor, "batch heads channels channels"]:
        """How much each function (row) takes of every other (column); each row sums to one."""
        query, key, _ = self._projected(coordinates)
        logits = query @ key.mT / query.shape[-1] ** 0.5
        mask = self._mask(query)
        return (logits if mask is None else logits + mask).softmax(dim=-1)

    def _projected(
        self, coordinates: Float[Tensor, "batch channels modes"]
    ) -> Float[Tensor, "3 batch heads channels share"]:
        """Query, key and value of every head."""
        batch, channels, modes = coordinates.shape
        mapped = self.query_key_value(coordinates * self.gain)
        # (batch, channels, 3 * modes) -> three of (batch, heads, channels, modes / heads)
        mapped = mapped.view(batch, channels, 3, self.heads, modes // self.heads)
        return mapped.permute(2, 0, 3, 1, 4)

    def _mask(self, query: Tensor) -> Tensor | None:
        """What is added to the logits: the bias of each head on the diagonal."""
        if self.self_bias is None:
            return None
        diagonal = torch.eye(query.shape[2], dtype=query.dtype, device=query.device)
        return self.self_bias.to(query.dtype) * diagonal

    def extra_repr(self) -> str:
        return f"modes={self.modes}, heads={self.heads}, gain={self.gain:.3g}"
