"""Every basis is orthonormal on its own domain; what repairs one that is not."""

import numpy as np
import pytest
import torch
from scipy import linalg

from supra.basis import (
    BasisError,
    ChebyshevBasis,
    CosineBasis,
    FourierBasis,
    LaplacianBasis,
    SphericalHarmonicBasis,
)
from supra.basis.orthonormal import closest_orthonormal, orthonormality_defect, orthonormalized
from supra.domain import Grid, SphereGrid, shapes


def mesh_basis(mesh, modes, boundary="neumann"):
    return LaplacianBasis.from_mesh(mesh, modes, boundary), mesh


EVERY_BASIS = {
    "fourier 1-D": lambda: (FourierBasis(10), Grid(32, periodic=True)),
    "fourier 2-D": lambda: (FourierBasis((4, 6)), Grid((9, 32), periodic=True)),
    "fourier 3-D": lambda: (FourierBasis((2, 3, 2)), Grid((8, 7, 6), periodic=True)),
    "fourier with constant": lambda: (FourierBasis((4, 4), constant=True), Grid((9, 9), True)),
    "fourier, ends included": lambda: (FourierBasis(5), Grid(20)),
    "cosine 1-D": lambda: (CosineBasis(15), Grid(17)),
    "cosine 2-D": lambda: (CosineBasis((5, 8)), Grid((9, 20))),
    "cosine 3-D": lambda: (CosineBasis((3, 4, 3)), Grid((6, 7, 8))),
    "sine 2-D": lambda: (CosineBasis((5, 8), boundary="dirichlet"), Grid((9, 20))),
    "chebyshev 1-D": lambda: (ChebyshevBasis(20), Grid(400)),
    "chebyshev 2-D": lambda: (ChebyshevBasis((6, 8)), Grid((20, 30), nodes="chebyshev")),
    "chebyshev 3-D": lambda: (ChebyshevBasis((3, 4, 3)), Grid((8, 9, 7))),
    "harmonics": lambda: (SphericalHarmonicBasis(6), SphereGrid(7)),
    "interval": lambda: mesh_basis(shapes.interval(40), 20),
    "square": lambda: mesh_basis(shapes.square(12), 40),
    "large square": lambda: mesh_basis(shapes.square(40), 60),
    "held disk": lambda: mesh_basis(shapes.disk(12), 40, "dirichlet"),
    "cube": lambda: mesh_basis(shapes.cube(9), 30),
    "sphere": lambda: mesh_basis(shapes.sphere(8), 36),
    "torus": lambda: mesh_basis(shapes.torus(6), 30),
}


@pytest.mark.parametrize("name", EVERY_BASIS)
@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(torch.float64, 1e-9), (torch.float32, 1e-6)], ids=["f64", "f32"]
)
def test_modes_are_orthonormal_in_the_quadrature(name, dtype, tolerance):
    """Measured in float64, so that the sums' own round-off does not count."""
    basis, domain = EVERY_BASIS[name]()
    sampled = basis.sample(domain, defect="refuse", dtype=dtype)
    assert sampled.weights.dtype == dtype
    gram = sampled.to(dtype=torch.float64).gram()
    assert (gram - torch.eye(basis.modes, dtype=torch.float64)).abs().max() < tolerance


def random_functions(points: int, modes: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    return random.standard_normal((points, modes)), random.dirichlet(np.ones(points))


def test_the_closest_orthonormal_functions_are_the_polar_factor():
    values, weights = random_functions(40, 6)
    root = np.sqrt(weights)[:, None]
    polar = linalg.polar(root * values)[0] / root
    np.testing.assert_allclose(closest_orthonormal(values, weights, "it"), polar, atol=1e-10)


def test_gram_schmidt_combines_each_function_with_those_before_it_only():
    values, weights = random_functions(40, 6)
    result = orthonormalized(values, weights, "it")
    assert orthonormality_defect(result, weights) < 1e-12
    factors = result.T @ (weights[:, None] * values)  # R of the QR factorisation
    np.testing.assert_allclose(np.tril(factors, -1), 0, atol=1e-12)
    assert (np.diag(factors) > 0).all()


@pytest.mark.parametrize("repair", [closest_orthonormal, orthonormalized])
def test_points_of_weight_zero_get_values_of_the_same_functions(repair):
    values, weights = random_functions(40, 6)
    weights[:5] = 0
    result = repair(values, weights, "it")
    combination = np.linalg.lstsq(values[5:], result[5:], rcond=None)[0]
    np.testing.assert_allclose(values[:5] @ combination, result[:5], atol=1e-9)


@pytest.mark.parametrize("repair", [closest_orthonormal, orthonormalized])
def test_dependent_functions_are_counted(repair):
    values, weights = random_functions(40, 6)
    values[:, 5] = values[:, 0] + values[:, 1]
    with pytest.raises(BasisError, match="6 functions, but only 5 are independent on these 40"):
        repair(values, weights, "it")


def test_the_defect_is_the_largest_error_of_the_gram_matrix():
    values = np.array([[1.0, 0.5], [1.0, -0.5]])
    assert orthonormality_defect(values, np.full(2, 0.5)) == pytest.approx(0.75)
