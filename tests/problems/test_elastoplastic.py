"""The law at one point, against closed forms and a three-dimensional law written separately."""

import numpy as np
import pytest
from scipy.optimize import brentq

from supra.problems import elastoplastic
from supra.problems.elastoplastic import (
    Material,
    artanh,
    cosh,
    exp,
    moduli,
    plastic_multiplier,
    respond,
    sinh,
)

STEEL = Material()
LAW = moduli(STEEL)
VIRGIN = (1.0, 0.0, 1.0)


def answer(F, plastic=VIRGIN, alpha=0.0, law=LAW):
    """Stress P, inverse plastic metric and α as arrays."""
    stress, plastic, alpha = respond(tuple(np.ravel(F)), tuple(plastic), alpha, law)
    return np.reshape(stress, (2, 2)), np.array(plastic), alpha


def equivalent(F, P):
    """Von Mises' stress of τ = P Fᵀ in plane stress."""
    t = P @ F.T
    return np.sqrt(t[0, 0] ** 2 - t[0, 0] * t[1, 1] + t[1, 1] ** 2 + 3 * t[0, 1] ** 2)


def random_gradient(rng, size):
    return np.eye(2) + size * rng.uniform(-1, 1, (2, 2))


# Closed forms


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(("increments", "last"), [(1, 0.02), (20, 0.3)])
def test_a_bar_pulled_or_pressed_follows_the_closed_form(sign, increments, last):
    E, nu, strength, H, _ = STEEL
    plastic, alpha = VIRGIN, 0.0
    for strain in sign * np.linspace(0, last, increments + 1)[1:]:
        expected = (E * abs(strain) - strength) / (E + H)
        stress = sign * (strength + H * expected)
        across = -nu * stress / E - sign * expected / 2
        F = np.diag(np.exp([strain, across]))
        P, plastic, alpha = answer(F, plastic, alpha)
        np.testing.assert_allclose(P @ F.T, np.diag([stress, 0]), atol=1e-9 * strength)
        assert alpha == pytest.approx(expected, rel=1e-10)


def test_below_yield_the_stress_is_hooke_s_for_logarithmic_strains():
    E, nu = STEEL.young, STEEL.poisson
    e = np.array([2e-4, -1e-4])
    F = np.diag(np.exp(e))
    P, plastic, alpha = answer(F)
    tau = E / (1 - nu**2) * np.array([e[0] + nu * e[1], e[1] + nu * e[0]])
    np.testing.assert_allclose(P @ F.T, np.diag(tau), atol=1e-9)
    assert alpha == 0
    np.testing.assert_array_equal(plastic, VIRGIN)


def test_pure_shear_yields_at_the_strength_over_root_three():
    F = np.diag(np.exp([0.1, -0.1]))
    P, _, alpha = answer(F)
    tau = (P @ F.T)[0, 0]
    assert tau == pytest.approx((STEEL.strength + STEEL.hardening * alpha) / np.sqrt(3), rel=1e-10)


# Against radial return in space


def in_space(F, plastic, alpha):
    """The same law in three dimensions, the thickness sought that leaves no stress across."""
    E, nu, strength, H, _ = STEEL
    G, K = E / 2 / (1 + nu), E / 3 / (1 - 2 * nu)
    C = np.array([[plastic[0], plastic[1]], [plastic[1], plastic[2]]])
    C = np.block([[C, np.zeros((2, 1))], [np.zeros((1, 2)), np.full((1, 1), 1 / np.linalg.det(C))]])

    def at(log_thickness):
        whole = np.eye(3)
        whole[:2, :2], whole[2, 2] = F, np.exp(log_thickness)
        squares, axes = np.linalg.eigh(whole @ C @ whole.T)
        strain = np.log(squares) / 2
        deviator = strain - strain.mean()
        trial = 2 * G * deviator
        size = np.sqrt(1.5) * np.linalg.norm(trial)
        more = max(size - strength - H * alpha, 0) / (3 * G + H)
        kept = 1 - 3 * G * more / size
        stress = kept * trial + 3 * K * strain.mean()
        elastic = kept * deviator + strain.mean()
        back = np.linalg.inv(whole)
        left = axes @ np.diag(np.exp(2 * elastic)) @ axes.T
        return (axes * stress) @ axes.T, back @ left @ back.T, alpha + more, whole

    root = brentq(lambda h: at(h)[0][2, 2], -0.5, 0.5, xtol=1e-15, rtol=1e-14)
    return at(root)


def test_random_paths_equal_radial_return_in_space_with_a_free_thickness():
    rng = np.random.default_rng(0)
    for _ in range(20):
        F, plastic, alpha = np.eye(2), np.array(VIRGIN), 0.0
        for _ in range(4):
            F = random_gradient(rng, 0.03) @ F
            tau, C, alpha_in_space, _ = in_space(F, plastic, alpha)
            P, plastic, alpha = answer(F, plastic, alpha)
            np.testing.assert_allclose(P @ F.T, tau[:2, :2], atol=1e-6 * STEEL.strength)
            np.testing.assert_allclose(plastic, C[[0, 0, 1], [0, 1, 1]], rtol=1e-8, atol=1e-10)
            assert alpha == pytest.approx(alpha_in_space, rel=1e-8, abs=1e-12)


