"""Orthonormality of sampled functions: measured, repaired or refused."""

import warnings
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float
from scipy import linalg

from supra.basis.errors import BasisError, BasisWarning
from supra.basis.sampled import SampledBasis

Defect = Literal["repair", "adapt", "refuse", "keep"]
TOLERANCE = 1e-9


def orthonormality_defect(
    values: Float[np.ndarray, "points modes"], weights: Float[np.ndarray, " points"]
) -> float:
    """Largest entry of ``ΦᵀWΦ − I``."""
    gram = values.T @ (weights[:, None] * values)
    return float(np.abs(gram - np.eye(len(gram))).max())


def sampled_orthonormal(
    values: Float[np.ndarray, "points modes"],
    weights: Float[np.ndarray, " points"],
    defect: Defect,
    name: str,
) -> SampledBasis:
    """A sampled basis in float64 that is orthonormal, or treated as ``defect`` says."""
    size = 0.0 if defect == "keep" else orthonormality_defect(values, weights)
    if size > TOLERANCE:
        what = (
            f"{name} sampled on {len(values)} points is not orthonormal there (defect {size:.1e})"
        )
        if defect == "refuse":
            raise BasisError(f"{what}. Use more points or fewer modes, or defect='repair'.")
        values = closest_orthonormal(values, weights, name)
        if defect == "repair":
            warnings.warn(
                f"{what}: replaced by the closest orthonormal functions with the same span. "
                f"Use defect='adapt' where that is meant, 'keep' to leave them, 'refuse' for an "
                f"error.",
                BasisWarning,
                stacklevel=4,
            )
    return SampledBasis(torch.from_numpy(values), torch.from_numpy(np.array(weights)))


def closest_orthonormal(
    values: Float[np.ndarray, "points modes"], weights: Float[np.ndarray, " points"], name: str
) -> Float[np.ndarray, "points modes"]:
    """The orthonormal functions with the same span that differ least from ``values``.

    With the singular value decomposition ``W^½ Φ = U Σ Vᵀ`` these are ``W^-½ U Vᵀ`` (the polar
    factor): no function is preferred over another, and a small defect gives a small change.
    """
    upper = linalg.qr(np.sqrt(weights)[:, None] * values, mode="r")[0][: values.shape[1]]
    _, singular, right = linalg.svd(upper)
    _check_independent(singular, values.shape, name)
    # Φ V Σ⁻¹ Vᵀ is the same, and defined where a weight is zero
    return values @ (right.T / singular) @ right


def orthonormalized(
    values: Float[np.ndarray, "points modes"], weights: Float[np.ndarray, " points"], name: str
) -> Float[np.ndarray, "points modes"]:
    """Gram–Schmidt in order: function k is combined with the functions before it only.

    Done by QR; each function keeps the sign of its own leading part.
    """
    upper = linalg.qr(np.sqrt(weights)[:, None] * values, mode="r")[0][: values.shape[1]]
    diagonal = np.diag(upper)
    _check_independent(np.abs(diagonal), values.shape, name)
    upper = upper * np.sign(diagonal)[:, None]
    return linalg.solve_triangular(upper, values.T, trans="T").T


def _check_independent(sizes: np.ndarray, shape: tuple[int, ...], name: str) -> None:
    points, modes = shape
    rank = int((sizes > 1e-10 * sizes.max()).sum()) if points >= modes else min(points, modes)
    if rank < modes:
        raise BasisError(
            f"{name} has {modes} functions, but only {rank} are independent on these {points} "
            f"points. Use more points or fewer modes."
        )
