"""Random functions in space: their law, and their shortest waves."""

import numpy as np

from supra.problems.plane_waves import PlaneWaves


def test_mean_variance_and_correlation_are_those_of_waves_uniform_in_a_ball():
    """If uniform in |k| ≤ K, the correlation at a distance d is 3 (sin z − z cos z)/z³, z = Kd."""
    rng, shortest = np.random.default_rng(0), 1.5
    distance = np.array([0.2, 0.5, 0.9])
    direction = np.array([0.6, 0.0, 0.8])
    points = np.array([3.0, -1.0, 2.0]) + np.outer([0.0, *distance], direction)
    g = np.stack([PlaneWaves.random(rng, shortest)(points) for _ in range(4000)])
    z = 2 * np.pi / shortest * distance
    expected = 3 * (np.sin(z) - z * np.cos(z)) / z**3
    np.testing.assert_allclose(g.mean(axis=0), 0, atol=0.05)
    np.testing.assert_allclose((g**2).mean(axis=0), 1, atol=0.07)
    np.testing.assert_allclose((g[:, :1] * g[:, 1:]).mean(axis=0), expected, atol=0.07)


def test_no_wave_is_shorter_than_asked_for():
    waves = PlaneWaves.random(np.random.default_rng(1), shortest=0.5)
    assert (2 * np.pi / np.linalg.norm(waves.vectors, axis=1)).min() >= 0.5


def test_the_function_solves_helmholtz_wave_by_wave():
    """−Δg by differences against the waves' own |k|²."""
    waves = PlaneWaves.random(np.random.default_rng(2), shortest=1.0)
    squares = (waves.vectors**2).sum(axis=1, keepdims=True)
    x, step = np.random.default_rng(3).normal(size=(5, 3)), 1e-3
    around = sum(waves(x + s * step * axis) for axis in np.eye(3) for s in (-1, 1))
    laplacian = (around - 6 * waves(x)) / step**2
    expected = PlaneWaves(waves.vectors, squares * waves.sizes)(x)
    np.testing.assert_allclose(-laplacian, expected, rtol=1e-4, atol=1e-3)
