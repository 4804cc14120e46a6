"""Two-dimensional flow: exact solutions, balances, rates, symmetries, and the benchmark's data."""

import numpy as np
import pytest

from supra.domain import Grid
from supra.problems.errors import ProblemError
from supra.problems.navier_stokes import NavierStokes, initial_law
from supra.problems.vorticity import evolve


def nodes(n):
    return np.meshgrid(np.arange(n) / n, np.arange(n) / n, indexing="ij")


def smooth_vorticity(n, seed=0, size=2.0):
    """A few waves of random phases: resolved on any grid of the tests, and nonlinear."""
    x, y = nodes(n)
    rng = np.random.default_rng(seed)
    waves = [(1, 0), (0, 1), (1, 1), (1, -2), (2, 1), (-1, 3)]
    return size * sum(
        rng.normal() * np.cos(2 * np.pi * (k * x + m * y + rng.uniform())) for k, m in waves
    )


def diagonal_forcing(n):
    x, y = nodes(n)
    return 0.1 * (np.sin(2 * np.pi * (x + y)) + np.cos(2 * np.pi * (x + y)))


def stream_function(w):
    """Solves -Δψ = w; numpy's full complex transform, nothing of the solver's."""
    k = np.fft.fftfreq(w.shape[0], 1 / w.shape[0])
    squared = (2 * np.pi) ** 2 * (k[:, None] ** 2 + k[None, :] ** 2)
    squared[0, 0] = np.inf
    return np.fft.ifft2(np.fft.fft2(w) / squared).real


def laplacian(w):
    k = np.fft.fftfreq(w.shape[0], 1 / w.shape[0])
    squared = (2 * np.pi) ** 2 * (k[:, None] ** 2 + k[None, :] ** 2)
    return -np.fft.ifft2(np.fft.fft2(w) * squared).real


def energy(w):
    """Half the mean of |(u, v)|², which is that of ψw."""
    return (stream_function(w) * w).mean() / 2


def enstrophy(w):
    return (w**2).mean() / 2


def relative(a, b):
    return np.linalg.norm(a - b) / np.linalg.norm(b)


# The equation


def test_taylor_green_vortices_decay_exactly():
    n, viscosity, times = 32, 0.01, np.array([0.5, 1.0, 3.0])
    x, y = nodes(n)
    w = 2 * np.cos(4 * np.pi * x) * np.cos(4 * np.pi * y)
    exact = w[..., None] * np.exp(-viscosity * 2 * (4 * np.pi) ** 2 * times)
    np.testing.assert_allclose(evolve(w, times, viscosity), exact, rtol=0, atol=1e-8 * exact.max())


def test_a_decaying_vortex_in_a_tilted_frame_is_exact():
    # Any field of one |k| is a steady flow but for its decay: here 25 = 3² + 4² = 5² + 0².
    n, viscosity = 32, 1e-3
    x, y = nodes(n)
    w = np.sin(2 * np.pi * (3 * x + 4 * y)) + np.cos(2 * np.pi * 5 * x) - np.sin(10 * np.pi * y)
    late = evolve(w, [1.0], viscosity)[..., 0]
    assert relative(late, w * np.exp(-viscosity * 25 * (2 * np.pi) ** 2)) < 1e-8


def test_a_flow_at_rest_answers_the_forcing_exactly():
    n, viscosity, times = 24, 1e-2, np.array([1.0, 20.0])
    forcing, rate = diagonal_forcing(n), viscosity * 8 * np.pi**2
    exact = forcing[..., None] * (1 - np.exp(-rate * times)) / rate
    late = evolve(np.zeros((n, n)), times, viscosity, forcing)
    np.testing.assert_allclose(late, exact, atol=1e-10)


def test_advection_is_that_of_the_equation():
    # Its first instant against -(u, v)·∇w written out with full transforms.
    n, h = 48, 1e-5
    w = smooth_vorticity(n)
    frequency = 2j * np.pi * np.fft.fftfreq(n, 1 / n)
    psi, hat = np.fft.fft2(stream_function(w)), np.fft.fft2(w)
    dx = lambda f: np.fft.ifft2(frequency[:, None] * f).real  # noqa: E731
    dy = lambda f: np.fft.ifft2(frequency[None, :] * f).real  # noqa: E731
    tendency = -(dy(psi) * dx(hat) - dx(psi) * dy(hat))
    early = evolve(w, [h, 2 * h], 0.0)
    slope = (-3 * w + 4 * early[..., 0] - early[..., 1]) / (2 * h)
    assert relative(slope, tendency) < 1e-7


