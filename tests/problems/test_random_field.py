"""Gaussian random fields: their covariance in theory and in samples, on boxes, meshes, a sphere."""

from itertools import product

import numpy as np
import pytest
import torch
from scipy import linalg

from supra.basis import (
    ChebyshevBasis,
    CosineBasis,
    FourierBasis,
    LaplacianBasis,
    SphericalHarmonicBasis,
)
from supra.basis.fem import stiffness_matrix
from supra.domain import Grid, Mesh, PointSet, SphereGrid, shapes
from supra.problems.errors import ProblemError
from supra.problems.random_field import RandomField

TAU, ALPHA, SCALE = 3.0, 2.0, 1.7
WAVES = 6


def plane_wave_covariance(offsets, waves, period, constant):
    """The kernel of σ²(−Δ + τ²)^−α between points with these offsets on a periodic plane."""
    total = np.zeros(offsets.shape[:-1])
    for k in product(range(-waves, waves + 1), repeat=2):
        if constant or any(k):
            wave = 2 * np.pi / period * np.array(k)
            total += (wave @ wave + TAU**2) ** -ALPHA * np.cos(offsets @ wave)
    return SCALE**2 * total / period**2


def periodic_case(constant):
    grid = Grid((5, 4), periodic=True)
    offsets = grid.points[:, None] - grid.points
    field = RandomField(
        FourierBasis((WAVES, WAVES), constant=True), TAU, ALPHA, SCALE, constant=constant
    )
    return field, grid, plane_wave_covariance(offsets, WAVES, 1, constant)


def neumann_case(constant):
    """A free boundary is a mirror: the kernel of period 2, summed over the images of one point."""
    grid = Grid((5, 4))
    total = 0.0
    for mirror in product((1, -1), repeat=2):
        offsets = grid.points[:, None] - grid.points * mirror
        total = total + plane_wave_covariance(offsets, WAVES - 1, 2, constant)
    field = RandomField(CosineBasis((WAVES, WAVES)), TAU, ALPHA, SCALE, constant=constant)
    return field, grid, total


def mesh_case(constant):
    """With all modes, α = 2 and A = K + τ²M: σ² A⁻¹ M A⁻¹, then without the mean."""
    mesh = disk_of_radius_two()
    measures = mesh.node_measures
    inverse = linalg.inv(stiffness_matrix(mesh).toarray() + TAU**2 * np.diag(measures))
    covariance = SCALE**2 * inverse @ np.diag(measures) @ inverse
    if not constant:
        centre = np.eye(len(measures)) - measures / measures.sum()
        covariance = centre @ covariance @ centre.T
    basis = LaplacianBasis.from_mesh(mesh, modes=len(measures), cache=False)
    return RandomField(basis, TAU, ALPHA, SCALE, constant=constant), mesh, covariance


def disk_of_radius_two():
    disk = shapes.disk(3)
    return disk.with_points(2 * disk.points)


def functions(field, domain):
    """Each mode times its deviation, (modes, points): the field is their random combination."""
    return field.values(np.diag(field.deviations), domain)


CASES = pytest.mark.parametrize("case", [periodic_case, neumann_case, mesh_case])
CONSTANT = pytest.mark.parametrize("constant", [False, True])


@CASES
@CONSTANT
def test_covariance_is_the_power_of_the_operator(case, constant):
    field, domain, covariance = case(constant)
    modes = functions(field, domain)
    np.testing.assert_allclose(modes.T @ modes, covariance, atol=1e-12 * covariance.max())


def deviations_from(covariance, values):
    """Errors of the empirical covariance in units of their own standard deviation.

    For Gaussian samples of mean 0 it has the variance (C_ii C_jj + C_ij²) / N.
    """
    empirical = values.T @ values / len(values)
    diagonal = np.diag(covariance)
    spread = np.sqrt((np.outer(diagonal, diagonal) + covariance**2) / len(values))
    return np.abs(empirical - covariance) / spread


@CASES
def test_empirical_covariance_of_2000_samples_is_the_theory_and_no_other(case):
    """Five standard deviations: under 1,000 entries, one of them fails in about 2,000 seeds."""
    field, domain, covariance = case(constant=False)
    rng = np.random.default_rng(0)
    values = field.values(np.stack([field.coefficients(rng) for _ in range(2000)]), domain)
    assert deviations_from(covariance, values).max() < 5
    assert deviations_from(1.25 * covariance, values).max() > 5
    assert np.abs(values.mean(axis=0) / np.sqrt(np.diag(covariance) / 2000)).max() < 5


