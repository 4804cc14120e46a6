"""Projection to coordinates and back: dense, separable, and one basis per sample."""

import numpy as np
import pytest
import torch
from jaxtyping import TypeCheckError

from supra.basis import (
    BasisError,
    ChebyshevBasis,
    CosineBasis,
    FourierBasis,
    LaplacianBasis,
    SampledBasis,
    SeparableBasis,
)
from supra.domain import Grid, Mesh, shapes

F64 = torch.float64


def random(*shape: int) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(0).standard_normal(shape))


def dense_basis(resolution: int = 4) -> SampledBasis:
    return LaplacianBasis.from_mesh(shapes.square(resolution), 6).sample(dtype=F64)


def separable_basis() -> SeparableBasis:
    return CosineBasis((3, 2)).sample(Grid((5, 4)), dtype=F64)


def stacked_basis() -> SampledBasis:
    return SampledBasis.stack([dense_basis(3), dense_basis(4)])


EVERY_KIND = [dense_basis, separable_basis, stacked_basis]
SEPARABLE = [
    (FourierBasis(3), Grid(9, periodic=True)),
    (FourierBasis((2, 3), constant=True), Grid((7, 9), periodic=True)),
    (CosineBasis((4, 2, 3)), Grid((6, 5, 7))),
    (ChebyshevBasis((3, 4)), Grid((8, 9), nodes="chebyshev")),
    (ChebyshevBasis((2, 3, 2)), Grid((4, 5, 6))),
]


def test_the_tests_check_shape_annotations():
    with pytest.raises(TypeCheckError):
        dense_basis().coefficients(torch.zeros(2, 3, dtype=torch.int64))


@pytest.mark.parametrize(("basis", "grid"), SEPARABLE, ids=repr)
def test_separable_and_dense_transforms_agree(basis, grid):
    separable = basis.sample(grid, dtype=F64)
    dense = separable.dense()
    fields, coordinates = random(2, separable.points, 3), random(2, 3, separable.modes)
    torch.testing.assert_close(
        separable.coefficients(fields), dense.coefficients(fields), atol=1e-12, rtol=0
    )
    torch.testing.assert_close(
        separable.fields(coordinates), dense.fields(coordinates), atol=1e-12, rtol=0
    )
    torch.testing.assert_close(separable.gram(), dense.gram(), atol=1e-12, rtol=0)


def test_separable_modes_are_products_in_c_order():
    grid = Grid((5, 6))
    dense = CosineBasis((2, 3)).sample(grid, dtype=F64).dense()
    x, y = torch.from_numpy(grid.points).T
    expected = 2 * torch.cos(torch.pi * x) * torch.cos(2 * torch.pi * y)
    torch.testing.assert_close(dense.values[:, 1 * 3 + 2], expected, atol=1e-12, rtol=0)


@pytest.mark.parametrize("make", EVERY_KIND)
def test_functions_in_the_span_survive_the_round_trip(make):
    basis = make()
    coordinates = random(2, 3, basis.modes)
    fields = basis.fields(coordinates)
    torch.testing.assert_close(basis.coefficients(fields), coordinates, atol=1e-12, rtol=0)


@pytest.mark.parametrize("make", EVERY_KIND)
def test_mean_square_of_a_field_is_the_sum_of_its_squared_coordinates(make):
    basis = make()
    coordinates = random(2, 3, basis.modes)
    mean_square = (basis.weights[..., None] * basis.fields(coordinates) ** 2).sum(dim=1)
    torch.testing.assert_close(mean_square, (coordinates**2).sum(dim=2), atol=1e-11, rtol=1e-12)


@pytest.mark.parametrize("make", EVERY_KIND)
def test_projection_removes_what_is_outside_of_the_span(make):
    basis = make()
    fields = random(2, basis.points, 1)
    rest = fields - basis.fields(basis.coefficients(fields))
    assert basis.coefficients(rest).abs().max() < 1e-12


@pytest.mark.parametrize("make", EVERY_KIND)
def test_the_coordinates_kept_of_the_constant_are_those_that_projection_gives(make):
    basis = make()
    ones = torch.ones(2, basis.points, 1, dtype=F64)
    found = basis.coefficients(ones)[:, 0]
    torch.testing.assert_close(basis.constant.expand_as(found), found, atol=1e-12, rtol=0)


@pytest.mark.parametrize("make", EVERY_KIND)
def test_gradients_of_the_transforms_are_right(make):
    basis = make()
    fields = random(2, basis.points, 2).requires_grad_()
    coordinates = random(2, 2, basis.modes).requires_grad_()
    assert torch.autograd.gradcheck(basis.coefficients, fields)
    assert torch.autograd.gradcheck(basis.fields, coordinates)


def test_a_padded_batch_equals_batches_of_one():
    single = [dense_basis(3), dense_basis(5), dense_basis(4)]
    stacked = SampledBasis.stack(single)
    fields, coordinates = random(3, stacked.points, 2), random(3, 2, stacked.modes)
    for i, basis in enumerate(single):
        own, mine = fields[i : i + 1, : basis.points], coordinates[i : i + 1]
        torch.testing.assert_close(
            stacked.coefficients(fields)[i : i + 1], basis.coefficients(own), atol=1e-12, rtol=0
        )
        result = stacked.fields(coordinates)[i : i + 1]
        torch.testing.assert_close(
            result[:, : basis.points], basis.fields(mine), atol=1e-12, rtol=0
        )
        assert (result[:, basis.points :] == 0).all()