def test_plastic_flow_keeps_the_volume():
    rng = np.random.default_rng(1)
    for _ in range(10):
        F = random_gradient(rng, 0.2)
        tau, C, alpha, whole = in_space(F, VIRGIN, 0.0)
        assert alpha > 0.02
        assert np.linalg.det(C) == pytest.approx(1, abs=1e-10)
        # What is left of a change of volume is the pressure's.
        pressure = np.trace(tau) / 3
        bulk = STEEL.young / 3 / (1 - 2 * STEEL.poisson)
        assert np.log(np.linalg.det(whole)) == pytest.approx(pressure / bulk, abs=1e-12)


# Principles


def test_the_stress_never_leaves_the_yield_surface():
    rng = np.random.default_rng(2)
    for size in [3e-4, 1e-3, 0.01, 0.1]:
        F, plastic, alpha = np.eye(2), VIRGIN, 0.0
        for _ in range(100):
            F = random_gradient(rng, size) @ F
            before = alpha
            P, plastic, alpha = answer(F, plastic, alpha)
            limit = STEEL.strength + STEEL.hardening * alpha
            assert equivalent(F, P) <= limit * (1 + 1e-10)
            assert alpha >= before  # dissipation
            if alpha > before:
                assert equivalent(F, P) == pytest.approx(limit, rel=1e-10)


def test_a_rotation_turns_the_stress_and_leaves_the_state():
    rng = np.random.default_rng(3)
    c, s = np.cos(1.1), np.sin(1.1)
    R = np.array([[c, -s], [s, c]])
    F, plastic, alpha = random_gradient(rng, 0.05), (1.1, 0.05, 0.95), 0.1
    straight, turned = answer(F, plastic, alpha), answer(R @ F, plastic, alpha)
    np.testing.assert_allclose(turned[0], R @ straight[0], atol=1e-9)
    np.testing.assert_allclose(turned[1], straight[1], atol=1e-13)
    assert turned[2] == pytest.approx(straight[2], rel=1e-12)


def test_the_elastic_stress_derives_from_its_energy():
    law = LAW._replace(strength=1e9)
    rng = np.random.default_rng(4)
    F = random_gradient(rng, 0.02)

    def energy(F):
        strain = np.log(np.linalg.eigvalsh(F @ F.T)) / 2
        mean, half = strain.mean(), (strain[1] - strain[0]) / 2
        return law.mean * mean**2 + 2 * law.shear * half**2

    step = 1e-6
    for i, j in np.ndindex(2, 2):
        move = np.zeros((2, 2))
        move[i, j] = step
        slope = (energy(F + move) - energy(F - move)) / (2 * step)
        assert answer(F, law=law)[0][i, j] == pytest.approx(slope, rel=1e-6)


# Newton's method and the series


def test_newton_s_method_for_the_return_converges_quadratically(monkeypatch):
    # The error of x, over its size, after each step; trial stress at 1.3 and 3 times the strength.
    for over in (1.3, 3.0):
        mean, half = 0.8 * over * 70, 0.6 * over * 70 / np.sqrt(3)
        steps = []
        for count in range(1, 7):
            monkeypatch.setattr(elastoplastic, "NEWTON_STEPS", count)
            steps.append(plastic_multiplier.py_func(mean, half, 70.0, LAW))
        errors = 1 - np.array(steps[:3]) / steps[-1]
        assert (errors > 0).all()  # never beyond the root
        assert (errors[1:] <= 0.5 * errors[:-1] ** 2).all()
        assert errors[-1] < 1e-9


def test_the_steps_that_are_taken_leave_no_excess():
    for angle in np.linspace(0, np.pi / 2, 19):
        for over in [1.0001, 1.1, 2, 5, 20, 100]:
            mean, half = 70 * over * np.cos(angle), 70 * over * np.sin(angle) / np.sqrt(3)
            x = plastic_multiplier(mean, half, 70.0, LAW)
            m, d = mean / (1 + LAW.mean / 2 * x), half / (1 + 3 * LAW.shear * x)
            assert np.hypot(m, np.sqrt(3) * d) * (1 - 500 * x) == pytest.approx(70, rel=1e-11)


def test_an_unstrained_point_stays():
    P, plastic, alpha = answer(np.eye(2))
    np.testing.assert_array_equal(P, 0)
    np.testing.assert_array_equal(plastic, VIRGIN)
    assert alpha == 0


@pytest.mark.parametrize(
    ("ours", "theirs"), [(artanh, np.arctanh), (cosh, np.cosh), (sinh, np.sinh), (exp, np.exp)]
)
def test_the_series_are_exact_for_elastic_strains_below_two_and_a_half_per_cent(ours, theirs):
    for z in np.linspace(-0.05, 0.05, 21):
        assert ours(z) == pytest.approx(theirs(z), rel=1e-15, abs=1e-17)
