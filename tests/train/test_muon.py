"""Muon: orthogonal steps, against the singular value decomposition and PyTorch's own."""

import pytest
import torch

from supra.train.muon import Muon, orthogonalized


@pytest.mark.parametrize("shape", [(3, 8, 8), (2, 4, 16), (2, 16, 4)])
def test_singular_values_become_about_one_and_vectors_stay(shape):
    torch.manual_seed(0)
    matrices = torch.randn(*shape, dtype=torch.float64)
    u, s, v = torch.linalg.svd(matrices, full_matrices=False)
    keep = u.mT @ orthogonalized(matrices) @ v.mT
    values = keep.diagonal(dim1=1, dim2=2)
    large = s / s.amax(dim=1, keepdim=True) > 0.05
    assert ((values > 0.65) & (values < 1.25))[large].all()
    torch.testing.assert_close(keep, torch.diag_embed(values), atol=1e-12, rtol=0)


@pytest.mark.parametrize("shape", [(3, 8, 8), (2, 4, 16), (2, 16, 4)])
def test_singular_values_go_five_times_through_the_polynomial(shape):
    torch.manual_seed(0)
    matrices = torch.randn(*shape, dtype=torch.float64)
    u, s, v = torch.linalg.svd(matrices, full_matrices=False)
    s = s / s.norm(dim=1, keepdim=True)
    for _ in range(5):
        s = 3.4445 * s - 4.7750 * s**3 + 2.0315 * s**5
    torch.testing.assert_close(orthogonalized(matrices), u * s[:, None] @ v, atol=1e-6, rtol=0)


def test_steps_are_those_of_pytorch_up_to_its_bfloat16():
    torch.manual_seed(0)
    start = [torch.randn(8, 8), torch.randn(8, 16), torch.randn(8, 8)]
    ours, theirs = ([torch.nn.Parameter(w.clone()) for w in start] for _ in range(2))
    settings = {"lr": 0.1, "weight_decay": 0.01}
    optimizers = (
        Muon(ours, **settings),
        torch.optim.Muon(theirs, **settings, adjust_lr_fn="match_rms_adamw"),
    )
    for _ in range(3):
        gradients = [torch.randn_like(w) for w in start]
        for weights, optimizer in zip((ours, theirs), optimizers, strict=True):
            for weight, gradient in zip(weights, gradients, strict=True):
                weight.grad = gradient.clone()
            optimizer.step()
    for mine, other, first in zip(ours, theirs, start, strict=True):
        moved = (other - first).norm()
        assert (mine - other).norm() < 0.1 * moved


def test_a_stack_of_matrices_moves_as_its_matrices_alone():
    torch.manual_seed(0)
    stack = torch.randn(2, 50, 4, 6)  # more than are taken at a time
    together, alone = torch.nn.Parameter(stack.clone()), [*map(torch.nn.Parameter, stack[1])]
    optimizers = Muon([together], lr=0.1), Muon(alone, lr=0.1)
    together.grad = torch.randn_like(stack)
    for matrix, gradient in zip(alone, together.grad[1], strict=True):
        matrix.grad = gradient
    for optimizer in optimizers:
        optimizer.step()
    torch.testing.assert_close(together[1], torch.stack(alone))


def test_vectors_are_refused():
    with pytest.raises(ValueError, match="two axes"):
        Muon([torch.nn.Parameter(torch.zeros(3))], lr=0.1)
