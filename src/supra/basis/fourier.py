"""Trigonometric functions of period one, or longer than the domain."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from supra.basis.errors import BasisError
from supra.basis.tensor import TensorBasis


class FourierBasis(TensorBasis):
    r"""Products of :math:`\sqrt2\cos 2\pi i x` and :math:`\sqrt2\sin 2\pi i x`, i = 1 … n per axis.

    These are the paper's :math:`(2n)^d` functions, scaled to be orthonormal. They leave out the
    constant and every function of fewer variables; ``constant=True`` adds the constant along each
    axis, which makes the basis complete: :math:`(2n+1)^d` functions.

    A ``period`` above 1 is for functions that are not periodic: :math:`x` is replaced by
    :math:`x / \text{period}`, as if they went on with zeros beyond the domain until they can
    repeat. These waves are no longer orthonormal on the domain.

    >>> FourierBasis((6, 6)).modes
    144
    """

    def __init__(
        self, counts: int | Sequence[int], constant: bool = False, period: float = 1.0
    ) -> None:
        super().__init__(counts)
        if not 1 <= period < np.inf:
            raise BasisError(f"`period` is relative to the domain and at least 1: got {period}.")
        self.constant, self.period = constant, period

    @property
    def orthonormal(self) -> bool:
        return self.period == 1

    def axis_modes(self, count: int) -> int:
        return 2 * count + self.constant

    def axis_values(self, count: int, x: Float[np.ndarray, " n"]) -> Float[np.ndarray, "n modes"]:
        angle = 2 * np.pi * np.outer(x / self.period, np.arange(1, count + 1))
        pairs = np.sqrt(2) * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
        waves = pairs.reshape(len(x), -1)  # cos 1, sin 1, cos 2, sin 2, …
        return np.concatenate([np.ones((len(x), 1)), waves], axis=1) if self.constant else waves

    def axis_eigenvalues(self, count: int) -> Float[np.ndarray, " modes"]:
        waves = np.repeat(np.arange(1, count + 1), 2)
        waves = np.concatenate([[0], waves]) if self.constant else waves
        return (2 * np.pi * waves / self.period) ** 2

    def __repr__(self) -> str:
        constant = ", constant=True" if self.constant else ""
        period = "" if self.period == 1 else f", period={self.period}"
        return f"FourierBasis({self.counts}{constant}{period})"
