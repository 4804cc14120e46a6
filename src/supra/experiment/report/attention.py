"""Which functions inside a network attend to which."""

import numpy as np
from jaxtyping import Float
from torch import Tensor, nn

from supra.data import Sample
from supra.experiment.surrogate import Surrogate
from supra.model import SubspaceAttention

Matrix = Float[np.ndarray, "functions functions"]


def attention_matrices(surrogate: Surrogate, sample: Sample) -> list[Matrix]:
    """The mean over the heads of every layer's matrix, of a time-dependent sample's first step."""
    layers = [m for m in surrogate.predictor.modules() if isinstance(m, SubspaceAttention)]
    seen: dict[nn.Module, Matrix] = {}

    def look(layer: nn.Module, arguments: tuple[Tensor, ...]) -> None:
        assert isinstance(layer, SubspaceAttention)
        if layer not in seen:
            seen[layer] = layer.attention_matrix(*arguments)[0].mean(0).cpu().numpy()

    handles = [layer.register_forward_pre_hook(look) for layer in layers]
    try:
        surrogate.predict(sample.inputs, sample.domain)
    finally:
        for handle in handles:
            handle.remove()
    return [seen[layer] for layer in layers]
