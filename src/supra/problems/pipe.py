"""Steady flow through pipes of random shape."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float
from scipy.interpolate import CubicHermiteSpline

from supra.problems.errors import ProblemError
from supra.problems.incompressible import Flow, solve_channel_flow
from supra.problems.problem import Problem, Solution

LENGTH, WIDTH = 10.0, 1.0
CONTROL_NODES = 5
HEIGHT, SLOPE = 2.0, 1.0  # the largest at a control node, up or down
PEAK = 1.0  # of the inflow


@dataclass(frozen=True, eq=False)
class CentreLine:
    """The middle of a pipe: cubic pieces between equally spaced control nodes.

    Attributes:
        heights: y at the control nodes.
        slopes: dy/dx there.
    """

    heights: Float[np.ndarray, " nodes"]
    slopes: Float[np.ndarray, " nodes"]

    @classmethod
    def random(cls, rng: np.random.Generator) -> "CentreLine":
        """Independent uniform heights and slopes, but level at the inlet.

        There the walls must be along the inflow, which is horizontal.
        """
        heights = rng.uniform(-HEIGHT, HEIGHT, CONTROL_NODES)
        slopes = rng.uniform(-SLOPE, SLOPE, CONTROL_NODES)
        slopes[0] = 0
        return cls(heights, slopes)

    def __call__(self, x: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
        nodes = np.linspace(0, LENGTH, len(self.heights))
        return CubicHermiteSpline(nodes, self.heights, self.slopes)(x)

    def __str__(self) -> str:
        return f"heights {self.heights.round(4)} and slopes {self.slopes.round(4)}"


@dataclass(frozen=True)
class Pipe(Problem):
    r"""Steady incompressible flow in a curved pipe of length 10 and width 1:

    .. math:: u\cdot\nabla u + \nabla p - \nu\Delta u = 0, \qquad \nabla\cdot u = 0

    The centre line c is four cubic pieces through five control nodes, with heights uniform in
    [−2, 2] and slopes uniform in [−1, 1], the slope at the inlet zero. The pipe is a straight one
    whose sections move up and down: :math:`y = c(x) + s`, :math:`|s| \le 1/2`, so its width is
    measured vertically, and all sections have the same x.

    The inflow is :math:`u = (1 - 4s^2, 0)`; the fluid sticks to the walls and leaves freely,
    :math:`\nu\,\partial u/\partial n = p\,n`.

    A sample has ``X`` and ``Y``, float64, and ``Q`` = u_x, u_y, p, float32: ``[..., i, j]`` with
    i from the inlet to the outlet and j from the lower to the upper wall.

    Attributes:
        resolution: nodes along and across the pipe, an odd number: two cells make an element.
        viscosity: ν.
    """

    name: ClassVar[str] = "pipe"

    resolution: int = 129
    viscosity: float = 0.005

    def __post_init__(self) -> None:
        nodes = self.resolution
        if not isinstance(nodes, int) or nodes < 9 or nodes % 2 == 0:
            raise ProblemError(
                f"`resolution` counts nodes along and across the pipe and must be an odd whole "
                f"number of at least 9: got {nodes!r}."
            )
        if not (np.isfinite(self.viscosity) and self.viscosity > 0):
            raise ProblemError(f"`viscosity` must be finite and positive: got {self.viscosity}.")

    def points(self, centre: CentreLine) -> Float[np.ndarray, "along across 2"]:
        """The nodes of a pipe, evenly spaced in x and across."""
        x = np.linspace(0, LENGTH, self.resolution)[:, None]
        return np.stack(np.broadcast_arrays(x, centre(x[:, 0])[:, None] + self._across()), axis=-1)

    def flow(self, centre: CentreLine) -> Flow:
        """The flow through a pipe, float64."""
        held = np.zeros((2, self.resolution, self.resolution))
        held[0, 0] = PEAK * (1 - (2 * self._across() / WIDTH) ** 2)
        try:
            return solve_channel_flow(self.points(centre), held, self.viscosity)
        except ProblemError as error:
            raise ProblemError(f"No flow in the pipe with {centre}: {error}") from error

    def solve(self, rng: np.random.Generator) -> Solution:
        centre = CentreLine.random(rng)
        x, y = np.moveaxis(self.points(centre), -1, 0)
        flow = self.flow(centre)
        fields = np.stack([*flow.velocity, flow.pressure])
        return {"X": x.copy(), "Y": y.copy(), "Q": fields.astype(np.float32)}

    def _across(self) -> Float[np.ndarray, " across"]:
        return np.linspace(-WIDTH / 2, WIDTH / 2, self.resolution)
