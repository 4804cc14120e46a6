"""Principal components, against the singular value decomposition and what they promise."""

import numpy as np
import pytest

from supra.basis import BasisError
from supra.basis.pod import principal_components


def given(rows: int, points: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.5, 1.5, points)
    return rng.standard_normal((rows, points)) * np.exp(-np.arange(points)), weights / weights.sum()


@pytest.mark.parametrize(("rows", "points"), [(40, 12), (12, 40)])
def test_they_are_orthonormal_and_span_the_leading_singular_vectors(rows, points):
    snapshots, weights = given(rows, points)
    found = principal_components(snapshots, weights, 5)
    np.testing.assert_allclose(found.T @ (weights[:, None] * found), np.eye(5), atol=1e-12)
    _, _, vectors = np.linalg.svd(snapshots * np.sqrt(weights), full_matrices=False)
    overlap = vectors[:5] @ (np.sqrt(weights)[:, None] * found)
    np.testing.assert_allclose(np.linalg.svd(overlap)[1], 1, atol=1e-8)


def test_no_other_subspace_is_nearer_to_the_snapshots():
    snapshots, weights = given(30, 20)

    def distance(functions: np.ndarray) -> float:
        rest = snapshots - snapshots * weights @ functions @ functions.T
        return float(np.sum(rest**2 * weights))

    best = distance(principal_components(snapshots, weights, 4))
    rng = np.random.default_rng(1)
    for _ in range(20):
        other = np.linalg.qr(rng.standard_normal((20, 4)))[0] / np.sqrt(weights)[:, None]
        assert distance(other) > best
    _, values, _ = np.linalg.svd(snapshots * np.sqrt(weights))
    np.testing.assert_allclose(best, np.sum(values[4:] ** 2), rtol=1e-10)


def test_snapshots_that_span_too_little_are_named():
    snapshots, weights = given(3, 20)
    with pytest.raises(BasisError, match="span 3 functions only: asked for 5"):
        principal_components(snapshots, weights, 5)


def test_points_without_weight_are_refused():
    snapshots, weights = given(30, 20)
    weights[3] = 0
    with pytest.raises(BasisError, match="positive weights"):
        principal_components(snapshots, weights, 2)
