"""Every moment as a sample: fields that encode their own number and time."""

import numpy as np
import pytest

from supra.data import Channel, DataError, Dataset, Layout, Sample, stepwise
from supra.domain import Grid

GRID = Grid((2, 2))
STATE = (Channel("u"), Channel("v"))


def coded(number: int, time: int) -> np.ndarray:
    """Two channels: 100 · number + time, and its negative."""
    return np.full((4, 2), 100.0 * number + time) * [1, -1]


class Flow:
    """States at times 1, 2, 3 are given, those at 4 … 8 follow."""

    def __call__(self, index: int) -> Sample:
        past = np.concatenate([coded(index, t) for t in (1, 2, 3)], axis=1)
        return Sample(past, np.stack([coded(index, t) for t in range(4, 9)]), GRID)


def flow(samples: int = 3) -> Dataset:
    inputs = tuple(Channel(f"{c.name}{t}") for t in (1, 2, 3) for c in STATE)
    layout = Layout(inputs, STATE, "rollout", (4.0, 5.0, 6.0, 7.0, 8.0))
    return Dataset(layout, Flow(), np.arange(samples), GRID)


@pytest.mark.parametrize("unroll", [1, 2, 5])
def test_windows_hold_the_states_before_and_after_each_moment(unroll):
    data = stepwise(flow(), unroll)
    starts = 5 - unroll + 1
    assert len(data) == 3 * starts
    for k in range(len(data)):
        number, start = divmod(k, starts)
        expected = [coded(number, start + t) for t in (1, 2, 3)]
        np.testing.assert_array_equal(data[k].inputs, np.concatenate(expected, axis=1))
        after = np.stack([coded(number, start + 4 + t) for t in range(unroll)])
        np.testing.assert_array_equal(data[k].targets, after)


def test_a_subset_is_taken_apart_into_its_own_moments():
    data = stepwise(flow().subset([2]))
    assert len(data) == 5
    np.testing.assert_array_equal(data[4].targets[0], coded(2, 8))


class Press:
    def __call__(self, index: int) -> Sample:
        given = np.full((4, 1), float(index), dtype=np.float32)
        return Sample(given, np.stack([coded(index, t) for t in range(3)]), GRID)


def test_the_time_becomes_an_input():
    layout = Layout((Channel("die"),), STATE, "condition", (0.0, 0.5, 1.0))
    data = stepwise(Dataset(layout, Press(), np.arange(2), GRID))
    assert data.layout.time == "steady"
    assert [channel.name for channel in data.layout.inputs] == ["die", "time"]
    np.testing.assert_array_equal(data[4].inputs, np.tile(np.float32([1.0, 0.5]), (4, 1)))
    np.testing.assert_array_equal(data[4].targets, coded(1, 1))


@pytest.mark.parametrize("unroll", [0, 6])
def test_more_steps_than_there_are_cannot_be_unrolled(unroll):
    with pytest.raises(DataError, match="5 steps"):
        stepwise(flow(), unroll)
