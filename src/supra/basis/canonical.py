"""One definite choice of eigenvectors: signs, and rotations inside repeated eigenvalues."""

from itertools import pairwise

import numpy as np
from jaxtyping import Float
from scipy import linalg

from supra.domain import Domain

_CLUSTER = 1e-8  # relative distance below which eigenvalues count as equal
_TIE = 1e-6  # relative distance below which magnitudes count as equal


def make_canonical(
    vectors: Float[np.ndarray, "points modes"],
    eigenvalues: Float[np.ndarray, " modes"],
    domain: Domain,
) -> None:
    """Fix, in place, what an eigensolver leaves to round-off: same mesh, same modes.

    Inside a repeated eigenvalue any rotation is as good; the one is taken that is closest to
    plane waves of about that wave length in fixed directions. Then each vector's entry of largest
    magnitude (the first of equal ones) is made positive.
    """
    for start, stop in clusters(eigenvalues):
        block = vectors[:, start:stop]
        if stop - start > 1:
            probes = _plane_waves(domain.points, float(eigenvalues[start]), stop - start)
            left, _, right = linalg.svd(block.T @ (domain.weights[:, None] * probes))
            block = block @ (left @ right)
        size = np.abs(block)
        leading = (size >= (1 - _TIE) * size.max(axis=0)).argmax(axis=0)
        vectors[:, start:stop] = block * np.sign(block[leading, np.arange(stop - start)])


def clusters(eigenvalues: Float[np.ndarray, " modes"]) -> list[tuple[int, int]]:
    """Ranges of eigenvalues that count as equal."""
    gaps = np.diff(eigenvalues) > _CLUSTER * eigenvalues[1:]
    edges = [0, *(np.flatnonzero(gaps) + 1).tolist(), len(eigenvalues)]
    return list(pairwise(edges))


def _plane_waves(points: np.ndarray, eigenvalue: float, count: int) -> np.ndarray:
    """Waves cos(k·x + phase) of about that eigenvalue, in directions without any symmetry."""
    extent = np.linalg.norm(np.ptp(points, axis=0))
    wave_number = np.sqrt(max(eigenvalue, 0)) + count / extent  # the more, the shorter
    random = np.random.default_rng(0)
    waves = random.standard_normal((points.shape[1], count))
    waves *= wave_number * random.uniform(0.5, 1.5, count) / np.linalg.norm(waves, axis=0)
    phases = random.uniform(0, 2 * np.pi, count)
    return np.cos((points - points.mean(axis=0)) @ waves + phases)
