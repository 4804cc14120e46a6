"""Products of functions as a nonlinearity."""

import torch
from torch.autograd import gradcheck
from torch.nn.functional import gelu

from supra.basis import CosineBasis
from supra.domain import Grid
from supra.model.gate import gated
from supra.model.light import LightBlock
from supra.model.mixing import ModeMixing


def test_half_of_it_is_products():
    first, second = torch.randn(2, 3, 7, 4, dtype=torch.float64)
    found = gated(torch.cat([first, second], dim=-1))
    expected = torch.cat([gelu(first), first * second.tanh()], dim=-1)
    torch.testing.assert_close(found, expected)


def test_it_is_the_same_with_and_without_derivatives_of_ours():
    fields = torch.randn(2, 5, 6, dtype=torch.float64)
    with torch.no_grad():
        torch.testing.assert_close(gated(fields), gated(fields.clone().requires_grad_()))


def test_derivatives():
    assert gradcheck(gated, torch.randn(2, 3, 6, dtype=torch.float64, requires_grad=True))


def test_without_products_a_light_block_has_gelu_alone():
    torch.manual_seed(0)
    block = LightBlock(3, None, mixing=ModeMixing(3, 4), products=False).double()
    basis = CosineBasis((4,)).sample(Grid((9,)), dtype=torch.float64)
    fields = torch.randn(2, 9, 3, dtype=torch.float64)
    values = gelu(fields)
    mixed = basis.fields(block.mixing(basis.coefficients(values), basis))
    torch.testing.assert_close(block(fields, basis), fields + block.skip(values) + mixed)
