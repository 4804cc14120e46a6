import pytest
import torch
from torch.nn.functional import layer_norm

from supra.baselines.galerkin import GalerkinTransformer
from supra.baselines.galerkin_attention import GalerkinAttention
from supra.basis import SampledBasis

from .problem import F64, cloud, grid, lively, smooth_problem


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def small(**options) -> GalerkinTransformer:
    options = {"width": 8, "depth": 2, "heads": 2, "modes": 4, **options}
    return GalerkinTransformer(3, 2, **options).double()


@pytest.mark.parametrize(
    ("width", "depth", "heads", "space"), [(128, 6, 4, 2), (12, 2, 3, 3)], ids=str
)
@pytest.mark.parametrize("norm", [True, False])
@pytest.mark.parametrize("decoder", ["pointwise", "spectral"])
def test_it_has_the_number_of_weights_of_the_formula(width, depth, heads, space, decoder, norm):
    maps = 3 * (width**2 + width) + (width + heads * space) * width + width
    norms = (4 if norm else 2) * 2 * width
    mlp = 2 * (width * 2 * width) + 2 * width + width
    pointwise = (width + space) * width + width + 2 * (width**2 + width) + width + 1
    fourier = 2 * (2 * 12 * 12) * 32**2 + 32**2 + 32
    spectral = (width + space) * 32 + 32 + 2 * fourier + 32 * 128 + 128 + 128 + 1
    total = (space + 1) * width + width + depth * (maps + norms + mlp)
    total += {"pointwise": pointwise, "spectral": spectral}[decoder]
    options = {"space": space, "depth": depth, "heads": heads, "decoder": decoder, "norm": norm}
    model = GalerkinTransformer(space + 1, 1, width=width, **options)
    assert model.parameter_count() == total


def test_attention_is_a_sum_of_integrals_with_normed_keys_and_values():
    attention = lively(GalerkinAttention(6, 2, 2).double())
    fields, positions = torch.randn(9, 6, dtype=F64), torch.rand(9, 2, dtype=F64)
    maps = attention.query_key_value
    query, key, value = (fields @ maps.weight.T + maps.bias).split(6, dim=-1)
    heads = []
    for head in range(2):
        own = slice(3 * head, 3 * head + 3)
        norms = (attention.key_norm, attention.value_norm)
        normed = [
            layer_norm(part[:, own], (3,), eps=1e-7) * norm.scale[head] + norm.shift[head]
            for part, norm in zip((key, value), norms, strict=True)
        ]
        q, k, v = (torch.cat([positions, part], dim=1) for part in (query[:, own], *normed))
        mixed = torch.zeros(9, 5, dtype=F64)
        for x in range(9):
            for y in range(9):
                mixed[x] += (q[x] @ k[y]) * v[y] / 9
        heads.append(mixed)
    expected = torch.cat(heads, dim=1) @ attention.output.weight.T + attention.output.bias
    torch.testing.assert_close(attention(fields[None], positions[None])[0], expected)


def test_the_first_maps_are_nearly_a_multiple_of_the_identity():
    attention = GalerkinAttention(64, 4, 2)
    for part in attention.query_key_value.weight.chunk(3):
        rest = part - 1e-2 * torch.eye(64)
        bound = 1e-2 * (6 / 128) ** 0.5  # Xavier's for 64 in and 64 out
        assert 0.9 * bound < rest.abs().max() <= bound * (1 + 1e-5)
    assert attention.query_key_value.bias.abs().max() == 0


def test_positions_matter_in_every_head():
    """Even where lifting and decoder do not see them."""
    model, basis = lively(small()), cloud(30)
    inputs = torch.randn(1, 30, 3, dtype=F64)
    with torch.no_grad():
        model.lift.weight[:, 1:] = 0
        model.decoder.lift.weight[:, 8:] = 0
    moved = inputs.clone()
    moved[:, 0, 1:] += 1
    assert (model(moved, basis) - model(inputs, basis))[:, 1:].abs().max() > 1e-4


def test_bases_of_each_sample_on_one_grid_change_nothing():
    model, basis = lively(small(decoder="spectral")), grid(12, 10)
    inputs = torch.randn(2, 120, 3, dtype=F64)
    torch.testing.assert_close(
        model(inputs, SampledBasis.stack([basis, basis])), model(inputs, basis)
    )


def test_as_published_a_block_adds_attention_and_map_of_the_features_themselves():
    block = lively(small(norm=False)).blocks[0]
    fields, positions = torch.randn(1, 9, 8, dtype=F64), torch.randn(1, 9, 2, dtype=F64)
    attended = fields + block.attention(fields, positions)
    first, _, _, last, _ = block.mlp
    expected = attended + last(first(attended).clamp(min=0))
    torch.testing.assert_close(block(fields, positions), expected)


def test_training_at_the_published_depth_and_rate_is_stable():
    """Six blocks, learning rate 1e-3, no warm-up, gradients not limited: the loss never jumps."""
    inputs, targets, basis = smooth_problem()
    model, losses = GalerkinTransformer(3, 1, width=64), []
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(60):
        losses.append((model(inputs, basis) - targets).norm() / targets.norm())
        optimiser.zero_grad()
        losses[-1].backward()
        optimiser.step()
    assert max(losses) < 1.5 * losses[0]
    assert losses[-1] < 0.5 * losses[0]


def test_dropout_acts_in_training_only():
    model, basis = lively(small(dropout=0.5)), cloud(10)
    inputs = torch.randn(1, 10, 3, dtype=F64)
    assert not torch.equal(model(inputs, basis), model(inputs, basis))
    model.eval()
    assert torch.equal(model(inputs, basis), model(inputs, basis))


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"width": 9}, "width=9, heads=2"),
        ({"space": 5}, "in_channels=3, space=5"),
        ({"decoder": "fourier"}, "one of pointwise, spectral: got 'fourier'"),
    ],
)
def test_sizes_that_make_no_network_are_named(options, words):
    with pytest.raises(ValueError, match=words):
        small(**options)


@pytest.mark.usefixtures("unchecked")
def test_a_spectral_decoder_without_a_grid_is_named():
    inputs = torch.zeros(1, 120, 3, dtype=F64)
    with pytest.raises(ValueError, match=r"no grid\. Use decoder='pointwise'"):
        small(decoder="spectral")(inputs, cloud(120))
    with pytest.raises(ValueError, match="at most 3 Fourier modes"):
        small(decoder="spectral")(inputs, grid(6, 20))
