"""Trigonometric functions of period one."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from supra.basis.tensor import TensorBasis


class FourierBasis(TensorBasis):
    r"""Products of :math:`\sqrt2\cos 2\pi i x` and :math:`\sqrt2\sin 2\pi i x`, i = 1 … n per axis.

    These are the paper's :math:`(2n)^d` functions, scaled to be orthonormal. They leave out the
    constant and every function of fewer variables; ``constant=True`` adds the constant along each
    axis, which makes the basis complete: :math:`(2n+1)^d` functions.

    >>> FourierBasis((6, 6)).modes
    144
    """

    def __init__(self, counts: int | Sequence[int], constant: bool = False) -> None:
        super().__init__(counts)
        self.constant = constant

    def axis_modes(self, count: int) -> int:
        return 2 * count + self.constant

    def axis_values(self, count: int, x: Float[np.ndarray, " n"]) -> Float[np.ndarray, "n modes"]:
        angle = 2 * np.pi * np.outer(x, np.arange(1, count + 1))
        pairs = np.sqrt(2) * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
        waves = pairs.reshape(len(x), -1)  # cos 1, sin 1, cos 2, sin 2, …
        return np.concatenate([np.ones((len(x), 1)), waves], axis=1) if self.constant else waves

    def axis_eigenvalues(self, count: int) -> Float[np.ndarray, " modes"]:
        waves = np.repeat(np.arange(1, count + 1), 2)
        return (2 * np.pi * (np.concatenate([[0], waves]) if self.constant else waves)) ** 2

    def __repr__(self) -> str:
        return f"FourierBasis({self.counts}{', constant=True' if self.constant else ''})"
