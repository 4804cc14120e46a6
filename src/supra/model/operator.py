"""The SUPRA network: from input functions to output functions on a domain."""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from supra.basis.sampled import Sampled
from supra.model.attention import SubspaceAttention
from supra.model.block import SupraBlock
from supra.model.local import LocalConvolution
from supra.model.norm import Norm

_HEAD = 64  # hidden width of the last map
Local = bool | Callable[[int], nn.Module]


class SupraOperator(nn.Module):
    """Lifting, blocks of attention between functions, and a projection to the output functions.

    Inputs may hold anything known at each point: coefficients, coordinates, time, earlier states.
    The basis is an argument, not a part of the network: the same weights serve any domain and
    resolution with as many modes.

    Args:
        in_channels: input functions, coordinates included.
        out_channels: output functions.
        modes: basis functions, as in ``basis.modes``.
        width: functions inside the network (its tokens).
        depth: number of blocks.
        heads: attention heads; ``modes`` is a multiple of them.
        mlp_ratio: hidden width of the point-wise maps, relative to ``width``.
        norm: ``"layer"`` over channels, ``"instance"`` over the domain, or ``"none"``.
        dropout: probability in attention and point-wise maps.
        self_bias: see `SubspaceAttention`; None is the paper's plain attention.
        gain: see `SubspaceAttention`; None is the paper's plain attention.
        light: blocks without norm and identity in their first half, see `SupraBlock`.
        local: a branch between neighbouring points in every block: True for a `LocalConvolution`
            (grids), or what makes one from the width, as ``partial(LocalStencil, dimensions=2)``
            does for meshes.
        checkpointing: recompute each block in the backward pass instead of keeping its inside.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        modes: int,
        *,
        width: int = 64,
        depth: int = 8,
        heads: int = 8,
        mlp_ratio: float = 1.0,
        norm: Norm = "layer",
        dropout: float = 0.0,
        self_bias: float | None = 4.0,
        gain: float | None = 3.0,
        light: bool = False,
        local: Local = False,
        checkpointing: bool = False,
    ) -> None:
        super().__init__()
        self.in_channels, self.out_channels, self.modes = in_channels, out_channels, modes
        self.checkpointing = checkpointing
        self.lift = nn.Linear(in_channels, width)
        self.blocks = nn.ModuleList(
            SupraBlock(
                width,
                SubspaceAttention(modes, heads, self_bias=self_bias, gain=gain, dropout=dropout),
                mlp_ratio=mlp_ratio,
                norm=norm,
                dropout=dropout,
                local=_local_branch(local, width),
                light=light,
            )
            for _ in range(depth)
        )
        self.project = nn.Sequential(
            nn.Linear(width, _HEAD), nn.GELU(), nn.Linear(_HEAD, out_channels)
        )

    @classmethod
    def of_paper(
        cls, in_channels: int, out_channels: int, modes: int, **options: Any
    ) -> "SupraOperator":
        """The block as the paper has it: plain attention on unscaled coordinates.

        With one input and one output function, two coordinates and eight layers it has the number
        of weights that the paper prints, to 2 %.
        """
        return cls(in_channels, out_channels, modes, **{"self_bias": None, "gain": None, **options})

    def parameter_count(self) -> int:
        """Number of trainable weights."""
        return sum(weight.numel() for weight in self.parameters() if weight.requires_grad)

    def forward(
        self, inputs: Float[Tensor, "batch points in_channels"], basis: Sampled
    ) -> Float[Tensor, "batch points out_channels"]:
        if not torch.compiler.is_compiling():
            self._check(inputs, basis)
        fields = self.lift(inputs)
        for block in self.blocks:
            if self.checkpointing and self.training:
                fields = checkpoint(block, fields, basis, use_reentrant=False)
            else:
                fields = block(fields, basis)
        return self.project(fields)

    def extra_repr(self) -> str:
        return (
            f"in_channels={self.in_channels}, out_channels={self.out_channels}, "
            f"modes={self.modes}, {self.parameter_count():,} weights"
        )

    def _check(self, inputs: Tensor, basis: Sampled) -> None:
        if inputs.ndim != 3 or inputs.shape[2] != self.in_channels:
            raise ValueError(
                f"The network takes inputs of shape (batch, points, {self.in_channels}): got "
                f"{tuple(inputs.shape)}."
            )
        if basis.modes != self.modes or basis.points != inputs.shape[1]:
            raise ValueError(
                f"The network has {self.modes} modes and the inputs {inputs.shape[1]} points: got "
                f"a basis of {basis.modes} modes on {basis.points} points."
            )


def _local_branch(local: Local, width: int) -> nn.Module | None:
    if isinstance(local, bool):
        return LocalConvolution(width) if local else None
    return local(width)
