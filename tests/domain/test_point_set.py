"""Scattered points and their weights."""

import numpy as np
import pytest

from supra.domain import DomainError, PointSet


def test_weights_are_equal_or_given_and_sum_to_one():
    assert PointSet([[0, 0], [1, 1]]).weights.tolist() == [0.5, 0.5]
    assert PointSet([[0], [1]], [1, 3]).weights.tolist() == [0.25, 0.75]


@pytest.mark.parametrize(
    ("points", "weights", "said"),
    [
        (np.zeros((0, 2)), None, r"\(0, 2\)"),
        (np.zeros((3, 4)), None, r"\(3, 4\)"),
        ([[np.inf]], None, "finite"),
        ([[0], [1]], [1], r"\(1,\) weights for 2"),
        ([[0], [1]], [1, -1], "non-negative"),
        ([[0], [1]], [0, 0], "not all zero"),
        ([[0], [1]], [1, np.nan], "non-negative"),
    ],
)
def test_points_that_cannot_be_integrated_over_are_refused(points, weights, said):
    with pytest.raises(DomainError, match=said):
        PointSet(points, weights)
