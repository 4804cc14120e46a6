"""Fourier, cosine and Chebyshev bases on grids, and on points of any kind."""

import numpy as np
import pytest
import torch
from scipy import special

from supra.basis import BasisError, BasisWarning, ChebyshevBasis, CosineBasis, FourierBasis
from supra.domain import Grid, PointSet, shapes

F64 = torch.float64


def coordinates(basis, grid, function) -> np.ndarray:
    """Coordinates of a function of the grid's own coordinates."""
    values = torch.from_numpy(function(grid.coordinates))[None, :, None]
    return basis.sample(grid, dtype=F64).coefficients(values)[0, 0].numpy()


@pytest.mark.parametrize("points", [33, 64, 257])
def test_coefficients_do_not_depend_on_the_resolution(points):
    """exp(sin θ) = Σ Iₖ(1) cos k(θ − π/2), with the modified Bessel functions I."""
    grid = Grid(points, periodic=True)
    found = coordinates(FourierBasis(6), grid, lambda x: np.exp(np.sin(2 * np.pi * x[:, 0])))
    k = np.arange(1, 7)
    phases = np.stack([np.cos(k * np.pi / 2), np.sin(k * np.pi / 2)], axis=1)
    exact = np.sqrt(2) * special.iv(k, 1)[:, None] * phases
    np.testing.assert_allclose(found, exact.ravel(), atol=1e-12)


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_fourier_basis_counts_its_functions(axes, constant):
    basis = FourierBasis((3,) * axes, constant=constant)
    assert basis.modes == (6 + constant) ** axes
    sampled = basis.sample(Grid((8,) * axes, periodic=True))
    assert sampled.modes == basis.modes == len(basis.eigenvalues)


def test_constant_makes_the_fourier_basis_complete():
    grid = Grid((7, 7), periodic=True)

    def function(x):
        return 3 + np.cos(2 * np.pi * x[:, 0])

    basis = FourierBasis((3, 3), constant=True).sample(grid, dtype=F64)
    values = torch.from_numpy(function(grid.points))[None, :, None]
    torch.testing.assert_close(basis.fields(basis.coefficients(values)), values)
    assert np.abs(coordinates(FourierBasis((3, 3)), grid, function)).max() < 1e-12


@pytest.mark.parametrize("boundary", ["neumann", "dirichlet"])
@pytest.mark.parametrize("axis_count", [1, 2])
def test_cosine_functions_are_eigenfunctions_of_second_differences(boundary, axis_count):
    """−Δ by differences has the eigenvalues (2 sin(πkh/2) / h)², which tend to (πk)² from below."""
    basis = CosineBasis((4,) * axis_count, boundary=boundary)
    errors = []
    for cells in (32, 64, 128):
        grid = Grid((cells + 1,) * axis_count)
        values = basis.sample(grid, dtype=F64).dense().values.numpy()
        values = values.reshape(*grid.shape, basis.modes)
        inner = (slice(1, -1),) * axis_count
        laplacian = sum(
            2 * values - np.roll(values, 1, axis) - np.roll(values, -1, axis)
            for axis in range(axis_count)
        )[inner] * (cells**2)
        errors.append(np.abs(laplacian - basis.eigenvalues * values[inner]).max())
    np.testing.assert_allclose(np.log2(np.array(errors[:-1]) / errors[1:]), 2, atol=0.05)


def test_dirichlet_functions_vanish_on_the_boundary():
    values = CosineBasis(5, boundary="dirichlet").sample(Grid(20), dtype=F64).dense().values
    assert values[[0, -1]].abs().max() < 1e-12


def test_chebyshev_functions_are_legendre_polynomials_where_the_quadrature_is_exact():
    grid = Grid(40, nodes="chebyshev")
    values = ChebyshevBasis(10).sample(grid, dtype=F64).dense().values.numpy()
    x = grid.axes[0]
    for degree in range(10):
        exact = np.sqrt(2 * degree + 1) * special.eval_legendre(degree, 2 * x - 1)
        np.testing.assert_allclose(values[:, degree], exact, atol=1e-11)


def test_twenty_chebyshev_modes_on_400_points_are_well_conditioned():
    sampled = ChebyshevBasis((20, 20)).sample(Grid((400, 21), nodes="uniform"), dtype=F64)
    axis = sampled.axes[0]
    root = torch.sqrt(axis.weights)[:, None]
    assert torch.linalg.cond(root * axis.values) < 1 + 1e-12
    polynomial = torch.linspace(0, 1, 400, dtype=F64)[None, :, None] ** 19
    torch.testing.assert_close(axis.fields(axis.coefficients(polynomial)), polynomial)


