"""Operators between neighbours: exact where they should be, and known stencils on known meshes."""

import pickle

import numpy as np
import pytest
import torch
from scipy import sparse

from supra import LaplacianBasis
from supra.basis import BasisError, SampledBasis, Stencil
from supra.domain import Mesh, MeshError, shapes

from .oracles import observed_orders

F64 = torch.float64
FLAT = [shapes.interval(7), shapes.perforated_plate(8), shapes.disk(5), shapes.ball(3)]
EVERY = [*FLAT, shapes.sphere(4), shapes.torus(6)]


def applied(stencil: Stencil, values: np.ndarray) -> np.ndarray:
    """What each operator makes of a function: shape (operators, points)."""
    count = stencil.operators
    # Row q·count + o, column o: operator o sees the function, the others see zero.
    one_at_a_time = torch.kron(torch.tensor(values)[:, None], torch.eye(count, dtype=F64))
    return (stencil.total @ one_at_a_time).T.numpy()


def dense(stencil: Stencil) -> np.ndarray:
    """The matrices themselves: (operators, points, points)."""
    points, count = stencil.points, stencil.operators
    full = stencil.total @ torch.eye(points * count, dtype=F64)
    return full.numpy().reshape(points, points, count).transpose(2, 0, 1)


def node_size(mesh: Mesh) -> np.ndarray:
    return mesh.node_measures ** (1 / mesh.dimension)


@pytest.mark.parametrize("mesh", FLAT, ids=repr)
def test_the_gradient_of_a_linear_function_is_its_slope_times_the_local_size(mesh):
    slope = np.array([2.0, -1.0, 0.5])[: mesh.points.shape[1]]
    found = applied(Stencil.from_mesh(mesh), 3.0 + mesh.points @ slope)[1:]
    np.testing.assert_allclose(found, slope[:, None] * node_size(mesh), atol=1e-13)


@pytest.mark.parametrize("mesh", EVERY, ids=repr)
def test_constants_are_not_seen(mesh):
    found = applied(Stencil.from_mesh(mesh), np.full(len(mesh.points), 5.0))
    assert found.shape == (1 + mesh.points.shape[1], len(mesh.points))
    np.testing.assert_allclose(found, 0, atol=1e-12)


@pytest.mark.parametrize("mesh", [shapes.perforated_plate(8), shapes.ball(3)], ids=repr)
def test_the_laplacian_of_a_linear_function_is_zero_inside(mesh):
    slope = np.array([2.0, -1.0, 0.5])[: mesh.points.shape[1]]
    found = applied(Stencil.from_mesh(mesh), mesh.points @ slope)[0]
    inside = np.setdiff1d(np.arange(len(mesh.points)), mesh.boundary_nodes)
    np.testing.assert_allclose(found[inside], 0, atol=1e-12)
    assert np.abs(found).max() > 1e-3  # at the boundary it is not


def test_on_a_uniform_grid_the_laplacian_is_the_five_point_stencil_over_its_diagonal():
    side = 6
    points = np.stack(np.meshgrid(*2 * [0.3 * np.arange(side)], indexing="ij"), axis=-1)
    stencil = Stencil.from_mesh(Mesh.from_structured(points))
    found = dense(stencil)[0].reshape(side, side, side, side)
    expected = np.zeros((side, side))
    expected[2, 3] = 1
    for i, j in ((1, 3), (3, 3), (2, 2), (2, 4)):
        expected[i, j] = -1 / 4
    np.testing.assert_allclose(found[2, 3], expected, atol=1e-14)


def test_on_a_uniform_grid_the_gradient_is_that_of_the_seven_nodes_around():
    """Six triangles around a node: central differences along the axes and the common diagonal."""
    side = 5
    points = np.stack(np.meshgrid(*2 * [np.arange(float(side))], indexing="ij"), axis=-1)
    stencil = Stencil.from_mesh(Mesh.from_structured(points))
    found = dense(stencil)[1].reshape(side, side, side, side)[2, 2]
    expected = np.zeros((side, side))
    expected[3, 2], expected[1, 2] = 1 / 3, -1 / 3
    expected[3, 3], expected[1, 1] = 1 / 6, -1 / 6
    expected[2, 1], expected[2, 3] = 1 / 6, -1 / 6
    np.testing.assert_allclose(found, expected, atol=1e-14)