@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize("coarse", [9, 33])  # fewer points than modes, and more
def test_one_field_at_two_resolutions_agrees_at_common_points(periodic, coarse):
    basis = FourierBasis((12, 10), constant=True) if periodic else CosineBasis((25, 21))
    field = RandomField(basis, tau=7, alpha=2.5)
    finer = 2 * coarse if periodic else 2 * coarse - 1
    few, many = (
        field.sample(np.random.default_rng(1), Grid((n, n), periodic=periodic)).reshape(n, n)
        for n in (coarse, finer)
    )
    np.testing.assert_allclose(many[::2, ::2], few, atol=1e-13 * np.abs(many).max())


def test_a_field_on_a_mesh_agrees_with_itself_on_the_refined_mesh():
    mesh = disk_of_radius_two()
    field = RandomField(LaplacianBasis.from_mesh(mesh, modes=20, cache=False), tau=1, alpha=2)
    coefficients = field.coefficients(np.random.default_rng(2))
    own, refined = field.values(coefficients), field.values(coefficients, mesh.refined())
    np.testing.assert_allclose(refined[: len(own)], own, atol=1e-12)


def test_deviations_on_boxes_are_the_matern_spectrum():
    k = np.arange(8)
    squares = np.add.outer(k**2, k[:6] ** 2).ravel()
    field = RandomField(CosineBasis((8, 6)), tau=3, alpha=2, constant=True)
    np.testing.assert_allclose(field.deviations, 1 / (np.pi**2 * squares + 9), rtol=1e-14)
    signed = np.array([0, 1, 1, 2, 2])
    squares = np.add.outer(signed**2, signed**2).ravel()
    field = RandomField(FourierBasis((2, 2), constant=True), tau=7, alpha=2.5, scale=7**0.75)
    expected = 7**0.75 * (4 * np.pi**2 * squares + 49) ** -1.25
    np.testing.assert_allclose(field.deviations[1:], expected[1:], rtol=1e-14)
    assert field.deviations[0] == 0


def test_projecting_a_sample_gives_its_coefficients_back():
    field, grid = RandomField(CosineBasis((9, 7)), tau=2, alpha=1.5), Grid((20, 20))
    coefficients = field.coefficients(np.random.default_rng(3))
    values = torch.from_numpy(field.values(coefficients, grid))[None, :, None]
    found = field.basis.sample(grid, dtype=torch.float64).coefficients(values)[0, 0]
    np.testing.assert_allclose(found.numpy(), coefficients, atol=1e-13)


def test_coefficients_over_their_deviations_are_standard_normal():
    field = RandomField(CosineBasis((60, 60)), tau=3, alpha=2)
    assert field.coefficients(np.random.default_rng(4))[0] == 0
    normal = field.coefficients(np.random.default_rng(4))[1:] / field.deviations[1:]
    # the mean of n squares has the variance 2 / n, that of n fourth powers 96 / n
    assert abs((normal**2).mean() - 1) < 5 * np.sqrt(2 / len(normal))
    assert abs((normal**4).mean() - 3) < 5 * np.sqrt(96 / len(normal))


def test_variance_on_a_circle_is_the_closed_form():
    r"""Differentiate Σ 1 / (4π²k² + τ²) = coth(τ/2) / 2τ by τ² for α = 2."""
    field = RandomField(FourierBasis(2000, constant=True), TAU, ALPHA, SCALE, constant=True)
    half = TAU / 2
    series = 1 / np.tanh(half) / (4 * TAU**3) + 1 / (8 * TAU**2 * np.sinh(half) ** 2)
    assert field.variance == pytest.approx(SCALE**2 * series, rel=1e-9)


def test_variance_is_the_mean_over_the_domain():
    for case in (periodic_case, neumann_case, mesh_case):
        field, _, _ = case(constant=False)
        domain = Grid((20, 20), periodic=case is periodic_case)
        domain = field.basis.domain if case is mesh_case else domain
        pointwise = (functions(field, domain) ** 2).sum(axis=0)
        assert domain.weights @ pointwise == pytest.approx(field.variance, rel=1e-12)


