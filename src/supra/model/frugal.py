"""Steps of a block that keep little for the backward pass, and so touch less memory.

Derivatives of derivatives are not there for them; PyTorch says so when asked.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable
from torch.nn.functional import gelu

from supra.basis.sampled import autocasting
from supra.model.product import product

Fields = Float[Tensor, "batch points channels"]
OutFields = Float[Tensor, "batch points out"]
Weight = Float[Tensor, "out channels"]
Bias = Float[Tensor, " out"]


def standardised(fields: Fields, epsilon: float) -> tuple[Fields, Fields, Fields]:
    """The fields, and twice their values with mean 0 and variance 1 over the channels of a point.

    Kept are the standardised values alone, which the maps that use them keep anyway. The fields
    pass through, and the values come once for each of two uses, so that all gradients meet here
    and are added in place.
    """
    if torch.is_grad_enabled() and not torch.compiler.is_compiling():
        return _Standardised.apply(fields, epsilon)
    values, _ = _layer_norm(fields, epsilon)
    return fields, values, values


def linear(
    fields: Fields,
    weight: Weight,
    bias: Bias | None = None,
    onto: OutFields | None = None,
    *,
    steady: bool = False,
) -> OutFields:
    """``fields @ weight.T``, plus ``bias`` and ``onto`` if given; ``steady`` as in `product`."""
    if is_ours(fields):
        return _Linear.apply(fields, weight, bias, onto, steady)
    return product(fields, weight, bias, onto, steady=steady)


def plus_activated(
    onto: OutFields, hidden: Fields, weight: Weight, *, steady: bool = False
) -> OutFields:
    """``onto + gelu(hidden) @ weight.T``. GELU is cheap: computed again, it need not be kept."""
    if is_ours(hidden):
        return _PlusActivated.apply(onto, hidden, weight, steady)
    return product(gelu(hidden), weight, onto=onto, steady=steady)


class _Standardised(Function):
    @staticmethod
    def forward(ctx: Any, fields: Tensor, epsilon: float) -> tuple[Tensor, Tensor, Tensor]:
        values, inverse = _layer_norm(fields, epsilon)
        ctx.save_for_backward(values, inverse)
        ctx.set_materialize_grads(False)
        return fields.view_as(fields), values, values.view_as(values)

    @staticmethod
    @once_differentiable
    def backward(
        ctx: Any, direct: Tensor | None, first: Tensor | None, second: Tensor | None
    ) -> tuple[Tensor | None, None]:
        values, inverse = ctx.saved_tensors
        if first is None or second is None:
            through = second if first is None else first
        else:  # made by products in the block: nobody else holds them
            through = first.add_(second)
        if through is None:
            return direct, None
        zero, one = torch.zeros_like(inverse), torch.ones_like(inverse)
        scale = values.new_ones(values.shape[-1])
        # The gradient of a layer norm at values that are standardised already; the chain rule's
        # other factor is the inverse deviation.
        own, _, _ = torch.ops.aten.native_layer_norm_backward(
            through, values, scale.shape, zero, one, scale, scale, (True, False, False)
        )
        return own * inverse if direct is None else torch.addcmul(direct, own, inverse), None


class _Linear(Function):
    @staticmethod
    def forward(
        ctx: Any,
        fields: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        onto: Tensor | None,
        steady: bool,
    ) -> Tensor:
        ctx.save_for_backward(fields, weight)
        ctx.steady = steady
        return product(fields, weight, bias, onto, steady=steady)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        fields, weight = ctx.saved_tensors
        _, _, has_bias, has_onto, _ = ctx.needs_input_grad
        return (
            product(gradient, weight.mT, steady=ctx.steady),
            _of_weight(gradient, fields),
            gradient.sum((0, 1)) if has_bias else None,
            gradient if has_onto else None,
            None,
        )


class _PlusActivated(Function):
    @staticmethod
    def forward(ctx: Any, onto: Tensor, hidden: Tensor, weight: Tensor, steady: bool) -> Tensor:
        ctx.save_for_backward(hidden, weight)
        ctx.steady = steady
        return product(gelu(hidden), weight, onto=onto, steady=steady)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        hidden, weight = ctx.saved_tensors
        of_weight = _of_weight(gradient, gelu(hidden))
        of_activated = product(gradient, weight.mT, steady=ctx.steady)
        of_hidden = torch.ops.aten.gelu_backward(of_activated, hidden)
        return gradient, of_hidden, of_weight, None


def is_ours(fields: Tensor) -> bool:
    """Whether derivatives are ours; those of compiled code and mixed precision are PyTorch's."""
    ours = not torch.compiler.is_compiling() and not autocasting(fields)
    return ours and torch.is_grad_enabled()


def _layer_norm(fields: Tensor, epsilon: float) -> tuple[Tensor, Tensor]:
    """Standardised values and inverse deviations."""
    one = fields.new_ones(fields.shape[-1])  # the kernel is faster with a scale and a shift
    values, _, inverse = torch.native_layer_norm(
        fields, one.shape, one, torch.zeros_like(one), epsilon
    )
    return values, inverse


def _of_weight(gradient: Tensor, fields: Tensor) -> Tensor:
    return gradient.flatten(0, 1).mT @ fields.flatten(0, 1)
