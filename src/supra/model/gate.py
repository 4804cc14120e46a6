"""The nonlinearity of a light block: half of it is products of functions."""

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable
from torch.nn.functional import gelu

from supra.model.frugal import Fields, is_ours


def gated(fields: Fields) -> Fields:
    """``gelu(a)`` beside ``a · tanh(b)``, with a and b the halves of the functions.

    Equations are made of products (a flow carries what it carries, a medium weighs a flux): here
    they take one layer, where an activation alone has to approximate them.
    """
    if is_ours(fields):
        return _Gated.apply(fields)
    # On whole arrays, which is several times faster than on halves of each row.
    half = fields.shape[-1] // 2
    products = fields[..., :half] * torch.tanh(fields)[..., half:]
    return torch.cat([gelu(fields)[..., :half], products], dim=-1)


class _Gated(Function):
    """Keeps the fields alone."""

    @staticmethod
    def forward(ctx: Any, fields: Tensor) -> Tensor:
        ctx.save_for_backward(fields)
        half = fields.shape[-1] // 2
        values, gates = gelu(fields), torch.tanh(fields)[..., half:]
        torch.mul(fields[..., :half], gates, out=values[..., half:])
        return values

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        (fields,) = ctx.saved_tensors
        half = fields.shape[-1] // 2
        gates, of_products = torch.tanh(fields)[..., half:], gradient[..., half:]
        of_fields = torch.ops.aten.gelu_backward(gradient, fields)
        of_fields[..., :half].addcmul_(of_products, gates)
        # The derivative of tanh is 1 − tanh².
        of_gates = torch.mul(of_products, fields[..., :half], out=of_fields[..., half:])
        of_gates.addcmul_(of_gates * gates, gates, value=-1)
        return of_fields
