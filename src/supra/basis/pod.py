"""Principal components of given functions (proper orthogonal decomposition)."""

import numpy as np
import scipy.linalg
from jaxtyping import Float

from supra.basis.errors import BasisError

_SMALLEST = 1e-12  # eigenvalue, of the largest, that is not round-off


def principal_components(
    snapshots: Float[np.ndarray, "rows points"], weights: Float[np.ndarray, " points"], modes: int
) -> Float[np.ndarray, "points modes"]:
    r"""The ``modes`` functions that hold most of the snapshots, orthonormal in the weights.

    Of all subspaces of that size it has the least mean square distance
    :math:`\sum_p w_p (u_p - (Pu)_p)^2` to the snapshots (their mean is not taken off, so that 1 is
    a function like others).
    """
    if np.any(weights <= 0):
        raise BasisError("Principal components need positive weights at all points.")
    scaled = np.asarray(snapshots, float) * np.sqrt(weights)
    tall = len(scaled) > scaled.shape[1]
    gram = scaled.T @ scaled if tall else scaled @ scaled.T
    last = len(gram) - 1
    energies, vectors = scipy.linalg.eigh(gram, subset_by_index=(max(0, last - modes + 1), last))
    energies, vectors = energies[::-1], vectors[:, ::-1]
    found = int(np.sum(energies > _SMALLEST * energies[0]))
    if found < modes:
        raise BasisError(
            f"The snapshots span {found} functions only: asked for {modes}. Use fewer modes."
        )
    components = vectors if tall else scaled.T @ vectors / np.sqrt(energies)
    # The small ones lose orthogonality by round-off of the Gram matrix.
    return np.linalg.qr(components)[0] / np.sqrt(weights)[:, None]
