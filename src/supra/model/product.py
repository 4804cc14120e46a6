"""Products of fields with small matrices, with sums in the same pass over memory."""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import linear

from supra.basis.sampled import autocasting

# oneDNN's product, which adds while it multiplies, where PyTorch was built with it. It is what
# PyTorch's own compiler calls.
ONEDNN: Any = getattr(torch.ops.mkldnn, "_linear_pointwise", None)
if not torch.backends.mkldnn.is_available():
    ONEDNN = None


def product(
    fields: Float[Tensor, "batch points channels"],
    weight: Float[Tensor, "out channels"],
    bias: Float[Tensor, " out"] | None = None,
    onto: Float[Tensor, "batch points out"] | None = None,
    *,
    steady: bool = False,
) -> Float[Tensor, "batch points out"]:
    """``onto + fields @ weight.T + bias``; the sum with ``onto`` is in full precision.

    ``steady`` says that the next fields will have as many points: for every new number of rows
    oneDNN builds its kernel anew, which takes milliseconds.
    """
    if steady and _has_fused_kernel(fields):
        return _fused(fields, weight, bias, onto)
    if onto is None or bias is not None or autocasting(fields):
        mapped = linear(fields, weight, bias)
        return mapped if onto is None else onto + mapped
    rows = torch.addmm(onto.flatten(0, 1), fields.flatten(0, 1), weight.mT)
    return rows.view_as(onto)


def _has_fused_kernel(fields: Tensor) -> bool:
    if torch.compiler.is_compiling() or autocasting(fields):
        return False
    return ONEDNN is not None and fields.device.type == "cpu" and fields.dtype == torch.float32


def _fused(fields: Tensor, weight: Tensor, bias: Tensor | None, onto: Tensor | None) -> Tensor:
    if onto is None:
        return ONEDNN(fields, weight, bias, "none", [], "")
    return ONEDNN.binary(fields, onto, weight, bias, "add")