def test_energy_and_enstrophy_change_by_dissipation_and_forcing():
    n, viscosity = 48, 2e-3
    forcing = 10 * diagonal_forcing(n)
    times = np.linspace(0, 1, 65)
    flow = np.moveaxis(evolve(smooth_vorticity(n), times, viscosity, forcing, courant=0.5), -1, 0)
    work = [(stream_function(w) * forcing).mean() - 2 * viscosity * enstrophy(w) for w in flow]
    feed = [(w * forcing).mean() + viscosity * (w * laplacian(w)).mean() for w in flow]
    assert simpson(work, times) == pytest.approx(energy(flow[-1]) - energy(flow[0]), rel=1e-6)
    assert simpson(feed, times) == pytest.approx(enstrophy(flow[-1]) - enstrophy(flow[0]), rel=1e-6)


def simpson(values, times):
    weights = np.ones(len(times))
    weights[1:-1:2], weights[2:-1:2] = 4, 2
    return weights @ np.array(values) * (times[1] - times[0]) / 3


def test_inviscid_unforced_flow_keeps_energy_and_enstrophy_up_to_the_error_of_time():
    w = smooth_vorticity(32)
    for invariant in (energy, enstrophy):
        drift = [
            abs(invariant(evolve(w, [2.0], 0.0, courant=c)[..., 0]) / invariant(w) - 1)
            for c in (1.0, 0.5)
        ]
        assert drift[0] < 1e-3
        assert drift[1] < drift[0] / 2**3.8


def test_mean_vorticity_is_conserved():
    w = smooth_vorticity(32) + 0.3
    late = evolve(w, [1.0, 3.0], 1e-4, diagonal_forcing(32))
    np.testing.assert_allclose(late.mean(axis=(0, 1)), 0.3, atol=1e-14)


def test_the_mean_vorticity_moves_no_fluid():
    w = smooth_vorticity(24)
    shifted = evolve(w + 0.3, [1.0], 1e-3) - 0.3
    np.testing.assert_allclose(shifted, evolve(w, [1.0], 1e-3), atol=1e-12)


# Accuracy


def test_error_of_time_falls_at_fourth_order():
    n, times = 32, [1.0]
    w, forcing = smooth_vorticity(n), diagonal_forcing(n)
    courants = np.array([0.8, 0.4, 0.2])
    exact = evolve(w, times, 1e-3, forcing, courant=0.05)
    errors = [relative(evolve(w, times, 1e-3, forcing, courant=c), exact) for c in courants]
    slope = np.polyfit(np.log(courants), np.log(errors), 1)[0]
    assert 3.7 < slope < 4.6


def test_error_of_space_falls_faster_than_any_power():
    def flow(n):
        every = n // 12
        return evolve(smooth_vorticity(n), [0.5], 2e-3, courant=0.3)[::every, ::every]

    exact = flow(144)
    errors = [relative(flow(n), exact) for n in (24, 36, 48, 72)]
    rates = -np.diff(np.log(errors)) / np.diff(np.log([24, 36, 48, 72]))
    assert rates.min() > 4
    assert rates[-1] > 10
    assert errors[-1] < 1e-6


def test_viscosity_does_not_limit_the_step():
    w = smooth_vorticity(32)
    late = evolve(w, [1.0], 10.0)
    assert np.abs(late).max() < 1e-12


# Over six seeds each 1.0e-4 to 1.3e-4 and 5.1e-4 to 8.5e-4 were measured.
@pytest.mark.parametrize(("scale", "tolerance"), [(1.0, 3e-4), (7**0.75, 2e-3)])
def test_trajectories_on_128_and_256_nodes_agree_at_time_5(scale, tolerance):
    coarse, fine = (
        NavierStokes(resolution=n, steps=5, initial_scale=scale).sample(0)["u"] for n in (128, 256)
    )
    assert relative(coarse[..., -1], fine[..., -1]) < tolerance


@pytest.mark.slow
def test_single_precision_errs_less_than_the_grid():
    problem = NavierStokes(resolution=128)
    w, times = problem.initial_vorticity(np.random.default_rng(0)), np.array([10.0, 20.0])
    double = evolve(w, times, problem.viscosity, problem.forcing())
    single = evolve(w.astype(np.float32), times, problem.viscosity, problem.forcing())
    assert single.dtype == np.float32
    assert relative(single, double) < 5e-5


