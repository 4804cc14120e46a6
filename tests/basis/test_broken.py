"""Random broken meshes: a named error, or a right answer. Never anything else."""

import warnings
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from supra.basis import BasisError, BasisWarning, LaplacianBasis
from supra.basis.fem import stiffness_matrix
from supra.domain import DomainError, Mesh, MeshWarning, shapes

WHOLE = [
    shapes.interval(5),
    shapes.square(3),
    shapes.disk(2),
    shapes.cube(2),
    shapes.sphere(1),
    shapes.torus(1),
]
Arrays = tuple[np.ndarray, np.ndarray]
Damage = Callable[[np.ndarray, np.ndarray, np.random.Generator], Arrays]


def move_a_node(points, cells, random):
    points[random.integers(len(points))] += random.standard_normal(points.shape[1])
    return points, cells


def move_all_nodes(points, cells, random):
    return points + 0.3 * random.standard_normal(points.shape), cells


def coincide(points, cells, random):
    one, other = random.integers(len(points), size=2)
    points[one] = points[other]
    return points, cells


def nearly_coincide(points, cells, random):
    one, other = random.integers(len(points), size=2)
    points[one] = points[other] + 10.0 ** random.uniform(-14, -2) * random.standard_normal()
    return points, cells


def flatten_an_axis(points, cells, random):
    points[:, random.integers(points.shape[1])] *= 10.0 ** random.uniform(-14, 0)
    return points, cells


def scale(points, cells, random):
    return points * 10.0 ** random.uniform(-8, 8), cells


def move_far_away(points, cells, random):
    return points + 10.0 ** random.uniform(0, 12), cells


def drop_cells(points, cells, random):
    return points, cells[random.uniform(size=len(cells)) < 0.7]


def drop_cells_and_points(points, cells, random):
    cells = cells[random.uniform(size=len(cells)) < 0.7]
    used, renumbered = np.unique(cells, return_inverse=True)
    return points[used], renumbered.reshape(cells.shape)


def repeat_a_cell(points, cells, random):
    return points, np.concatenate([cells, cells[random.integers(len(cells))][None, ::-1]])


def repeat_a_corner(points, cells, random):
    cells[random.integers(len(cells)), 0] = cells[random.integers(len(cells)), -1]
    return points, cells


def add_random_cells(points, cells, random):
    return points, np.concatenate([cells, random.integers(len(points), size=(2, cells.shape[1]))])


def add_an_apart_copy(points, cells, random):
    away = points + 4 + random.uniform(size=points.shape[1])
    return np.concatenate([points, away]), np.concatenate([cells, cells + len(points)])


def add_a_glued_copy(points, cells, random):
    """Two bodies that share one node."""
    glued = np.arange(len(points)) + len(points) - 1
    glued[0] = 0
    away = 2 * points[:1] - points[1:]
    return np.concatenate([points, away]), np.concatenate([cells, glued[cells]])


def spoil_an_index(points, cells, random):
    cells[random.integers(len(cells)), 0] = random.choice([-1, len(points), 10**9])
    return points, cells


def spoil_a_number(points, cells, random):
    points[random.integers(len(points)), 0] = random.choice([np.nan, np.inf, 1e200, 1e-300])
    return points, cells


def turn_cells(points, cells, random):
    turned = random.uniform(size=len(cells)) < 0.5
    cells[turned] = cells[turned, ::-1]
    return points, cells


def shuffle(points, cells, random):
    order = random.permutation(len(points))
    return points[order], np.argsort(order)[cells] if cells.max() < len(points) else cells


DAMAGES: list[Damage] = [
    move_a_node,
    move_all_nodes,
    coincide,
    nearly_coincide,
    flatten_an_axis,
    scale,
    move_far_away,
    drop_cells,
    drop_cells_and_points,
    repeat_a_cell,
    repeat_a_corner,
    add_random_cells,
    add_an_apart_copy,
    add_a_glued_copy,
    spoil_an_index,
    spoil_a_number,
    turn_cells,
    shuffle,
]


def assert_right(basis: LaplacianBasis, mesh: Mesh, boundary: str) -> None:
    assert (basis.eigenvalues >= 0).all()
    assert (np.diff(basis.eigenvalues) >= 0).all()
    if boundary == "neumann":
        zeros = min(mesh.component_count, basis.modes)
        assert (basis.eigenvalues[:zeros] == 0).all()
        assert (basis.eigenvalues[zeros:] > 0).all()
    weights = mesh.weights[:, None]
    gram = basis.values.T @ (weights * basis.values)
    np.testing.assert_allclose(gram, np.eye(basis.modes), atol=1e-8)
    held = mesh.boundary_nodes if boundary == "dirichlet" else []
    root = np.sqrt(mesh.node_measures)[:, None]
    matrix = stiffness_matrix(mesh).toarray() / root / root.T
    vectors = root * basis.values / np.sqrt(mesh.measure)
    errors = np.delete(matrix @ vectors - vectors * basis.eigenvalues, held, axis=0)
    spectrum = np.linalg.eigvalsh(matrix)
    size = max(basis.eigenvalues[-1], spectrum[mesh.component_count])
    round_off = 100 * np.finfo(float).eps * spectrum[-1]  # what float64 can tell with thin cells
    assert np.linalg.norm(errors, axis=0).max() < 1e-6 * size + round_off


def look_at_a_broken_mesh(whole, damages, seed, modes, boundary):
    random = np.random.default_rng(seed)
    points, cells = whole.points.copy(), whole.cells.copy()
    with warnings.catch_warnings():
        for category in (MeshWarning, BasisWarning, RuntimeWarning):
            warnings.simplefilter("ignore", category)
        for damage in damages:
            if cells.size and cells.max() < len(points) and cells.min() >= 0:
                points, cells = damage(points, cells, random)
        try:
            mesh = Mesh(points, cells)
            basis = LaplacianBasis.from_mesh(mesh, modes, boundary, cache=False)
        except (DomainError, BasisError):
            return
    assert_right(basis, mesh, boundary)


ANY_MESH = given(
    whole=st.sampled_from(WHOLE),
    damages=st.lists(st.sampled_from(DAMAGES), max_size=3),
    seed=st.integers(0, 2**32 - 1),
    modes=st.integers(1, 12),
    boundary=st.sampled_from(["neumann", "dirichlet"]),
)
CALM = {"derandomize": True, "deadline": None, "suppress_health_check": [HealthCheck.too_slow]}


@settings(max_examples=300, **CALM)
@ANY_MESH
def test_a_broken_mesh_gives_a_named_error_or_a_right_answer(**case):
    look_at_a_broken_mesh(**case)


@pytest.mark.slow
@settings(max_examples=3000, **CALM)
@ANY_MESH
def test_many_broken_meshes_give_a_named_error_or_a_right_answer(**case):
    look_at_a_broken_mesh(**case)


@pytest.mark.parametrize("whole", WHOLE, ids=repr)
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_each_damage_alone_gives_a_named_error_or_a_right_answer(whole, damage):
    for seed in range(5):
        look_at_a_broken_mesh(whole, [damage], seed, 5, "neumann")


@pytest.mark.parametrize("damage", [turn_cells, shuffle, scale], ids=lambda d: d.__name__)
@pytest.mark.parametrize("whole", WHOLE, ids=repr)
def test_what_is_not_broken_is_accepted(whole, damage):
    points, cells = damage(whole.points.copy(), whole.cells.copy(), np.random.default_rng(0))
    mesh = Mesh(points, cells)
    assert_right(LaplacianBasis.from_mesh(mesh, 4, cache=False), mesh, "neumann")