@pytest.mark.parametrize("mesh", EVERY, ids=repr)
def test_the_spectrum_lies_between_zero_and_the_corners_of_a_cell(mesh):
    values = np.linalg.eigvals(dense(Stencil.from_mesh(mesh))[0])
    assert np.abs(values.imag).max() < 1e-9
    assert values.real.min() > -1e-9
    assert values.real.max() < mesh.cells.shape[1] + 1e-9


@pytest.mark.parametrize("mesh", EVERY, ids=repr)
def test_the_size_of_the_domain_does_not_matter(mesh):
    large = mesh.with_points(mesh.points * 1e3)
    np.testing.assert_allclose(
        dense(Stencil.from_mesh(large)), dense(Stencil.from_mesh(mesh)), atol=1e-10
    )


@pytest.mark.parametrize("mesh", EVERY, ids=repr)
def test_the_adjoint_is_the_transpose(mesh):
    stencil = Stencil.from_mesh(mesh)
    columns = torch.eye(stencil.points, dtype=F64)
    total = stencil.total @ torch.eye(stencil.points * stencil.operators, dtype=F64)
    torch.testing.assert_close(stencil.adjoint @ columns, total.T)


def test_the_scaled_gradient_converges_at_first_order_or_better():
    """Up to the boundary, where the cells lie on one side of the node."""
    mesh, errors = shapes.perforated_plate(6), []
    for _ in range(4):
        x, y = mesh.points.T
        found = applied(Stencil.from_mesh(mesh), np.sin(2 * x + y))[1:] / node_size(mesh)
        exact = np.cos(2 * x + y) * np.array([[2.0], [1.0]])
        errors.append(np.abs(found - exact).max())
        mesh = mesh.refined()
    assert (observed_orders(errors) > 0.8).all()
    assert errors[-1] < 0.1


def test_the_gradient_of_the_height_on_a_sphere_is_the_tangential_part_of_the_vertical():
    errors = []
    for resolution in (4, 8, 16):
        mesh = shapes.sphere(resolution)
        normal = mesh.points / np.linalg.norm(mesh.points, axis=1, keepdims=True)
        exact = np.array([0.0, 0.0, 1.0]) - normal * normal[:, 2:]
        found = applied(Stencil.from_mesh(mesh), mesh.points[:, 2])[1:] / node_size(mesh)
        errors.append(np.abs(found.T - exact).max())
    assert (observed_orders(errors) > 0.9).all()
    assert errors[-1] < 0.02


@pytest.mark.parametrize("mesh", EVERY, ids=repr)
def test_renumbered_nodes_have_renumbered_operators(mesh):
    order = np.random.default_rng(0).permutation(len(mesh.points))
    renumbered = Mesh(mesh.points[order], np.argsort(order)[mesh.cells])
    expected = dense(Stencil.from_mesh(mesh))[:, order][:, :, order]
    np.testing.assert_allclose(dense(Stencil.from_mesh(renumbered)), expected, atol=1e-13)


def split_annulus() -> tuple[Mesh, np.ndarray]:
    """A ring whose first and last column of nodes coincide, glued, and its node map."""
    angle, radius = np.meshgrid(np.linspace(0, 2 * np.pi, 17), np.linspace(1, 2, 5), indexing="ij")
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1)
    glued = Mesh.from_structured(points).welded()
    assert glued.node_map is not None
    return glued, glued.node_map


def test_at_the_nodes_before_welding_a_glued_mesh_gives_its_own_values():
    glued, node_map = split_annulus()
    values = np.random.default_rng(0).standard_normal(len(glued.points))
    expected = applied(Stencil.from_mesh(glued), values)[:, node_map]
    found = applied(Stencil.from_mesh(glued, node_map), values[node_map])
    np.testing.assert_allclose(found, expected, atol=1e-13)