# Symmetries


@pytest.mark.parametrize("shift", [(5, 0), (3, -7)])
def test_shifting_the_initial_field_shifts_the_flow(shift):
    w = smooth_vorticity(32)
    moved = evolve(np.roll(w, shift, (0, 1)), [2.0], 1e-3)
    np.testing.assert_allclose(moved, np.roll(evolve(w, [2.0], 1e-3), shift, (0, 1)), atol=1e-11)


def test_shifting_along_the_forcing_s_lines_shifts_the_forced_flow():
    w, forcing, shift = smooth_vorticity(32), diagonal_forcing(32), (6, -6)
    moved = evolve(np.roll(w, shift, (0, 1)), [2.0], 1e-3, forcing)
    still = evolve(w, [2.0], 1e-3, forcing)
    np.testing.assert_allclose(moved, np.roll(still, shift, (0, 1)), atol=1e-11)


def test_a_mirrored_flow_is_the_flow_mirrored_with_the_opposite_vorticity():
    w = smooth_vorticity(32)
    mirror = lambda f: -np.roll(f[::-1], 1, axis=0)  # x to -x  # noqa: E731
    np.testing.assert_allclose(
        evolve(mirror(w), [2.0], 1e-3), mirror(evolve(w, [2.0], 1e-3)), atol=1e-11
    )


def test_a_flow_may_be_stopped_and_taken_up_again():
    w, forcing = smooth_vorticity(32), diagonal_forcing(32)
    options = {"viscosity": 1e-3, "forcing": forcing, "courant": 0.3}
    half = evolve(w, [0.5], **options)[..., 0]
    whole = evolve(w, [0.5, 1.0], **options)[..., 1]
    assert relative(evolve(half, [0.5], **options)[..., 0], whole) < 1e-12


def test_time_zero_is_the_initial_field_without_the_modes_beyond_the_two_thirds_rule():
    n = 32
    x, _ = nodes(n)
    w = smooth_vorticity(n)
    start = evolve(w + np.cos(2 * np.pi * 12 * x), [0.0], 1e-3)[..., 0]
    np.testing.assert_allclose(start, w, atol=1e-13)


# The benchmark's data


def test_a_sample_has_the_layout_of_the_public_files():
    sample = NavierStokes(resolution=32, stored=16, steps=3).sample(0)
    assert list(sample) == ["u"]
    assert sample["u"].shape == (16, 16, 3)
    assert sample["u"].dtype == np.float32
    assert sample["u"].flags["C_CONTIGUOUS"]


def test_defaults_are_those_of_the_benchmark():
    assert NavierStokes().options() == {
        "viscosity": 1e-5,
        "resolution": 256,
        "stored": 64,
        "steps": 20,
        "initial_scale": 1.0,
    }


def test_the_forcing_is_the_benchmark_s_with_x_first():
    x, y = nodes(32)
    phase = 2 * np.pi * (x + y)
    expected = 0.1 * np.sqrt(2) * np.sin(phase + np.pi / 4)
    np.testing.assert_allclose(
        NavierStokes(resolution=32, stored=16).forcing(), expected, atol=1e-15
    )


def test_entry_i_j_k_is_the_vorticity_at_node_i_j_and_time_k_plus_1():
    problem = NavierStokes(viscosity=1e-3, resolution=32, stored=8, steps=3)
    rng = np.random.default_rng(4)
    w = problem.initial_vorticity(np.random.default_rng(4))
    x, y = Grid((8, 8), periodic=True).axes
    stored = problem.solve(rng)["u"]
    for k, time in enumerate([1.0, 2.0, 3.0]):
        flow = evolve(w, [time], 1e-3, diagonal_forcing(32), courant=0.5)[..., 0]
        np.testing.assert_allclose(stored[..., k], at_points(flow, x, y), atol=1e-4)


def at_points(field, x, y):
    """Trigonometric interpolation on a tensor grid of any points."""
    n = len(field)
    k = np.fft.fftfreq(n, 1 / n)
    ex, ey = (np.exp(2j * np.pi * np.outer(p, k)) for p in (x, y))
    return (ex @ (np.fft.fft2(field) / n**2) @ ey.T).real