def test_polynomials_on_scattered_points_reproduce_polynomials():
    points = np.random.default_rng(0).uniform(size=(200, 2)) * [3, 1] + [1, 5]
    sampled = ChebyshevBasis((3, 3)).sample(points, dtype=F64)
    u = torch.from_numpy(points[:, 0] ** 2 * points[:, 1] - points[:, 1] ** 2)[None, :, None]
    torch.testing.assert_close(sampled.fields(sampled.coefficients(u)), u)
    torch.testing.assert_close(sampled.gram(), torch.eye(9, dtype=F64), atol=1e-9, rtol=0)


def test_a_mapped_grid_uses_the_coordinates_of_the_box():
    grid = Grid((6, 7))
    moved = Grid((6, 7), points=np.exp(grid.coordinates).reshape(6, 7, 2))
    plain, mapped = (CosineBasis((3, 3)).sample(g, dtype=F64).dense() for g in (grid, moved))
    assert torch.equal(plain.values, mapped.values)


def test_too_few_points_for_all_waves_is_an_error_that_counts_them():
    with pytest.raises(BasisError, match=r"16 functions, but only 15 are independent .* 16 points"):
        FourierBasis(8).sample(Grid(16, periodic=True))


def test_more_functions_than_points_is_an_error():
    with pytest.raises(BasisError, match="20 functions, but only 12"):
        ChebyshevBasis(20).sample(Grid(12))


SKEWED = (FourierBasis(4), Grid(14, nodes="chebyshev"))  # independent, but not orthonormal


def test_a_defect_is_repaired_with_a_warning_by_default():
    basis, grid = SKEWED
    with pytest.warns(BasisWarning, match="not orthonormal"):
        repaired = basis.sample(grid, dtype=F64)
    torch.testing.assert_close(repaired.gram(), torch.eye(8, dtype=F64), atol=1e-12, rtol=0)


def test_a_defect_is_refused_on_request():
    basis, grid = SKEWED
    with pytest.raises(BasisError, match="not orthonormal"):
        basis.sample(grid, defect="refuse")


def test_a_defect_is_kept_on_request():
    basis, grid = SKEWED
    kept = basis.sample(grid, defect="keep", dtype=F64)
    x = torch.from_numpy(grid.axes[0])
    expected = 2**0.5 * torch.cos(2 * torch.pi * 3 * x)
    torch.testing.assert_close(kept.dense().values[:, 4], expected)
    assert (kept.gram() - torch.eye(8, dtype=F64)).abs().max() > 1e-3


def test_fourier_on_scattered_points_is_repaired():
    points = np.random.default_rng(1).uniform(size=(500, 2))
    with pytest.warns(BasisWarning, match="500 points"):
        sampled = FourierBasis((2, 2)).sample(PointSet(points), dtype=F64)
    torch.testing.assert_close(sampled.gram(), torch.eye(16, dtype=F64), atol=1e-12, rtol=0)


@pytest.mark.parametrize("kind", [FourierBasis, CosineBasis, ChebyshevBasis])
def test_a_domain_of_another_dimension_is_refused(kind):
    with pytest.raises(BasisError, match="2 axes"):
        kind((2, 2)).sample(Grid(20))
    with pytest.raises(BasisError, match="3-D"):
        kind((2, 2)).sample(shapes.sphere(2))


@pytest.mark.parametrize("counts", [0, (3, -1), (2, 2, 2, 2), ()])
def test_counts_must_be_one_to_three_positive_numbers(counts):
    with pytest.raises(BasisError, match="1 to 3 positive counts"):
        CosineBasis(counts)


@pytest.mark.usefixtures("unchecked")
def test_an_unknown_boundary_or_treatment_is_refused_by_name():
    with pytest.raises(BasisError, match="'robin'"):
        CosineBasis(3, boundary="robin")
    with pytest.raises(BasisError, match="'ignore'"):
        CosineBasis(3).sample(Grid(20), defect="ignore")


def test_chebyshev_functions_have_no_eigenvalues():
    with pytest.raises(NotImplementedError, match="ChebyshevBasis"):
        _ = ChebyshevBasis(3).eigenvalues


def test_waves_longer_than_the_domain_are_taken_as_they_are():
    """Coordinates of 1 are ∫ √2 cos(2πkx/p) dx and ∫ √2 sin(2πkx/p) dx over the domain."""
    basis, grid = FourierBasis(3, constant=True, period=1.2), Grid(4001)
    found = coordinates(basis, grid, lambda x: np.ones(len(x)))
    a = 2 * np.pi * np.arange(1, 4) / 1.2
    exact = np.sqrt(2) * np.stack([np.sin(a) / a, (1 - np.cos(a)) / a], axis=1).ravel()
    np.testing.assert_allclose(found, [1, *exact], atol=1e-6)
    np.testing.assert_allclose(basis.eigenvalues, [0, *np.repeat(a**2, 2)])
    assert "period=1.2" in repr(basis)


@pytest.mark.parametrize("period", [0.9, 0, -1, np.inf, np.nan])
def test_a_period_shorter_than_the_domain_is_refused(period):
    with pytest.raises(BasisError, match="`period` is relative to the domain"):
        FourierBasis(3, period=period)