def test_of_merged_nodes_with_different_values_the_mean_is_taken():
    glued, node_map = split_annulus()
    values = np.random.default_rng(0).standard_normal(len(node_map))
    mean = np.bincount(node_map, values) / np.bincount(node_map)
    found = applied(Stencil.from_mesh(glued, node_map), values)
    expected = applied(Stencil.from_mesh(glued), mean)[:, node_map]
    np.testing.assert_allclose(found, expected, atol=1e-13)


def test_removed_nodes_and_broken_meshes_are_named():
    glued, node_map = split_annulus()
    with pytest.raises(BasisError, match="removed nodes"):
        Stencil.from_mesh(glued, np.where(node_map == 3, -1, node_map))
    with pytest.raises(MeshError, match="in no cell"):
        Stencil.from_mesh(Mesh([[0, 0], [1, 0], [0, 1], [5, 5]], [[0, 1, 2]]))


def test_stacked_stencils_are_those_of_each_sample_and_padding_gives_zero():
    meshes = [shapes.disk(3), shapes.square(4), shapes.perforated_plate(6)]
    stencils = [Stencil.from_mesh(mesh) for mesh in meshes]
    most = max(stencil.points for stencil in stencils)
    together = Stencil.stack(stencils, most)
    assert together.points == 3 * most
    fields = torch.randn(3, most, dtype=F64)
    found = applied(together, fields.flatten().numpy()).reshape(3, 3, most)
    for number, stencil in enumerate(stencils):
        expected = applied(stencil, fields[number, : stencil.points].numpy())
        np.testing.assert_array_equal(found[:, number, : stencil.points], expected)
        assert not found[:, number, stencil.points :].any()
    for rows in (together.adjoint, together.total):
        assert int(rows.starts[-1]) == len(rows.values)


def test_meshes_of_different_spaces_are_not_stacked():
    flat, solid = Stencil.from_mesh(shapes.disk(2)), Stencil.from_mesh(shapes.ball(2))
    with pytest.raises(BasisError, match=r"got \[3, 4\]"):
        Stencil.stack([flat, solid], 100)


def test_a_basis_takes_its_stencil_along():
    mesh = shapes.disk(3)
    bare = LaplacianBasis.from_mesh(mesh, 4).sample()
    basis = bare.with_stencil(Stencil.from_mesh(mesh))
    assert bare.stencil is None
    assert basis.stencil.total.values.dtype == torch.float32
    double = basis.to(F64)
    assert double.stencil.adjoint.values.dtype == F64
    assert double.stencil.total.columns.dtype == torch.int32
    assert double.to(F64) is double
    stacked = SampledBasis.stack([basis, basis])
    assert stacked.stencil.points == 2 * basis.points
    assert SampledBasis.stack([basis, bare]).stencil is None
    copy = pickle.loads(pickle.dumps(basis))
    torch.testing.assert_close(copy.stencil.total.values, basis.stencil.total.values)


def test_a_stencil_of_other_points_is_refused():
    basis = LaplacianBasis.from_mesh(shapes.disk(3), 4).sample()
    with pytest.raises(BasisError, match=r"Stencil\(3 operators at 25 points\) does not fit"):
        basis.with_stencil(Stencil.from_mesh(shapes.square(4)))


def test_operators_add_what_each_makes_of_its_own_function():
    matrix = sparse.random_array((7, 5), density=0.4, rng=np.random.default_rng(0), format="csr")
    first, second = matrix[:5], matrix[2:]
    functions = np.random.default_rng(1).standard_normal((5, 2, 3))  # (points, operators, channels)
    expected = first @ functions[:, 0] + second @ functions[:, 1]
    found = Stencil.from_operators([first, second]).total @ torch.tensor(functions.reshape(10, 3))
    np.testing.assert_allclose(found, expected, atol=1e-14)
