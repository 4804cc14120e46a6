"""Laplacian bases of meshes: what is asked of them, and sampling elsewhere."""

import numpy as np
import pytest
import torch

from supra.basis import BasisError, BasisWarning, CosineBasis, LaplacianBasis
from supra.domain import DomainError, Grid, Mesh, MeshError, MeshWarning, PointSet, shapes

from .oracles import box_spectrum, groups, observed_orders, span_angle

F64 = torch.float64


def rectangle(resolution: int) -> Mesh:
    """1 × 0.7: no eigenvalue is repeated."""
    square = shapes.square(resolution)
    return square.with_points(square.points * [1, 0.7])


def exact_modes(points: np.ndarray) -> np.ndarray:
    """The first four free eigenfunctions of the rectangle: waves (0,0), (1,0), (0,1), (1,1)."""
    x, y = np.pi * points.T / np.array([[1], [0.7]])
    one = np.ones_like(x)
    root = np.sqrt(2)
    return np.stack([one, root * np.cos(x), root * np.cos(y), 2 * np.cos(x) * np.cos(y)], axis=1)


def two_squares_apart() -> Mesh:
    one = shapes.square(4)
    return Mesh(
        np.concatenate([one.points, one.points + np.array([2, 0])]),
        np.concatenate([one.cells, one.cells + len(one.points)]),
    )


# ---- invariance -------------------------------------------------------------------------------


@pytest.mark.parametrize("resolution", [8, 28])
def test_permuting_the_nodes_permutes_the_modes(resolution):
    mesh = rectangle(resolution)
    order = np.random.default_rng(0).permutation(len(mesh.points))
    new_index = np.argsort(order)
    permuted = Mesh(mesh.points[order], new_index[mesh.cells])
    one, other = (LaplacianBasis.from_mesh(m, 10).values for m in (mesh, permuted))
    signs = np.sign((one[order] * other).sum(axis=0))  # which of equal entries is first may change
    np.testing.assert_allclose(other * signs, one[order], atol=1e-7)


@pytest.mark.parametrize("factor", [1e-3, 7.0, 1e5])
@pytest.mark.parametrize("resolution", [8, 28])
def test_scaling_a_mesh_scales_its_eigenvalues_and_keeps_its_modes(resolution, factor):
    mesh = shapes.disk(resolution)
    basis = LaplacianBasis.from_mesh(mesh, 12)
    scaled = LaplacianBasis.from_mesh(mesh.with_points(factor * mesh.points), 12)
    largest = basis.eigenvalues[-1]
    np.testing.assert_allclose(
        scaled.eigenvalues * factor**2, basis.eigenvalues, atol=1e-9 * largest
    )
    np.testing.assert_allclose(scaled.values, basis.values, atol=1e-7)


@pytest.mark.parametrize("mesh", [shapes.disk(8), shapes.cube(5), shapes.sphere(5)], ids=repr)
def test_rotating_and_moving_a_mesh_keeps_its_eigenvalues(mesh):
    dimensions = mesh.points.shape[1]
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((dimensions, dimensions)))[0]
    moved = mesh.with_points(mesh.points @ turn + 3)
    one, other = (LaplacianBasis.from_mesh(m, 12).eigenvalues for m in (mesh, moved))
    np.testing.assert_allclose(other, one, atol=1e-9 * one[-1])


# ---- the same functions by other means --------------------------------------------------------


def test_cosines_and_the_modes_of_a_square_mesh_span_the_same_spaces():
    exact = box_spectrum((1, 1), 11)
    cosines = CosineBasis((5, 5))
    order = np.argsort(cosines.eigenvalues, kind="stable")
    errors = []
    for resolution in (12, 24, 48):
        mesh = shapes.square(resolution)
        modes = LaplacianBasis.from_mesh(mesh, 11).values
        waves = cosines.sample(mesh, defect="keep", dtype=F64).values.numpy()[:, order]
        errors.append(
            max(span_angle(modes[:, part], waves[:, part], mesh.weights) for part in groups(exact))
        )
    np.testing.assert_allclose(observed_orders(errors), 2, atol=0.2)


# ---- sampling elsewhere -----------------------------------------------------------------------


@pytest.mark.parametrize("where", ["fine mesh", "scattered", "grid"])
def test_modes_sampled_elsewhere_converge_to_the_exact_ones_at_second_order(where):
    target = {
        "fine mesh": rectangle(50),
        "scattered": PointSet(np.random.default_rng(0).uniform(size=(500, 2)) * [1, 0.7]),
        "grid": Grid((31, 17), points=Grid((31, 17)).points * [1, 0.7]),
    }[where]
    errors = []
    for resolution in (8, 16, 32):
        basis = LaplacianBasis.from_mesh(rectangle(resolution), 4)
        found = basis.sample(target, defect="keep", dtype=F64).values.numpy()
        exact = exact_modes(target.points)
        exact *= np.sign((found * exact).sum(axis=0))
        errors.append(np.abs(found - exact).max())
    np.testing.assert_allclose(observed_orders(errors), 2, atol=0.3)


def test_modes_on_another_mesh_are_made_orthonormal_there():
    basis = LaplacianBasis.from_mesh(shapes.disk(6), 10)
    with pytest.warns(BasisWarning, match="not orthonormal"):
        sampled = basis.sample(shapes.disk(11), dtype=F64)
    torch.testing.assert_close(sampled.gram(), torch.eye(10, dtype=F64), atol=1e-12, rtol=0)
    with pytest.raises(BasisError, match="not orthonormal"):
        basis.sample(shapes.disk(11), defect="refuse")


