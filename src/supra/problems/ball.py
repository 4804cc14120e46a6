"""Poisson's equation in random bodies that are nearly ellipsoids."""

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from supra.domain import Mesh, shapes
from supra.problems.diffusion import solve_diffusion
from supra.problems.errors import ProblemError
from supra.problems.plane_waves import PlaneWaves
from supra.problems.problem import Problem, Solution

BUMP, SOURCE = 2.0, 1.0  # shortest waves of the deformation and of f, in radii of the ball
LIMITS = {"stretch": 1.0, "bumps": 0.3}  # from bumps = 1/2 on, shells of a ball would overlap


@dataclass(frozen=True)
class Ball(Problem):
    r"""Heat in a body: :math:`-\Delta u = f`, its surface held at zero.

    The source is :math:`f = 1 + g`, g a random function in space of variance 1; see
    `PlaneWaves`. The body is the unit ball with bumps, stretched along the axes: a
    point x of the ball goes to :math:`D\,x\,e^{b |x|^2 \tanh g'(x/|x|)}`, with D diagonal, the
    logarithms of its entries uniform, and another random function g'. The middle is hardly
    bent, so that tetrahedra stay as good there as they are in the ball.

    A sample has ``f`` and ``u`` at the nodes, and its own ``points``; the ``cells`` are
    the same in all.

    Attributes:
        resolution: shells of the mesh; 6 have 923 nodes.
        stretch: largest logarithm of a half-axis.
        bumps: logarithm of the largest stretch of a ray; 0 gives ellipsoids.
    """

    name: ClassVar[str] = "ball"
    given: ClassVar[tuple[str, ...]] = ("f",)

    resolution: int = 6
    stretch: float = 0.3
    bumps: float = 0.2

    def __post_init__(self) -> None:
        for name, limit in LIMITS.items():
            value = getattr(self, name)
            if not 0 <= value <= limit:
                raise ProblemError(f"`{name}` must be between 0 and {limit}: got {value}.")
        _ball(self.resolution)  # no such mesh is said now, not in sample 1

    def solve(self, rng: np.random.Generator) -> Solution:
        # Drawn before any node is looked at: one body and source at every resolution.
        half_axes = np.exp(rng.uniform(-self.stretch, self.stretch, size=3))
        bumps, source = PlaneWaves.random(rng, BUMP), PlaneWaves.random(rng, SOURCE)
        mesh = self.deformed(half_axes, bumps)
        force = 1 + source(mesh.points)
        solution = solve_diffusion(mesh, np.ones(len(force)), force, mesh.boundary_nodes)
        return {"f": force, "u": solution, "points": mesh.points, "cells": mesh.cells}

    def deformed(self, half_axes: Float[np.ndarray, " 3"], bumps: PlaneWaves) -> Mesh:
        """The body with given half-axes and bumps."""
        mesh = _ball(self.resolution)
        radius = np.linalg.norm(mesh.points, axis=1, keepdims=True)
        direction = mesh.points / np.where(radius > 0, radius, 1)
        height = self.bumps * np.tanh(bumps(direction))[:, None]
        return mesh.with_points(half_axes * mesh.points * np.exp(height * radius**2))


@lru_cache(maxsize=4)
def _ball(resolution: int) -> Mesh:
    return shapes.ball(resolution)
