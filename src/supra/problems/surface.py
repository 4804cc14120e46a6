"""Diffusion with absorption on random closed surfaces in space."""

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal

import numpy as np
from jaxtyping import Float
from scipy.sparse.linalg import splu

from supra.basis.fem import mass_matrix, stiffness_matrix
from supra.domain import Mesh, shapes
from supra.domain.choice import check_choice
from supra.problems.errors import ProblemError
from supra.problems.plane_waves import PlaneWaves
from supra.problems.problem import Problem, Solution

Shape = Literal["sphere", "torus"]

BUMP, SOURCE = 2.0, 1.0  # shortest waves of the deformation and of f, in radii of the sphere
LARGEST = 0.9  # bumps up to which a torus of radii 1 and 0.4 keeps its hole: 0.4 exp(0.9) < 1


@dataclass(frozen=True)
class Surface(Problem):
    r""":math:`-\Delta_S u + u = f` on random smooth deformations of a sphere or a torus.

    :math:`\Delta_S` is the Laplacian of the surface (Laplace and Beltrami's). The source f is a
    random function in space of variance 1, seen on the surface; see `PlaneWaves`. The sphere
    has radius 1, the torus radii 1 and 0.4. A point moves away from the sphere's centre, or
    from the circle inside the torus, to :math:`e^{b \tanh g}` times its distance, with the bumps b
    and another random function g: by so little that no surface meets itself.

    A sample has ``f`` and ``u`` at the nodes, and its own ``points``; the ``cells`` are
    the same in all.

    Attributes:
        resolution: parts of an icosahedron's edge (sphere: 10 n² + 2 nodes), or cells per unit
            length (torus: about 16 n² nodes).
        shape: what is deformed.
        bumps: logarithm of the largest stretch; 0 leaves the shape as it is.
    """

    name: ClassVar[str] = "surface"
    given: ClassVar[tuple[str, ...]] = ("f",)

    resolution: int = 10
    shape: Shape = "sphere"
    bumps: float = 0.4

    def __post_init__(self) -> None:
        check_choice("shape", self.shape, Shape, ProblemError)
        if not 0 <= self.bumps <= LARGEST:
            raise ProblemError(f"`bumps` must be between 0 and {LARGEST}: got {self.bumps}.")
        _smooth(self.shape, self.resolution)  # no such mesh is said now, not in sample 1

    def solve(self, rng: np.random.Generator) -> Solution:
        # Drawn before any node is looked at: one surface and source at every resolution.
        bumps, source = PlaneWaves.random(rng, BUMP), PlaneWaves.random(rng, SOURCE)
        mesh = self.deformed(bumps)
        force = source(mesh.points)
        solution = solve_screened(mesh, force)
        return {"f": force, "u": solution, "points": mesh.points, "cells": mesh.cells}

    def deformed(self, bumps: PlaneWaves) -> Mesh:
        """The surface with given bumps."""
        mesh = _smooth(self.shape, self.resolution)
        stretch = np.exp(self.bumps * np.tanh(bumps(mesh.points)))[:, None]
        centre = np.zeros((1, 3)) if self.shape == "sphere" else _on_circle(mesh.points)
        return mesh.with_points(centre + stretch * (mesh.points - centre))


def solve_screened(mesh: Mesh, force: Float[np.ndarray, " points"]) -> Float[np.ndarray, " points"]:
    r"""Nodal values of u with :math:`-\Delta u + u = f`, by linear finite elements.

    No flux through a boundary, if there is one. With the consistent mass on both sides constants
    are exact, and the integrals of u and f agree.
    """
    mass = mass_matrix(mesh)
    factors = splu((stiffness_matrix(mesh) + mass).tocsc(), permc_spec="MMD_AT_PLUS_A")
    solution: np.ndarray = factors.solve(mass @ force)
    return solution


@lru_cache(maxsize=4)
def _smooth(shape: Shape, resolution: int) -> Mesh:
    return shapes.SHAPES[shape](resolution)


def _on_circle(points: Float[np.ndarray, "points 3"]) -> Float[np.ndarray, "points 3"]:
    """The nearest points of the unit circle z = 0, which runs inside the torus."""
    flat = points * [1, 1, 0]
    return flat / np.linalg.norm(flat, axis=1, keepdims=True)
