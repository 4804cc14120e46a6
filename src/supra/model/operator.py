"""The SUPRA network: from input functions to output functions on a domain."""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from supra.basis.sampled import Sampled
from supra.model.attention import SubspaceAttention
from supra.model.block import Block, SupraBlock
from supra.model.light import LightBlock
from supra.model.local import LocalConvolution
from supra.model.norm import Norm

_HEAD = 64  # hidden width of the last map
_STEPS = (1, 2, 4, 2)  # of the local convolutions, block after block
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
        heads: attention heads; ``rank``, or ``modes`` without it, is a multiple of them.
        rank: see `SubspaceAttention`.
        mlp_ratio: hidden width of the point-wise maps, relative to ``width``.
        norm: ``"layer"`` over channels, ``"instance"`` over the domain, or ``"none"``.
        dropout: probability in attention and point-wise maps.
        self_bias: see `SubspaceAttention`; None is the paper's plain attention.
        gain: see `SubspaceAttention`; None is the paper's plain attention.
        light: a `LightBlock` in each layer instead of a `SupraBlock`; it has no norm, no dropout
            outside of attention and no point-wise map to have an ``mlp_ratio``.
        attention: False leaves it out of light blocks; ``mixing`` takes its place.
        products: False leaves products of functions out of light blocks.
        mixing: in light blocks, what makes a map between functions from the width, as
            ``partial(ModeMixing, modes=64)`` does.
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
        rank: int | None = None,
        mlp_ratio: float = 1.0,
        norm: Norm = "layer",
        dropout: float = 0.0,
        self_bias: float | None = 4.0,
        gain: float | None = 3.0,
        light: bool = False,
        attention: bool = True,
        products: bool = True,
        mixing: Callable[[int], nn.Module] | None = None,
        local: Local = False,
        checkpointing: bool = False,
    ) -> None:
        super().__init__()
        self.in_channels, self.out_channels, self.modes = in_channels, out_channels, modes
        self.checkpointing = checkpointing
        if not light and (mixing is not None or not attention):
            raise ValueError("`mixing`, and no `attention`, are for light blocks: set `light`.")
        inside: dict[str, Any] = {"mlp_ratio": mlp_ratio, "norm": norm, "dropout": dropout}

        def attend() -> SubspaceAttention:
            return SubspaceAttention(
                modes, heads, rank=rank, self_bias=self_bias, gain=gain, dropout=dropout
            )

        def block(number: int) -> Block:
            branch = _local_branch(local, width, _STEPS[number % len(_STEPS)])
            if light:
                mixed = None if mixing is None else mixing(width)
                return LightBlock(width, attend() if attention else None,
                                  mixing=mixed, local=branch, products=products)  # fmt: skip
            return SupraBlock(width, attend(), local=branch, **inside)

        self.lift = nn.Linear(in_channels, width)
        self.blocks = nn.ModuleList(block(number) for number in range(depth))
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


def _local_branch(local: Local, width: int, step: int) -> nn.Module | None:
    if isinstance(local, bool):
        return LocalConvolution(width, step) if local else None
    return local(width)
