r"""Forging: a sheet clamped at its bottom, pressed by a die from above, in explicit dynamics.

.. math:: \rho\, \ddot x = \nabla_X \cdot P + \text{contact}

The leapfrog (central differences) with lumped masses, each step as long as the deformed elements
let it be stable: many cheap steps and no systems to solve. A die at 3 m/s is slow against waves
at 5 km/s, so the motion stays close to equilibrium: kinetic energy is below a hundredth of the
plastic work.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from supra.problems.compiled import compiled
from supra.problems.contact import pushed_out
from supra.problems.die import Die
from supra.problems.elastoplastic import Material, Moduli, moduli
from supra.problems.errors import ProblemError
from supra.problems.sheet import Sheet, energies, set_forces, weigh

STEPS_BETWEEN = 20  # looks at the stable step
SHORTEST = 0.8  # of the first step: the few elements that need a shorter one are made heavier
TIME, LAST_STEP, WORK, IMPULSE = range(4)  # entries of the clock, which the loops hand on


class Press(NamedTuple):
    """What acts on a sheet.

    Attributes:
        die: that moves down.
        speed: of the die.
        touching: the nodes that may meet the die.
        clamped: how many nodes are held fast: the first ones, row by row from the bottom.
        courant: a step over the longest stable one; less than 1, because elements shrink by a
            hundredth until that is looked at again.
    """

    die: Die
    speed: float
    touching: Int[np.ndarray, " touching"]
    clamped: int
    courant: float = 0.9


@dataclass(frozen=True, eq=False)
class Forging:
    """What happened to a block.

    Attributes:
        positions: of the nodes by column and row, the lowest row first, at the output times.
        force: of the die on the block, downwards, mean since the output time before.
        work: of the die up to each output time.
        energy: kinetic, elastic, and plastic work, at the output times.
        sheet: the block at the end.
    """

    positions: Float[np.ndarray, "columns rows t 2"]
    force: Float[np.ndarray, " t"]
    work: Float[np.ndarray, " t"]
    energy: Float[np.ndarray, "t 3"]
    sheet: Sheet


def forge(
    sheet: Sheet, die: Die, speed: float, times: Float[np.ndarray, " t"], material: Material
) -> Forging:
    """Press a sheet, clamped at its bottom row, through ascending output ``times``.

    The die begins to move at time 0. The sheet is changed in place.

    Raises:
        ProblemError: elements were crushed.
    """
    return follow(sheet, Press(die, speed, sheet.outline, sheet.cells[0] + 1), times, material)


def follow(
    sheet: Sheet, press: Press, times: Float[np.ndarray, " t"], material: Material
) -> Forging:
    """As `forge`, but by any press: a body may also be free, or pressed elsewhere."""
    law = moduli(material)
    shortest = SHORTEST * weigh(sheet, law, 0.0)
    clock = np.zeros(4)
    positions, clocks, energy = [], [clock.copy()], []
    for time in times:
        alive = advance(sheet, press, law, clock, float(time), shortest)
        if not (alive and np.isfinite(sheet.position).all()):
            raise ProblemError(_crushed(sheet, press, material, clock))
        positions.append(sheet.grid)
        clocks.append(clock.copy())
        energy.append(energies(sheet, law))
    readings = np.array(clocks)
    return Forging(
        positions=np.stack(positions, axis=2),
        force=np.diff(readings[:, IMPULSE]) / np.diff(readings[:, TIME]),
        work=readings[1:, WORK],
        energy=np.array(energy),
        sheet=sheet,
    )


def _crushed(sheet: Sheet, press: Press, material: Material, clock: np.ndarray) -> str:
    nx, ny = sheet.cells
    return (
        f"Elements were crushed at time {clock[TIME]:.3e}, when the die had moved down by "
        f"{press.speed * clock[TIME]:.2f}: {nx} × {ny} elements, die through the heights "
        f"{np.round(press.die.heights, 3).tolist()}, {material}. Use a die of less "
        "relief or travel, or a material that hardens more."
    )


@compiled
def advance(
    sheet: Sheet, press: Press, law: Moduli, clock: np.ndarray, until: float, shortest: float
) -> bool:
    """Go on from the clock's time to ``until``; False if an element folds."""
    while clock[TIME] < until:
        longest = press.courant * weigh(sheet, law, shortest)
        if longest <= 0:
            return False
        left = until - clock[TIME]
        count = max(int(np.ceil(left / longest)), 1)
        for _ in range(min(count, STEPS_BETWEEN)):
            step(sheet, press, law, clock, left / count)
        if count <= STEPS_BETWEEN:
            clock[TIME] = until  # without the rounding of the sum
    return True


@compiled
def step(sheet: Sheet, press: Press, law: Moduli, clock: np.ndarray, duration: float) -> None:
    """One step of the leapfrog; velocities are half-way between the positions."""
    set_forces(sheet, law)
    kick = 0.5 * (clock[LAST_STEP] + duration)
    for axis in range(2):
        for node in range(press.clamped, len(sheet.mass)):
            sheet.velocity[axis, node] += kick * sheet.force[axis, node] / sheet.mass[node]
            sheet.position[axis, node] += duration * sheet.velocity[axis, node]
    clock[TIME] += duration
    clock[LAST_STEP] = duration
    meet(sheet, press, clock)


@compiled
def meet(sheet: Sheet, press: Press, clock: np.ndarray) -> None:
    """Push the nodes out of the die, and count the impulse and the work that takes."""
    travel = press.speed * clock[TIME]
    over = 1 / clock[LAST_STEP]
    for node in press.touching:
        x, y = sheet.position[0, node], sheet.position[1, node]
        new_x, new_y = pushed_out(press.die, travel, x, y)
        sheet.position[0, node], sheet.position[1, node] = new_x, new_y
        sheet.velocity[0, node] += (new_x - x) * over
        sheet.velocity[1, node] += (new_y - y) * over
        impulse = sheet.mass[node] * (y - new_y) * over
        clock[IMPULSE] += impulse
        clock[WORK] += impulse * press.speed
