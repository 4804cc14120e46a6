"""Assembly, against scikit-fem and by what every stiffness matrix satisfies."""

import numpy as np
import pytest
import skfem
import skfem.helpers
from scipy.sparse.linalg import eigsh
from skfem.models.poisson import laplace, mass

from supra.basis import LaplacianBasis
from supra.basis.fem import mass_matrix, stiffness_matrix
from supra.domain import Mesh, shapes

FLAT = {
    "interval": (shapes.interval(7), skfem.MeshLine, skfem.ElementLineP1),
    "disk": (shapes.disk(5), skfem.MeshTri, skfem.ElementTriP1),
    "ball": (shapes.ball(3), skfem.MeshTet, skfem.ElementTetP1),
}
EVERY_SHAPE = [shapes.interval(7), shapes.disk(5), shapes.ball(3), shapes.sphere(3)]


def independent_basis(name: str) -> skfem.Basis:
    mesh, mesh_class, element = FLAT[name]
    return skfem.Basis(mesh_class(mesh.points.T.copy(), mesh.cells.T.copy()), element())


@pytest.mark.parametrize("name", FLAT)
def test_stiffness_equals_that_of_scikit_fem(name):
    expected = laplace.assemble(independent_basis(name)).toarray()
    np.testing.assert_allclose(stiffness_matrix(FLAT[name][0]).toarray(), expected, atol=1e-11)


@pytest.mark.parametrize("name", FLAT)
def test_node_measures_are_the_row_sums_of_the_mass_of_scikit_fem(name):
    expected = mass.assemble(independent_basis(name)).sum(axis=1)
    np.testing.assert_allclose(FLAT[name][0].node_measures, np.ravel(expected), rtol=1e-11)


@pytest.mark.parametrize("mesh", EVERY_SHAPE, ids=repr)
def test_stiffness_is_symmetric_and_constants_are_in_its_kernel(mesh):
    stiffness = stiffness_matrix(mesh)
    assert abs(stiffness - stiffness.T).max() < 1e-13
    assert np.abs(stiffness.sum(axis=1)).max() < 1e-12


@pytest.mark.parametrize("mesh", [shapes.interval(7), shapes.disk(5), shapes.ball(3)], ids=repr)
def test_energy_of_a_linear_function_is_its_squared_slope_times_the_measure(mesh):
    slope = np.array([2.0, -1.0, 0.5])[: mesh.points.shape[1]]
    u = mesh.points @ slope
    energy = u @ (stiffness_matrix(mesh) @ u)
    assert energy == pytest.approx(slope @ slope * mesh.measure, rel=1e-12)


def test_a_tilted_plane_has_the_stiffness_of_the_flat_one():
    flat = shapes.square(4)
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    tilted = flat.with_points(np.pad(flat.points, ((0, 0), (0, 1))) @ turn)
    np.testing.assert_allclose(
        stiffness_matrix(tilted).toarray(), stiffness_matrix(flat).toarray(), atol=1e-12
    )


@pytest.mark.parametrize("method", ["dense", "shift-invert"])
def test_eigenvalues_equal_those_of_scikit_fem_and_arpack(method):
    mesh = shapes.disk(16)
    independent = skfem.Basis(
        skfem.MeshTri(mesh.points.T.copy(), mesh.cells.T.copy()), skfem.ElementTriP1()
    )
    stiffness = laplace.assemble(independent)
    lumped = skfem.BilinearForm(lambda u, v, w: u * v).assemble(independent)
    lumped = type(stiffness)(np.diag(np.ravel(lumped.sum(axis=1))))
    expected = eigsh(stiffness, 12, lumped, sigma=-1.0, which="LM")[0]
    found = LaplacianBasis.from_mesh(mesh, 12, method=method).eigenvalues
    np.testing.assert_allclose(found, np.sort(expected), atol=1e-8)


def test_stiffness_of_one_right_triangle():
    mesh = Mesh([[0, 0], [1, 0], [0, 1]], [[0, 1, 2]])
    expected = np.array([[2, -1, -1], [-1, 1, 0], [-1, 0, 1]]) / 2
    np.testing.assert_allclose(stiffness_matrix(mesh).toarray(), expected, atol=1e-15)


@pytest.mark.parametrize("name", FLAT)
def test_mass_equals_that_of_scikit_fem(name):
    expected = mass.assemble(independent_basis(name)).toarray()
    np.testing.assert_allclose(mass_matrix(FLAT[name][0]).toarray(), expected, atol=1e-14)


@pytest.mark.parametrize("name", FLAT)
def test_stiffness_with_a_coefficient_equals_that_of_scikit_fem(name):
    mesh, basis = FLAT[name][0], independent_basis(name)
    coefficient = np.exp(mesh.points.sum(axis=1))

    @skfem.BilinearForm
    def weighted(u, v, w):
        return w["a"] * skfem.helpers.dot(skfem.helpers.grad(u), skfem.helpers.grad(v))

    expected = weighted.assemble(basis, a=basis.interpolate(coefficient)).toarray()
    found = stiffness_matrix(mesh, coefficient).toarray()
    np.testing.assert_allclose(found, expected, atol=1e-11)
