import pytest
import torch

from supra import Grid, LaplacianBasis
from supra.basis import CosineBasis
from supra.domain import shapes
from supra.model.norm import InstanceNorm, make_norm

F64 = torch.float64


def test_instance_norm_makes_mean_zero_and_mean_square_one_in_the_quadrature():
    basis = LaplacianBasis.from_mesh(shapes.disk(6), 4).sample(dtype=F64)
    fields = torch.randn(2, basis.points, 3, dtype=F64) * 5 + 7
    normed = InstanceNorm(3, epsilon=0.0).double()(fields, basis)
    mean = torch.einsum("p,bpc->bc", basis.weights, normed)
    square = torch.einsum("p,bpc->bc", basis.weights, normed**2)
    torch.testing.assert_close(mean, torch.zeros_like(mean), atol=1e-12, rtol=0)
    torch.testing.assert_close(square, torch.ones_like(square))


def test_instance_norm_equals_torchs_where_all_weights_are_equal():
    basis = CosineBasis(2).sample(Grid(16, periodic=True), dtype=F64, defect="keep")
    fields = torch.randn(3, 16, 5, dtype=F64)
    theirs = torch.nn.InstanceNorm1d(5, dtype=F64)(fields.mT).mT
    torch.testing.assert_close(InstanceNorm(5).double()(fields, basis), theirs)


@pytest.mark.usefixtures("unchecked")
def test_an_unknown_norm_is_named():
    with pytest.raises(ValueError, match="'batch'"):
        make_norm("batch", 3)