def test_what_padded_points_hold_is_ignored():
    stacked = stacked_basis()
    fields = random(2, stacked.points, 2)
    other = torch.where(stacked.weights[..., None] == 0, 1e6, fields)
    assert not torch.equal(fields, other)
    assert torch.equal(stacked.coefficients(fields), stacked.coefficients(other))


def test_unwelding_keeps_integrals_and_orthonormality():
    angle = np.linspace(0, 2 * np.pi, 25)
    r, x = np.meshgrid(np.linspace(0.5, 1, 5), angle, indexing="ij")
    cut = Mesh.from_structured(np.stack([r * np.cos(x), r * np.sin(x)], axis=-1))
    glued = cut.welded()
    basis = LaplacianBasis.from_mesh(glued, 10).sample(dtype=F64)
    apart = basis.unwelded(torch.from_numpy(glued.node_map))
    assert apart.points == len(cut.points) > basis.points
    fields = random(1, len(glued.points), 1)
    torch.testing.assert_close(
        apart.coefficients(fields[:, glued.node_map]), basis.coefficients(fields)
    )
    torch.testing.assert_close(apart.weights.sum(), torch.tensor(1.0, dtype=F64))
    torch.testing.assert_close(apart.gram(), torch.eye(10, dtype=F64), atol=1e-9, rtol=0)


@pytest.mark.parametrize("make", EVERY_KIND)
def test_a_copy_in_single_precision_computes_in_it(make):
    basis = make()
    single = basis.to("cpu", torch.float32)
    fields = random(2, basis.points, 1)
    result = single.coefficients(fields.float())
    assert result.dtype == torch.float32
    torch.testing.assert_close(result.double(), basis.coefficients(fields), atol=1e-5, rtol=0)


@pytest.mark.parametrize("make", EVERY_KIND)
def test_a_copy_goes_to_another_device(make):
    basis = make().to("meta")
    assert basis.weights.device.type == "meta"
    assert basis.coefficients(torch.zeros(2, basis.points, 1, dtype=F64, device="meta")).is_meta


@pytest.mark.parametrize("make", EVERY_KIND)
def test_arrays_of_another_size_are_refused_with_both_sizes(make):
    basis = make()
    with pytest.raises(BasisError, match=rf"{basis.points} points .*{basis.points + 1}"):
        basis.coefficients(torch.zeros(2, basis.points + 1, 1, dtype=F64))
    with pytest.raises(BasisError, match=rf"{basis.modes} modes .*{basis.modes + 1}"):
        basis.fields(torch.zeros(2, 1, basis.modes + 1, dtype=F64))


@pytest.mark.usefixtures("unchecked")
def test_arrays_without_a_batch_are_refused():
    with pytest.raises(BasisError, match="batch, points, channels"):
        dense_basis().coefficients(torch.zeros(25, 1, dtype=F64))


@pytest.mark.usefixtures("unchecked")
def test_a_basis_needs_one_weight_per_point():
    with pytest.raises(BasisError, match="one weight per point"):
        SampledBasis(torch.zeros(4, 2), torch.zeros(5))


def test_bases_with_different_numbers_of_modes_are_not_stacked():
    few = LaplacianBasis.from_mesh(shapes.square(3), 4).sample(dtype=F64)
    with pytest.raises(BasisError, match=r"\[4, 6\] modes"):
        SampledBasis.stack([few, dense_basis()])
    with pytest.raises(BasisError, match="one per sample"):
        SampledBasis.stack([stacked_basis()])


def test_a_separable_basis_has_one_to_three_axes():
    axis = FourierBasis(1).sample(Grid(4, periodic=True)).axes[0]
    with pytest.raises(BasisError, match="got 4"):
        SeparableBasis((axis,) * 4)


@pytest.mark.usefixtures("unchecked")
def test_a_batch_or_a_precision_that_does_not_fit_is_named():
    basis = LaplacianBasis.from_mesh(shapes.square(3), 4).sample()
    with pytest.raises(BasisError, match=r"torch.float64 and torch.float32.*basis\.to"):
        basis.coefficients(torch.zeros(1, basis.points, 1, dtype=F64))
    with pytest.raises(BasisError, match="3 samples and bases for 2"):
        SampledBasis.stack([basis, basis]).coefficients(torch.zeros(3, basis.points, 1))
    with pytest.raises(BasisError, match="precision"):
        SampledBasis.stack([basis, basis.to(F64)])
    with pytest.raises(BasisError, match="removed nodes"):
        basis.unwelded(torch.tensor([0, -1]))


def test_adding_onto_fields_is_adding():
    separable = CosineBasis((3, 2)).sample(Grid((5, 4)), dtype=F64)
    coefficients, onto = torch.randn(2, 3, 6, dtype=F64), torch.randn(2, 20, 3, dtype=F64)
    for basis in (separable, separable.dense()):
        expected = onto + basis.fields(coefficients)
        torch.testing.assert_close(basis.fields(coefficients, onto), expected)


def test_the_grid_of_the_points_is_kept():
    sampled = CosineBasis((2, 3)).sample(Grid((5, 4)))
    dense = sampled.dense()
    assert dense.shape == sampled.shape == (5, 4)
    assert dense.to(torch.float16).shape == (5, 4)
    assert SampledBasis.stack([dense, dense]).shape == (5, 4)
    other = SampledBasis(dense.values, dense.weights, (4, 5))
    assert SampledBasis.stack([dense, other]).shape is None
    with pytest.raises(BasisError, match=r"shape \(3, 5\) does not have 20 points"):
        SampledBasis(dense.values, dense.weights, (3, 5))
