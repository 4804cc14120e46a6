"""Muon: momentum whose steps are made orthogonal, so that every direction of a matrix learns.

PyTorch has one too. It computes in bfloat16, which many processors emulate and some announce but
do not allow, and takes matrices one by one; here equal shapes go together, in single precision.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.optim import Optimizer

# Of the odd polynomial that takes singular values in (0, 1] to about 1 in five rounds.
_COEFFICIENTS = (3.4445, -4.7750, 2.0315)
_ROUNDS = 5
_TOGETHER = 64  # matrices of a stack at a time: few enough for a processor's cache
_RMS = 0.2  # size of a step's entries, that of AdamW's, so that one learning rate serves both


def orthogonalized(
    matrices: Float[Tensor, "count rows columns"],
) -> Float[Tensor, "count rows columns"]:
    """Each matrix with its singular values moved to about 1 (Newton–Schulz)."""
    a, b, c = _COEFFICIENTS
    tall = matrices.shape[1] > matrices.shape[2]
    x = matrices.mT if tall else matrices
    x = x / (torch.linalg.matrix_norm(x, keepdim=True) + 1e-7)
    for _ in range(_ROUNDS):
        gram = x @ x.mT
        polynomial = (gram @ gram).mul_(c).add_(gram, alpha=b)
        polynomial.diagonal(dim1=1, dim2=2).add_(a)
        x = polynomial @ x
    return x.mT if tall else x


class Muon(Optimizer):
    """For matrices between hidden layers; everything else needs another optimiser.

    Args:
        matrices: weights of two axes, or of more, which are stacks of matrices in their last two.
        lr: learning rate, as for AdamW.
        momentum: of the moving average of gradients (Nesterov's kind).
        weight_decay: as for AdamW.
    """

    def __init__(
        self,
        matrices: Iterable[nn.Parameter],
        lr: float,
        momentum: float = 0.95,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(matrices, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})
        for group in self.param_groups:
            if any(weight.ndim < 2 for weight in group["params"]):
                raise ValueError("Muon takes weights of two axes or more only.")

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            alike: dict[Any, list[nn.Parameter]] = defaultdict(list)
            for weight in group["params"]:
                if weight.grad is not None:
                    alike[weight.shape].append(weight)
            for weights in alike.values():
                self._step(weights, group)

    def _step(self, weights: Any, group: dict[str, Any]) -> None:
        """One step for matrices of one shape."""
        rate, momentum = group["lr"], group["momentum"]
        averages: Any = [self._average(weight) for weight in weights]
        gradients: Any = [weight.grad for weight in weights]
        torch._foreach_lerp_(averages, gradients, 1 - momentum)
        ahead = torch._foreach_lerp(gradients, averages, momentum)
        size = rate * _RMS * max(weights[0].shape[-2:]) ** 0.5
        torch._foreach_mul_(weights, 1 - rate * group["weight_decay"])
        if weights[0].ndim == 2:
            torch._foreach_add_(weights, orthogonalized(torch.stack(ahead)).unbind(), alpha=-size)
            return
        for weight, matrices in zip(weights, ahead, strict=True):
            for part, moved in zip(_parts(weight), _parts(matrices), strict=True):
                part.sub_(orthogonalized(moved), alpha=size)

    def _average(self, weight: nn.Parameter) -> Tensor:
        state = self.state[weight]
        if "average" not in state:
            state["average"] = torch.zeros_like(weight)
        return state["average"]


def _parts(stack: Tensor) -> Sequence[Tensor]:
    """Views of some matrices each."""
    return stack.view(-1, *stack.shape[-2:]).split(_TOGETHER)
