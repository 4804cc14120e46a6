"""Spherical harmonics: Laplacian eigenfunctions of the sphere."""

import numpy as np
from jaxtyping import Float
from scipy.special import sph_harm_y

from supra.basis.base import Basis
from supra.basis.errors import BasisError
from supra.basis.orthonormal import Defect, sampled_orthonormal
from supra.basis.sampled import Sampled
from supra.domain import Domain
from supra.domain.choice import whole_numbers


class SphericalHarmonicBasis(Basis):
    """Real spherical harmonics up to a degree: ``(degree + 1)²`` functions.

    Ordered by degree l and in it by order m = −l … l; scaled so that the mean of their square over
    the sphere is 1. Points are taken by their direction from the origin. Exactly orthonormal on
    ``SphereGrid(degree + 1)`` or finer; on the nodes of a mesh they are made so.

    >>> SphericalHarmonicBasis(degree=10).modes
    121
    """

    def __init__(self, degree: int) -> None:
        (self.degree,) = whole_numbers("degree", degree, BasisError)
        if degree < 0:
            raise BasisError(f"`degree` must not be negative: got {degree}.")

    @property
    def modes(self) -> int:
        return (self.degree + 1) ** 2

    @property
    def eigenvalues(self) -> Float[np.ndarray, " modes"]:
        return np.array([el * (el + 1.0) for el, _ in self._indices()])

    def _sample(self, domain: Domain, defect: Defect) -> Sampled:
        points = domain.points
        if points.shape[1] != 3:
            raise BasisError(f"Spherical harmonics need points in 3-D: got {points.shape[1]}-D.")
        radius = np.linalg.norm(points, axis=1)
        if not radius.min() > 0:
            raise BasisError(
                "Spherical harmonics have no value at the origin, and a point is there."
            )
        polar = np.arccos(np.clip(points[:, 2] / radius, -1, 1))
        azimuth = np.arctan2(points[:, 1], points[:, 0])
        values = np.stack([_real_harmonic(*lm, polar, azimuth) for lm in self._indices()], axis=1)
        return sampled_orthonormal(values, domain.weights, defect, repr(self))

    def _indices(self) -> list[tuple[int, int]]:
        return [(el, m) for el in range(self.degree + 1) for m in range(-el, el + 1)]

    def __repr__(self) -> str:
        return f"SphericalHarmonicBasis(degree={self.degree})"


def _real_harmonic(el: int, m: int, polar: np.ndarray, azimuth: np.ndarray) -> np.ndarray:
    """Real harmonic with mean square 1: cos for m > 0, sin for m < 0."""
    value = np.sqrt(4 * np.pi) * sph_harm_y(el, abs(m), polar, azimuth)
    if m == 0:
        return value.real
    return np.sqrt(2) * (value.real if m > 0 else value.imag)
