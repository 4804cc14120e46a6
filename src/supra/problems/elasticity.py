"""Elasticity: a sheet of rubber with a hole of random shape, pulled at its top."""

import warnings
from dataclasses import dataclass
from math import pi
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from supra.problems.equilibrium import Equilibrium, NoEquilibriumError, find_equilibrium
from supra.problems.errors import ProblemError
from supra.problems.hole import Hole
from supra.problems.problem import Problem, Solution
from supra.problems.rubber import Rubber, von_mises
from supra.problems.solid import Places, Solid
from supra.problems.unit_cell import UnitCell

RUBBER = Rubber(c1=1.863e5, c2=9.79e3)
ANGLES = 42  # at which the radius is stored; the last is the first again
PER_BLOCK = 12  # blocks around the hole for each one outwards
DRAWS = 5  # holes drawn for one sample before giving up


@dataclass(frozen=True, eq=False)
class PulledCell:
    """A cell in equilibrium.

    Attributes:
        cell: its mesh and boundary.
        solid: it undeformed.
        equilibrium: displacements and forces of its nodes.
    """

    cell: UnitCell
    solid: Solid
    equilibrium: Equilibrium

    def stress(self, places: Places) -> Float[np.ndarray, "places 2 2"]:
        """Cauchy's stress, force per deformed area."""
        gradient = self.solid.gradient(self.equilibrium.displacement, places)
        return self.solid.law.cauchy(gradient)


@dataclass(frozen=True)
class Elasticity(Problem):
    r"""The unit cell :math:`[0,1]^2` with a void, clamped at its bottom, its top pulled upwards:

    .. math:: \nabla\cdot P = 0, \qquad P = \partial w/\partial F, \qquad
              w = C_1(I_1 - 3) + C_2(I_2 - 3)

    with C₁ = 1.863e5, C₂ = 9.79e3 in incompressible rubber. The void is a random `Hole` about the
    middle, of radius 0.2 to 0.4. Its edge and the sides are free; on the top acts the dead load
    (0, ``traction``) per undeformed length.

    *Plane stress.* The constants are those of a plane-stress rubber in NNFEM, the finite-element
    code of the public set's authors. With incompressibility, the sheet's thickness follows from
    its area and the pressure from σ₃₃ = 0, both in closed form, so that displacements are the only
    unknowns; see `Rubber`. Plane strain would need a pressure, and elements that do not lock.

    *Finite deformation*, exactly: all derivatives and the load refer to the undeformed cell. A
    traction of 100 is 1e-4 of Young's modulus 6 (C₁ + C₂), though. Strains stay about a thousandth,
    and the stress is close to that of linear elasticity with ν = ½, whatever C₁ and C₂ are. Take a
    ``traction`` of 1e4 and more to see what is not linear.

    *The stress scalar* is von Mises' of Cauchy's stress: one number that rotations do not change,
    and what the authors' other set of this name holds. At these strains other stress measures
    give the same to a few thousandths.

    *The points* are the 3 × 3 Gauss points of n × 12 n blocks of an O-grid, 972 for n = 3. So they
    must be in the public set, which has about a hundred quadratic elements: 972 = 9 · 108. Ours
    have an order, too: ``XY.reshape(3 * n, 36 * n, 2)`` are rings around the hole, the innermost
    first, each counterclockwise from the lower right corner.

    A sample has ``XY``, float64 of shape ``(points, 2)``, the undeformed positions; ``sigma``,
    float32 of shape ``(points,)``; and ``rr``, float32 of shape ``(42,)``, the hole's radius at
    angles from 0 to 2π, both included.

    Attributes:
        resolution: blocks between the hole and the square, n: 108 n² points.
        refinement: elements along each side of a block, an odd number, so that no point lies
            between elements.
        traction: on the top, in the units of C₁.
    """

    name: ClassVar[str] = "elasticity"

    resolution: int = 3
    refinement: int = 3
    traction: float = 100.0

    def __post_init__(self) -> None:
        for name, limit in (("resolution", 1), ("refinement", 1)):
            value = getattr(self, name)
            if not isinstance(value, int) or value < limit:
                raise ProblemError(
                    f"`{name}` must be a whole number of at least {limit}: got {value!r}."
                )
        if self.refinement % 2 == 0:
            raise ProblemError(
                f"`refinement` must be odd, so that no point lies between elements: got "
                f"{self.refinement}."
            )
        if not 0 < self.traction < np.inf:
            raise ProblemError(f"`traction` must be positive and finite: got {self.traction}.")

    @property
    def blocks(self) -> tuple[int, int]:
        """Blocks outwards and around."""
        return self.resolution, PER_BLOCK * self.resolution

    def solve(self, rng: np.random.Generator) -> Solution:
        """A random hole and its stress; where no equilibrium is found, another one is drawn."""
        for _ in range(DRAWS - 1):
            try:
                return self.sample_of(Hole.random(rng))
            except NoEquilibriumError as error:
                warnings.warn(f"{error} Another one is drawn.", stacklevel=2)
        return self.sample_of(Hole.random(rng))

    def sample_of(self, hole: Hole) -> Solution:
        """The sample with a given hole."""
        pulled = self.pull(hole)
        places = pulled.cell.gauss_grid(self.blocks)
        stress = von_mises(pulled.stress(places))
        return {
            "XY": pulled.solid.positions(places),
            "sigma": stress.astype(np.float32),
            "rr": hole.radius(np.linspace(0, 2 * pi, ANGLES)).astype(np.float32),
        }

    def pull(self, hole: Hole) -> PulledCell:
        """A cell with a given hole in equilibrium, float64."""
        outwards, around = (self.refinement * count for count in self.blocks)
        cell = UnitCell(hole.radius, around, outwards)
        solid = cell.solid(RUBBER)
        try:
            found = find_equilibrium(solid, cell.pull(self.traction), cell.clamped)
        except NoEquilibriumError as error:
            raise NoEquilibriumError(f"The hole with {hole}: {error}") from error
        return PulledCell(cell, solid, found)
