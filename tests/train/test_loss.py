"""Errors against integrals by hand and analytic gradients."""

import numpy as np
import pytest
import torch

from supra.basis import SampledBasis
from supra.data import Collate
from supra.data.dataset import Sample
from supra.domain import DomainError, Grid, PointSet, shapes
from supra.train import Loss, relative_h1, relative_l2
from supra.train.gradient import gradient_on


@pytest.fixture(autouse=True)
def _double():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def fields(function, domain) -> torch.Tensor:
    return torch.tensor(np.stack(function(*domain.points.T), axis=-1))[None]


def test_relative_l2_is_the_ratio_of_integrals():
    """Of u = x and û = 2x on [0, 1] the error is 1; of û = x + 1 it is sqrt(1 / (1/3))."""
    grid = Grid(1001)
    x = torch.tensor(grid.points)[None]
    weights = torch.tensor(grid.weights)
    np.testing.assert_allclose(relative_l2(2 * x, x, weights), 1)
    np.testing.assert_allclose(relative_l2(x + 1, x, weights), 3**0.5, rtol=1e-6)


def test_equal_weights_give_the_field_s_usual_ratio_of_norms():
    rng = np.random.default_rng(0)
    truth, guess = rng.normal(size=(2, 3, 5, 7, 2))
    expected = [
        np.linalg.norm(g - t) / np.linalg.norm(t) for g, t in zip(guess, truth, strict=True)
    ]
    weights = torch.full((7,), 1 / 7)
    found = relative_l2(torch.tensor(guess), torch.tensor(truth), weights)
    np.testing.assert_allclose(found, expected)


def test_padded_points_count_nothing():
    truth, guess = torch.randn(2, 2, 6, 1)
    weights = torch.tensor([[0.25] * 4 + [0, 0], [1 / 6] * 6])
    alone = relative_l2(guess[:1, :4], truth[:1, :4], torch.full((4,), 0.25))
    torch.testing.assert_close(relative_l2(guess, truth, weights)[:1], alone)


def test_an_exact_or_a_zero_field_has_finite_error_and_gradient():
    zero = torch.zeros(1, 4, 1, requires_grad=True)
    weights = torch.full((4,), 0.25)
    for truth in (torch.zeros(1, 4, 1), torch.ones(1, 4, 1)):
        error = relative_l2(zero + truth, truth, weights).sum()
        (slope,) = torch.autograd.grad(error, zero)
        assert torch.isfinite(error)
        assert torch.isfinite(slope).all()


def smooth(x, y):
    return (np.sin(2 * x) * np.exp(y),)


def slope_error(domain) -> float:
    gradient = gradient_on(domain)
    at_nodes = isinstance(domain, Grid)
    x, y = (domain.points if at_nodes else domain.points[domain.cells].mean(axis=1)).T
    exact = np.stack([2 * np.cos(2 * x) * np.exp(y), np.sin(2 * x) * np.exp(y)], axis=1)
    found = gradient(fields(smooth, domain))[0, :, :, 0].numpy()
    return float(np.sqrt(((found - exact) ** 2).sum(axis=1) @ gradient.weights.numpy()))


@pytest.mark.parametrize(
    ("make", "order"),
    [(lambda n: Grid((n + 1, n + 1)), 2), (shapes.square, 1), (shapes.disk, 1)],
    ids=["grid", "square", "disk"],
)
def test_gradients_converge_at_second_order_on_grids_and_first_order_on_meshes(make, order):
    rate = np.log2(slope_error(make(16)) / slope_error(make(32)))
    assert rate > order - 0.1, rate


def test_periodic_differences_converge_at_second_order():
    def run(n: int) -> float:
        grid = Grid((n, n), periodic=True)
        wave = fields(lambda x, y: (np.sin(2 * np.pi * (x + y)),), grid)
        slope = gradient_on(grid)(wave)[0, :, 0, 0]
        exact = 2 * np.pi * torch.cos(2 * np.pi * torch.tensor(grid.points.sum(axis=1)))
        return float((slope - exact).abs().max())

    assert np.log2(run(16) / run(32)) > 1.9


@pytest.mark.parametrize(
    "domain", [Grid((33, 33)), shapes.square(32), Grid((33, 33), points=Grid((33, 33)).points * 3)]
)
def test_relative_h1_is_the_ratio_of_the_gradients_norms(domain):
    """∇(x² + y) = (2x, 1) and the error's gradient (0, 2y): squares 4/3 + 1 and 4/3."""
    scale = domain.points.max()
    truth = fields(lambda x, y: ((x / scale) ** 2 + y / scale,), domain)
    error = fields(lambda x, y: ((y / scale) ** 2,), domain)
    found = relative_h1(truth + error, truth, (domain,))
    np.testing.assert_allclose(found, np.sqrt((4 / 3) / (7 / 3)), rtol=2e-3)


def test_each_sample_may_have_its_own_mesh():
    meshes = (shapes.disk(4), shapes.square(5))
    samples = [Sample(np.zeros((len(m.points), 1)), m.points**2, m) for m in meshes]
    together = Collate(_constant_basis)(samples)
    guess = together.targets + together.targets.roll(1, dims=2)
    found = relative_h1(guess, together.targets, together.domains)
    for k, mesh in enumerate(meshes):
        count = len(mesh.points)
        alone = relative_h1(guess[k : k + 1, :count], together.targets[k : k + 1, :count], (mesh,))
        torch.testing.assert_close(found[k : k + 1], alone)


def _constant_basis(domain):
    return SampledBasis(torch.ones(len(domain.points), 1), torch.tensor(domain.weights))


def test_time_steps_are_part_of_one_error():
    mesh = shapes.disk(4)
    truth = torch.randn(2, 3, len(mesh.points), 2)
    guess = torch.randn_like(truth)
    flat = [field.movedim(1, -1).flatten(2) for field in (guess, truth)]
    torch.testing.assert_close(relative_h1(guess, truth, (mesh,)), relative_h1(*flat, (mesh,)))


def test_a_loss_is_the_weighted_sum_of_both():
    mesh = shapes.disk(4)
    sample = Sample(np.zeros((len(mesh.points), 1)), mesh.points**2, mesh)
    batch = Collate(_constant_basis)([sample])
    guess = batch.targets + 0.1 * batch.targets.roll(1, dims=1)
    expected = 2 * relative_l2(guess, batch.targets, batch.weights)
    expected = expected + 0.1 * relative_h1(guess, batch.targets, batch.domains)
    torch.testing.assert_close(Loss(2.0, 0.1)(guess, batch), expected)


def test_scattered_points_have_no_gradient():
    with pytest.raises(DomainError, match="no cells"):
        gradient_on(PointSet(np.random.default_rng(0).normal(size=(5, 2))))
