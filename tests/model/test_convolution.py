"""Our depthwise convolution against PyTorch's own, values and derivatives."""

import pytest
import torch
from torch import nn
from torch.nn.functional import pad

from supra.basis import CosineBasis, FourierBasis
from supra.domain import Grid
from supra.model import LocalConvolution
from supra.model.convolution import convolved

F64 = torch.float64


def by_pytorch(values, kernel, periodic):
    (step, _), grid = kernel.dilation, values.permute(0, 3, 1, 2)
    rows, columns = ("circular" if each else "replicate" for each in periodic)
    grid = pad(pad(grid, (0, 0, step, step), mode=rows), (step, step, 0, 0), mode=columns)
    return kernel(grid).permute(0, 2, 3, 1)


@pytest.mark.parametrize("step", [1, 2, 4])
@pytest.mark.parametrize("periodic", [(False, False), (True, True), (True, False), (False, True)])
def test_it_is_pytorchs_with_its_derivatives(step, periodic):
    kernel = nn.Conv2d(5, 5, 3, dilation=step, groups=5).double()
    values = torch.randn(2, 9, 11, 5, dtype=F64, requires_grad=True)
    found, expected = (each(values, kernel, periodic) for each in (convolved, by_pytorch))
    torch.testing.assert_close(found, expected)
    weights, direction = [values, kernel.weight, kernel.bias], torch.randn_like(expected)
    ours, theirs = (torch.autograd.grad(y, weights, direction) for y in (found, expected))
    torch.testing.assert_close(ours, theirs)
    with torch.no_grad():
        torch.testing.assert_close(convolved(values, kernel, periodic), expected)


@pytest.mark.parametrize("periodic", [False, True])
def test_the_branch_closes_where_the_grid_does(periodic):
    grid = Grid((6, 8), periodic=periodic)
    family = FourierBasis((2, 2), constant=True) if periodic else CosineBasis((4, 4))
    basis = family.sample(grid, dtype=F64)
    branch = LocalConvolution(3, step=2).double()
    fields = torch.randn(2, 48, 3, dtype=F64)
    expected = by_pytorch(fields.unflatten(1, (6, 8)), branch.kernel, (periodic, periodic))
    torch.testing.assert_close(branch(fields, basis), expected.flatten(1, 2))


def test_a_step_larger_than_the_grid_is_refused():
    basis = FourierBasis((1, 1)).sample(Grid((3, 3), periodic=True), dtype=F64)
    with pytest.raises(ValueError, match="3 × 3 points"):
        LocalConvolution(2, step=4).double()(torch.zeros(1, 9, 2, dtype=F64), basis)
