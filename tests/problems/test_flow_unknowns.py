"""The flow's unknowns: each is numbered once, and the order of elimination needs no exchange."""

import numpy as np
import pytest

from supra.problems.errors import ProblemError
from supra.problems.flow_element import FlowElements
from supra.problems.flow_unknowns import CENTRE, SKELETON, unknowns_of

SHAPES = [(5, 5), (9, 17), (17, 7), (3, 11), (33, 33)]


@pytest.mark.parametrize("shape", SHAPES)
def test_every_free_unknown_is_eliminated_exactly_once(shape):
    unknowns = unknowns_of(*shape)
    eliminated = np.concatenate([unknowns.cells[:, CENTRE].ravel(), unknowns.order])
    np.testing.assert_array_equal(np.sort(eliminated), np.flatnonzero(~unknowns.held))


def test_elements_that_meet_share_their_side():
    cells = unknowns_of(7, 5).cells.reshape(3, 2, 21)
    np.testing.assert_array_equal(cells[0, 0, 6:9], cells[1, 0, 0:3])
    np.testing.assert_array_equal(cells[0, 0, 11:18:3], cells[0, 1, 9:18:3])
    assert len(np.unique(cells[..., 18:])) == 18  # no pressure is shared


def test_velocity_is_held_at_the_inlet_and_on_the_walls_only():
    held = unknowns_of(7, 5).held
    velocity = held[:70].reshape(2, 7, 5)
    assert velocity[:, 0].all()
    assert velocity[:, :, [0, -1]].all()
    assert not velocity[:, 1:, 1:-1].any()
    assert not held[70:].any()


@pytest.mark.parametrize("shape", SHAPES)
def test_slow_flow_is_factorised_without_exchanging_rows(shape):
    """The order has no zero pivot, though the matrix has zeros on its diagonal."""
    x, y = np.meshgrid(np.linspace(0, 3, shape[0]), np.linspace(0, 1, shape[1]), indexing="ij")
    elements = FlowElements(np.stack([x, y + 0.3 * x**2], axis=-1))
    matrices, _ = elements.linearised(np.zeros(len(elements.unknowns.held)), 1.0)
    inner = np.linalg.inv(matrices[:, CENTRE[:, None], CENTRE])
    reduced = matrices[:, SKELETON[:, None], SKELETON] - (
        matrices[:, SKELETON[:, None], CENTRE] @ inner @ matrices[:, CENTRE[:, None], SKELETON]
    )
    factors = elements.unknowns.factor(reduced)
    np.testing.assert_array_equal(factors.perm_r, factors.perm_c)


def test_a_singular_matrix_is_a_named_error():
    unknowns = unknowns_of(5, 5)
    with pytest.raises(ProblemError, match="no unique solution"):
        unknowns.factor(np.zeros((4, 17, 17)))
