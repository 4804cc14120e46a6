"""The flow's finite elements: against exact integrals, scikit-fem, and dense algebra."""

import numpy as np
import pytest
from skfem import Basis, BilinearForm, ElementQuad2, ElementVector, MeshQuad2
from skfem.helpers import ddot, grad

from supra.problems.errors import ProblemError
from supra.problems.flow_element import FlowElements, reference_square


def curved(along=5, across=7):
    x, y = np.meshgrid(np.linspace(0, 2, along), np.linspace(0, 1, across), indexing="ij")
    return np.stack([x + 0.1 * np.sin(3 * y), y + 0.2 * np.cos(2 * x)], axis=-1)


def random_state(elements, seed=0):
    return np.random.default_rng(seed).normal(size=len(elements.unknowns.held))


def test_shape_functions_are_one_at_their_node_and_sum_to_one():
    square = reference_square()
    np.testing.assert_allclose(square.quadratic.sum(axis=1), 1)
    np.testing.assert_allclose(square.slopes.sum(axis=2), 0, atol=1e-14)
    np.testing.assert_allclose(square.weights @ square.quadratic, np.kron(*[[1, 4, 1]] * 2) / 36)


def test_the_left_hand_side_is_quadratic_and_the_matrices_are_its_derivative():
    """Central differences of a quadratic are exact, for any step."""
    elements = FlowElements(curved())
    state, direction = random_state(elements), random_state(elements, seed=1)
    matrices, _ = elements.linearised(state, 0.3)
    product = (matrices @ direction[elements.unknowns.cells][..., None])[..., 0]
    ahead = elements.linearised(state + direction, 0.3)[1]
    behind = elements.linearised(state - direction, 0.3)[1]
    np.testing.assert_allclose(elements.unknowns.gather(product), (ahead - behind) / 2, atol=1e-12)


def test_element_matrices_equal_those_of_scikit_fem():
    """One curved element: diffusion, transport, and the shear of the flow that is carried."""
    points = curved(3, 3)
    elements = FlowElements(points)
    state = random_state(elements)
    velocity = state[:18].reshape(2, 9)
    ours = elements.linearised(state, 0.3)[0][0]

    turn = [0, 6, 8, 2, 3, 1, 7, 5, 4]  # their corners, sides and centre, in our numbering
    mesh = MeshQuad2(points.reshape(9, 2)[turn].T, np.arange(4)[:, None])
    basis = Basis(mesh, ElementVector(ElementQuad2()), intorder=5)
    places = locate(basis, points.reshape(9, 2))
    given = np.zeros(basis.N)
    given[places] = velocity

    @BilinearForm
    def derivative(u, v, w):
        carried = np.einsum("j...,ij...->i...", w["given"], grad(u))
        sheared = np.einsum("j...,ij...->i...", u, grad(w["given"]))
        return 0.3 * ddot(grad(u), grad(v)) + np.einsum("i...,i...", carried + sheared, v)

    theirs = derivative.assemble(basis, given=basis.interpolate(given)).toarray()
    order = places.ravel()
    np.testing.assert_allclose(ours[:18, :18], theirs[np.ix_(order, order)], atol=1e-13)


def locate(basis, points):
    """Their unknown for each component and node of ours."""
    unknowns = np.hstack([basis.nodal_dofs, basis.facet_dofs, basis.interior_dofs])
    distance = np.abs(basis.doflocs[:, unknowns[0]].T[:, None] - points).sum(axis=2)
    return unknowns[:, distance.argmin(axis=0)]


def test_linear_divergence_is_integrated_exactly():
    """u = (x², xy) has the divergence 3x; on a sheared grid every factor is a polynomial."""
    x, y = np.meshgrid(np.linspace(0, 2, 3), np.linspace(0, 1, 3), indexing="ij")
    elements = FlowElements(np.stack([x, y + 0.5 * x], axis=-1))
    state = np.zeros(21)
    state[:18] = np.concatenate([(x**2).ravel(), (x * (y + 0.5 * x)).ravel()])
    _, left = elements.linearised(state, 1.0)
    np.testing.assert_allclose(left[18:], [-6, -1, 0], atol=1e-13)  # −∫3x, −∫3x(x−1)/2, 0


def test_a_constant_force_loads_its_components_times_the_area_of_the_inner_nodes():
    """On one row of elements of a straight grid Simpson's weights tell each node's part."""
    x, y = np.meshgrid(np.linspace(0, 4, 5), np.linspace(0, 1, 3), indexing="ij")
    elements = FlowElements(np.stack([x, y], axis=-1))
    force = np.broadcast_to(np.array([1.0, -2.0])[:, None, None], (2, 5, 3))
    load = elements.load(force)[:30].reshape(2, 5, 3)
    middle = np.array([0, 4, 2, 4, 1]) / 3 * 4 / 6
    np.testing.assert_allclose(load[0, :, 1], middle, atol=1e-14)
    np.testing.assert_allclose(load[1], -2 * load[0])
    assert not load[:, :, [0, 2]].any()


def test_the_curved_elements_have_the_area_that_their_boundary_encloses():
    points = curved(9, 9)
    assert FlowElements(points)._weights.sum() == pytest.approx(area(points), rel=1e-12)


def area(points):
    """By the boundary, each side of an element a parabola: ∮ x dy with Simpson-exact pieces."""
    ring = [points[:, 0], points[-1], points[::-1, -1], points[0, ::-1]]
    total = 0.0
    for side in ring:
        a, b, c = side[:-2:2], side[1::2], side[2::2]
        slope = [(-3 * a + 4 * b - c), (c - a), (a - 4 * b + 3 * c)]
        values = [p[:, 0] * s[:, 1] for p, s in zip((a, b, c), slope, strict=True)]
        total += (values[0] + 4 * values[1] + values[2]).sum() / 6
    return total


def test_solve_equals_dense_algebra():
    elements = FlowElements(curved(9, 7))
    unknowns = elements.unknowns
    matrices, _ = elements.linearised(0.1 * random_state(elements), 0.5)
    right = np.where(unknowns.held, 0, random_state(elements, seed=1))
    dense = np.zeros((len(right),) * 2)
    for cell, matrix in zip(unknowns.cells, matrices, strict=True):
        dense[np.ix_(cell, cell)] += matrix
    free = np.flatnonzero(~unknowns.held)
    expected = np.zeros(len(right))
    expected[free] = np.linalg.solve(dense[np.ix_(free, free)], right[free])
    found = elements.solve(matrices, right)
    np.testing.assert_allclose(found, expected, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("turn", [np.s_[::-1], np.s_[:, ::-1]])
def test_cells_that_are_turned_over_are_refused(turn):
    with pytest.raises(ProblemError, match=r"must not be folded.* goes down to -"):
        FlowElements(curved()[turn])
