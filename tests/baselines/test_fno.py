import pytest
import torch
from torch.nn.functional import gelu

from supra.baselines.fno import FNO
from supra.baselines.spectral import SpectralConvolution

from .problem import F64, cloud, grid


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def small(**options) -> FNO:
    return FNO(3, 2, **{"width": 6, "depth": 3, "modes": 4, **options}).double()


def waves(rows: int, columns: int) -> torch.Tensor:
    """Two functions of frequencies up to 2, and zeros for the two positions."""
    x = 2 * torch.pi * torch.arange(rows, dtype=F64)[:, None] / rows
    y = 2 * torch.pi * torch.arange(columns, dtype=F64)[None] / columns
    first, second = torch.sin(x - 2 * y) + 0.5, torch.cos(2 * x + y) * torch.sin(y)
    fields = torch.stack([first, second, 0 * first, 0 * first], dim=-1)
    return fields.reshape(1, rows * columns, 4)


@pytest.mark.parametrize(("width", "modes", "depth"), [(32, 12, 4), (6, 4, 3), (20, 8, 1)], ids=str)
def test_it_has_the_number_of_weights_of_the_formula(width, modes, depth):
    kernel = 2 * modes * modes * width**2  # complex
    layer = 2 * kernel + width**2 + width
    lift, project = 3 * width + width, width * 128 + 128 + 128 + 1
    model = FNO(3, 1, width=width, modes=modes, depth=depth)
    assert model.parameter_count() == lift + depth * layer + project


def test_the_published_size_counts_a_complex_weight_once():
    """1,188,353 for a coefficient and two coordinates; the numbers behind it are twice as many."""
    model = FNO(3, 1)
    complex_weights = sum(layer.convolution.weight.numel() // 2 for layer in model.layers)
    assert model.parameter_count() - complex_weights == 1_188_353
    assert model.parameter_count() == 2_368_001


@pytest.mark.parametrize("shape", [(9, 10), (10, 9), (8, 8), (8, 6)], ids=str)
def test_a_spectral_convolution_is_a_product_between_dense_fourier_matrices(shape):
    m, (rows, columns) = 4, shape
    layer = SpectralConvolution(2, 3, m).double()
    fields = torch.randn(2, rows, columns, 2, dtype=F64)
    frequencies = torch.cat([torch.arange(m), torch.arange(-m, 0)]).to(F64)
    x, y = torch.arange(rows, dtype=F64) / rows, torch.arange(columns, dtype=F64) / columns
    along_x = torch.exp(2j * torch.pi * torch.outer(x, frequencies))
    along_y = torch.exp(2j * torch.pi * torch.outer(y, torch.arange(m, dtype=F64)))
    # A column of frequencies stands for its mirror image too, unless it is its own.
    twice = torch.tensor([1.0 if 2 * k in (0, columns) else 2.0 for k in range(m)], dtype=F64)
    kernel = torch.complex(*layer.weight.unflatten(-1, (-1, 2)).unbind(-1))
    hat = torch.einsum("xk,yl,bxyi->bkli", along_x.conj(), along_y.conj(), fields + 0j)
    mixed = torch.einsum("kl,klio,bkli->bklo", twice.expand(2 * m, m) + 0j, kernel, hat)
    expected = torch.einsum("xk,yl,bklo->bxyo", along_x, along_y, mixed).real / (rows * columns)
    torch.testing.assert_close(layer(fields), expected, rtol=0, atol=1e-12)


def test_layers_are_linear_and_gelu_stands_only_between_them():
    model, inputs = small(padding=2), torch.randn(1, 120, 3, dtype=F64)
    grown = torch.zeros(1, 14, 12, 6, dtype=F64)
    grown[:, :12, :10] = model.lift(inputs).reshape(1, 12, 10, 6)
    first, second, third = model.layers
    inside = third(gelu(second(gelu(first(grown)))))[:, :12, :10]
    expected = model.project(inside).reshape(1, 120, 2)
    torch.testing.assert_close(model(inputs, grid(12, 10)), expected)
    zero = torch.zeros_like(grown)
    torch.testing.assert_close(first(grown) + first(-grown), 2 * first(zero))


@pytest.mark.parametrize("shift", [(3, 0), (0, 1), (-5, 4)])
def test_it_commutes_with_shifts_of_a_periodic_grid(shift):
    model, basis = small(), grid(12, 10)
    inputs = torch.randn(2, 120, 3, dtype=F64)
    inputs[..., 1:] = 0  # positions would tell the shifted function from the first

    def shifted(fields: torch.Tensor) -> torch.Tensor:
        return fields.unflatten(1, (12, 10)).roll(shift, dims=(1, 2)).flatten(1, 2)

    expected = shifted(model(inputs, basis))
    torch.testing.assert_close(model(shifted(inputs), basis), expected, rtol=0, atol=1e-12)


def test_padding_ends_the_periodicity():
    inputs = torch.randn(1, 120, 3, dtype=F64)
    inputs[..., 1:] = 0
    model = small(padding=3)
    rolled = inputs.unflatten(1, (12, 10)).roll(4, dims=1).flatten(1, 2)
    back = model(rolled, grid(12, 10)).unflatten(1, (12, 10)).roll(-4, dims=1).flatten(1, 2)
    assert (back - model(inputs, grid(12, 10))).abs().max() > 1e-6


@pytest.mark.parametrize(("depth", "tolerance"), [(1, 1e-13), (3, 1e-9)])
def test_a_band_limited_function_gives_the_same_on_two_grids(depth, tolerance):
    """Exactly with one layer; with more, GELU makes high frequencies that fade out fast."""
    model = FNO(4, 2, width=6, modes=4, depth=depth).double()
    coarse, fine = waves(36, 40), waves(72, 120)
    got = model(coarse, grid(36, 40)).reshape(36, 40, 2)
    wanted = model(fine, grid(72, 120)).reshape(72, 120, 2)[::2, ::3]
    assert wanted.std() > 1e-3
    torch.testing.assert_close(got, wanted, rtol=0, atol=tolerance)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"modes": 0}, "modes=0"),
        ({"padding": -1}, "negative: got -1"),
    ],
)
def test_sizes_that_make_no_network_are_named(options, words):
    with pytest.raises(ValueError, match=words):
        small(**options)


@pytest.mark.usefixtures("unchecked")
def test_points_that_make_no_grid_for_its_waves_are_named():
    model, inputs = small(), torch.zeros(1, 120, 3, dtype=F64)
    with pytest.raises(ValueError, match="two axes: got no grid"):
        model(inputs, cloud(120))
    with pytest.raises(ValueError, match="two axes: got a grid of 3 axes"):
        model(inputs, grid(4, 5, 6))
    with pytest.raises(ValueError, match=r"20 × 6 points resolves at most 4 .* got modes=5"):
        small(modes=5)(inputs, grid(20, 6))
    with pytest.raises(ValueError, match=r"6 × 20 points resolves at most 3 .* got modes=4"):
        model(inputs, grid(6, 20))
