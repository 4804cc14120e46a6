from itertools import pairwise

import pytest
import torch

from supra import ChebyshevBasis, CosineBasis, FourierBasis, Grid, LaplacianBasis, SampledBasis
from supra.domain import shapes
from supra.model import SupraOperator

F64 = torch.float64


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def small(modes: int, **options) -> SupraOperator:
    options = {"width": 8, "depth": 2, "heads": 4, **options}
    return SupraOperator(3, 2, modes, **options).double()


def plate(resolution: int = 8, modes: int = 16) -> SampledBasis:
    return LaplacianBasis.from_mesh(shapes.perforated_plate(resolution), modes).sample(dtype=F64)


@pytest.mark.parametrize(
    ("width", "modes", "paper"),
    [(64, 128, 635e3), (64, 256, 2.2e6), (256, 128, 2.1e6), (256, 256, 3.7e6)],
)
def test_the_papers_configuration_has_the_papers_number_of_weights(width, modes, paper):
    model = SupraOperator.of_paper(3, 1, modes, width=width, depth=8)
    assert model.parameter_count() == pytest.approx(paper, rel=0.02)
    assert model.parameter_count() == sum(p.numel() for p in model.parameters())


@pytest.mark.parametrize("norm", ["layer", "instance", "none"])
def test_permuting_the_points_permutes_the_prediction(norm):
    basis = plate()
    model, inputs = small(16, norm=norm), torch.randn(2, basis.points, 3, dtype=F64)
    order = torch.randperm(basis.points)
    permuted = SampledBasis(basis.values[order], basis.weights[order])
    torch.testing.assert_close(model(inputs[:, order], permuted), model(inputs, basis)[:, order])


@pytest.mark.parametrize("norm", ["layer", "instance", "none"])
@pytest.mark.parametrize(
    "basis", [FourierBasis((2, 2)), ChebyshevBasis((4, 4)), CosineBasis((4, 4))], ids=repr
)
def test_separable_and_dense_bases_give_the_same_prediction(basis, norm):
    separable = basis.sample(Grid((9, 10)), dtype=F64)
    model, inputs = small(16, norm=norm), torch.randn(2, 90, 3, dtype=F64)
    torch.testing.assert_close(model(inputs, separable), model(inputs, separable.dense()))


@pytest.mark.parametrize("norm", ["layer", "instance", "none"])
def test_a_padded_batch_equals_batches_of_one(norm, check_padding):
    check_padding(small(16, norm=norm), [plate(6), plate(8), plate(10)])


def test_refining_the_grid_changes_the_prediction_at_second_order():
    """The trapezoidal rule is the only thing that changes with the grid, and it has order two."""
    model, basis = small(16), CosineBasis((4, 4))

    def coarse_prediction(side: int) -> torch.Tensor:
        grid = Grid((side, side))
        x, y = torch.tensor(grid.points).T
        inputs = torch.stack([torch.exp(x * y), x, y], dim=-1)[None]
        prediction = model(inputs, basis.sample(grid, dtype=F64)).reshape(side, side, 2)
        step = (side - 1) // 8
        return prediction[::step, ::step]

    with torch.no_grad():
        reference = coarse_prediction(1025)
        errors = [(coarse_prediction(n) - reference).norm() for n in (65, 129, 257)]
    orders = [float(torch.log2(a / b)) for a, b in pairwise(errors)]
    assert all(1.9 < order < 2.2 for order in orders)


def test_checkpointing_changes_nothing_but_memory():
    basis = plate()
    inputs = torch.randn(2, basis.points, 3, dtype=F64)
    plain, saving = small(16), small(16, checkpointing=True)
    saving.load_state_dict(plain.state_dict())
    for model in (plain, saving):
        model(inputs, basis).square().sum().backward()
    for one, other in zip(plain.parameters(), saving.parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad)


def test_the_same_seed_gives_the_same_network():
    def built() -> SupraOperator:
        torch.manual_seed(3)
        return small(16)

    basis = plate()
    inputs = torch.randn(1, basis.points, 3, dtype=F64)
    assert torch.equal(built()(inputs, basis), built()(inputs, basis))


@pytest.mark.parametrize("norm", ["layer", "instance"])
@pytest.mark.parametrize("of_paper", [False, True])
def test_training_at_the_papers_depth_and_rate_is_stable(norm, of_paper):
    """Eight blocks, learning rate 1e-3, no warm-up: the loss falls, and never blows up."""
    family = CosineBasis((8, 8))
    basis = family.sample(Grid((16, 16)))
    build = SupraOperator.of_paper if of_paper else SupraOperator
    model = build(3, 1, 64, width=32, depth=8, heads=8, norm=norm)
    smooth = 20 / (20 + torch.tensor(family.eigenvalues).float())
    inputs = basis.fields(torch.randn(16, 3, 64) * smooth)
    targets = inputs[..., :1] * inputs[..., 1:2] + inputs[..., 2:]
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
    losses = []
    for _ in range(40):
        loss = (model(inputs, basis) - targets).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < (0.3 if of_paper else 0.05) * losses[0]
    assert max(losses) < 1.5 * losses[0]


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        (torch.zeros(1, 5, 3), "5 points"),
        (torch.zeros(1, 90, 4), r"\(batch, points, 3\): got \(1, 90, 4\)"),
        (torch.zeros(90, 3), r"got \(90, 3\)"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_wrong_inputs_are_named(inputs, words):
    basis = FourierBasis((2, 2)).sample(Grid((9, 10)))
    with pytest.raises(ValueError, match=words):
        SupraOperator(3, 2, 16, width=8, depth=1, heads=4)(inputs, basis)


@pytest.mark.usefixtures("unchecked")
def test_a_basis_of_another_size_is_named():
    basis = FourierBasis((2, 3)).sample(Grid((9, 10)))
    with pytest.raises(ValueError, match=r"16 modes .* 24 modes"):
        SupraOperator(3, 2, 16, width=8, depth=1, heads=4)(torch.zeros(1, 90, 3), basis)


def test_it_tells_what_it_is():
    text = repr(SupraOperator(3, 1, 64, width=32, depth=2, heads=8))
    for words in ("in_channels=3", "modes=64", "heads=8", "weights"):
        assert words in text
