"""A map between functions that depends on the eigenvalue: one operator for all domains."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from supra.basis.sampled import Sampled
from supra.model.hats import hat_functions, interpolated
from supra.model.mixing import START

_CLOSEST = 1e-3  # distance of knots relative to the last one, at least
_TINY = 1e-6  # the same where all eigenvalues are 0, as of a mesh's separate parts


class SpectralMixing(nn.Module):
    r"""A matrix between the functions for every eigenvalue: coordinate k is mapped by W(λ_k).

    With eigenfunctions of each sample's own domain, mode number k of two samples is not one and the
    same function: signs differ, eigenvalues move and change places. What the two have in common is
    the Laplacian. This is a function :math:`W(-\Delta)` of it, so neither signs, nor the order of
    the functions, nor turns among those of one eigenvalue make a difference, and one W solves
    :math:`-\Delta u + u = f` on all domains.

    On one domain, too, neighbouring eigenvalues want similar matrices, and share what they learn.

    Args:
        width: functions.
        knots: wave numbers :math:`\sqrt\lambda` between which W is linear, ascending; beyond the
            ends it is constant. See `knots_of`.
        eigenvalues: where all samples have the same functions; else every basis has to carry its
            own (`SampledBasis.with_eigenvalues`).
    """

    knots: Tensor
    shares: Tensor | None

    def __init__(
        self,
        width: int,
        knots: Float[Tensor, " knots"],
        eigenvalues: Float[Tensor, " modes"] | None = None,
    ) -> None:
        super().__init__()
        self.register_buffer("knots", knots.to(torch.get_default_dtype()), persistent=False)
        shares = None if eigenvalues is None else self._shares(eigenvalues.to(self.knots))
        self.register_buffer("shares", shares, persistent=False)
        self.weight = nn.Parameter(START * width**-0.5 * torch.randn(len(knots), width, width))

    def forward(
        self, coordinates: Float[Tensor, "batch channels modes"], basis: Sampled
    ) -> Float[Tensor, "batch channels modes"]:
        shares = self.shares
        if shares is None:
            eigenvalues = getattr(basis, "eigenvalues", None)
            if eigenvalues is None:
                raise ValueError(
                    "A map that depends on eigenvalues needs a basis that carries them: use "
                    "basis.with_eigenvalues(eigenvalues)."
                )
            shares = self._shares(eigenvalues)
        matrices = interpolated(shares, self.weight)  # of each mode, for all samples or each
        if matrices.ndim == 3:
            return torch.bmm(coordinates.permute(2, 0, 1), matrices).permute(1, 2, 0)
        return (coordinates.mT.unsqueeze(2) @ matrices).squeeze(2).mT

    def _shares(self, eigenvalues: Float[Tensor, "*batch modes"]) -> Tensor:
        return hat_functions(eigenvalues.clamp_min(0).sqrt(), self.knots)

    def extra_repr(self) -> str:
        count, width, _ = self.weight.shape
        return f"width={width}, knots={count}"


def knots_of(eigenvalues: Float[Tensor, " modes"]) -> Float[Tensor, " knots"]:
    """Wave numbers at every second of a typical domain's eigenvalues, and at the last."""
    waves = eigenvalues.clamp_min(0).sqrt()
    knots = torch.cat([waves[:-1:2], waves[-1:]])
    # Repeated eigenvalues would give knots at one place.
    steps = torch.arange(len(knots)).to(knots)
    return knots.cummax(0).values + (_CLOSEST * waves[-1]).clamp_min(_TINY) * steps