def test_the_initial_field_has_the_variance_of_its_law_mode_by_mode():
    # N(0, 7^{3/2} (-Δ + 49)^{-5/2}): E|ŵ_k|² over 400 draws, averaged where |k| is the same.
    problem, count = NavierStokes(resolution=32, stored=8), 400
    rng = np.random.default_rng(0)
    power = sum(
        np.abs(np.fft.fft2(problem.initial_vorticity(rng)) / 32**2) ** 2 for _ in range(count)
    )
    assert power[0, 0] < 1e-30
    for k, m in [(1, 0), (1, 1), (2, 1), (3, 0), (4, 2)]:
        ring = {(a * s, b * t) for a, b in [(k, m), (m, k)] for s in (1, -1) for t in (1, -1)}
        mean = np.mean([power[index] for index in ring]) / count
        variance = 7**1.5 * ((2 * np.pi) ** 2 * (k**2 + m**2) + 49) ** -2.5
        # |ŵ|² is exponential: opposite modes are one draw, so count * len / 2 independent ones.
        assert mean == pytest.approx(variance, rel=4 / np.sqrt(count * len(ring) / 2))


def test_the_initial_variance_is_the_sum_over_all_waves():
    k = np.arange(-400, 401)
    squared = (2 * np.pi) ** 2 * (k[:, None] ** 2 + k[None, :] ** 2)
    total = (7**1.5 * (squared + 49) ** -2.5).sum() - 7**1.5 * 49**-2.5
    assert initial_law(256).variance == pytest.approx(total, rel=1e-4)
    assert initial_law(256, scale=7**0.75).variance == pytest.approx(7**1.5 * total, rel=1e-4)


def test_one_seed_is_one_initial_field_at_128_and_256_nodes():
    coarse, fine = (
        np.fft.fft2(NavierStokes(resolution=n).initial_vorticity(np.random.default_rng(1))) / n**2
        for n in (128, 256)
    )
    kept = np.r_[:43, -42:0]  # what the 2/3 rule leaves of 128 nodes
    np.testing.assert_allclose(coarse[np.ix_(kept, kept)], fine[np.ix_(kept, kept)], atol=1e-15)


def test_a_sample_depends_on_seed_split_and_number_only():
    problem = NavierStokes(resolution=32, stored=16, steps=2)
    first = problem.sample(3, seed=7)["u"]
    np.testing.assert_array_equal(
        NavierStokes(resolution=32, stored=16, steps=2).sample(3, 7)["u"], first
    )
    np.testing.assert_array_equal(list(problem.generate(4, seed=7))[3]["u"], first)
    for other in (problem.sample(2, 7), problem.sample(3, 8), problem.sample(3, 7, "test")):
        assert relative(other["u"], first) > 0.01


# Errors


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"viscosity": 0.0}, "`viscosity` must be positive"),
        ({"viscosity": float("nan")}, "`viscosity` must be positive"),
        ({"stored": 48}, "multiple of `stored`.*resolution=256, stored=48"),
        ({"stored": 0}, "`stored` must be a whole number of at least 1: got 0"),
        ({"steps": 0}, "`steps` must be a whole number"),
        ({"resolution": 4, "stored": 4}, "at least 8 nodes: got 4"),
        ({"initial_scale": -1.0}, "`initial_scale` must be finite"),
    ],
)
def test_options_that_no_flow_has_are_refused(options, message):
    with pytest.raises(ProblemError, match=message):
        NavierStokes(**options)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"vorticity": np.zeros((8, 9))}, r"square grid.*\(8, 9\)"),
        ({"vorticity": np.zeros((8, 8), int)}, "float32 or float64: got int64"),
        ({"vorticity": np.full((8, 8), np.nan)}, "must be finite"),
        ({"forcing": np.zeros((16, 16))}, r"nodes of `vorticity`, \(8, 8\): got \(16, 16\)"),
        ({"times": [2.0, 1.0]}, "`times` must ascend"),
        ({"times": [-1.0]}, "`times` must ascend"),
        ({"viscosity": -1.0}, "`viscosity` must be finite and not negative: got -1.0"),
        ({"courant": 0.0}, "`courant` must be positive"),
    ],
)
def test_what_cannot_be_evolved_is_refused(change, message):
    given = {"vorticity": np.zeros((8, 8)), "times": [1.0], "viscosity": 1e-3, **change}
    with pytest.raises(ProblemError, match=message):
        evolve(**given)


def test_a_flow_that_overflows_says_so():
    with np.errstate(all="ignore"), pytest.raises(ProblemError, match="no longer finite"):
        evolve(1e200 * smooth_vorticity(8), [1e-199], 0.0, courant=50.0)
