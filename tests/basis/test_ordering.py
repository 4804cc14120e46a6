"""Nested dissection."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import splu

from supra.basis.fem import stiffness_matrix
from supra.basis.ordering import nested_dissection
from supra.domain import Mesh, shapes

MESHES = [shapes.interval(300), shapes.disk(12), shapes.cube(7), shapes.sphere(10)]


def fill(matrix: sparse.csr_array, order: np.ndarray) -> int:
    """Entries of the factors when the unknowns are eliminated in this order."""
    shifted = matrix[order][:, order] + sparse.eye_array(len(order))
    factors = splu(
        sparse.csc_matrix(shifted),
        permc_spec="NATURAL",
        diag_pivot_thresh=0,
        options={"SymmetricMode": True},
    )
    return factors.L.nnz


@pytest.mark.parametrize("mesh", MESHES, ids=repr)
def test_an_order_is_a_permutation(mesh):
    order = nested_dissection(stiffness_matrix(mesh), mesh.points)
    assert np.array_equal(np.sort(order), np.arange(len(mesh.points)))


def test_dissection_makes_less_fill_than_the_natural_order():
    mesh = shapes.square(60)
    matrix = stiffness_matrix(mesh)
    natural = fill(matrix, np.arange(len(mesh.points)))
    assert fill(matrix, nested_dissection(matrix, mesh.points)) < 0.5 * natural


def test_fill_grows_as_n_log_n_in_the_plane():
    entries = []
    for resolution in (32, 64, 128):
        mesh = shapes.square(resolution)
        matrix = stiffness_matrix(mesh)
        size = len(mesh.points)
        entries.append(
            fill(matrix, nested_dissection(matrix, mesh.points)) / (size * np.log2(size))
        )
    assert max(entries) < 1.3 * min(entries)  # the natural order: twice as much at each step


def test_points_that_share_their_coordinates_are_ordered_too():
    mesh = shapes.square(20)
    order = nested_dissection(stiffness_matrix(mesh), np.zeros_like(mesh.points))
    assert np.array_equal(np.sort(order), np.arange(len(mesh.points)))


def test_the_order_does_not_need_connected_points():
    one = shapes.square(10)
    far = Mesh(
        np.concatenate([one.points, one.points + 5]),
        np.concatenate([one.cells, one.cells + len(one.points)]),
    )
    order = nested_dissection(stiffness_matrix(far), far.points)
    assert np.array_equal(np.sort(order), np.arange(len(far.points)))
