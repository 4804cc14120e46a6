"""Depthwise convolutions on grids with channels last, and with fast derivatives.

PyTorch's own backward pass is slow on CPU where points are combined at a distance (dilation), and
its ways to continue edges move the channels.
"""

from math import ceil
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable
from torch.nn.functional import conv2d, pad

from supra.model.frugal import is_ours

Values = Float[Tensor, "batch rows columns channels"]
Wider = Float[Tensor, "batch more_rows more_columns channels"]
Periodic = tuple[bool, bool]


def convolved(values: Values, kernel: nn.Conv2d, periodic: Periodic) -> Values:
    """The values convolved with a 3×3 kernel per channel, on as many points as before.

    Edges that are not periodic go on with their last value.
    """
    step = int(kernel.dilation[0])
    if is_ours(values):
        return _Convolved.apply(values, kernel.weight, kernel.bias, step, periodic)
    wider = _continued(values, step, periodic)
    return kernel(wider.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)


class _Convolved(Function):
    @staticmethod
    def forward(
        ctx: Any, values: Tensor, weight: Tensor, bias: Tensor, step: int, periodic: Periodic
    ) -> Tensor:
        ctx.save_for_backward(values, weight)
        ctx.step, ctx.periodic = step, periodic
        return _depthwise(_continued(values, step, periodic), weight, bias, step)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None]:
        values, weight = ctx.saved_tensors
        step, periodic = ctx.step, ctx.periodic
        of_wider = _depthwise(gradient, weight.flip(2, 3), None, step, zeros=2 * step)
        of_values = _folded(_folded(of_wider, 1, step, periodic[0]), 2, step, periodic[1])
        of_weight = _of_weight(_continued(values, step, periodic), gradient, weight, step)
        return of_values, of_weight, gradient.sum((0, 1, 2)), None, None


def _depthwise(
    values: Tensor, weight: Tensor, bias: Tensor | None, step: int, zeros: int = 0
) -> Tensor:
    """Channels stay last in memory, so neither permutation copies anything."""
    grid = values.permute(0, 3, 1, 2)
    grid = conv2d(grid, weight, bias, padding=zeros, dilation=step, groups=len(weight))
    return grid.permute(0, 2, 3, 1)


def _continued(values: Values, step: int, periodic: Periodic) -> Wider:
    """With ``step`` points more beyond every edge."""
    batch, rows, columns, channels = values.shape
    wider = values.new_empty(batch, rows + 2 * step, columns + 2 * step, channels)
    wider[:, step:-step, step:-step] = values
    for axis, closed in zip((1, 2), periodic, strict=True):
        size = values.shape[axis]
        before, after = wider.narrow(axis, 0, step), wider.narrow(axis, size + step, step)
        if closed:
            before.copy_(wider.narrow(axis, size, step))
            after.copy_(wider.narrow(axis, step, step))
        else:
            before.copy_(wider.narrow(axis, step, 1).expand_as(before))
            after.copy_(wider.narrow(axis, size + step - 1, 1).expand_as(after))
    return wider


def _folded(wider: Wider, axis: int, step: int, closed: bool) -> Values:
    """The transpose of continuing along an axis: what fell beyond the edges comes back."""
    size = wider.shape[axis] - 2 * step
    inner = wider.narrow(axis, step, size)
    before, after = wider.narrow(axis, 0, step), wider.narrow(axis, step + size, step)
    if closed:
        inner.narrow(axis, size - step, step).add_(before)
        inner.narrow(axis, 0, step).add_(after)
    else:
        inner.narrow(axis, 0, 1).add_(before.sum(axis, keepdim=True))
        inner.narrow(axis, size - 1, 1).add_(after.sum(axis, keepdim=True))
    return inner


def _of_weight(wider: Wider, gradient: Values, weight: Tensor, step: int) -> Tensor:
    """Points at a distance of ``step`` form grids of their own, where they are neighbours."""
    rows, columns = (ceil(size / step) for size in gradient.shape[1:3])
    given, out = _spread(wider, step, rows + 2, columns + 2), _spread(gradient, step, rows, columns)
    given, out = given.permute(0, 3, 1, 2), out.permute(0, 3, 1, 2)
    one, nothing = [1, 1], [0, 0]
    mask = (False, True, False)
    _, found, _ = torch.ops.aten.convolution_backward(
        out, given, weight, None, one, nothing, one, False, nothing, len(weight), mask
    )
    return found


def _spread(values: Values, step: int, rows: int, columns: int) -> Tensor:
    """The grids of every ``step``-th point as samples of a batch, filled up with zeros."""
    batch, height, width, channels = values.shape
    missing = (0, 0, 0, step * columns - width, 0, step * rows - height)
    full = pad(values, missing).view(batch, rows, step, columns, step, channels)
    return full.permute(0, 2, 4, 1, 3, 5).reshape(-1, rows, columns, channels)
