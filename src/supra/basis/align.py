r"""Bases of different domains made comparable.

Eigenfunctions of two similar domains are similar functions, but an eigensolver leaves their signs
open, close eigenvalues turn their functions into each other, and modes change places. Coordinates
in such bases mean something else in every sample. Here the functions of one domain are turned
towards *reference functions* that are the same for all domains: with overlaps
:math:`O = \Phi^\top W R` of a block of functions and its references, the rotation
:math:`U = \arg\min \|\Phi U - R\|_W` over orthogonal matrices is the polar factor of :math:`O`
(orthogonal Procrustes). Rotations keep orthonormality and the span of the block.
"""

from itertools import pairwise
from typing import Literal

import numpy as np
from jaxtyping import Float
from scipy import linalg

from supra.basis.errors import BasisError
from supra.domain.choice import check_choice

Align = Literal["none", "signs", "clusters", "span"]

CLOSE = 0.1  # relative distance of neighbouring eigenvalues that form a cluster
_UNSEEN = 1e-9  # overlaps below this are round-off: the references say nothing there


def aligned(
    values: Float[np.ndarray, "points modes"],
    weights: Float[np.ndarray, " points"],
    eigenvalues: Float[np.ndarray, " modes"],
    references: Float[np.ndarray, "points modes"],
    align: Align = "signs",
) -> Float[np.ndarray, "points modes"]:
    """Orthonormal functions turned towards reference functions.

    Args:
        values: the functions, orthonormal in ``weights``.
        weights: of the points.
        eigenvalues: ascending; they say which functions form a cluster.
        references: as many functions, known at the points of any domain.
        align: ``"signs"`` changes signs only, ``"clusters"`` turns the functions of close
            eigenvalues into each other, ``"span"`` turns all of them: they are then no longer
            eigenfunctions, but number k is the function of the span that is like reference k.
            ``"none"`` does nothing.
    """
    check_choice("align", align, Align, BasisError)
    if references.shape != values.shape:
        raise BasisError(
            f"Alignment needs one reference for every function, at the same points: got values of "
            f"shape {values.shape} and references of shape {references.shape}."
        )
    if align == "none":
        return values
    overlaps = values.T @ (weights[:, None] * references)  # (modes, references)
    turned = np.empty_like(values)
    for start, stop in blocks(eigenvalues, align):
        block = overlaps[start:stop]
        rotation = nearest_rotation(block[:, _most_alike(block)])
        turned[:, start:stop] = values[:, start:stop] @ rotation
    return turned


def nearest_rotation(overlaps: Float[np.ndarray, "k k"]) -> Float[np.ndarray, "k k"]:
    """The orthogonal matrix nearest to a square one: its polar factor.

    What the references do not see is left as it was, as far as that is possible.
    """
    left, sizes, right = linalg.svd(overlaps)
    unseen = sizes <= _UNSEEN * max(1.0, float(sizes[0]))
    if not unseen.any():
        return left @ right
    free_left, free_right = left[:, unseen], right[unseen]
    inner_left, _, inner_right = linalg.svd(free_left.T @ free_right.T)
    seen = left[:, ~unseen] @ right[~unseen]
    return seen + free_left @ inner_left @ inner_right @ free_right


def blocks(eigenvalues: Float[np.ndarray, " modes"], align: Align) -> list[tuple[int, int]]:
    """Ranges of functions that are turned together."""
    count = len(eigenvalues)
    if align == "clusters":
        apart = np.diff(eigenvalues) > CLOSE * eigenvalues[1:]
        inner = (np.flatnonzero(apart) + 1).tolist()
    else:
        inner = [] if align == "span" else list(range(1, count))
    return list(pairwise([0, *inner, count]))


def _most_alike(block: Float[np.ndarray, "k references"]) -> np.ndarray:
    """In their order, the references of which a block of functions holds the most."""
    held = (block**2).sum(axis=0)
    return np.sort(np.argsort(-held, kind="stable")[: len(block)])
