"""Latitude–longitude grid of the unit sphere with Gauss–Legendre latitudes."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float

from supra.domain.errors import DomainError


@dataclass(frozen=True)
class SphereGrid:
    """Points of the unit sphere whose quadrature is exact for spherical harmonics.

    Products of two harmonics of degree up to ``latitudes - 1`` are integrated exactly when there
    are at least ``2 * latitudes - 1`` longitudes (the default is ``2 * latitudes``).
    """

    latitudes: int
    longitudes: int = 0

    def __post_init__(self) -> None:
        if self.longitudes == 0:
            object.__setattr__(self, "longitudes", 2 * self.latitudes)
        if self.latitudes < 1 or self.longitudes < 1:
            raise DomainError(
                f"A sphere grid needs at least one latitude and longitude: got {self!r}."
            )

    @property
    def shape(self) -> tuple[int, int]:
        return self.latitudes, self.longitudes

    @cached_property
    def points(self) -> Float[np.ndarray, "points 3"]:
        """Positions on the unit sphere, latitude by latitude from south to north."""
        height, _ = np.polynomial.legendre.leggauss(self.latitudes)
        angle = 2 * np.pi * np.arange(self.longitudes) / self.longitudes
        z, phi = np.meshgrid(height, angle, indexing="ij")
        ring = np.sqrt(1 - z**2)
        return np.stack([ring * np.cos(phi), ring * np.sin(phi), z], axis=-1).reshape(-1, 3)

    @cached_property
    def weights(self) -> Float[np.ndarray, " points"]:
        """Quadrature weights, summing to 1."""
        _, gauss = np.polynomial.legendre.leggauss(self.latitudes)
        return np.repeat(gauss / 2 / self.longitudes, self.longitudes)
