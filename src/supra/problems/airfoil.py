"""Airfoil: steady transonic flow past a profile with random displacements."""

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from supra.problems.c_grid import CGrid
from supra.problems.cell_mesh import CellMesh
from supra.problems.errors import ProblemError
from supra.problems.gas import GAMMA, NoSteadyStateError, free_stream, mach_number
from supra.problems.naca import CONTROL_NODES
from supra.problems.node_values import node_values
from supra.problems.problem import Problem, Solution

DRAWS = 5  # sets of displacements drawn for one sample before giving up


@dataclass(frozen=True)
class Airfoil(Problem):
    r"""Steady Euler flow past NACA-0012 deformed by eight control nodes, on a C-grid.

    :math:`\nabla\cdot F(U) = 0` with a slip wall on the profile and the free stream far away, in
    units where the free stream has density 1 and pressure 1: its speed is
    :math:`M_\infty\sqrt\gamma`, 0.9466 for Mach 0.8 and γ = 1.4. The first control node stays
    where it is, the others move up or down by uniformly distributed displacements.

    A sample has the nodes ``X``, ``Y`` (along the C, outwards), at them ``Q`` = density, velocity
    (2), pressure and Mach number, and the displacements ``theta``.

    Attributes:
        mach: Mach number of the free stream.
        incidence: its angle to the chord, in degrees.
        amplitude: largest displacement of a control node, in chords.
        around: cells around the profile.
        wake: cells behind it, on each side.
        outwards: cells from the profile to the far field.
        radius: chords from the profile to the outer boundary.
        tolerance: to what part of its start the residual must fall.
    """

    name: ClassVar[str] = "airfoil"

    mach: float = 0.8
    incidence: float = 0.0
    amplitude: float = 0.05
    around: int = 120
    wake: int = 50
    outwards: int = 50
    radius: float = 40.0
    tolerance: float = 1e-8

    def __post_init__(self) -> None:
        _ = self.grid  # checks its own numbers
        if not self.mach > 0:
            raise ProblemError(f"`mach` must be positive: got {self.mach}.")
        if not 0 <= self.amplitude < 0.1:
            raise ProblemError(
                "`amplitude` must be at least 0 and less than 0.1, where control nodes can meet "
                f"and the profile folds: got {self.amplitude}."
            )
        if not 1e-10 <= self.tolerance <= 1e-3:
            raise ProblemError(f"`tolerance` must be between 1e-10 and 1e-3: got {self.tolerance}.")

    @property
    def grid(self) -> CGrid:
        """The numbers of cells and the extent, as the grid's own."""
        return CGrid(self.around, self.wake, self.outwards, self.radius)

    def solve(self, rng: np.random.Generator) -> Solution:
        """Random displacements and their flow; where it is not found, others are drawn."""
        for _ in range(DRAWS - 1):
            try:
                return self.flow(self._displacements(rng))
            except NoSteadyStateError as error:
                warnings.warn(f"{error} Others are drawn.", stacklevel=2)
        return self.flow(self._displacements(rng))

    def flow(self, theta: Float[np.ndarray, " 8"]) -> Solution:
        """The sample with given displacements of the control nodes."""
        # numba is an extra and slow to load: only who solves needs it.
        from supra.problems.steady_euler import steady_flow

        points = self.grid.points(theta)
        mesh = CellMesh.from_grid(points, self.wake)
        try:
            cells = steady_flow(mesh, free_stream(self.mach, self.incidence), self.tolerance)
        except NoSteadyStateError as error:
            raise NoSteadyStateError(f"{error} Displacements: {theta.tolist()}.") from None
        nodes = node_values(points, mesh.centres, cells, self.wake)
        return {
            "X": points[..., 0].copy(),
            "Y": points[..., 1].copy(),
            "Q": np.concatenate([nodes, mach_number(nodes)[None]]),
            "theta": theta,
        }

    def lift_and_drag(self, sample: Solution) -> tuple[float, float]:
        """Coefficients of the pressure's force on the profile, across and along the free stream."""
        profile = slice(self.wake, self.wake + self.around + 1)
        x, y, p = sample["X"][profile, 0], sample["Y"][profile, 0], sample["Q"][3, profile, 0]
        pressure = (p[1:] + p[:-1]) / (GAMMA * self.mach**2)  # mean, over the dynamic pressure
        back, up = -pressure @ np.diff(y), pressure @ np.diff(x)
        angle = np.deg2rad(self.incidence)
        lift = up * np.cos(angle) - back * np.sin(angle)
        return float(lift), float(back * np.cos(angle) + up * np.sin(angle))

    def _displacements(self, rng: np.random.Generator) -> Float[np.ndarray, " 8"]:
        theta = rng.uniform(-self.amplitude, self.amplitude, CONTROL_NODES)
        theta[0] = 0  # as in the public data: else a shift of all nodes would be counted twice
        return theta
