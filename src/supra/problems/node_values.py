"""Values at the nodes of a structured grid, from those of its cells."""

import numpy as np
from jaxtyping import Float, Int


def node_values(
    points: Float[np.ndarray, "along outwards 2"],
    centres: Float[np.ndarray, "cells 2"],
    values: Float[np.ndarray, "cells c"],
    wake: int = 0,
) -> Float[np.ndarray, "c along outwards"]:
    r"""Values at the nodes from the four cells nearest in the grid, exact for linear functions.

    The weights :math:`w_k = 1 + \lambda \cdot (x_k - x)` are as equal as exactness allows. Boundary
    nodes are extrapolated from the two rows of cells inside, but nodes of the wake lie between the
    cells of its two sides (see `CellMesh.from_grid`), and get one value from both.
    """
    cells = _nearest_cells(points.shape[0], points.shape[1], wake)
    away = centres[cells] - points[:, :, None, :]  # (along, outwards, 4, 2)
    moments = np.einsum("ijka,ijkb->ijab", away, away)
    slope = -np.linalg.solve(moments, away.sum(axis=2)[..., None])
    weights = 1 + (away @ slope)[..., 0]
    weights /= weights.sum(axis=2, keepdims=True)
    return np.einsum("ijk,ijkc->cij", weights, values[cells])


def _nearest_cells(along: int, outwards: int, wake: int) -> Int[np.ndarray, "along outwards 4"]:
    number = np.arange((along - 1) * (outwards - 1)).reshape(along - 1, outwards - 1)
    i = np.clip(np.arange(along) - 1, 0, along - 3)[:, None, None] + np.array([0, 0, 1, 1])
    j = np.clip(np.arange(outwards) - 1, 0, outwards - 3)[None, :, None] + np.array([0, 1, 0, 1])
    cells = number[i, j]
    if wake:
        first = number[:, 0]
        for side in (slice(wake + 1), slice(along - wake - 1, along)):
            pair = i[side, 0][:, [0, 2]]
            # In the same order on both sides, so that the values agree to the last digit.
            cells[side, 0] = np.sort(
                np.concatenate([first[pair], first[along - 2 - pair]], axis=1), axis=1
            )
    return cells
