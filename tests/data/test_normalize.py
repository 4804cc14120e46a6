"""Normalisers against numpy's moments of the whole array, and their inverses."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from supra.data import DataError, Normalizer

KINDS = ["none", "scalar", "channel", "point", "minmax"]


@pytest.fixture(autouse=True)
def _double():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.fixture
def fields() -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.normal(size=(7, 11, 3)) * [1, 100, 1e-3] + [0, 5, 1e3]


def encoded(fields: np.ndarray, kind: str) -> np.ndarray:
    return Normalizer.fit(fields, kind).encode(torch.as_tensor(fields)).numpy()


@pytest.mark.parametrize(
    ("kind", "axes"), [("scalar", (0, 1, 2)), ("channel", (0, 1)), ("point", 0)]
)
def test_gaussian_kinds_give_mean_zero_and_deviation_one(fields, kind, axes):
    result = encoded(fields, kind)
    np.testing.assert_allclose(result.mean(axis=axes), 0, atol=1e-8)
    np.testing.assert_allclose(result.std(axis=axes), 1, rtol=1e-8)


def test_minmax_reaches_both_ends_of_each_channel(fields):
    result = encoded(fields, "minmax")
    np.testing.assert_allclose(result.min(axis=(0, 1)), -1)
    np.testing.assert_allclose(result.max(axis=(0, 1)), 1)


def test_none_changes_nothing(fields):
    np.testing.assert_array_equal(encoded(fields, "none"), fields)


@pytest.mark.parametrize("kind", KINDS)
def test_decoding_inverts_encoding(fields, kind):
    normalizer = Normalizer.fit(fields, kind)
    back = normalizer.decode(normalizer.encode(torch.as_tensor(fields)))
    np.testing.assert_allclose(back.numpy(), fields, rtol=1e-13, atol=1e-13)


@given(st.permutations(range(6)), st.floats(-1e6, 1e6))
@settings(max_examples=25, deadline=None)
def test_the_order_of_samples_and_a_large_mean_do_not_matter(order, mean):
    fields = np.random.default_rng(1).normal(size=(6, 5, 2)) + mean
    result = Normalizer.fit(fields[list(order)], "channel")
    np.testing.assert_allclose(result.shift.numpy(), fields.mean(axis=(0, 1)), rtol=1e-12)
    np.testing.assert_allclose(result.scale.numpy(), fields.std(axis=(0, 1)), rtol=1e-8)


@pytest.mark.parametrize("kind", ["scalar", "channel", "point", "minmax"])
@pytest.mark.parametrize("value", [0.0, 0.1, -1e8])
def test_constant_channels_are_shifted_to_zero_and_come_back(kind, value):
    fields = np.full((4, 5, 1), value, dtype=np.float32)
    normalizer = Normalizer.fit(fields, kind)
    result = normalizer.encode(torch.as_tensor(fields, dtype=torch.float64))
    np.testing.assert_allclose(result.numpy(), 0, atol=1e-7 * max(1, abs(value)))
    np.testing.assert_allclose(normalizer.decode(result).numpy(), fields, rtol=1e-7)


def test_time_steps_count_as_samples(fields):
    whole = Normalizer.fit(fields, "channel")
    stepwise = Normalizer.fit([fields[:3], fields[3:]], "channel")
    torch.testing.assert_close(stepwise.shift, whole.shift)
    torch.testing.assert_close(stepwise.scale, whole.scale)


def test_its_state_brings_it_back(fields):
    normalizer = Normalizer.fit(fields, "point")
    again, ones = Normalizer(**normalizer.state()), torch.ones(11, 3)
    torch.testing.assert_close(again.encode(ones), normalizer.encode(ones))


@pytest.mark.parametrize(
    ("arrays", "kind", "message"),
    [
        ([], "channel", "got none"),
        ([np.full((3, 1), np.nan)], "channel", "finite"),
        ([np.ones((3, 1)), np.ones((4, 1))], "point", 'kind="channel"'),
        ([np.ones((3, 1)), np.ones((3, 2))], "channel", "samples alike"),
    ],
)
def test_what_cannot_be_fitted_is_refused_by_name(arrays, kind, message):
    with pytest.raises(DataError, match=message):
        Normalizer.fit(arrays, kind)


def test_an_unknown_kind_is_refused_by_name(unchecked):
    with pytest.raises(DataError, match="kind"):
        Normalizer.fit([np.ones((3, 1))], "gauss")


def test_by_point_a_channel_that_all_samples_share_is_taken_as_a_whole():
    rng = np.random.default_rng(0)
    shared = np.linspace(3, 5, 40)[:, None]
    arrays = [np.concatenate([rng.normal(7, 2, (40, 1)), shared], axis=1) for _ in range(300)]
    encoded = Normalizer.fit(arrays, "point").encode(torch.tensor(np.stack(arrays)))
    torch.testing.assert_close(encoded[..., 0].mean(0), torch.zeros(40).double(), atol=1e-5, rtol=0)
    whole = encoded[0, :, 1]
    assert abs(whole.mean()) < 1e-6
    assert abs(whole.std(correction=0) - 1) < 1e-6
    assert (whole.diff() > 0).all()


def test_by_point_a_value_that_all_samples_share_is_scaled_as_its_channel():
    """A boundary value: in units of the field, however small, not in units of one."""
    rng = np.random.default_rng(0)
    arrays = [1e-3 * rng.normal(size=(40, 1)) for _ in range(300)]
    for array in arrays:
        array[:8] = 0
    normalizer = Normalizer.fit(arrays, "point")
    expected = np.sqrt(np.mean(np.square(arrays)))
    np.testing.assert_allclose(normalizer.scale[:8, 0], expected, rtol=1e-2)
    np.testing.assert_allclose(normalizer.scale[8:, 0], 1e-3, rtol=0.2)
    assert (normalizer.shift[:8] == 0).all()
