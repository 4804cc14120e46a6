"""One layer of the network: attention between functions, then a map at each point."""

from typing import Protocol

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import gelu

from supra.basis.sampled import Sampled
from supra.model.attention import SubspaceAttention
from supra.model.frugal import linear, plus_activated
from supra.model.norm import Norm, make_norm


class LocalBranch(Protocol):
    """A cheap operator between neighbouring points, added beside the attention.

    The subspace sees only what its modes resolve; what is sharper has to travel another way. It
    takes standardised fields.
    """

    def __call__(
        self, fields: Float[Tensor, "batch points channels"], basis: Sampled
    ) -> Float[Tensor, "batch points channels"]: ...


class SupraBlock(nn.Module):
    r"""``x + skip(h) + attention(h)`` with ``h = norm(x)``, then ``x + mlp(norm(x))``.

    Attention is done in the subspace: project, attend between the coordinates, reconstruct. A
    ``light`` block begins with ``skip(x) + attention(x)``: without norm and without ``x`` itself.
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
        light: bool = False,
    ) -> None:
        super().__init__()
        hidden = max(1, round(width * mlp_ratio))
        self.light = light
        self.attention_norm = make_norm("none" if light else norm, width)
        self.attention = attention
        # The two maps that end on the residual have no bias, and the skip takes values before
        # their shift: a constant comes from the lifting and from the map's hidden layer.
        self.skip = nn.Linear(width, width, bias=False)
        self.local = local
        self.mlp_norm = make_norm(norm, width)
        self.mlp_in = nn.Linear(width, hidden)
        self.dropout = nn.Dropout(dropout)
        self.mlp_out = nn.Linear(hidden, width, bias=False)

    def forward(
        self, fields: Float[Tensor, "batch points channels"], basis: Sampled
    ) -> Float[Tensor, "batch points channels"]:
        fields, values, projected = self.attention_norm.standardised(fields, basis)
        coordinates = self.attention(self.attention_norm.coefficients(projected, basis))
        return self.updated(fields, values, coordinates, basis)

    def updated(
        self,
        fields: Float[Tensor, "batch points channels"],
        values: Float[Tensor, "batch points channels"],
        coordinates: Float[Tensor, "batch channels modes"],
        basis: Sampled,
    ) -> Float[Tensor, "batch points channels"]:
        """What a block does at the points once attention has been done, at each by itself."""
        steady = basis.weights.ndim == 1  # one domain for all samples: as many points next time
        skip = self.attention_norm.scaled(self.skip.weight)
        fields = linear(values, skip, onto=None if self.light else fields, steady=steady)
        if self.local is not None:
            fields = fields + self.local(values, basis)
        fields = basis.fields(coordinates, onto=fields)
        fields, values, _ = self.mlp_norm.standardised(fields, basis)
        weight = self.mlp_norm.scaled(self.mlp_in.weight)
        bias = self.mlp_norm.shifted(self.mlp_in.weight, self.mlp_in.bias)
        hidden = linear(values, weight, bias, steady=steady)
        if self.training and self.dropout.p > 0:
            activated = self.dropout(gelu(hidden))
            return linear(activated, self.mlp_out.weight, onto=fields, steady=steady)
        return plus_activated(fields, hidden, self.mlp_out.weight, steady=steady)
