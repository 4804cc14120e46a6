"""The benchmark's samples: layout, random dies, determinism, options."""

import subprocess
import sys

import numpy as np
import pytest

from supra.problems.errors import ProblemError
from supra.problems.plasticity import Plasticity

SMALL = Plasticity(resolution=6)


@pytest.fixture(scope="module")
def sample():
    return SMALL.sample(0)


# Layout


def test_a_sample_has_the_layout_of_the_public_file(sample):
    assert {name: (a.shape, a.dtype) for name, a in sample.items()} == {
        "input": ((21,), np.float32),
        "output": ((21, 7, 20, 4), np.float32),
    }


def test_defaults_are_those_of_the_benchmark():
    assert Plasticity().options() == {
        "resolution": 30,
        "steps": 20,
        "relief": 4.0,
        "travel": 6.0,
        "speed": 3.0,
        "hardening": 500.0,
    }
    assert Plasticity().cells == (100, 30)


def test_position_minus_displacement_is_the_block_from_right_to_left_and_top_to_bottom(sample):
    start = sample["output"][..., :2] - sample["output"][..., 2:]
    x, y = np.meshgrid(np.linspace(0, -50, 21), np.linspace(15, 0, 7), indexing="ij")
    np.testing.assert_allclose(start[..., 0], np.repeat(x[..., None], 20, -1), atol=1e-5)
    np.testing.assert_allclose(start[..., 1], np.repeat(y[..., None], 20, -1), atol=1e-5)


def test_the_bottom_is_the_last_row_and_does_not_move(sample):
    np.testing.assert_array_equal(sample["output"][:, -1, :, 2:], 0)


def test_the_top_ends_on_the_die_over_the_same_columns(sample):
    """At the end the whole top touches a die of less relief than its travel, moved down by 6."""
    top = sample["output"][:, 0, -1].astype(float)
    x = np.linspace(0, -50, 21)
    height = np.interp(-top[:, 0], -x, sample["input"].astype(float)) - 6
    inside = (top[:, 0] > -49) & (top[:, 0] < -1)
    gap = (height - top[:, 1])[inside]
    assert np.abs(gap).max() < 0.35  # the die is not straight between its values
    assert np.corrcoef(height[inside], top[inside, 1])[0, 1] > 0.98


def test_the_first_time_is_one_step_after_the_start(sample):
    lowest = sample["output"][:, 0, :, 3].min(axis=0)
    np.testing.assert_allclose(lowest, -0.3 * np.arange(1, 21), atol=0.25)


# Dies


def test_a_die_touches_the_block_with_its_lowest_point():
    x = np.linspace(0, 50, 701)  # the knots are among them
    for seed in range(20):
        die = SMALL.die(np.random.default_rng(seed))
        assert die.profile(x).min() == pytest.approx(15, abs=1e-12)
        assert die.profile(x).max() <= 19


def test_knots_are_uniform_up_to_the_relief():
    rng = np.random.default_rng(0)
    spans = [np.ptp(SMALL.die(rng).heights) for _ in range(2000)]
    # The range of eight uniform numbers has mean 7/9.
    assert np.mean(spans) == pytest.approx(4 * 7 / 9, rel=0.02)


def test_the_input_is_the_die_over_the_columns(sample):
    die = SMALL.die(np.random.default_rng(np.random.SeedSequence(0, spawn_key=(0, 0))))
    np.testing.assert_allclose(sample["input"], die.profile(np.linspace(50, 0, 21)), rtol=1e-6)


def test_a_flat_die_presses_evenly():
    output = Plasticity(resolution=6, relief=0.0).sample(0)["output"]
    np.testing.assert_allclose(output[:, 0, -1, 3], -6, atol=1e-5)
    # Symmetric about the middle, wider at half height.
    np.testing.assert_allclose(output[..., 2], -output[::-1, ..., 2], atol=1e-5)
    assert output[0, 3, -1, 2] > 1


# Samples


def test_a_sample_depends_on_seed_split_and_number_only(sample):
    again = Plasticity(resolution=6).sample(0)
    for name, values in sample.items():
        np.testing.assert_array_equal(again[name], values)
    for other in (SMALL.sample(1), SMALL.sample(0, seed=1), SMALL.sample(0, split="test")):
        assert np.abs(other["output"] - sample["output"]).max() > 0.1


def test_one_seed_is_one_die_at_every_resolution(sample):
    fine = Plasticity(resolution=12).sample(0)
    np.testing.assert_array_equal(fine["input"][::2], sample["input"])
    moved, coarse = fine["output"][::2, ::2, :, 2:], sample["output"][..., 2:]
    assert np.linalg.norm(moved - coarse) < 0.05 * np.linalg.norm(moved)


@pytest.mark.slow
def test_the_benchmark_s_own_mesh():
    sample = Plasticity().sample(0)
    assert sample["input"].shape == (101,)
    assert sample["output"].shape == (101, 31, 20, 4)
    coarse = Plasticity(resolution=15).sample(0)["output"][..., 2:]
    moved = sample["output"][::2, ::2, :, 2:]
    assert np.linalg.norm(moved - coarse) < 0.015 * np.linalg.norm(moved)


# Errors


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"resolution": 31}, "multiple of 3.*got 31"),
        ({"resolution": 0}, "multiple of 3.*got 0"),
        ({"steps": 0}, "`steps` must be a whole number of at least 1: got 0"),
        ({"relief": -1.0}, "`relief` must be finite and not negative: got -1.0"),
        ({"hardening": float("nan")}, "`hardening` must be finite and not negative: got nan"),
        ({"speed": 0.0}, "`speed` must be positive and finite: got 0.0"),
        ({"travel": 15.0}, "less than the block's height, 15 mm: got 15.0"),
    ],
)
def test_options_that_no_forging_has_are_refused(options, message):
    with pytest.raises(ProblemError, match=message):
        Plasticity(**options)


def test_without_numba_the_problem_can_be_made_and_says_what_to_install():
    code = (
        "import sys; sys.modules['numba'] = None\n"
        "from supra.problems.plasticity import Plasticity\n"
        "try: Plasticity(resolution=3).sample(0)\n"
        "except ValueError as error: print(error)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 'pip install "supra-operator[solvers]"' in run.stdout