def test_modes_on_their_own_nodes_are_the_values_themselves():
    mesh = shapes.disk(6)
    basis = LaplacianBasis.from_mesh(mesh, 10)
    assert np.array_equal(basis.sample(dtype=F64).values, basis.values)
    copied = basis.sample(Mesh(mesh.points, mesh.cells), defect="refuse", dtype=F64)
    np.testing.assert_allclose(copied.values, basis.values, atol=1e-11)


def test_a_finer_mesh_of_a_curved_shape_is_within_reach():
    basis = LaplacianBasis.from_mesh(shapes.sphere(4), 4)
    target = shapes.sphere(7)
    found = basis.sample(target, defect="keep", dtype=F64).values.numpy()[:, 1:]
    slopes, misfit, *_ = np.linalg.lstsq(target.points, found, rcond=None)
    assert np.sqrt(misfit / len(target.points)).max() < 0.05  # the first modes are linear
    np.testing.assert_allclose(np.linalg.norm(slopes, axis=0), np.sqrt(3), rtol=0.05)


def test_a_query_far_outside_is_refused_with_its_place():
    basis = LaplacianBasis.from_mesh(shapes.disk(6), 4)
    with pytest.raises(DomainError, match=r"point 1 at \[9\.0, 0\.0\]"):
        basis.sample(np.array([[0.0, 0.0], [9.0, 0.0]]))


def test_queries_of_another_dimension_are_refused():
    basis = LaplacianBasis.from_mesh(shapes.disk(6), 4)
    with pytest.raises(DomainError, match="2-D"):
        basis.sample(shapes.sphere(3))


def test_the_type_of_the_result_is_chosen_or_that_of_torch():
    basis = LaplacianBasis.from_mesh(shapes.disk(6), 4)
    assert basis.sample().values.dtype == torch.get_default_dtype()
    assert basis.sample(dtype=torch.float16).weights.dtype == torch.float16
    assert basis.sample(device="meta").values.is_meta


# ---- what is asked ----------------------------------------------------------------------------


def test_held_modes_vanish_on_the_boundary():
    mesh = shapes.disk(6)
    values = LaplacianBasis.from_mesh(mesh, 5, "dirichlet").values
    assert (values[mesh.boundary_nodes] == 0).all()
    inner = np.setdiff1d(np.arange(len(mesh.points)), mesh.boundary_nodes)
    assert (values[inner, 0] > 0).all()  # the ground state has no node


def test_as_many_eigenvalues_are_zero_as_there_are_parts():
    with pytest.warns(MeshWarning, match="2 connected components"):
        basis = LaplacianBasis.from_mesh(two_squares_apart(), 6)
    assert (basis.eigenvalues[:2] == 0).all()
    assert basis.eigenvalues[2] > 8
    one = LaplacianBasis.from_mesh(shapes.square(4), 3).eigenvalues
    np.testing.assert_allclose(basis.eigenvalues, np.repeat(one, 2), atol=1e-10)


def test_a_single_mode_of_several_parts_is_still_a_zero_mode():
    with pytest.warns(MeshWarning):
        basis = LaplacianBasis.from_mesh(two_squares_apart(), 1)
    assert basis.eigenvalues[0] == 0
    parts = basis.values[:25, 0], basis.values[25:, 0]
    assert [np.ptp(part) for part in parts] == pytest.approx([0, 0], abs=1e-10)


@pytest.mark.parametrize("mesh", [shapes.sphere(3), shapes.torus(4)], ids=repr)
def test_a_closed_surface_has_no_boundary_to_hold(mesh):
    with pytest.raises(BasisError, match="closed"):
        LaplacianBasis.from_mesh(mesh, 3, "dirichlet")


def test_more_modes_than_nodes_is_an_error_with_both_numbers():
    with pytest.raises(BasisError, match="nodes, 25: got 26"):
        LaplacianBasis.from_mesh(shapes.square(4), 26)
    with pytest.raises(BasisError, match="nodes, 9: got 10"):
        LaplacianBasis.from_mesh(shapes.square(4), 10, "dirichlet")


def test_as_many_modes_as_nodes_are_all_functions():
    mesh = shapes.square(4)
    basis = LaplacianBasis.from_mesh(mesh, 25).sample(dtype=F64)
    fields = torch.from_numpy(np.random.default_rng(0).standard_normal((1, 25, 2)))
    torch.testing.assert_close(basis.fields(basis.coefficients(fields)), fields)


@pytest.mark.parametrize("modes", [0, -3])
def test_the_number_of_modes_must_be_positive(modes):
    with pytest.raises(BasisError, match=f"got {modes}"):
        LaplacianBasis.from_mesh(shapes.square(4), modes)


@pytest.mark.usefixtures("unchecked")
def test_unknown_options_are_refused_by_name():
    mesh = shapes.square(4)
    with pytest.raises(BasisError, match=r"got 2\.5"):
        LaplacianBasis.from_mesh(mesh, 2.5)
    with pytest.raises(BasisError, match="'robin'"):
        LaplacianBasis.from_mesh(mesh, 2, "robin")
    with pytest.raises(BasisError, match="'magic'"):
        LaplacianBasis.from_mesh(mesh, 2, method="magic")


def test_a_broken_mesh_is_refused_before_anything_is_computed():
    mesh = Mesh([[0, 0], [1, 0], [0, 1], [5, 5]], [[0, 1, 2]])
    with pytest.raises(MeshError, match="without_unused_points"):
        LaplacianBasis.from_mesh(mesh, 2)
