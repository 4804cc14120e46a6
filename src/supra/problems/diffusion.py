"""Steady diffusion −∇·(a∇u) = f by linear finite elements on any mesh."""

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse.linalg import splu

from supra.basis.fem import mass_matrix, stiffness_matrix
from supra.domain import Mesh
from supra.problems.errors import ProblemError


def solve_diffusion(
    mesh: Mesh,
    coefficient: Float[np.ndarray, " points"],
    force: Float[np.ndarray, " points"],
    held: Int[np.ndarray, " held"],
    value: Float[np.ndarray, " held"] | float = 0.0,
) -> Float[np.ndarray, " points"]:
    """Nodal values of u: ``value`` at the ``held`` nodes, no flux through the other boundary.

    Args:
        mesh: triangles, tetrahedra, segments, or a surface.
        coefficient: a at the nodes, positive.
        force: f at the nodes.
        held: numbers of the nodes where u is known; at least one in every connected part.
        value: u there.
    """
    if not coefficient.min() > 0:
        raise ProblemError(
            f"The coefficient must be positive: its smallest value is {coefficient.min():.3g}."
        )
    loose = set(range(mesh.component_count)) - set(mesh.components[held].tolist())
    if loose:
        raise ProblemError(
            f"Every connected part of the mesh needs a node where the solution is held: "
            f"{len(loose)} of {mesh.component_count} parts have none."
        )
    stiffness = stiffness_matrix(mesh, coefficient)
    free = np.setdiff1d(np.arange(len(mesh.points)), held)
    solution = np.zeros(len(mesh.points))
    solution[held] = value
    load = mass_matrix(mesh) @ force - stiffness @ solution
    factors = splu(stiffness[free][:, free].tocsc(), permc_spec="MMD_AT_PLUS_A")
    solution[free] = factors.solve(load[free])
    return solution
