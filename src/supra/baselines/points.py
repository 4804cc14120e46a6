"""What the compared networks ask of the points they are given: a grid, padding, right sizes."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from supra.basis.sampled import Sampled


def grid_shape(basis: Sampled) -> tuple[int, int] | None:
    """Points along both axes, where the points are those of a grid of two axes in C order."""
    if basis.shape is None or len(basis.shape) != 2:
        return None
    first, second = basis.shape
    return first, second


def real_points(basis: Sampled) -> Bool[Tensor, "batch points"] | None:
    """Which points of each sample are not padding; None where all samples share their points."""
    return None if basis.weights.ndim == 1 else basis.weights != 0


def softmax_over_points(
    scores: Float[Tensor, "batch points modes"], real: Bool[Tensor, "batch points"] | None
) -> Float[Tensor, "batch points modes"]:
    """Weights that sum to one over the real points of each sample; padded points have 0."""
    if real is not None:
        scores = scores.masked_fill(~real[..., None], -torch.inf)
    return scores.softmax(dim=1)


def check_sizes(in_channels: int, space: int, width: int, heads: int) -> None:
    """The constructor's numbers fit together."""
    if heads < 1 or width < 1 or width % heads:
        raise ValueError(
            f"`width` must be a multiple of `heads`: got width={width}, heads={heads}."
        )
    if space < 1 or in_channels < space:
        raise ValueError(
            f"The last `space` of the `in_channels` are positions: got in_channels={in_channels}, "
            f"space={space}."
        )


def check_positive(**sizes: int) -> None:
    """Every number is at least one."""
    for name, size in sizes.items():
        if size < 1:
            raise ValueError(f"`{name}` must be at least 1: got {name}={size}.")
