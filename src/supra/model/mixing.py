"""Maps between functions that leave every mode by itself: one matrix per mode.

Attention has one map of the modes for all functions. Here it is the other way round, as in a
Fourier layer: every mode of a function takes that mode of all functions. They are called with the
basis, too, as `supra.model.spectral_mixing` needs it.
"""

from collections.abc import Sequence
from math import prod

import torch
from jaxtyping import Complex, Float
from torch import Tensor, nn

from supra.basis.sampled import Sampled
from supra.model.hats import hat_functions, interpolated

START = 0.1  # small beside the skip: a block begins near the identity
_DENSER = 1.5  # knots lie at powers of even steps: closer where waves are long


class ModeMixing(nn.Module):
    """A matrix between the functions for every mode, of any basis."""

    def __init__(self, width: int, modes: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(START * width**-0.5 * torch.randn(modes, width, width))

    def forward(
        self, coordinates: Float[Tensor, "batch channels modes"], basis: Sampled | None = None
    ) -> Float[Tensor, "batch channels modes"]:
        return torch.bmm(coordinates.permute(2, 0, 1), self.weight).permute(1, 2, 0)

    def extra_repr(self) -> str:
        modes, width, _ = self.weight.shape
        return f"width={width}, modes={modes}"


class WaveMixing(nn.Module):
    r"""A complex matrix between the functions for every wave of a Fourier basis.

    Cosine and sine of a frequency are the two parts of one wave, and a complex factor changes its
    size and place alike wherever it is: the map commutes with translations. Its coordinates are
    those of ``FourierBasis(counts, constant=True)``.

    Args:
        width: functions.
        counts: frequencies along each axis.
        knots: if given, there are matrices for so many frequencies along each axis only, and those
            of the waves in between are interpolated: similar waves share what they learn.
    """

    analysis: Tensor
    synthesis: Tensor
    shares: Tensor | None

    def __init__(self, width: int, counts: Sequence[int], knots: int | None = None) -> None:
        super().__init__()
        if knots is not None and knots < 2:
            raise ValueError(f"At least two `knots` are needed to interpolate: got {knots}.")
        self.counts = tuple(counts)
        analysis, synthesis = _matrices(self.counts)
        self.register_buffer("analysis", analysis.float(), persistent=False)
        self.register_buffer("synthesis", synthesis.float(), persistent=False)
        shares = None if knots is None else _shares(self.counts, knots)
        self.register_buffer("shares", shares, persistent=False)
        learned = len(analysis) // 2 if shares is None else shares.shape[1]
        self.weight = nn.Parameter(START * width**-0.5 * torch.randn(learned, width, 2 * width))

    @property
    def matrices(self) -> Float[Tensor, "waves width columns"]:
        """Of every wave, real and imaginary parts side by side."""
        return self.weight if self.shares is None else interpolated(self.shares, self.weight)

    def forward(
        self, coordinates: Float[Tensor, "batch channels modes"], basis: Sampled | None = None
    ) -> Float[Tensor, "batch channels modes"]:
        batch, channels, _ = coordinates.shape
        matrices = self.matrices
        waves = len(matrices)
        parts = (self.analysis @ coordinates.mT).view(batch, 2, waves, channels)
        given = parts.permute(2, 1, 0, 3).reshape(waves, 2 * batch, channels)
        products = torch.bmm(given, matrices).view(waves, 2, batch, 2, channels)
        products = products.permute(2, 1, 3, 0, 4).reshape(batch, 4 * waves, channels)
        return (self.synthesis @ products).mT

    def extra_repr(self) -> str:
        return f"width={self.weight.shape[1]}, counts={self.counts}"


def _matrices(
    counts: tuple[int, ...],
) -> tuple[Float[Tensor, "parts modes"], Float[Tensor, "modes products"]]:
    """Real and imaginary parts of the waves from coordinates, and coordinates from the products of
    parts and weights: real with real, real with imaginary, imaginary with real, and the last.
    """
    modes = [2 * count + 1 for count in counts]
    waves = _to_waves(torch.eye(prod(modes), dtype=torch.float64).unflatten(1, modes))
    analysis = torch.cat([waves.real.flatten(1), waves.imag.flatten(1)], dim=1)
    one = torch.eye(waves[0].numel(), dtype=waves.dtype).unflatten(1, waves.shape[1:])
    synthesis = torch.cat([_from_waves(factor * one) for factor in (1, 1j, 1j, -1)])
    return analysis.mT.contiguous(), synthesis.flatten(1).mT.contiguous()


def _shares(counts: tuple[int, ...], knots: int) -> Float[Tensor, "waves learned"]:
    """How much each learned matrix counts for each wave, in the order of `_to_waves`."""
    shares = torch.ones(1, 1)
    for axis, count in enumerate(counts):
        steps = torch.linspace(0, 1, min(knots, count + 1))
        along = hat_functions(torch.arange(count + 1.0), count * steps**_DENSER)
        # Beyond the first axis frequencies have two signs.
        shares = torch.kron(shares, along if axis == 0 else torch.block_diag(along, along))
    return shares


def _to_waves(
    coordinates: Float[Tensor, "batch *modes"],
) -> Complex[Tensor, "batch *waves"]:
    """Coefficients of ``exp(i(kx ± ly ± …))``, k and l from 0 up, from those of cos and sin.

    Along the first axis k is not negative: the rest is the conjugate.
    """
    cosine, sine = _pairs(coordinates, 1)
    waves = torch.complex(cosine, -sine)
    for axis in range(2, coordinates.ndim):
        cosine, sine = _pairs(waves, axis)
        waves = torch.cat([cosine - 1j * sine, cosine + 1j * sine], dim=axis)
    return waves


def _from_waves(waves: Complex[Tensor, "batch *waves"]) -> Float[Tensor, "batch *modes"]:
    for axis in reversed(range(2, waves.ndim)):
        plus, minus = waves.chunk(2, dim=axis)
        waves = _interleaved((plus + minus) / 2, (plus - minus) * 0.5j, axis)
    return _interleaved(waves.real, -waves.imag, 1)


def _pairs(array: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """Cosines from frequency 0 and sines, 0 at frequency 0, from ``1, cos 1, sin 1, cos 2, …``."""
    array = array.movedim(axis, 0)
    cosine, sine = torch.cat([array[:1], array[1::2]]), torch.cat([0 * array[:1], array[2::2]])
    return cosine.movedim(0, axis), sine.movedim(0, axis)


def _interleaved(cosine: Tensor, sine: Tensor, axis: int) -> Tensor:
    """The order of the basis again; what came out for the sine of frequency 0 is dropped."""
    pairs = torch.stack([cosine, sine], dim=axis + 1).flatten(axis, axis + 1)
    return torch.cat([pairs.narrow(axis, 0, 1), pairs.narrow(axis, 2, pairs.shape[axis] - 2)], axis)