def test_variance_on_the_sphere_is_the_same_everywhere():
    """The addition theorem: Σ_m |Y_lm|² = (2l + 1) / 4π."""
    field = RandomField(SphericalHarmonicBasis(degree=4), tau=2, alpha=2)
    degrees = np.arange(1, 5)
    expected = ((2 * degrees + 1) / (degrees * (degrees + 1) + 4) ** 2).sum() / (4 * np.pi)
    pointwise = (functions(field, SphereGrid(8, 16)) ** 2).sum(axis=0)
    np.testing.assert_allclose(pointwise, expected, rtol=1e-12)


def test_modes_of_a_larger_square_have_the_spectrum_of_its_own_size():
    """Side 2: eigenvalues π²(k² + l²) / 4, and eigenfunctions of unit integral are half as high."""
    square = shapes.square(32)
    basis = LaplacianBasis.from_mesh(square.with_points(2 * square.points), modes=4, cache=False)
    field = RandomField(basis, tau=1, alpha=2)
    expected = 1 / (np.pi**2 / 4 * np.array([1, 1, 2]) + 1) / 2
    np.testing.assert_allclose(field.deviations[1:], expected, rtol=5e-3)


@CONSTANT
def test_samples_have_mean_zero_unless_the_constant_takes_part(constant):
    field = RandomField(CosineBasis((8, 8)), TAU, ALPHA, SCALE, constant=constant)
    grid = Grid((17, 17))
    mean = grid.weights @ field.sample(np.random.default_rng(5), grid)
    expected = SCALE * TAU**-ALPHA * np.random.default_rng(5).standard_normal() if constant else 0
    assert mean == pytest.approx(expected, abs=1e-14)


def test_dirichlet_fields_vanish_on_the_boundary_and_have_no_constant_to_drop():
    field = RandomField(CosineBasis((5, 5), boundary="dirichlet"), tau=0, alpha=2)
    assert (field.deviations > 0).all()
    values = field.sample(np.random.default_rng(6), Grid((9, 9))).reshape(9, 9)
    assert np.abs(values[[0, -1]]).max() < 1e-15


def test_a_point_cloud_needs_its_measure():
    points = np.random.default_rng(0).random((30, 2))
    basis = LaplacianBasis.from_mesh(shapes.square(4), modes=3, cache=False)
    cloud = LaplacianBasis(
        PointSet(points), np.ones((30, 3)), basis.eigenvalues, basis.residuals, "test"
    )
    with pytest.raises(ProblemError, match="give `measure`"):
        RandomField(cloud, tau=1, alpha=2)
    field = RandomField(cloud, tau=1, alpha=2, measure=4.0)
    whole = RandomField(cloud, tau=1, alpha=2, measure=1.0)
    np.testing.assert_allclose(field.deviations, whole.deviations / 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tau": -1.0}, r"tau >= 0.*got tau=-1.0"),
        ({"alpha": 0.0}, "alpha > 0"),
        ({"alpha": np.inf}, "finite"),
        ({"scale": np.nan}, "scale=nan"),
        ({"measure": 0.0}, "`measure` is .* positive: got 0.0"),
        ({"tau": 0.0, "constant": True}, "Take tau > 0 or constant=False"),
        ({"basis": ChebyshevBasis((4, 4))}, "has no eigenvalues"),
        ({"basis": FourierBasis((4, 4))}, "Use constant=True in the basis"),
    ],
)
def test_options_no_field_has_are_refused(options, message):
    with pytest.raises(ProblemError, match=message):
        RandomField(**{"basis": CosineBasis((4, 4)), "tau": 1.0, "alpha": 2.0} | options)


def test_wrong_coefficients_and_a_missing_domain_are_refused():
    field = RandomField(CosineBasis((4, 4)), tau=1, alpha=2)
    with pytest.raises(ProblemError, match=r"one coefficient per mode .* 16: got shape \(15,\)"):
        field.values(np.zeros(15), Grid((5, 5)))
    with pytest.raises(ProblemError, match="give `domain`"):
        field.sample(np.random.default_rng(0))


def test_two_parts_of_a_mesh_have_each_a_constant_to_drop():
    square = shapes.square(3)
    cells = np.concatenate([square.cells, square.cells + len(square.points)])
    two = Mesh(np.concatenate([square.points, square.points + np.array([2, 0])]), cells)
    with pytest.warns(UserWarning, match="2 connected components"):
        basis = LaplacianBasis.from_mesh(two, modes=6, cache=False)
    field = RandomField(basis, tau=1, alpha=2)
    assert (field.deviations == 0).sum() == 2
