"""A layer with one map at each point: modes, and on grids a local branch, do the rest."""

from torch import Tensor, nn
from torch.nn.functional import gelu

from supra.basis.sampled import Sampled
from supra.model.attention import SubspaceAttention
from supra.model.block import Block, Coordinates, is_shared
from supra.model.frugal import Fields, linear
from supra.model.gate import gated


class LightBlock(Block):
    r"""``x + skip(h) + attention(h) + mixing(h)`` with ``h = gated(x)``, or ``gelu(x)``.

    Neither norms nor a map of two layers: one product with weights at every point instead of the
    three of a `SupraBlock`. Attention and mixing are added in the subspace.

    Args:
        width: functions, an even number.
        attention: between their coordinates, or None; then there is mixing.
        mixing: another map of the coordinates, called with the basis, too; see
            `supra.model.mixing`.
        local: another map of the values at the points, added.
        products: False for GELU alone, to see what products of functions are worth.
    """

    def __init__(
        self,
        width: int,
        attention: SubspaceAttention | None,
        *,
        mixing: nn.Module | None = None,
        local: nn.Module | None = None,
        products: bool = True,
    ) -> None:
        super().__init__()
        if attention is None and mixing is None:
            raise ValueError("A light block needs attention or mixing: got neither.")
        if products and width % 2:
            raise ValueError(f"Light blocks multiply halves: `width` must be even, got {width}.")
        self.attention, self.mixing, self.local = attention, mixing, local
        self.activation = gated if products else gelu
        self.skip = nn.Linear(width, width)

    def prepared(self, fields: Fields, basis: Sampled) -> tuple[Tensor, Tensor, Tensor]:
        values = self.activation(fields)
        return fields, values, values

    def coefficients(self, values: Fields, basis: Sampled) -> Coordinates:
        return basis.coefficients(values)

    def changed(self, coordinates: Coordinates, basis: Sampled) -> Coordinates:
        parts = [] if self.attention is None else [self.attention(coordinates)]
        if self.mixing is not None:
            parts.append(self.mixing(coordinates, basis))
        return parts[0] if len(parts) == 1 else parts[0] + parts[1]

    def updated(
        self,
        fields: Fields,
        values: Fields,
        coordinates: Coordinates,
        basis: Sampled,
    ) -> Fields:
        weight, bias = self.skip.weight, self.skip.bias
        fields = linear(values, weight, bias, onto=fields, steady=is_shared(basis))
        if self.local is not None:
            fields = fields + self.local(values, basis)
        return basis.fields(coordinates, onto=fields)
