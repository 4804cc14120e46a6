"""One layer of the network: attention between functions, then a map at each point."""

from abc import ABC, abstractmethod
from typing import Protocol

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import gelu

from supra.basis.sampled import Sampled
from supra.model.attention import SubspaceAttention
from supra.model.frugal import Fields, linear, plus_activated
from supra.model.norm import Norm, make_norm

Coordinates = Float[Tensor, "batch channels modes"]


class LocalBranch(Protocol):
    """A cheap operator between neighbouring points, added beside the attention.

    The subspace sees only what its modes resolve; what is sharper has to travel another way. It
    takes what the skip takes: standardised fields, or activated ones in a light block.
    """

    def __call__(self, fields: Fields, basis: Sampled) -> Fields: ...


def is_shared(basis: Sampled) -> bool:
    """Whether all samples have one domain, and so the next batch has as many points."""
    return basis.weights.ndim == 1


class Block(nn.Module, ABC):
    """Values at the points are projected, their coordinates changed, and the fields updated.

    Points meet in the coordinates, and in the local branch if there is one. These steps are apart
    for those who cannot have all points at once (`supra.model.chunked`).
    """

    local: nn.Module | None

    def forward(self, fields: Fields, basis: Sampled) -> Fields:
        fields, values, projected = self.prepared(fields, basis)
        coordinates = self.changed(self.coefficients(projected, basis), basis)
        return self.updated(fields, values, coordinates, basis)

    @abstractmethod
    def prepared(self, fields: Fields, basis: Sampled) -> tuple[Tensor, Tensor, Tensor]:
        """The fields, to go on with, and what is made of them for `updated` and `coefficients`."""

    @abstractmethod
    def coefficients(self, values: Fields, basis: Sampled) -> Coordinates:
        """Coordinates of the prepared values, a sum over points."""

    @abstractmethod
    def changed(self, coordinates: Coordinates, basis: Sampled) -> Coordinates:
        """What is done in the subspace."""

    @abstractmethod
    def updated(
        self,
        fields: Fields,
        values: Fields,
        coordinates: Coordinates,
        basis: Sampled,
    ) -> Fields:
        """The new fields, at each point by itself once the coordinates are known."""


class SupraBlock(Block):
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
        # The two maps that end on the residual have no bias, and the skip takes values before
        # their shift: a constant comes from the lifting and from the map's hidden layer.
        self.skip = nn.Linear(width, width, bias=False)
        self.local = local
        self.mlp_norm = make_norm(norm, width)
        self.mlp_in = nn.Linear(width, hidden)
        self.dropout = nn.Dropout(dropout)
        self.mlp_out = nn.Linear(hidden, width, bias=False)

    def prepared(self, fields: Fields, basis: Sampled) -> tuple[Tensor, Tensor, Tensor]:
        return self.attention_norm.standardised(fields, basis)

    def coefficients(self, values: Fields, basis: Sampled) -> Coordinates:
        return self.attention_norm.coefficients(values, basis)

    def changed(self, coordinates: Coordinates, basis: Sampled) -> Coordinates:
        attended: Tensor = self.attention(coordinates)
        return attended

    def updated(
        self,
        fields: Fields,
        values: Fields,
        coordinates: Coordinates,
        basis: Sampled,
    ) -> Fields:
        steady = is_shared(basis)
        skip = self.attention_norm.scaled(self.skip.weight)
        fields = linear(values, skip, onto=fields, steady=steady)
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
