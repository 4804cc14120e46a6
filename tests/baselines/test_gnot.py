import pytest
import torch

from supra.baselines.gnot import GNOT, GatedExperts
from supra.baselines.normalised_attention import NormalisedAttention

from .problem import F64, cloud


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def small(**options) -> GNOT:
    return GNOT(3, 2, **{"width": 8, "depth": 2, "heads": 2, **options}).double()


@pytest.mark.parametrize(
    ("width", "depth", "heads", "experts", "space"), [(128, 3, 8, 3, 2), (12, 2, 3, 2, 3)], ids=str
)
@pytest.mark.parametrize("trunk", ["positions", "inputs"])
def test_it_has_the_number_of_weights_of_the_formula(width, depth, heads, experts, space, trunk):
    def mlp(first: int, last: int) -> int:
        return first * width + width + 3 * (width**2 + width) + width * last + last

    inner = 4 * width
    gate = space * inner + inner + inner**2 + inner + inner * experts + experts
    expert = width * inner + inner + inner * width + width
    block = gate + 2 * experts * expert + 2 * 4 * (width**2 + width) + 5 * 2 * width
    known = space if trunk == "positions" else space + 1
    total = mlp(known, width) + mlp(space + 1, width) + depth * block + mlp(width, 1)
    model = GNOT(
        space + 1,
        1,
        space=space,
        width=width,
        depth=depth,
        heads=heads,
        experts=experts,
        trunk=trunk,
    )
    assert model.parameter_count() == total


def test_attention_is_a_weighted_mean_of_the_values_plus_the_query():
    attention = NormalisedAttention(6, 2).double()
    targets, sources = torch.randn(2, 9, 6, dtype=F64)
    query = targets @ attention.query.weight.T + attention.query.bias
    key, value = (sources @ attention.key_value.weight.T + attention.key_value.bias).split(
        6, dim=-1
    )
    heads = []
    for own in (slice(0, 3), slice(3, 6)):
        q, k = query[:, own].softmax(dim=-1), key[:, own].softmax(dim=-1)
        mixed = torch.zeros(9, 3, dtype=F64)
        for t in range(9):
            weights = torch.stack([q[t] @ k[i] for i in range(9)])
            weights = weights / weights.sum()
            mixed[t] = q[t] + sum(weights[i] * value[i, own] for i in range(9))
        heads.append(mixed)
    expected = torch.cat(heads, dim=1) @ attention.output.weight.T + attention.output.bias
    torch.testing.assert_close(attention(targets[None], sources[None])[0], expected)


def test_attention_weights_sum_to_one():
    """Where all sources have the same value, attention gives that value."""
    attention = NormalisedAttention(6, 2).double()
    with torch.no_grad():
        attention.key_value.weight[6:] = 0
        attention.output.weight[:], attention.output.bias[:] = torch.eye(6), 0
    targets, sources = torch.randn(2, 3, 9, 6, dtype=F64)
    real = torch.rand(3, 9) < 0.7
    query = attention.query(targets).unflatten(-1, (2, 3)).softmax(dim=-1).flatten(-2)
    expected = attention.key_value.bias[6:].expand(3, 9, 6)
    for mask in (None, real):
        torch.testing.assert_close(attention(targets, sources, mask) - query, expected)


def test_the_gate_is_a_mean_of_the_experts_by_position():
    gate = small(experts=5).blocks[0].gate(torch.randn(2, 9, 2, dtype=F64))
    assert gate.shape == (2, 9, 5)
    assert (gate > 0).all()
    torch.testing.assert_close(gate.sum(dim=-1), torch.ones(2, 9, dtype=F64))


def test_experts_are_mixed_point_by_point():
    mixture, fields = GatedExperts(6, 3).double(), torch.randn(1, 4, 6, dtype=F64)
    gate = torch.randn(1, 4, 3, dtype=F64).softmax(dim=-1)
    expected = torch.zeros(4, 6, dtype=F64)
    for point in range(4):
        for number, expert in enumerate(mixture.experts):
            expected[point] += gate[0, point, number] * expert(fields[0, point])
    torch.testing.assert_close(mixture(fields, gate)[0], expected)


def test_as_published_equal_positions_get_equal_predictions():
    """The input functions reach a query point by attention only; with another trunk, directly."""
    inputs = torch.randn(1, 10, 3, dtype=F64)
    inputs[:, 1, 1:] = inputs[:, 0, 1:]
    published, other = (
        small(trunk=trunk)(inputs, cloud(10))[0] for trunk in ("positions", "inputs")
    )
    torch.testing.assert_close(published[0], published[1])
    assert (other[0] - other[1]).abs().max() > 1e-3


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"width": 9}, "width=9, heads=2"),
        ({"space": 5}, "in_channels=3, space=5"),
        ({"experts": 0}, "experts=0"),
        ({"trunk": "values"}, "one of positions, inputs: got 'values'"),
    ],
)
def test_sizes_that_make_no_network_are_named(options, words):
    with pytest.raises(ValueError, match=words):
        small(**options)
