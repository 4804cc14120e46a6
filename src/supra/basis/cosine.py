"""Laplacian eigenfunctions of the unit box."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from supra.basis.base import Boundary
from supra.basis.errors import BasisError
from supra.basis.tensor import TensorBasis
from supra.domain.choice import check_choice


class CosineBasis(TensorBasis):
    r"""Products of :math:`\cos \pi k x`, k = 0 … n − 1: free (Neumann) eigenfunctions of the box.

    ``boundary="dirichlet"`` takes :math:`\sin \pi k x`, k = 1 … n, which vanish on the boundary.

    >>> CosineBasis((8, 8)).eigenvalues[:3] / np.pi**2
    array([0., 1., 4.])
    """

    def __init__(self, counts: int | Sequence[int], boundary: Boundary = "neumann") -> None:
        super().__init__(counts)
        check_choice("boundary", boundary, Boundary, BasisError)
        self.boundary = boundary

    def axis_modes(self, count: int) -> int:
        return count

    def axis_values(self, count: int, x: Float[np.ndarray, " n"]) -> Float[np.ndarray, "n modes"]:
        angle = np.pi * np.outer(x, self._waves(count))
        if self.boundary == "dirichlet":
            return np.sqrt(2) * np.sin(angle)
        return np.cos(angle) * np.where(self._waves(count) > 0, np.sqrt(2), 1)

    def axis_eigenvalues(self, count: int) -> Float[np.ndarray, " modes"]:
        return (np.pi * self._waves(count)) ** 2.0

    def _waves(self, count: int) -> np.ndarray:
        return np.arange(count) + (self.boundary == "dirichlet")

    def __repr__(self) -> str:
        boundary = "" if self.boundary == "neumann" else f", boundary={self.boundary!r}"
        return f"CosineBasis({self.counts}{boundary})"
