"""A local branch on grids: what is sharper than the modes travels from point to point."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from supra.basis.sampled import Sampled


class LocalConvolution(nn.Module):
    """A 3×3 convolution of each function by itself, on a grid of two axes.

    Beyond an open edge, functions go on with their last value. Its cost is that of a few
    additions per value, its weights are 10 per function.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.kernel = nn.Conv2d(width, width, 3, padding=1, padding_mode="replicate", groups=width)

    def forward(
        self, fields: Float[Tensor, "batch points channels"], basis: Sampled
    ) -> Float[Tensor, "batch points channels"]:
        if basis.shape is None or len(basis.shape) != 2:
            where = "no grid" if basis.shape is None else f"a grid of {len(basis.shape)} axes"
            raise ValueError(
                f"A local convolution needs points on a grid of two axes: got {where}. Use "
                f"model.local=false."
            )
        # Channels stay last in memory, so neither permutation copies anything.
        grid = fields.unflatten(1, basis.shape).permute(0, 3, 1, 2)
        return torch.flatten(self.kernel(grid).permute(0, 2, 3, 1), 1, 2)
