"""What the compared networks have in common: their signature, and what they say of themselves."""

import torch
from torch import Tensor, nn

from supra.baselines.points import check_positive
from supra.basis.sampled import Sampled


class Network(nn.Module):
    """A map from functions at points to functions at the same points.

    Networks implement ``forward(inputs, basis)`` and check what they are given first.

    Args:
        in_channels: input functions, positions included.
        out_channels: output functions.
    """

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        check_positive(in_channels=in_channels, out_channels=out_channels)
        self.in_channels, self.out_channels = in_channels, out_channels

    def parameter_count(self) -> int:
        """Number of trainable weights; a complex one counts as two."""
        return sum(weight.numel() for weight in self.parameters() if weight.requires_grad)

    def extra_repr(self) -> str:
        return (
            f"in_channels={self.in_channels}, out_channels={self.out_channels}, "
            f"{self.parameter_count():,} weights"
        )

    def check_inputs(self, inputs: Tensor, basis: Sampled) -> None:
        """The inputs have the network's channels and the basis's points."""
        if torch.compiler.is_compiling():
            return
        if inputs.ndim != 3 or inputs.shape[2] != self.in_channels:
            raise ValueError(
                f"The network takes inputs of shape (batch, points, {self.in_channels}): got "
                f"{tuple(inputs.shape)}."
            )
        sizes = tuple(basis.weights.shape)
        if sizes != tuple(inputs.shape[2 - len(sizes) : 2]):
            raise ValueError(
                f"Inputs and basis must have the same points: got inputs of shape "
                f"{tuple(inputs.shape)} and weights of shape {sizes}."
            )
