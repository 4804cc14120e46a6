"""Diffusion with a variable coefficient on the unit box: finite volumes and a fast solver."""

from functools import cached_property
from math import ceil, isfinite, log, prod, sqrt
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy import fft

from supra.problems.errors import ProblemError

TOLERANCE = 1e-10


def solve_darcy(
    coefficient: Float[np.ndarray, "*nodes"], force: Float[np.ndarray, "*nodes"] | float = 1.0
) -> Float[np.ndarray, "*nodes"]:
    r"""Solve :math:`-\nabla\cdot(a\nabla u) = f` on the unit box, u = 0 on its boundary.

    Second order where the coefficient is smooth or jumps half-way between nodes, first order where
    it jumps anywhere; `DiffusionMatrix` is the scheme. The iteration ends at a relative residual of
    1e-10 in the norm dual to that of the gradient, :math:`\|r\|^2 = r\cdot(-\Delta)^{-1} r`: the
    relative error of the gradient is at most that, times the largest over the smallest coefficient,
    whatever the resolution.

    Args:
        coefficient: a > 0 at the nodes of an even grid with the boundary on it, 1 to 3 axes.
        force: f at the same nodes, or one number; on the boundary it is not used.

    Returns:
        u at the same nodes, float64.

    Raises:
        ProblemError: the arrays are not of this kind, or the iteration did not converge.

    >>> solution = solve_darcy(np.full((65, 65), 3.0), force=1.0)
    >>> print(f"{solution.max():.4f}")  # the torsion function of the square, over 3
    0.0246
    """
    coefficient, force = _checked(coefficient, force)
    inside = (slice(1, -1),) * coefficient.ndim
    solution = np.zeros(coefficient.shape)
    solution[inside] = _conjugate_gradients(DiffusionMatrix(coefficient), force[inside])
    return solution


class DiffusionMatrix:
    r"""The matrix of :math:`-\nabla\cdot(a\nabla u)` at the inner nodes, never written out.

    A node's control volume ends half-way to its neighbours. The flux through a face is the
    difference of the two nodes' values over their distance, times the *harmonic* mean of their
    coefficients: two layers in series, exact across a jump half-way between the nodes. (On random
    media of two materials its error is a quarter to two thirds of the arithmetic mean's.)

    What leaves one volume enters the next, so the scheme conserves. The matrix is symmetric and an
    M-matrix, so the maximum principle holds on every grid.
    """

    def __init__(self, coefficient: Float[np.ndarray, "*nodes"]) -> None:
        self.contrast = float(coefficient.max() / coefficient.min())
        self.cells = tuple(n - 1 for n in coefficient.shape)
        self._faces = [
            _harmonic_faces(coefficient, axis) * cells**2 for axis, cells in enumerate(self.cells)
        ]

    def __matmul__(self, values: Float[np.ndarray, "*inner"]) -> Float[np.ndarray, "*inner"]:
        padded = np.pad(values, 1)
        result = np.zeros(values.shape)
        for axis, face in enumerate(self._faces):
            flux = face * np.diff(_lines(padded, axis), axis=axis)
            result -= np.diff(flux, axis=axis)
        return result

    def precondition(self, values: Float[np.ndarray, "*inner"]) -> Float[np.ndarray, "*inner"]:
        """Solve with a = 1, where sines are the eigenvectors.

        The smallest and the largest coefficient bound the ratio of the two quadratic forms, so
        the preconditioned matrix has the condition ``contrast`` at most, on every grid.
        """
        return fft.dstn(fft.dstn(values, type=1) / self._sine_eigenvalues, type=1)

    @cached_property
    def _sine_eigenvalues(self) -> np.ndarray:
        """Eigenvalues for a = 1, times the factor that two unscaled transforms leave behind."""
        total = np.zeros(())
        for cells in self.cells:
            angle = np.pi * np.arange(1, cells) / (2 * cells)
            total = np.add.outer(total, (2 * cells * np.sin(angle)) ** 2)
        return total * prod(2 * cells for cells in self.cells)


def _harmonic_faces(coefficient: np.ndarray, axis: int) -> np.ndarray:
    resistance = _lines(1 / coefficient, axis)
    before, after = np.delete(resistance, -1, axis), np.delete(resistance, 0, axis)
    return 2 / (before + after)


def _lines(values: np.ndarray, axis: int) -> np.ndarray:
    """The nodes along the lines that the inner nodes lie on: the other axes lose their ends."""
    return values[tuple(slice(None) if k == axis else slice(1, -1) for k in range(values.ndim))]


def _conjugate_gradients(matrix: DiffusionMatrix, force: np.ndarray) -> np.ndarray:
    """Preconditioned conjugate gradients from zero.

    Written here, because scipy's ends by another norm and sums by BLAS, whose last digits depend
    on the number of threads: the same sample would not be the same everywhere.
    """
    solution, residual, direction = np.zeros(force.shape), force.copy(), np.zeros(force.shape)
    preconditioned = matrix.precondition(residual)
    first = square = _inner(residual, preconditioned)
    gain = 0.0
    limit = _step_limit(matrix.contrast)
    for _ in range(limit):
        if square <= TOLERANCE**2 * first or not isfinite(square):
            break
        direction = preconditioned + gain * direction
        image = matrix @ direction
        length = square / _inner(direction, image)
        solution += length * direction
        residual -= length * image
        preconditioned = matrix.precondition(residual)
        before, square = square, _inner(residual, preconditioned)
        gain = square / before
    if not square <= TOLERANCE**2 * first:
        raise ProblemError(
            f"Conjugate gradients did not reach a relative residual of {TOLERANCE:g} in {limit} "
            f"steps (square of the last: {square:.1e}, of the first: {first:.1e}). The coefficient "
            f"varies by a factor of {matrix.contrast:.1e}; reduce that, or scale the force."
        )
    return solution


def _step_limit(contrast: float) -> int:
    r"""Twice the steps that theory allows, for round-off.

    The residual falls by :math:`2\sqrt\kappa\,\rho^k` with
    :math:`\rho = (\sqrt\kappa-1)/(\sqrt\kappa+1) \le e^{-2/\sqrt\kappa}`.
    """
    root = sqrt(contrast)
    return 2 * ceil(root / 2 * log(2 * root / TOLERANCE))


def _inner(left: np.ndarray, right: np.ndarray) -> float:
    return float((left * right).sum())


def _checked(coefficient: Any, force: Any) -> tuple[np.ndarray, np.ndarray]:
    """Both as float64 arrays on the same nodes."""
    coefficient = np.asarray(coefficient, dtype=np.float64)
    force = np.asarray(force, dtype=np.float64)
    shape = coefficient.shape
    if not 1 <= len(shape) <= 3 or min(shape) < 3:
        raise ProblemError(
            f"`coefficient` needs 1 to 3 axes with at least 3 nodes each, boundary included: got "
            f"shape {shape}."
        )
    if not (np.isfinite(coefficient).all() and coefficient.min() > 0):
        raise ProblemError(
            f"`coefficient` must be finite and positive at every node: got values from "
            f"{coefficient.min():g} to {coefficient.max():g}."
        )
    if force.shape not in ((), shape):
        raise ProblemError(
            f"`force` must be one number or have the shape of `coefficient`, {shape}: got "
            f"{force.shape}."
        )
    if not np.isfinite(force).all():
        raise ProblemError("`force` must be finite at every node: got NaN or infinite values.")
    return coefficient, np.broadcast_to(force, shape)
