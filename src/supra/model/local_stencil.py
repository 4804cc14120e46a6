"""A local branch on meshes: what is sharper than the modes travels from node to node."""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from supra.basis.errors import BasisError
from supra.basis.sampled import Sampled
from supra.basis.stencil import Stencil
from supra.model.frugal import Fields

Rows = Float[Tensor, "rows channels"]
Kernel = Float[Tensor, "operators 1 channels"]


class LocalStencil(nn.Module):
    r"""Laplacian and gradient of each function by itself, on a mesh.

    With the operators :math:`A_o` of the basis's `Stencil` and learned weights it gives
    :math:`\sum_o w_{o,c}\, A_o u_c`. Its weights are one per function and operator. There is no
    bias: constants come from elsewhere in a block.

    Args:
        width: functions.
        dimensions: of the space that the meshes lie in.
    """

    def __init__(self, width: int, dimensions: int) -> None:
        super().__init__()
        operators = 1 + dimensions
        bound = operators**-0.5  # as of a convolution with so many weights
        self.kernel = nn.Parameter(torch.empty(operators, 1, width).uniform_(-bound, bound))

    def forward(self, fields: Fields, basis: Sampled) -> Fields:
        stencil = self._stencil(basis)
        fields = fields.to(stencil.total.values.dtype)  # lower in autocast
        if torch.compiler.is_compiling() and stencil.points == fields.shape[1]:
            return torch.stack([_combined(each, self.kernel, stencil) for each in fields])
        rows, shape = fields.flatten(0, 1), fields.shape
        if torch.compiler.is_compiling():
            return _combined(rows, self.kernel, stencil).view(shape)
        stencil = stencil.of_batch(shape[0], shape[1])
        return _Combined.apply(rows, self.kernel, stencil).view(shape)

    def extra_repr(self) -> str:
        operators, _, width = self.kernel.shape
        return f"width={width}, dimensions={operators - 1}"

    def _stencil(self, basis: Sampled) -> Stencil:
        stencil = getattr(basis, "stencil", None)
        if stencil is None:
            raise BasisError(
                "The local branch on meshes needs the operators of the mesh: give "
                "basis.with_stencil(Stencil.from_mesh(mesh)), or use model.local=false."
            )
        if stencil.operators != len(self.kernel):
            raise BasisError(
                f"This local branch is for meshes in {len(self.kernel) - 1} dimensions: got "
                f"{stencil!r}, which has one more than dimensions."
            )
        return stencil


def _combined(rows: Rows, kernel: Kernel, stencil: Stencil) -> Rows:
    """Weights first, then one sparse product that adds what the operators make of the results."""
    weighted = rows[:, None] * kernel.squeeze(1)  # (rows, operators, channels)
    return stencil.total @ weighted.flatten(0, 1)


class _Combined(Function):
    """Keeps the fields only, which the linear map beside it keeps anyway.

    One product with the transposed operators serves both derivatives.
    """

    @staticmethod
    def forward(ctx: Any, rows: Tensor, kernel: Tensor, stencil: Stencil) -> Tensor:
        ctx.save_for_backward(rows, kernel)
        ctx.stencil = stencil
        return _combined(rows, kernel, stencil)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
        rows, kernel = ctx.saved_tensors
        returned = (ctx.stencil.adjoint @ gradient.contiguous()).unflatten(0, (len(rows), -1))
        of_rows = returned[:, 0] * kernel[0]
        for number in range(1, len(kernel)):
            of_rows.addcmul_(returned[:, number], kernel[number])
        # A product with ones is the faster sum over rows.
        of_kernel = rows.new_ones(1, len(rows)) @ returned.mul_(rows[:, None]).flatten(1)
        return of_rows, of_kernel.view(kernel.shape), None
