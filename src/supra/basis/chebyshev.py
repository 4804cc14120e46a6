"""Polynomials, made orthonormal in the quadrature of the grid they are sampled on."""

import numpy as np
from jaxtyping import Float

from supra.basis.orthonormal import orthonormalized
from supra.basis.tensor import TensorBasis


class ChebyshevBasis(TensorBasis):
    """Chebyshev polynomials of degree 0 … n − 1 per axis.

    They are not orthogonal for the plain mean of uv, so on a grid they are orthonormalised in
    order of degree: function k is a polynomial of degree k. On any other domain they are
    orthonormalised as a whole, by the same rule.

    >>> ChebyshevBasis((10, 10)).modes
    100
    """

    def axis_modes(self, count: int) -> int:
        return count

    def axis_values(self, count: int, x: Float[np.ndarray, " n"]) -> Float[np.ndarray, "n modes"]:
        angle = np.arccos(np.clip(2 * x - 1, -1, 1))
        return np.cos(np.outer(angle, np.arange(count)))

    def prepared(
        self, values: Float[np.ndarray, "n modes"], weights: Float[np.ndarray, " n"]
    ) -> Float[np.ndarray, "n modes"]:
        return orthonormalized(values, weights, repr(self))
