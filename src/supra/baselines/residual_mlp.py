"""The same small network at each point, with shortcuts."""

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import gelu

from supra.baselines.points import check_positive


class ResidualMLP(nn.Module):
    """At each point ``h = gelu(first(x))``, ``h + gelu(hidden(h))`` per layer, ``last(h)``."""

    def __init__(self, inputs: int, hidden: int, outputs: int, layers: int) -> None:
        super().__init__()
        check_positive(inputs=inputs, hidden=hidden, outputs=outputs, layers=layers)
        self.first = nn.Linear(inputs, hidden)
        self.hidden = nn.ModuleList(nn.Linear(hidden, hidden) for _ in range(layers))
        self.last = nn.Linear(hidden, outputs)

    def forward(
        self, features: Float[Tensor, "batch points inputs"]
    ) -> Float[Tensor, "batch points outputs"]:
        features = gelu(self.first(features))
        for layer in self.hidden:
            features = features + gelu(layer(features))
        return self.last(features)
