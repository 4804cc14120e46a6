"""Predictions averaged over the symmetries of an equation."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from supra.basis.sampled import Sampled
from supra.data import Layout, Symmetry
from supra.train.predictor import Predictor


class Symmetrized(nn.Module):
    r"""The mean of what a predictor says of a sample in all positions: :math:`g^{-1} P g`.

    Over a group the mean is symmetric itself, and errors that differ from one position to another
    cancel in part. A prediction costs as many as there are symmetries.
    """

    def __init__(self, predictor: Predictor, symmetries: Sequence[Symmetry]) -> None:
        super().__init__()
        self.predictor, self.symmetries = predictor, tuple(symmetries)

    @property
    def layout(self) -> Layout:
        return self.predictor.layout

    def predict(
        self, inputs: Float[Tensor, "batch points inputs"], basis: Sampled
    ) -> Float[Tensor, "batch *steps points targets"]:
        """As of `Predictor`."""
        given, positions = inputs.tensor_split([len(self.layout.inputs)], dim=2)
        predictions = [
            symmetry.inverse.moved(
                self.predictor.predict(torch.cat([symmetry.moved(given), positions], dim=2), basis)
            )
            for symmetry in self.symmetries
        ]
        return torch.stack(predictions).mean(dim=0)
