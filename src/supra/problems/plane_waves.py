"""Band-limited random functions in space, known at every point of it."""

from dataclasses import dataclass
from math import pi, sqrt

import numpy as np
from jaxtyping import Float

WAVES = 64


@dataclass(frozen=True, eq=False)
class PlaneWaves:
    r"""A random sum of plane waves, none shorter than a given length:

    .. math:: g(x) = n^{-1/2} \sum_j \xi_j \cos(k_j\cdot x) + \eta_j \sin(k_j\cdot x).

    Wave vectors are uniform in the ball of radius 2π / ``shortest``, :math:`\xi_j` and
    :math:`\eta_j` standard normal: g has mean 0 and variance 1 at every point, and no place and no
    direction is special. A `RandomField` needs a basis on its domain. This one is known in all of
    space, so one function serves domains of any shape, and every resolution of one.

    Attributes:
        vectors: wave vectors :math:`k_j`, shape ``(waves, 3)``.
        sizes: :math:`\xi_j` and :math:`\eta_j`, shape ``(waves, 2)``.
    """

    vectors: Float[np.ndarray, "waves 3"]
    sizes: Float[np.ndarray, "waves 2"]

    @classmethod
    def random(cls, rng: np.random.Generator, shortest: float) -> "PlaneWaves":
        """A function with wave lengths of at least ``shortest``."""
        direction = rng.standard_normal((WAVES, 3))
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        number = 2 * pi / shortest * rng.uniform(size=(WAVES, 1)) ** (1 / 3)
        return cls(number * direction, rng.standard_normal((WAVES, 2)))

    def __call__(self, points: Float[np.ndarray, "points 3"]) -> Float[np.ndarray, " points"]:
        phase = points @ self.vectors.T
        cosines, sines = self.sizes.T
        total: np.ndarray = np.cos(phase) @ cosines + np.sin(phase) @ sines
        return total / sqrt(len(self.vectors))
