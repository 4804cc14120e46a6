"""Flow through a random medium of two materials."""

from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from supra.basis import CosineBasis
from supra.domain import Grid
from supra.problems.elliptic import solve_darcy
from supra.problems.errors import ProblemError
from supra.problems.problem import Problem, Solution
from supra.problems.random_field import RandomField

LOW, HIGH = 3.0, 12.0
MODES = 421  # per axis: as many as the public data's own generator takes


@dataclass(frozen=True)
class Darcy(Problem):
    r"""Pressure of a flow driven by f = 1 through the unit square, u = 0 on its boundary:

    .. math:: -\nabla\cdot(a\nabla u) = 1, \qquad
              a = 12 \text{ where } \mu \ge 0, \text{ else } 3, \qquad
              \mu \sim N(0, (-\Delta + 9)^{-2})

    with free (Neumann) boundaries and no constant part in µ. The medium is a function: one seed
    gives the same medium at every resolution, seen at other points.

    A sample has ``coeff`` and ``sol``, float32, ``[i, j]`` at (x_i, y_j).

    Attributes:
        resolution: points per axis, the boundary included.
    """

    name: ClassVar[str] = "darcy"
    resolution: int = 421

    def __post_init__(self) -> None:
        if not isinstance(self.resolution, int) or self.resolution < 3:
            raise ProblemError(
                f"`resolution` counts points per axis, boundary included, and must be a whole "
                f"number of at least 3: got {self.resolution!r}."
            )

    def coefficient(self, rng: np.random.Generator) -> Float[np.ndarray, "x y"]:
        """A random medium."""
        shape = (self.resolution, self.resolution)
        field = medium_field().sample(rng, Grid(shape)).reshape(shape)
        return np.where(field >= 0, HIGH, LOW)

    def solve(self, rng: np.random.Generator) -> Solution:
        coefficient = self.coefficient(rng)
        solution = solve_darcy(coefficient, force=1.0)
        return {"coeff": coefficient.astype(np.float32), "sol": solution.astype(np.float32)}


@cache
def medium_field() -> RandomField:
    """The field whose sign chooses the material."""
    return RandomField(CosineBasis((MODES, MODES)), tau=3, alpha=2)
