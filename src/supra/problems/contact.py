"""Frictionless contact of nodes with a die, as compiled loops.

A node that would be inside the die at the end of a step is put on its surface, along the surface's
normal. That takes the force which is needed and no more: it only ever pushes, never pulls, and
leaves no penetration. What a node of mass m loses when it is first met by the die is the energy of
a plastic impact, which goes to zero with the mass, that is, with the mesh.
"""

import numpy as np

from supra.problems.compiled import compiled
from supra.problems.die import Die

PROJECTIONS = 3  # Newton steps to the surface: one step of time goes in by 1e-4 of the curvature


@compiled
def surface(die: Die, x: float) -> tuple[float, float]:
    """Height and slope of the die at ``x``, before it moves."""
    last = len(die.heights) - 1
    position = (x - die.left) / die.spacing
    cell = min(max(int(np.floor(position)), 0), last - 1)
    s = min(max(position - cell, 0.0), 1.0)
    a, b = die.spacing * die.slopes[cell], die.spacing * die.slopes[cell + 1]
    rise = die.heights[cell + 1] - die.heights[cell]
    square, cube = 3 * rise - 2 * a - b, a + b - 2 * rise
    slope = a + s * (2 * square + 3 * s * cube)
    height = die.heights[cell] + s * (a + s * (square + s * cube))
    return height, slope / die.spacing


@compiled
def pushed_out(die: Die, travel: float, x: float, y: float) -> tuple[float, float]:
    """Where a point goes that must not be inside the die after it has moved down by ``travel``."""
    height, slope = surface(die, x)
    if y <= height - travel:
        return x, y
    length = np.sqrt(1 + slope * slope)
    nx, ny = slope / length, -1 / length  # out of the die
    depth = 0.0
    for _ in range(PROJECTIONS):
        height, slope = surface(die, x + depth * nx)
        depth += (y + depth * ny - height + travel) / (slope * nx - ny)
    return x + depth * nx, y + depth * ny
