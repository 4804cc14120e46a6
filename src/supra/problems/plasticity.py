"""Plasticity: a block of metal forged by a die of random shape."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from supra.problems.die import Die
from supra.problems.errors import ProblemError
from supra.problems.problem import Problem, Solution

if TYPE_CHECKING:
    from supra.problems.forging import Forging

LENGTH, HEIGHT = 50.0, 15.0  # mm
KNOTS = 8  # of the die, evenly spaced along the block
MILLIMETRES = 1e3  # in a metre


@dataclass(frozen=True)
class Plasticity(Problem):
    r"""A block of 50 mm × 15 mm, clamped at its bottom, pressed by a die that moves down.

    The die is rigid and frictionless. Its lower side is a piecewise cubic Hermite curve through
    eight knots, evenly spaced along the block, of heights uniform in [0, ``relief``]; it is level
    at the ends and beyond. It touches the block with its lowest point at time 0 and moves down at
    constant speed by ``travel``.

    The metal has E = 200 GPa, ν = 0.3, density 7850 kg/m³ and von Mises' yield stress
    :math:`70\,\text{MPa} + H\alpha` with the equivalent plastic strain α, H = 500 MPa: a soft iron,
    and enough for the flow not to localise in one row of elements. Plane stress, as in the public
    data: the block is a slice whose thickness is free, so its section need not keep its area.
    Strains exceed one, so they are finite: multiplicative elastoplasticity with logarithmic elastic
    strains, in which plastic flow keeps the volume exactly. See `elastoplastic`, and `forging` for
    the dynamics.

    A sample has ``input``, float32 of shape ``(101,)``: the height of the die above the block's
    bottom at time 0, over the nodes of the top; and ``output``, float32 of shape
    ``(101, 31, 20, 4)``, axes ``[i, j, t]``: x, y and the displacement from the start, in mm. As in
    the public data i runs from right to left, :math:`x_i = -i/2`, and j downwards from the die,
    :math:`y_j = 15 - j/2`. Time ``t`` is when the die has moved by ``(t + 1) / steps`` of its way.

    Attributes:
        resolution: elements across the height, a multiple of 3: the shape is
            ``(10 * resolution / 3 + 1, resolution + 1)``.
        steps: times stored.
        relief: largest height of the die's knots, mm.
        travel: of the die, mm.
        speed: of the die, m/s.
        hardening: H, MPa.
    """

    name: ClassVar[str] = "plasticity"

    resolution: int = 30
    steps: int = 20
    relief: float = 4.0
    travel: float = 6.0
    speed: float = 3.0
    hardening: float = 500.0

    def __post_init__(self) -> None:
        if not isinstance(self.resolution, int) or self.resolution < 3 or self.resolution % 3:
            raise ProblemError(
                "`resolution` counts elements across the height and must be a multiple of 3, so "
                f"that the elements are squares: got {self.resolution!r}."
            )
        if not isinstance(self.steps, int) or self.steps < 1:
            raise ProblemError(f"`steps` must be a whole number of at least 1: got {self.steps!r}.")
        for name in ("relief", "hardening"):
            if not 0 <= getattr(self, name) < np.inf:
                raise ProblemError(
                    f"`{name}` must be finite and not negative: got {getattr(self, name)}."
                )
        if not 0 < self.speed < np.inf:
            raise ProblemError(f"`speed` must be positive and finite: got {self.speed}.")
        if not 0 < self.travel < HEIGHT:
            raise ProblemError(
                f"`travel` must be positive and less than the block's height, {HEIGHT:g} mm: got "
                f"{self.travel}."
            )

    def solve(self, rng: np.random.Generator) -> Solution:
        """Draw a die and press the block with it."""
        die = self.die(rng)
        positions = self.forge(die).positions
        nx, ny = self.cells
        x, y = np.linspace(0, LENGTH, nx + 1), np.linspace(0, HEIGHT, ny + 1)
        start = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1)
        displacement = positions - start[:, :, None]
        placed = positions - [LENGTH, 0.0]  # the block's right end is at x = 0
        output = np.concatenate([placed, displacement], axis=-1)[::-1, ::-1]
        profile = die.profile(x)[::-1]
        return {"input": profile.astype(np.float32), "output": output.astype(np.float32)}

    @property
    def cells(self) -> tuple[int, int]:
        """Elements along the length and the height."""
        return 10 * self.resolution // 3, self.resolution

    def die(self, rng: np.random.Generator) -> Die:
        """A random die, its lowest point on the top of the block."""
        heights = self.relief * rng.random(KNOTS)
        return Die.from_knots(HEIGHT + heights - heights.min(), 0.0, LENGTH)

    def forge(self, die: Die) -> "Forging":
        """What a die does to the block; its left end is at x = 0."""
        # Here, because it needs numba.
        from supra.problems.elastoplastic import Material
        from supra.problems.forging import forge
        from supra.problems.sheet import Sheet

        material = Material(hardening=self.hardening)
        sheet = Sheet.from_rectangle(LENGTH, HEIGHT, self.cells, material.density)
        speed = self.speed * MILLIMETRES
        times = self.travel / speed * np.arange(1, self.steps + 1) / self.steps
        return forge(sheet, die, speed, times, material)
