"""Linear finite elements on simplices of any dimension, flat or embedded."""

import numpy as np
from jaxtyping import Float
from scipy import sparse

from supra.domain import Mesh


def stiffness_matrix(
    mesh: Mesh, coefficient: Float[np.ndarray, " points"] | None = None
) -> sparse.csr_array:
    r"""Matrix of :math:`\int a\,\nabla\phi_i\cdot\nabla\phi_j`, so that −Δ is `M⁻¹K`.

    One formula serves segments, triangles, surfaces and tetrahedra: the measure of a cell times
    the inner products of its (tangential) hat-function gradients. A coefficient a, given at the
    nodes and linear between them, enters exactly by its mean over the cell.
    """
    gradients, measures = mesh.gradients, mesh.cell_measures
    if coefficient is not None:
        measures = measures * coefficient[mesh.cells].mean(axis=1)
    return _assembled(mesh, measures[:, None, None] * (gradients @ gradients.transpose(0, 2, 1)))


def mass_matrix(mesh: Mesh) -> sparse.csr_array:
    r"""Matrix of :math:`\int \phi_i\phi_j`, the consistent one."""
    corners = mesh.cells.shape[1]
    local = (1 + np.eye(corners)) / (corners * (corners + 1))
    return _assembled(mesh, mesh.cell_measures[:, None, None] * local)


def gradient_matrices(mesh: Mesh) -> list[sparse.csr_array]:
    """Matrices that take values at the nodes to their gradient there, one for each coordinate.

    A node's gradient is the mean of its cells', weighted by their measures: exact for linear
    functions, tangential to the cells of a surface.
    """
    corners = mesh.cells.shape[1]
    weighted = mesh.cell_measures[:, None, None] * mesh.gradients  # (cells, corners, dimensions)
    average = sparse.diags_array(1 / (corners * mesh.node_measures))
    return [
        (average @ _assembled(mesh, np.repeat(part[:, None], corners, axis=1))).tocsr()
        for part in np.moveaxis(weighted, 2, 0)
    ]


def _assembled(mesh: Mesh, local: Float[np.ndarray, "cells corners corners"]) -> sparse.csr_array:
    corners = mesh.cells.shape[1]
    rows = np.repeat(mesh.cells, corners, axis=1).ravel()
    columns = np.tile(mesh.cells, (1, corners)).ravel()
    count = len(mesh.points)
    return sparse.coo_array((local.ravel(), (rows, columns)), shape=(count, count)).tocsr()
