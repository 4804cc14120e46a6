import numpy as np
import pytest

from supra.domain import DomainError, Mesh, shapes
from supra.domain.interpolate import cloud_interpolation_matrix, interpolation_matrix


def inside(mesh: Mesh, count: int) -> np.ndarray:
    """Random points of a mesh: random cells, random barycentric coordinates."""
    random = np.random.default_rng(0)
    cells = random.integers(len(mesh.cells), size=count)
    weights = random.dirichlet(np.ones(mesh.cells.shape[1]), size=count)
    return np.einsum("qa,qad->qd", weights, mesh.points[mesh.cells[cells]])


def graded_square() -> Mesh:
    """Cells whose sizes and proportions differ by a factor of thousands."""
    x, y = np.meshgrid(np.linspace(0, 1, 30) ** 3, np.linspace(0, 1, 9), indexing="ij")
    return Mesh.from_structured(np.stack([x, y], axis=-1))


MESHES = {
    "interval": shapes.interval(8),
    "plate": shapes.perforated_plate(resolution=16),
    "graded": graded_square(),
    "ball": shapes.ball(4),
    "sphere": shapes.sphere(5),
    "torus": shapes.torus(6),
}


@pytest.mark.parametrize("name", MESHES)
def test_positions_are_interpolated_to_themselves(name):
    mesh = MESHES[name]
    queries = inside(mesh, 500)
    matrix = interpolation_matrix(mesh, queries)
    np.testing.assert_allclose(matrix @ mesh.points, queries, atol=1e-12)
    np.testing.assert_allclose(matrix.sum(axis=1), 1, atol=1e-12)
    assert matrix.data.min() >= -1e-12


@pytest.mark.parametrize("name", MESHES)
def test_nodes_take_their_own_values(name):
    mesh = MESHES[name]
    matrix = interpolation_matrix(mesh, mesh.points)
    np.testing.assert_allclose(matrix.toarray(), np.eye(len(mesh.points)), atol=1e-9)


def test_smooth_functions_are_interpolated_at_second_order():
    queries = np.random.default_rng(1).random((400, 2))

    def error(resolution: int) -> float:
        mesh = shapes.square(resolution)
        exact, nodal = (np.sin(3 * p[:, 0]) * np.cos(2 * p[:, 1]) for p in (queries, mesh.points))
        return float(np.abs(interpolation_matrix(mesh, queries) @ nodal - exact).max())

    errors = np.array([error(n) for n in (8, 16, 32)])
    orders = np.log2(errors[:-1] / errors[1:])
    assert (orders > 1.7).all()


def test_a_point_just_outside_takes_the_closest_value():
    mesh = shapes.disk(8)  # a polygon: points of the circle lie slightly outside of it
    angle = np.linspace(0, 2 * np.pi, 101)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    found = interpolation_matrix(mesh, circle) @ mesh.points
    sagitta = 1 - np.cos(np.pi / 48)  # 48 edges on the boundary
    assert np.linalg.norm(found - circle, axis=1).max() <= sagitta * (1 + 1e-9)


def test_a_point_off_a_surface_takes_its_foot_point():
    mesh = shapes.sphere(12)
    above = 1.02 * inside(mesh, 50)
    found = interpolation_matrix(mesh, above) @ mesh.points
    directions = above / np.linalg.norm(above, axis=1, keepdims=True)
    np.testing.assert_allclose(
        found / np.linalg.norm(found, axis=1, keepdims=True), directions, atol=5e-3
    )


def test_far_points_and_other_dimensions_are_refused():
    mesh = shapes.square(4)
    with pytest.raises(DomainError, match=r"1 point\(s\) lie outside .* \[5.0, 5.0\]"):
        interpolation_matrix(mesh, np.array([[0.5, 0.5], [5.0, 5.0]]))
    with pytest.raises(DomainError, match=r"\(queries, 2\): got \(1, 3\)"):
        interpolation_matrix(mesh, np.zeros((1, 3)))


def test_points_without_cells_reproduce_linear_functions():
    random = np.random.default_rng(2)
    points, queries = random.random((300, 3)), random.random((50, 3))
    matrix = cloud_interpolation_matrix(points, queries)
    slope = np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(matrix @ (points @ slope + 3), queries @ slope + 3, atol=1e-9)


def test_points_without_cells_take_their_own_values():
    points = np.random.default_rng(3).random((200, 2))
    values = np.sin(9 * points[:, 0])
    np.testing.assert_allclose(
        cloud_interpolation_matrix(points, points) @ values, values, atol=1e-5
    )


def test_a_point_in_a_small_hole_of_a_coarse_mesh_is_refused():
    """Far cells may be larger than the hole; what counts is the size of the cells around it."""
    ring = shapes.annulus(8, inner=0.1)
    with pytest.raises(DomainError, match="outside"):
        interpolation_matrix(ring, np.array([[0.0, 0.0]]))


def test_points_far_from_a_cloud_are_refused():
    cloud = np.random.default_rng(4).random((200, 2))
    with pytest.raises(DomainError, match="outside"):
        cloud_interpolation_matrix(cloud, np.array([[10.0, 10.0]]))
