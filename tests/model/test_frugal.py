"""Derivatives against finite differences; values against PyTorch's own layers."""

import pytest
import torch
from torch.autograd import gradcheck
from torch.nn.functional import gelu, layer_norm

from supra import Grid, LaplacianBasis
from supra.basis import CosineBasis, SampledBasis
from supra.domain import shapes
from supra.model.attention import SubspaceAttention
from supra.model.block import SupraBlock
from supra.model.frugal import linear, plus_activated, standardised
from supra.model.norm import make_norm
from supra.model.product import product

F64 = torch.float64


def tensor(*shape: int, dtype: torch.dtype = F64) -> torch.Tensor:
    return torch.randn(shape, dtype=dtype, requires_grad=True)


def test_derivatives_are_those_of_finite_differences():
    fields, weight, bias, onto = tensor(2, 5, 4), tensor(3, 4), tensor(3), tensor(2, 5, 3)
    assert gradcheck(lambda x: standardised(x, 1e-5), fields)
    assert gradcheck(linear, (fields, weight, bias, onto))
    assert gradcheck(linear, (fields, weight))
    assert gradcheck(plus_activated, (onto, fields, weight))


def test_a_value_used_once_or_twice_has_the_gradient_of_both_uses():
    fields = tensor(2, 5, 4)
    _, first, second = standardised(fields, 1e-5)
    passed, only, _ = standardised(fields, 1e-5)
    normed = layer_norm(fields, (4,))
    twice, once = (first**2 + second**3).sum(), (passed + only**2).sum()
    for ours, theirs in (
        (twice, (normed**2 + normed**3).sum()),
        (once, (fields + normed**2).sum()),
    ):
        (got,), (expected,) = (
            torch.autograd.grad(x, fields, retain_graph=True) for x in (ours, theirs)
        )
        torch.testing.assert_close(got, expected)


@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("with_onto", [False, True])
@pytest.mark.parametrize("transposed", [False, True])
def test_single_precision_products_are_those_of_double(with_bias, with_onto, transposed):
    fields, weight = torch.randn(2, 7, 4), torch.randn(4, 3).mT if transposed else torch.randn(3, 4)
    bias = torch.randn(3) if with_bias else None
    onto = torch.randn(2, 7, 3) if with_onto else None
    exact = product(*(None if x is None else x.double() for x in (fields, weight, bias, onto)))
    expected = torch.nn.functional.linear(fields.double(), weight.double())
    expected = expected + (0 if bias is None else bias) + (0 if onto is None else onto)
    torch.testing.assert_close(exact, expected)
    for steady in (False, True):
        found = product(fields, weight, bias, onto, steady=steady)
        torch.testing.assert_close(found, expected.float())


@pytest.mark.parametrize("norm", ["layer", "instance", "none"])
@pytest.mark.parametrize("kind", ["grid", "mesh", "per sample"])
def test_a_block_is_its_formula(norm, kind):
    """``x + skip(scale · s) + attention(norm(x))``, then ``x + mlp(norm(x))``."""
    if kind == "grid":
        basis = CosineBasis((2, 2)).sample(Grid((6, 5)), dtype=F64)
    else:
        basis = LaplacianBasis.from_mesh(shapes.disk(3), 4).sample(dtype=F64)
    if kind == "per sample":
        basis = SampledBasis.stack([basis, basis])
    attention = SubspaceAttention(4, heads=2, gain=2.0)
    block = SupraBlock(6, attention, norm=norm).double()
    with torch.no_grad():
        for weight in block.parameters():
            weight.normal_()
    x = tensor(2, basis.points, 6)
    got = block(x, basis)
    normed = block.attention_norm(x, basis)
    unshifted = normed if norm == "none" else normed - block.attention_norm.bias
    y = x + block.skip(unshifted) + basis.fields(block.attention(basis.coefficients(normed)))
    expected = y + block.mlp_out(gelu(block.mlp_in(block.mlp_norm(y, basis))))
    torch.testing.assert_close(got, expected)
    weights = [x, *block.parameters()]
    torch.testing.assert_close(
        torch.autograd.grad(got.square().sum(), weights),
        torch.autograd.grad(expected.square().sum(), weights),
    )
    with torch.no_grad():
        torch.testing.assert_close(block(x, basis), expected)


def test_layer_norm_equals_pytorchs():
    basis = CosineBasis(2).sample(Grid(16), dtype=F64)
    fields, norm = torch.randn(3, 16, 5, dtype=F64), make_norm("layer", 5).double()
    with torch.no_grad():
        norm.weight.normal_()
        norm.bias.normal_()
    theirs = layer_norm(fields, (5,), norm.weight, norm.bias, norm.epsilon)
    torch.testing.assert_close(norm(fields, basis), theirs)
