"""The Fourier neural operator (Li et al. 2021), on grids of two axes."""

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import gelu, pad

from supra.baselines.network import Network
from supra.baselines.points import check_positive, grid_shape
from supra.baselines.spectral import FourierLayer
from supra.basis.sampled import Sampled

_HEAD = 128  # hidden width of the last map


class FNO(Network):
    r"""Lifting, Fourier layers, and a projection to the output functions.

    .. math:: u_{l+1} = \sigma(\mathcal K_l u_l + W_l u_l + b_l)

    with :math:`\mathcal K_l` a convolution by Fourier coefficients and :math:`\sigma` GELU, left
    out after the last layer. No norms: the block as first published.

    Args:
        in_channels: input functions, positions included.
        out_channels: output functions.
        space: number of position channels; they are read like any other input.
        width: functions inside the network.
        depth: number of Fourier layers.
        modes: frequencies per axis and direction.
        padding: zeros appended to both axes of the lifted functions, for domains that are not
            periodic; the authors take 9 for 85 points.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        space: int = 2,
        width: int = 32,
        depth: int = 4,
        modes: int = 12,
        padding: int = 0,
    ) -> None:
        super().__init__(in_channels, out_channels)
        check_positive(width=width, depth=depth, modes=modes)
        if padding < 0:
            raise ValueError(f"`padding` counts points and cannot be negative: got {padding}.")
        self.modes, self.padding = modes, padding
        self.lift = nn.Linear(in_channels, width)
        self.layers = nn.ModuleList(FourierLayer(width, width, modes) for _ in range(depth))
        self.project = nn.Sequential(
            nn.Linear(width, _HEAD), nn.GELU(), nn.Linear(_HEAD, out_channels)
        )

    def forward(
        self, inputs: Float[Tensor, "batch points in_channels"], basis: Sampled
    ) -> Float[Tensor, "batch points out_channels"]:
        self.check_inputs(inputs, basis)
        rows, columns = _grid(basis)
        grid = self.lift(inputs).unflatten(1, (rows, columns))
        grid = self._layered(pad(grid, (0, 0, 0, self.padding, 0, self.padding)))
        return self.project(grid[:, :rows, :columns].flatten(1, 2))

    def _layered(
        self, grid: Float[Tensor, "batch rows columns channels"]
    ) -> Float[Tensor, "batch rows columns channels"]:
        for number, layer in enumerate(self.layers):
            grid = layer(grid if number == 0 else gelu(grid))
        return grid

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, modes={self.modes}, padding={self.padding}"


def _grid(basis: Sampled) -> tuple[int, int]:
    shape = grid_shape(basis)
    if shape is None:
        where = "no grid" if basis.shape is None else f"a grid of {len(basis.shape)} axes"
        raise ValueError(f"A Fourier neural operator needs a grid of two axes: got {where}.")
    return shape
