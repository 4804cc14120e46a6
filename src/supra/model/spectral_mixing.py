"""A map between functions that depends on the eigenvalue: one operator for domains of any shape."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from supra.basis.sampled import Sampled
from supra.model.mixing import START

_CLOSEST = 1e-3  # distance of knots relative to the last one, at least


class SpectralMixing(nn.Module):
    r"""A matrix between the functions for every eigenvalue: coordinate k is mapped by W(λ_k).

    With eigenfunctions of each sample's own domain, mode number k of two samples is not one and the
    same function: signs differ, eigenvalues move and change places. What the two have in common is
    the Laplacian. This is a function :math:`W(-\Delta)` of it, so neither signs, nor the order of
    the functions, nor turns among those of one eigenvalue make a difference, and one W solves
    :math:`-\Delta u + u = f` on all domains.

    The basis has to carry its eigenvalues: `SampledBasis.with_eigenvalues`.

    Args:
        width: functions.
        knots: wave numbers :math:`\sqrt\lambda` between which W is linear, ascending; beyond the
            ends it is constant. See `knots_of`.
    """

    knots: Tensor

    def __init__(self, width: int, knots: Float[Tensor, " knots"]) -> None:
        super().__init__()
        self.register_buffer("knots", knots.to(torch.get_default_dtype()), persistent=False)
        self.weight = nn.Parameter(START * width**-0.5 * torch.randn(len(knots), width, width))

    def forward(
        self, coordinates: Float[Tensor, "batch channels modes"], basis: Sampled
    ) -> Float[Tensor, "batch channels modes"]:
        eigenvalues = getattr(basis, "eigenvalues", None)
        if eigenvalues is None:
            raise ValueError(
                "A map that depends on eigenvalues needs a basis that carries them: use "
                "basis.with_eigenvalues(eigenvalues)."
            )
        shares = hat_functions(eigenvalues.clamp_min(0).sqrt(), self.knots)
        # (…, modes, knots) @ (knots, width²) -> a matrix for every mode, of each sample or of all
        matrices = (shares @ self.weight.flatten(1)).unflatten(-1, self.weight.shape[1:])
        if matrices.ndim == 3:
            return torch.bmm(coordinates.permute(2, 0, 1), matrices).permute(1, 2, 0)
        return (coordinates.mT.unsqueeze(2) @ matrices).squeeze(2).mT

    def extra_repr(self) -> str:
        count, width, _ = self.weight.shape
        return f"width={width}, knots={count}"


def knots_of(eigenvalues: Float[Tensor, " modes"]) -> Float[Tensor, " knots"]:
    """Wave numbers at every second of a typical domain's eigenvalues, and at the last."""
    waves = eigenvalues.clamp_min(0).sqrt()
    knots = torch.cat([waves[:-1:2], waves[-1:]])
    # Repeated eigenvalues would give knots at one place.
    steps = torch.arange(len(knots)).to(knots)
    return knots.cummax(0).values + _CLOSEST * waves[-1] * steps


def hat_functions(
    places: Float[Tensor, "*shape"], knots: Float[Tensor, " knots"]
) -> Float[Tensor, "*shape knots"]:
    """How much each knot counts at a place: linear from knot to knot, all together 1."""
    ramps = ((places.unsqueeze(-1) - knots[:-1]) / knots.diff()).clamp(0, 1)
    one, zero = torch.ones_like(ramps[..., :1]), torch.zeros_like(ramps[..., :1])
    return torch.cat([one, ramps], dim=-1) - torch.cat([ramps, zero], dim=-1)
