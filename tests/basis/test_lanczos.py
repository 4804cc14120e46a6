"""Block Lanczos against LAPACK."""

import numpy as np
import pytest

from supra.basis.lanczos import _BLOCK, block_lanczos


def symmetric(spectrum: np.ndarray, seed: int = 0) -> np.ndarray:
    """A dense symmetric matrix with these eigenvalues."""
    random = np.random.default_rng(seed).standard_normal((len(spectrum), len(spectrum)))
    vectors = np.linalg.qr(random)[0]
    matrix = (vectors * spectrum) @ vectors.T
    return (matrix + matrix.T) / 2


SPREAD = np.linspace(-1, 1, 300)
SPECTRA = {
    "simple": (np.r_[SPREAD, [-3, -2, 2, 3, 4]], 2, 3),
    "one end": (np.r_[SPREAD, [2, 3, 4]], 0, 3),
    "repeated": (np.r_[SPREAD, np.repeat([-2.0, 3.0, 4.0], 5)], 5, 10),
    "repeated more often than a block": (np.r_[SPREAD, np.repeat([-2.0, 3.0], 21)], 21, 21),
    "repeated, not all wanted": (np.r_[SPREAD, np.repeat([-2.0, 3.0], 21)], 10, 13),
    "dense at the ends": (np.linspace(-1, 1, 400), 5, 15),
    "dense and repeated": (np.repeat(np.linspace(0.1, 1, 100), 4), 0, 16),
    "few distinct values": (np.repeat([3.0, -2.0, 1.0], [30, 50, 220]), 20, 30),
    "low rank": (np.r_[np.zeros(200), [-3, -2, 1, 2, 5]], 2, 3),
    "the kernel too": (np.r_[np.zeros(200), [1, 2, 5]], 0, 7),
    "identity": (np.ones(200), 0, 20),
}


@pytest.mark.parametrize("name", SPECTRA)
def test_the_outermost_eigenpairs_equal_those_of_lapack(name):
    spectrum, negative, positive = SPECTRA[name]
    matrix = symmetric(spectrum)
    values, vectors = block_lanczos(matrix.__matmul__, len(matrix), negative, positive)
    exact = np.linalg.eigvalsh(matrix)
    expected = np.r_[exact[:negative], exact[len(exact) - positive :]]
    np.testing.assert_allclose(values, expected, atol=1e-10)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(values)), atol=1e-12)
    np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-8)


def test_a_spectrum_that_is_dense_at_its_ends_takes_restarts():
    matrix = symmetric(np.linspace(-1, 1, 400))
    calls = []

    def apply(block: np.ndarray) -> np.ndarray:
        calls.append(block.shape)
        return matrix @ block

    values, _ = block_lanczos(apply, 400, 5, 15)
    room = 3 * 20 + 10 * _BLOCK
    assert len(calls) * _BLOCK > 2 * room  # more vectors than the space can hold at a time
    np.testing.assert_allclose(values[-1], 1, atol=1e-12)


def test_the_same_operator_gives_the_same_numbers_twice():
    matrix = symmetric(SPECTRA["repeated"][0])
    first, second = (block_lanczos(matrix.__matmul__, len(matrix), 5, 10) for _ in range(2))
    assert np.array_equal(first[1], second[1])


def test_the_report_counts_up_to_all_wanted_pairs():
    matrix = symmetric(SPECTRA["simple"][0])
    seen = []
    block_lanczos(matrix.__matmul__, len(matrix), 2, 3, report=lambda *step: seen.append(step))
    assert seen[-1] == (5, 5)


def test_giving_up_is_an_arithmetic_error():
    random = np.random.default_rng(0)

    def nothing_repeatable(block: np.ndarray) -> np.ndarray:
        return random.standard_normal(block.shape)

    with pytest.raises(ArithmeticError, match="of 3 eigenpairs"):
        block_lanczos(nothing_repeatable, 30, 0, 3, tolerance=1e-14)
