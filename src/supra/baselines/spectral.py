"""Convolution by Fourier coefficients, on a grid of two axes."""

import torch
from jaxtyping import Complex, Float
from torch import Tensor, nn

from supra.baselines.points import check_positive


class SpectralConvolution(nn.Module):
    r"""A convolution given by the Fourier coefficients of its kernel, up to a frequency.

    .. math:: (\mathcal K u)(x) = \mathrm{Re} \sum_{k_1=-m}^{m-1} \sum_{k_2=0}^{m-1}
        c_{k_2} R_k\, \hat u(k)\, e^{2\pi i k \cdot x}, \qquad c_0 = 1,\ c_{k_2} = 2

    with one complex matrix :math:`R_k` per frequency; negative :math:`k_2` follow by symmetry.
    The coefficients are those of the function, not of its samples, so the same weights serve any
    resolution. Cost: points × log(points) per channel.

    Args:
        in_channels: functions before.
        out_channels: functions after.
        modes: frequencies per axis and direction, :math:`m`.
    """

    def __init__(self, in_channels: int, out_channels: int, modes: int) -> None:
        super().__init__()
        check_positive(modes=modes)
        self.modes = modes
        # Real and imaginary parts alternate along the last axis: optimisers see real matrices.
        start = torch.rand(2 * modes, modes, in_channels, 2 * out_channels)
        self.weight = nn.Parameter(start / (in_channels * out_channels))

    def forward(
        self, fields: Float[Tensor, "batch rows columns in_channels"]
    ) -> Float[Tensor, "batch rows columns out_channels"]:
        rows, columns = fields.shape[1:3]
        self._check(rows, columns)
        if fields.dtype in (torch.bfloat16, torch.float16):  # there is no such Fourier transform
            fields = fields.float()
        coefficients = self._low(torch.fft.rfft2(fields, dim=(1, 2), norm="forward"))
        kernel = torch.view_as_complex(self.weight.unflatten(-1, (-1, 2)))
        mixed = torch.einsum("bxyi,xyio->bxyo", coefficients, kernel)
        full = self._with_high(mixed, rows)
        return torch.fft.irfft2(full, s=(rows, columns), dim=(1, 2), norm="forward")

    def _low(
        self, coefficients: Complex[Tensor, "batch rows half in_channels"]
    ) -> Complex[Tensor, "batch kept modes in_channels"]:
        """Both corner blocks, :math:`0 … m-1` and :math:`-m … -1` along the first axis."""
        m = self.modes
        return torch.cat([coefficients[:, :m, :m], coefficients[:, -m:, :m]], dim=1)

    def _with_high(
        self, low: Complex[Tensor, "batch kept modes out_channels"], rows: int
    ) -> Complex[Tensor, "batch rows modes out_channels"]:
        """Zeros for the high frequencies of the first axis; the transform fills the second."""
        m = self.modes
        zeros = low.new_zeros(len(low), rows - 2 * m, *low.shape[2:])
        return torch.cat([low[:, :m], zeros, low[:, m:]], dim=1)

    def _check(self, rows: int, columns: int) -> None:
        if torch.compiler.is_compiling():
            return
        most = min(rows // 2, columns // 2 + 1)
        if self.modes > most:
            raise ValueError(
                f"A grid of {rows} × {columns} points resolves at most {most} Fourier modes per "
                f"axis: got modes={self.modes}."
            )

    def extra_repr(self) -> str:
        return f"{self.weight.shape[2]}, {self.weight.shape[3] // 2}, modes={self.modes}"


class FourierLayer(nn.Module):
    r""":math:`\mathcal K u + W u + b`: a spectral convolution and a map at each point."""

    def __init__(self, in_channels: int, out_channels: int, modes: int) -> None:
        super().__init__()
        self.convolution = SpectralConvolution(in_channels, out_channels, modes)
        self.skip = nn.Linear(in_channels, out_channels)

    def forward(
        self, fields: Float[Tensor, "batch rows columns in_channels"]
    ) -> Float[Tensor, "batch rows columns out_channels"]:
        return self.convolution(fields) + self.skip(fields)
