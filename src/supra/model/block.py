"""One layer of the network: attention between functions, then a map at each point."""

from typing import Protocol

from jaxtyping import Float
from torch import Tensor, nn

from supra.basis.sampled import Sampled
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
        self.skip = nn.Linear(width, width)
        self.local = local
        self.mlp_norm = make_norm(norm, width)
        self.mlp = nn.Sequential(
            nn.Linear(width, hidden), nn.GELU(), nn.Dropout(dropout), nn.Linear(hidden, width)
        )

    def forward(
        self, fields: Float[Tensor, "batch points channels"], basis: Sampled
    ) -> Float[Tensor, "batch points channels"]:
        normed = self.attention_norm(fields, basis)
        coordinates = self.attention(basis.coefficients(normed))
        skipped = fields + self.skip(normed)
        if self.local is not None:
            skipped = skipped + self.local(normed, basis)
        fields = basis.fields(coordinates, onto=skipped)
        return fields + self.mlp(self.mlp_norm(fields, basis))
