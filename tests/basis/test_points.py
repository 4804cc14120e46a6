"""Laplacian eigenfunctions of point clouds."""

import sys

import numpy as np
import pytest
import torch

from supra.basis import BasisError, LaplacianBasis
from supra.domain import DomainError

from .oracles import box_spectrum, observed_orders, sphere_spectrum


def points_on_sphere(count: int, seed: int = 0) -> np.ndarray:
    points = np.random.default_rng(seed).standard_normal((count, 3))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def even_points_on_sphere(count: int) -> np.ndarray:
    """A spiral with the golden angle between successive points."""
    step = np.arange(count) + 0.5
    height, angle = 1 - 2 * step / count, np.pi * (1 + np.sqrt(5)) * step
    ring = np.sqrt(1 - height**2)
    return np.stack([ring * np.cos(angle), ring * np.sin(angle), height], axis=1)


def largest_error_on_sphere(points: np.ndarray) -> float:
    found = LaplacianBasis.from_points(points, 16).eigenvalues
    assert found[0] == 0
    return np.abs(found[1:] / sphere_spectrum(16)[1:] - 1).max()


def test_eigenvalues_of_a_random_sample_of_the_sphere_are_within_eight_per_cent():
    """The tufted Laplacian of random points is some 5 % too small, however many they are."""
    errors = [largest_error_on_sphere(points_on_sphere(count)) for count in (500, 2000)]
    assert errors[1] < 0.08
    assert errors[1] < errors[0]


def test_eigenvalues_of_even_points_on_the_sphere_converge():
    errors = [largest_error_on_sphere(even_points_on_sphere(count)) for count in (500, 1000, 2000)]
    assert errors[2] < 0.01
    np.testing.assert_allclose(2 * observed_orders(errors), 2, atol=0.4)  # twice the points: h/√2


def test_eigenvalues_of_points_in_a_square_are_within_ten_per_cent():
    points = np.random.default_rng(0).uniform(size=(3000, 2))
    found = LaplacianBasis.from_points(points, 6).eigenvalues
    np.testing.assert_allclose(found, box_spectrum((1, 1), 6), rtol=0.1, atol=1e-9)


def test_modes_of_a_cloud_are_orthonormal():
    basis = LaplacianBasis.from_points(points_on_sphere(800), 30)
    assert basis.orthonormality < 1e-9
    assert basis.residuals.max() < 1e-8
    assert basis.domain.weights.sum() == pytest.approx(1)


def test_modes_of_a_cloud_pass_through_their_points():
    points = points_on_sphere(800)
    basis = LaplacianBasis.from_points(points, 9)
    again = basis.sample(points[:50], defect="keep", dtype=torch.float64)
    np.testing.assert_allclose(again.values, basis.values[:50], atol=1e-6)


def test_modes_of_a_cloud_at_other_points_are_near_smooth_functions():
    """The first modes of the sphere are linear: their values elsewhere follow from a fit."""
    points, others = points_on_sphere(2000), points_on_sphere(300, seed=1)
    basis = LaplacianBasis.from_points(points, 4)
    slopes = np.linalg.lstsq(points, basis.values[:, 1:], rcond=None)[0]
    found = basis.sample(others, defect="keep", dtype=torch.float64).values[:, 1:]
    assert np.abs(found.numpy() - others @ slopes).max() < 0.1


def test_without_the_extra_the_error_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "robust_laplacian", None)
    with pytest.raises(BasisError, match=r"supra-operator\[pointcloud\]"):
        LaplacianBasis.from_points(points_on_sphere(50), 4)


def test_points_on_a_line_are_sent_to_a_mesh():
    with pytest.raises(BasisError, match=r"Mesh\.from_structured"):
        LaplacianBasis.from_points(np.linspace(0, 1, 20)[:, None], 4)


def test_points_that_are_not_finite_are_refused():
    points = points_on_sphere(50)
    points[3, 1] = np.nan
    with pytest.raises(DomainError, match="finite"):
        LaplacianBasis.from_points(points, 4)


@pytest.mark.parametrize(
    ("points", "words"),
    [
        (np.random.default_rng(0).random((5, 2)), "at least 8 points: got 5"),
        (np.linspace(0, 1, 40)[:, None] * np.ones(2), "on a line"),
        (np.random.default_rng(0).random((400, 3)), "fill a volume"),
    ],
    ids=["few", "collinear", "volume"],
)
def test_clouds_that_are_no_surface_are_refused(points, words):
    with pytest.raises(BasisError, match=words):
        LaplacianBasis.from_points(points, 3)
