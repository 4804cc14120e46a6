"""Holes of random shape: a radius over the angle."""

from dataclasses import dataclass
from math import pi, sqrt

import numpy as np
from jaxtyping import Float

SMALLEST, SPREAD = 0.2, 0.2  # the radius is between 0.2 and 0.4
SCALE, TAU = 4.0, 3.0  # σ and τ of the law
FREQUENCIES = 5


@dataclass(frozen=True, eq=False)
class Hole:
    r"""A hole about the middle of the unit cell, of radius

    .. math:: r(\theta) = 0.2 + \frac{0.2}{1 + e^{\tilde r(\theta)}}, \qquad
              \tilde r = \sum_{k=1}^{5} a_k\cos k\theta + b_k\sin k\theta.

    `random` draws :math:`\tilde r` from :math:`N(0, 4^2(-\Delta + 3^2)^{-1})` on the circle, whose
    eigenfunctions are :math:`\cos k\theta/\sqrt\pi`, :math:`\sin k\theta/\sqrt\pi` with
    eigenvalues k²: the coefficients are independent, normal, of variance
    :math:`16 / (\pi(k^2 + 9))`.

    Five frequencies, and no constant, because the public set has ten coefficients per sample. It
    is not a detail: the whole series is nowhere differentiable, and a solid with such an edge has
    no stress there that any mesh could find.

    Attributes:
        cosines: :math:`a_k`, k = 1, 2, …
        sines: :math:`b_k`.
    """

    cosines: Float[np.ndarray, " frequencies"]
    sines: Float[np.ndarray, " frequencies"]

    @classmethod
    def random(cls, rng: np.random.Generator) -> "Hole":
        """A hole by the law of the public set."""
        k = np.arange(1, FREQUENCIES + 1)
        deviations = SCALE / np.sqrt(k**2 + TAU**2) / sqrt(pi)
        return cls(*(deviations * rng.standard_normal((2, FREQUENCIES))))

    @classmethod
    def circle(cls) -> "Hole":
        """The mean hole, of radius 0.3."""
        return cls(np.zeros(FREQUENCIES), np.zeros(FREQUENCIES))

    def radius(self, angle: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
        """The distance of the edge from the centre."""
        turned = np.multiply.outer(angle, np.arange(1, len(self.cosines) + 1))
        exponent = np.cos(turned) @ self.cosines + np.sin(turned) @ self.sines
        return SMALLEST + SPREAD / (1 + np.exp(exponent))

    def __str__(self) -> str:
        return f"cosines {self.cosines.round(4)} and sines {self.sines.round(4)}"
