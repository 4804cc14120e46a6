"""One layer of the network: attention between functions, then a map at each point."""

from typing import Protocol

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import gelu, linear
from torch.utils.checkpoint import checkpoint

from supra.basis.sampled import Sampled, autocasting
from supra.model.attention import SubspaceAttention
from supra.model.norm import Norm, make_norm


class LocalBranch(Protocol):
    """A cheap operator between neighbouring points, added beside the attention.

    The subspace sees only what its modes resolve; what is sharper has to travel another way.
    """

    def __call__(
        self, fields: Float[Tensor, "batch points channels"], basis: Sampled
    ) -> Float[Tensor, "batch points channels"]: ...


class SupraBlock(nn.Module):
    r"""``x + skip(h) + attention(h)`` with ``h = norm(x)``, then ``x + mlp(norm(x))``.

    Attention is done in the subspace: project, attend between the coordinates, reconstruct.
    """

    def __init__(
        self,
        width: int,
        attention: SubspaceAttention,
        *,
        mlp_ratio: float = 1.0,
        norm: Norm = "layer",
        dropout: float = 0.0,
        local: nn.Module | None = None,
    ) -> None:
        super().__init__()
        hidden = max(1, round(width * mlp_ratio))
        self.attention_norm = make_norm(norm, width)
        self.attention = attention
        # The two maps that end on the residual have no bias: the norm's own shift serves.
        self.skip = nn.Linear(width, width, bias=False)
        self.local = local
        self.mlp_norm = make_norm(norm, width)
        self.mlp_in = nn.Linear(width, hidden)
        self.dropout = nn.Dropout(dropout)
        self.mlp_out = nn.Linear(hidden, width, bias=False)

    def forward(
        self, fields: Float[Tensor, "batch points channels"], basis: Sampled
    ) -> Float[Tensor, "batch points channels"]:
        normed = self.attention_norm(fields, basis)
        coordinates = self.attention(basis.coefficients(normed))
        return self.updated(fields, normed, coordinates, basis)

    def updated(
        self,
        fields: Float[Tensor, "batch points channels"],
        normed: Float[Tensor, "batch points channels"],
        coordinates: Float[Tensor, "batch channels modes"],
        basis: Sampled,
    ) -> Float[Tensor, "batch points channels"]:
        """What a block does at the points once attention has been done, at each by itself."""
        fields = _plus_linear(fields, normed, self.skip.weight)
        if self.local is not None:
            fields = fields + self.local(normed, basis)
        fields = basis.fields(coordinates, onto=fields)
        hidden = self.mlp_in(self.mlp_norm(fields, basis))
        if not torch.is_grad_enabled():
            return self._plus_activated(fields, hidden)
        # GELU is cheap: computed again in the backward pass, it need not be kept.
        keeps = self.dropout.p > 0
        return checkpoint(
            self._plus_activated, fields, hidden, use_reentrant=False, preserve_rng_state=keeps
        )

    def _plus_activated(self, fields: Tensor, hidden: Tensor) -> Tensor:
        return _plus_linear(fields, self.dropout(gelu(hidden)), self.mlp_out.weight)


def _plus_linear(
    onto: Float[Tensor, "batch points out"],
    fields: Float[Tensor, "batch points channels"],
    weight: Float[Tensor, "out channels"],
) -> Float[Tensor, "batch points out"]:
    """``onto + fields @ weight.T`` in one pass over memory."""
    if autocasting(onto):  # the sum stays in full precision
        return onto + linear(fields, weight)
    return torch.addmm(onto.flatten(0, 1), fields.flatten(0, 1), weight.mT).view_as(onto)
