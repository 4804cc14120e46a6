"""A symmetry maps solutions to solutions: it commutes with the operator of the equation."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from supra.basis import FourierBasis
from supra.data.augment import Augmentation, Symmetry, symmetries
from supra.data.batch import Batch, Collate
from supra.data.dataset import Sample
from supra.data.errors import DataError
from supra.domain import Grid


def darcy_operator(coefficient: np.ndarray, solution: np.ndarray) -> np.ndarray:
    """-div(a grad u) by finite differences at the inner points of the square."""
    total = np.zeros((len(solution) - 2,) * 2)
    for axis in (0, 1):
        between = (np.delete(coefficient, 0, axis) + np.delete(coefficient, -1, axis)) / 2
        flux = between * np.diff(solution, axis=axis)
        divergence = np.diff(flux, axis=axis)
        total -= divergence[:, 1:-1] if axis == 0 else divergence[1:-1]
    return total


def vorticity_rate(vorticity: np.ndarray) -> np.ndarray:
    """dw/dt of the forced Navier–Stokes equations on the periodic unit square."""
    n = len(vorticity)
    k = 2j * np.pi * np.fft.fftfreq(n, 1 / n)
    k[n // 2] = 0  # the mode without a derivative on the grid
    kx, ky = k[:, None], k[None, :]
    laplace = kx**2 + ky**2
    w = np.fft.fft2(vorticity)
    stream = -w / np.where(laplace == 0, 1, laplace) * (laplace != 0)
    u, v, wx, wy, diffusion = (
        np.fft.ifft2(each).real for each in (ky * stream, -kx * stream, kx * w, ky * w, laplace * w)
    )
    x = np.arange(n) / n
    theta = 2 * np.pi * (x[:, None] + x)
    return -u * wx - v * wy + 1e-3 * diffusion + 0.1 * (np.sin(theta) + np.cos(theta))


def on_grid(symmetry: Symmetry, field: np.ndarray) -> np.ndarray:
    return symmetry.sign * field.ravel()[symmetry.source].reshape(field.shape)


@pytest.mark.parametrize(("group", "count"), [("flips", 4), ("square", 8)])
def test_symmetries_of_the_square_commute_with_the_operator_of_darcy(
    group: str, count: int
) -> None:
    rng = np.random.default_rng(0)
    coefficient, solution = rng.choice([3.0, 12.0], (9, 9)), rng.standard_normal((9, 9))
    force = darcy_operator(coefficient, solution)
    found, inner = (symmetries("darcy", (n, n), group) for n in (9, 7))
    assert len({each.source.tobytes() for each in found}) == count
    for symmetry, inside in zip(found, inner, strict=True):
        moved = darcy_operator(on_grid(symmetry, coefficient), on_grid(symmetry, solution))
        np.testing.assert_allclose(moved, on_grid(inside, force), atol=1e-12)


def test_symmetries_of_the_torus_commute_with_navier_stokes_and_its_forcing() -> None:
    vorticity = np.random.default_rng(0).standard_normal((8, 8))
    rate = vorticity_rate(vorticity)
    found = symmetries("navier-stokes", (8, 8))
    assert len({each.source.tobytes() for each in found}) == len(found) == 32
    assert {each.sign for each in found} == {1, -1}
    for symmetry in found:
        moved = vorticity_rate(on_grid(symmetry, vorticity))
        np.testing.assert_allclose(moved, on_grid(symmetry, rate), atol=1e-12)


@pytest.mark.parametrize("sign", [1, -1])
def test_plain_flips_and_swaps_are_no_symmetries_of_navier_stokes(sign: int) -> None:
    vorticity = np.random.default_rng(0).standard_normal((8, 8))
    for move in (np.transpose, np.flipud, np.fliplr):
        gap = vorticity_rate(sign * move(vorticity)) - sign * move(vorticity_rate(vorticity))
        assert np.abs(gap).max() > 0.1


def test_the_first_symmetry_is_the_identity_and_flips_are_involutions() -> None:
    for name in ("darcy", "navier_stokes"):
        first = symmetries(name, (8, 8))[0]
        np.testing.assert_array_equal(first.source, np.arange(64))
        assert first.sign == 1
    for flip in symmetries("darcy", (5, 7)):
        np.testing.assert_array_equal(flip.source[flip.source], np.arange(35))


def test_a_sample_is_moved_as_a_picture_is_flipped() -> None:
    grid = Grid((3, 4))
    field = np.arange(12, dtype=np.float32)[:, None]
    sample = Sample(field, np.stack([field, 2 * field]), grid)
    _, horizontally, vertically, both = symmetries("darcy", (3, 4))
    for symmetry, axes in ((horizontally, 1), (vertically, 0), (both, (0, 1))):
        moved = symmetry(sample)
        expected = np.flip(field.reshape(3, 4), axes).reshape(-1, 1)
        np.testing.assert_array_equal(moved.inputs, expected)
        np.testing.assert_array_equal(moved.targets, [expected, 2 * expected])
        assert moved.domain is grid


def batch(count: int = 6, steps: tuple[int, ...] = ()) -> Batch:
    grid = Grid((8, 8), periodic=True)
    rng = np.random.default_rng(1)
    samples = [
        Sample(
            rng.standard_normal((64, 2), dtype=np.float32),
            rng.standard_normal((*steps, 64, 1), dtype=np.float32),
            grid,
        )
        for _ in range(count)
    ]
    return Collate(FourierBasis((1, 1)).sample(grid))(samples)


@pytest.mark.parametrize("steps", [(), (3,)])
def test_each_sample_of_a_batch_moves_by_its_own_symmetry_and_positions_stay(
    steps: tuple[int, ...],
) -> None:
    before = batch(steps=steps)
    allowed = symmetries("navier_stokes", (8, 8))
    after = Augmentation(allowed, fields=2)(before, torch.Generator().manual_seed(0))
    assert torch.equal(after.inputs[..., 2:], before.inputs[..., 2:])
    drawn = torch.randint(len(allowed), (6,), generator=torch.Generator().manual_seed(0))
    assert len(set(drawn.tolist())) > 2
    for number, choice in enumerate(drawn.tolist()):
        source, sign = allowed[choice].source, allowed[choice].sign
        expected = sign * before.inputs[number][source, :2]
        assert torch.equal(after.inputs[number, :, :2], expected)
        expected = sign * before.targets[number][..., source, :]
        assert torch.equal(after.targets[number], expected)


def test_the_same_generator_gives_the_same_batch() -> None:
    augment = Augmentation(symmetries("darcy", (8, 8)), fields=2)
    draws = [augment(batch(), torch.Generator().manual_seed(seed)).inputs for seed in (3, 3, 4)]
    assert [torch.equal(a, b) for a, b in pairwise(draws)] == [True, False]


@pytest.mark.parametrize("name", ["airfoil", "pipe", "plasticity", "elasticity"])
def test_sets_without_a_symmetry_of_the_grid_are_refused(name: str) -> None:
    with pytest.raises(DataError, match=f"{name} allows no symmetry"):
        symmetries(name, (8, 8))


def test_what_the_grid_or_the_equation_does_not_allow_is_refused() -> None:
    with pytest.raises(DataError, match="navier_stokes has the symmetries torus: got 'flips'"):
        symmetries("navier_stokes", (8, 8), "flips")
    with pytest.raises(DataError, match="as many points on each"):
        symmetries("darcy", (8, 9), "square")
    with pytest.raises(DataError, match="4 n points"):
        symmetries("navier_stokes", (6, 6))
    with pytest.raises(DataError, match="two axes"):
        symmetries("darcy", (6,))
    with pytest.raises(DataError, match="grid of 49 points"):
        Augmentation(symmetries("darcy", (7, 7)), fields=2)(batch(), torch.Generator())


@pytest.mark.parametrize("name", ["darcy", "navier_stokes"])
def test_the_inverse_undoes_a_symmetry(name: str) -> None:
    values = torch.randn(2, 3, 64, 2)
    for symmetry in symmetries(name, (8, 8)):
        assert torch.equal(symmetry.inverse.moved(symmetry.moved(values)), values)
