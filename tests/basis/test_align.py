"""Bases made comparable: rotations undone, spans kept, nothing left to the solver's choice."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import linalg

from supra.basis import BasisError, LaplacianBasis
from supra.basis.align import aligned, blocks, nearest_rotation
from supra.basis.landmark import Landmarks
from supra.basis.orthonormal import orthonormality_defect
from supra.domain import Mesh, shapes

MODES = 20
PLATE = shapes.perforated_plate(12, holes=2, seed=1)
DOMAINS = [shapes.square(10), shapes.disk(7), PLATE, shapes.cube(5), shapes.sphere(4)]
TURNING = ("signs", "clusters", "span")


def solved(mesh: Mesh, modes: int = MODES) -> LaplacianBasis:
    return LaplacianBasis.from_mesh(mesh, modes)


def turned(basis: LaplacianBasis, align: str) -> np.ndarray:
    points = basis.domain.points
    references = Landmarks.around([points], basis.modes)(points)
    return aligned(basis.values, basis.domain.weights, basis.eigenvalues, references, align)


def random_rotation(size: int, seed: int = 0) -> np.ndarray:
    return linalg.qr(np.random.default_rng(seed).standard_normal((size, size)))[0]


def test_signs_clusters_and_span_are_turned_together():
    eigenvalues = np.array([0.0, 1.0, 1.05, 2.0, 2.1, 2.2])
    assert blocks(eigenvalues, "signs") == [(k, k + 1) for k in range(6)]
    assert blocks(eigenvalues, "clusters") == [(0, 1), (1, 3), (3, 6)]
    assert blocks(eigenvalues, "span") == [(0, 6)]


def test_a_rotated_basis_is_brought_back_exactly():
    """With itself as the reference the answer is known: the basis before it was turned."""
    basis = solved(PLATE)
    values, weights = basis.values, PLATE.weights
    away = values @ random_rotation(MODES)
    back = aligned(away, weights, basis.eigenvalues, values, "span")
    np.testing.assert_allclose(back, values, atol=1e-12)


def test_flipped_signs_are_brought_back_exactly():
    basis = solved(PLATE)
    flips = np.random.default_rng(0).choice([-1.0, 1.0], MODES)
    away = basis.values * flips
    back = aligned(away, PLATE.weights, basis.eigenvalues, basis.values, "signs")
    np.testing.assert_allclose(back, basis.values, atol=1e-12)


def test_rotations_inside_clusters_are_brought_back_exactly():
    basis = solved(shapes.square(10))
    away = basis.values.copy()
    groups = blocks(basis.eigenvalues, "clusters")
    assert any(stop - start > 1 for start, stop in groups)
    for seed, (start, stop) in enumerate(groups):
        away[:, start:stop] = away[:, start:stop] @ random_rotation(stop - start, seed)
    back = aligned(away, basis.domain.weights, basis.eigenvalues, basis.values, "clusters")
    np.testing.assert_allclose(back, basis.values, atol=1e-12)


@pytest.mark.parametrize("mesh", DOMAINS, ids=repr)
@pytest.mark.parametrize("align", TURNING)
def test_orthonormality_and_the_span_stay(mesh, align):
    basis = solved(mesh)
    values = turned(basis, align)
    assert orthonormality_defect(values, mesh.weights) < 1e-11
    inside = basis.values @ (basis.values.T @ (mesh.weights[:, None] * values))
    np.testing.assert_allclose(inside, values, atol=1e-11)


@pytest.mark.parametrize("mesh", [shapes.square(10), PLATE, shapes.cube(5)], ids=repr)
@pytest.mark.parametrize("align", TURNING)
def test_the_solvers_signs_do_not_matter(mesh, align):
    basis = solved(mesh)
    flips = np.random.default_rng(1).choice([-1.0, 1.0], MODES)
    flipped = replace(basis, values=basis.values * flips)
    np.testing.assert_allclose(turned(flipped, align), turned(basis, align), atol=1e-9)


def test_the_solvers_rotation_of_a_repeated_eigenvalue_does_not_matter():
    """On the square most eigenvalues are double; any rotation of such a pair is a basis."""
    mesh = shapes.square(16)
    basis = solved(mesh, 8)
    away = basis.values.copy()
    for seed, (start, stop) in enumerate([(1, 3), (4, 6), (6, 8)]):
        assert basis.eigenvalues[start] == pytest.approx(basis.eigenvalues[stop - 1], rel=0.02)
        away[:, start:stop] = away[:, start:stop] @ random_rotation(stop - start, seed)
    for align in ("clusters", "span"):
        found = turned(replace(basis, values=away), align)
        np.testing.assert_allclose(found, turned(basis, align), atol=1e-9)


def test_eigenfunctions_of_the_square_become_its_cosines():
    """Known exactly: the references are the eigenfunctions, up to the error of the elements."""
    mesh = shapes.square(40)
    basis = solved(mesh, 15)  # fifteen: no double eigenvalue is cut in two
    cosines = Landmarks.around([mesh.points], 15)(mesh.points)
    error = np.sqrt(mesh.weights @ (turned(basis, "span") - cosines) ** 2)
    assert error.max() < 0.02


def test_the_numbering_of_the_nodes_does_not_matter():
    order = np.random.default_rng(2).permutation(len(PLATE.points))
    place = np.argsort(order)
    shuffled = Mesh(PLATE.points[order], place[PLATE.cells])
    found = turned(solved(shuffled), "span")
    np.testing.assert_allclose(found[place], turned(solved(PLATE), "span"), atol=1e-8)


def test_function_k_is_the_same_on_all_plates_only_if_aligned():
    """Measured by its coordinates in the box's functions: their mean over plates, over their size.

    One if the function is the same everywhere, about 1/√plates if signs are random.
    """
    plates = [shapes.perforated_plate(14, holes=1 + k % 5, seed=k) for k in range(10)]
    bases = [solved(plate, 32) for plate in plates]

    def agreement(align: str) -> float:
        coordinates = np.stack([_coordinates(b, turned(b, align)) for b in bases])
        size = np.sqrt((coordinates**2).sum(axis=2).mean(axis=0))
        return float((np.linalg.norm(coordinates.mean(axis=0), axis=1) / size).mean())

    none, signs, clusters, span = (agreement(a) for a in ("none", *TURNING))
    assert none < 0.45
    assert none < signs < clusters < span
    assert span > 0.95


def test_references_that_see_only_a_part_leave_the_rest_as_it_was():
    basis = solved(PLATE)
    references = basis.values.copy()
    references[:, 5:] = references[:, :1]  # the constant again and again: rank 5
    flips = np.ones(MODES)
    flips[1:5] = -1
    away = basis.values * flips
    found = aligned(away, PLATE.weights, basis.eigenvalues, references, "span")
    assert np.isfinite(found).all()
    assert orthonormality_defect(found, PLATE.weights) < 1e-11
    np.testing.assert_allclose(found[:, 1:5], basis.values[:, 1:5], atol=1e-11)


@pytest.mark.parametrize("align", TURNING)
def test_references_that_see_nothing_do_no_harm(align):
    basis = solved(PLATE)
    nothing = np.zeros_like(basis.values)
    found = aligned(basis.values, PLATE.weights, basis.eigenvalues, nothing, align)
    np.testing.assert_allclose(found, basis.values, atol=1e-12)


def test_the_nearest_rotation_is_at_least_as_near_as_others():
    matrix = np.random.default_rng(3).standard_normal((6, 6))
    nearest = nearest_rotation(matrix)
    np.testing.assert_allclose(nearest @ nearest.T, np.eye(6), atol=1e-12)
    others = [np.linalg.norm(matrix - random_rotation(6, seed)) for seed in range(50)]
    assert np.linalg.norm(matrix - nearest) < min(others)


@pytest.mark.usefixtures("unchecked")
def test_references_of_another_number_are_refused():
    basis = solved(PLATE)
    with pytest.raises(BasisError, match="one reference for every function"):
        aligned(basis.values, PLATE.weights, basis.eigenvalues, basis.values[:, :3], "span")
    with pytest.raises(BasisError, match="align"):
        turned(basis, "everything")


def _coordinates(basis: LaplacianBasis, values: np.ndarray) -> np.ndarray:
    points, weights = basis.domain.points, basis.domain.weights
    return values.T @ (weights[:, None] * Landmarks.around([points], basis.modes)(points))
