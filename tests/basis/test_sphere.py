"""Spherical harmonics."""

import numpy as np
import pytest
import torch

from supra.basis import BasisError, BasisWarning, LaplacianBasis, SphericalHarmonicBasis
from supra.domain import SphereGrid, shapes

from .oracles import groups, observed_orders, span_angle, sphere_spectrum


def values_on(domain, degree: int, **options) -> np.ndarray:
    return (
        SphericalHarmonicBasis(degree).sample(domain, dtype=torch.float64, **options).values.numpy()
    )


def test_harmonics_of_degree_one_are_the_coordinates():
    grid = SphereGrid(4)
    x, y, z = np.sqrt(3) * grid.points.T
    found = values_on(grid, 1)[:, 1:]
    np.testing.assert_allclose(np.abs(found), np.abs(np.stack([y, z, x], axis=1)), atol=1e-13)


def test_harmonics_satisfy_the_addition_theorem():
    """Σₘ Yₗₘ(x)² = 2l + 1 at every point, where the mean square of each is 1."""
    values = values_on(SphereGrid(9), 8)
    for degree in range(9):
        of_degree = values[:, degree**2 : (degree + 1) ** 2]
        np.testing.assert_allclose((of_degree**2).sum(axis=1), 2 * degree + 1, rtol=1e-11)


def test_harmonics_of_one_degree_keep_their_span_under_rotation():
    grid = SphereGrid(8)
    rotation = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    turned = values_on(grid.points @ rotation.T, 5, defect="keep")
    plain = values_on(grid, 5)
    for part in groups(SphericalHarmonicBasis(5).eigenvalues):
        assert span_angle(plain[:, part], turned[:, part], grid.weights) < 1e-7


def test_eigenvalues_are_l_times_l_plus_one_with_multiplicity():
    np.testing.assert_array_equal(SphericalHarmonicBasis(3).eigenvalues, sphere_spectrum(16))


def test_harmonics_and_the_modes_of_a_sphere_mesh_span_the_same_spaces():
    exact = sphere_spectrum(16)
    errors = []
    for resolution in (4, 8, 16):
        mesh = shapes.sphere(resolution)
        modes = LaplacianBasis.from_mesh(mesh, 16).values
        harmonics = values_on(mesh, 3, defect="keep")
        errors.append(
            max(
                span_angle(modes[:, part], harmonics[:, part], mesh.weights)
                for part in groups(exact)
            )
        )
    np.testing.assert_allclose(observed_orders(errors), 2, atol=0.25)


def test_harmonics_on_a_mesh_are_repaired():
    with pytest.warns(BasisWarning, match="not orthonormal"):
        sampled = SphericalHarmonicBasis(3).sample(shapes.sphere(5), dtype=torch.float64)
    torch.testing.assert_close(sampled.gram(), torch.eye(16, dtype=torch.float64))


def test_the_radius_of_points_does_not_matter():
    grid = SphereGrid(5)
    np.testing.assert_allclose(
        values_on(grid, 3), values_on(7 * grid.points, 3, defect="keep"), atol=1e-12
    )


def test_a_grid_too_coarse_for_the_degree_is_an_error():
    with pytest.raises(BasisError, match="independent"):
        SphericalHarmonicBasis(6).sample(SphereGrid(4))


@pytest.mark.parametrize(
    ("points", "message"), [(np.eye(2), "3-D: got 2-D"), (np.zeros((1, 3)), "origin")]
)
def test_points_without_a_direction_in_space_are_refused(points, message):
    with pytest.raises(BasisError, match=message):
        SphericalHarmonicBasis(0).sample(points)


def test_a_negative_degree_is_refused():
    with pytest.raises(BasisError, match="-1"):
        SphericalHarmonicBasis(-1)
