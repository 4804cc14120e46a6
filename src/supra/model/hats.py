"""Interpolation between knots, by hat functions."""

import torch
from jaxtyping import Float
from torch import Tensor


def hat_functions(
    places: Float[Tensor, "*shape"], knots: Float[Tensor, " knots"]
) -> Float[Tensor, "*shape knots"]:
    """How much each knot counts at a place: linear from knot to knot, all together 1."""
    ramps = ((places.unsqueeze(-1) - knots[:-1]) / knots.diff()).clamp(0, 1)
    one = torch.ones_like(places).unsqueeze(-1)
    zero = torch.zeros_like(one)
    return torch.cat([one, ramps], dim=-1) - torch.cat([ramps, zero], dim=-1)


def interpolated(
    shares: Float[Tensor, "*shape knots"], matrices: Float[Tensor, "knots rows columns"]
) -> Float[Tensor, "*shape rows columns"]:
    """The matrices of all places from those at the knots: one product."""
    return (shares @ matrices.flatten(1)).unflatten(-1, matrices.shape[1:])
