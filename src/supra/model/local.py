"""A local branch on grids: what is sharper than the modes travels from point to point."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from supra.basis.sampled import Sampled, SeparableBasis
from supra.model.convolution import convolved


class LocalConvolution(nn.Module):
    """A 3×3 convolution of each function by itself, on a grid of two axes.

    Beyond an open edge, functions go on with their last value; a periodic axis closes. The cost
    is that of a few additions per value, the weights are 10 per function.

    Args:
        width: functions.
        step: distance of the points that are combined: larger ones reach further for the same
            cost, and blocks of different steps see all scales.
    """

    def __init__(self, width: int, step: int = 1) -> None:
        super().__init__()
        self.kernel = nn.Conv2d(width, width, 3, dilation=step, groups=width)

    def forward(
        self, fields: Float[Tensor, "batch points channels"], basis: Sampled
    ) -> Float[Tensor, "batch points channels"]:
        if basis.shape is None or len(basis.shape) != 2:
            where = "no grid" if basis.shape is None else f"a grid of {len(basis.shape)} axes"
            raise ValueError(
                f"A local convolution needs points on a grid of two axes: got {where}. Use "
                f"model.local=false."
            )
        step = int(self.kernel.dilation[0])
        if step > min(basis.shape):
            raise ValueError(
                f"A local convolution that combines points {step} apart needs a larger grid: got "
                f"{' × '.join(map(str, basis.shape))} points. Use model.local=false."
            )
        axes = basis.axes if isinstance(basis, SeparableBasis) else (basis, basis)
        rows, columns = (axis.periodic for axis in axes)
        grid = fields.unflatten(1, basis.shape)
        return torch.flatten(convolved(grid, self.kernel, (rows, columns)), 1, 2)
