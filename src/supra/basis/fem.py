"""Linear finite elements on simplices of any dimension, flat or embedded."""

import numpy as np
from scipy import sparse

from supra.domain import Mesh


def stiffness_matrix(mesh: Mesh) -> sparse.csr_array:
    r"""Matrix of :math:`\int \nabla\phi_i\cdot\nabla\phi_j`, so that −Δ is `M⁻¹K`.

    One formula serves segments, triangles, surfaces and tetrahedra: the measure of a cell times
    the inner products of its (tangential) hat-function gradients.
    """
    gradients = mesh.gradients
    local = mesh.cell_measures[:, None, None] * (gradients @ gradients.transpose(0, 2, 1))
    corners = mesh.cells.shape[1]
    rows = np.repeat(mesh.cells, corners, axis=1).ravel()
    columns = np.tile(mesh.cells, (1, corners)).ravel()
    count = len(mesh.points)
    return sparse.coo_array((local.ravel(), (rows, columns)), shape=(count, count)).tocsr()
