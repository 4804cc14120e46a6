"""What holds for all of the compared networks."""

from functools import partial

import pytest
import torch

from supra.baselines import FNO, GNOT, LNO, GalerkinTransformer, Transolver

from .problem import F64, cloud, error_after_training, flops, grid, lively

GALERKIN = partial(GalerkinTransformer, width=8, depth=2, heads=2, modes=4)
GNOT_ = partial(GNOT, width=8, depth=2, heads=2)
TRANSOLVER = partial(Transolver, width=8, depth=2, heads=2, slices=3)
ANYWHERE = {
    "galerkin": GALERKIN,
    "galerkin without norms": partial(GALERKIN, norm=False),
    "gnot": GNOT_,
    "gnot with values in its queries": partial(GNOT_, trunk="inputs"),
    "transolver": partial(TRANSOLVER, structured=False),
    "lno": partial(LNO, width=8, depth=2, heads=2, modes=4),
}
ON_GRIDS = {
    "galerkin with a spectral decoder": partial(GALERKIN, decoder="spectral"),
    "transolver with convolutions": partial(TRANSOLVER, structured=True),
    "fno": partial(FNO, width=6, depth=3, modes=4, padding=1),
}
anywhere = pytest.mark.parametrize("network", ANYWHERE.values(), ids=ANYWHERE)
everywhere = pytest.mark.parametrize(
    "network", [*ANYWHERE.values(), *ON_GRIDS.values()], ids=[*ANYWHERE, *ON_GRIDS]
)


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


@anywhere
def test_permuting_the_points_permutes_the_prediction(network):
    model, basis = lively(network(3, 2).double()), cloud(30)
    inputs, order = torch.randn(2, 30, 3, dtype=F64), torch.randperm(30)
    torch.testing.assert_close(model(inputs[:, order], basis), model(inputs, basis)[:, order])


@anywhere
def test_a_padded_batch_equals_batches_of_one(network, check_padding):
    check_padding(lively(network(3, 2).double()), [cloud(7), cloud(20), cloud(13)])


@everywhere
def test_the_cost_is_linear_in_the_points(network):
    """But for what does not depend on them, and for the logarithm of a Fourier transform."""
    model = network(3, 2).double()
    assert 3 < flops(model, grid(64, 32)) / flops(model, grid(32, 16)) <= 4.05


@everywhere
def test_float32_agrees_with_float64_and_bfloat16_runs(network):
    model, inputs = network(3, 2).double(), torch.randn(2, 120, 3, dtype=F64)
    exact = model(inputs, grid(12, 10))
    model.float()
    rough, basis = inputs.float(), grid(12, 10, dtype=torch.float32)
    torch.testing.assert_close(model(rough, basis).double(), exact, atol=1e-5, rtol=1e-4)
    with torch.autocast("cpu", torch.bfloat16):
        half = model(rough, basis)
    torch.testing.assert_close(half.double(), exact, atol=0.05, rtol=0.05)


@everywhere
def test_gradients_reach_every_weight(network):
    model = network(3, 2).double()
    model(torch.randn(2, 120, 3, dtype=F64), grid(12, 10)).square().sum().backward()
    assert all(weight.grad.abs().max() > 0 for weight in model.parameters())


@pytest.mark.parametrize(
    ("model", "steps", "rate"),
    [
        (partial(GalerkinTransformer, width=32, depth=2), 400, 3e-3),
        (partial(GalerkinTransformer, width=32, depth=2, decoder="spectral", modes=4), 400, 3e-3),
        (partial(GNOT, width=32, depth=2, heads=4), 300, 2e-3),
        (partial(Transolver, width=32, depth=2, heads=4, slices=8), 700, 3e-3),
        (partial(Transolver, width=32, depth=2, heads=4, slices=8, structured=False), 700, 3e-3),
        (partial(LNO, width=64, depth=1, heads=4, modes=32), 1000, 3e-3),
        (partial(FNO, width=16, depth=3, modes=4), 300, 5e-3),
    ],
)
def test_it_learns_one_batch_by_heart(model, steps, rate):
    assert error_after_training(model(3, 1), steps, rate) < 0.01


@everywhere
@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ((1, 120, 4), r"\(batch, points, 3\): got \(1, 120, 4\)"),
        ((120, 3), r"got \(120, 3\)"),
        ((1, 50, 3), r"the same points: .* \(1, 50, 3\) and weights of shape \(120,\)"),
    ],
    ids=str,
)
def test_wrong_inputs_are_named(network, shape, words):
    with pytest.raises(ValueError, match=words):
        network(3, 2)(torch.zeros(shape), grid(12, 10, dtype=torch.float32))


@everywhere
@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("options", "words"), [({"width": 0}, "width=0"), ({"depth": 0}, "depth=0")], ids=str
)
def test_sizes_that_make_no_network_are_named(network, options, words):
    with pytest.raises(ValueError, match=words):
        network(3, 2, **options)


@everywhere
def test_it_tells_what_it_is(network):
    text = repr(network(3, 2))
    assert "in_channels=3" in text
    assert "weights" in text
