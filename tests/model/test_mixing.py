"""Maps between functions, mode by mode."""

from functools import partial
from itertools import product

import pytest
import torch
from torch.nn.functional import gelu

from supra.basis import CosineBasis, FourierBasis
from supra.domain import Grid
from supra.model import ModeMixing, SupraOperator, WaveMixing

F64 = torch.float64


def moved(fields, shape, shift):
    axes = tuple(range(1, len(shape) + 1))
    return fields.unflatten(1, shape).roll(shift, axes).flatten(1, len(shape))


def of_wave(waves, k, n):
    """The matrix of exp(i(kx + ny)); that of −k, −n is its conjugate."""
    if k < 0:
        return of_wave(waves, -k, -n).conj()
    signs = [sign for sign in (0, 1) if n == 0 or sign == (n < 0)]
    matrix = sum(waves[k, sign, abs(n)] for sign in signs) / len(signs)
    if k > 0:
        return matrix
    signs = [1 - sign for sign in signs]  # at k = 0 both waves are in the table
    return (matrix + sum(waves[0, sign, abs(n)] for sign in signs).conj() / len(signs)) / 2


def test_every_mode_has_its_matrix():
    mixing, coordinates = ModeMixing(3, modes=5), torch.randn(2, 3, 5)
    mixed = mixing(coordinates)
    for mode in range(5):
        expected = coordinates[:, :, mode] @ mixing.weight[mode]
        torch.testing.assert_close(mixed[:, :, mode], expected)


@pytest.mark.parametrize("shape", [(9,), (8, 11), (7, 8, 6)])
def test_waves_commute_with_translations(shape):
    counts = tuple(range(2, 2 + len(shape)))[::-1] if len(shape) < 3 else (3, 2, 2)
    basis = FourierBasis(counts, constant=True).sample(Grid(shape, periodic=True), dtype=F64)
    mixing = WaveMixing(4, counts).double()
    fields = torch.randn(2, basis.points, 4, dtype=F64)
    shift = tuple(range(1, len(shape) + 1))

    def mixed(values):
        return basis.fields(mixing(basis.coefficients(values)))

    torch.testing.assert_close(
        mixed(moved(fields, shape, shift)), moved(mixed(fields), shape, shift)
    )
    assert mixed(fields).abs().max() > 0.01


def test_waves_are_a_convolution_by_fft():
    """A Fourier layer with the same weights, by way of PyTorch's FFT."""
    rows, columns, count = 9, 12, 3
    basis = FourierBasis((count, count), constant=True).sample(
        Grid((rows, columns), periodic=True), dtype=F64
    )
    mixing = WaveMixing(2, (count, count)).double()
    fields = torch.randn(3, basis.points, 2, dtype=F64)
    waves = torch.complex(*mixing.weight.chunk(2, dim=2)).unflatten(0, (count + 1, 2, count + 1))
    spectrum = torch.fft.fft2(fields.unflatten(1, (rows, columns)), dim=(1, 2))
    kept = torch.zeros_like(spectrum)
    for k, n in product(range(-count, count + 1), repeat=2):
        kept[:, k, n] = spectrum[:, k, n] @ of_wave(waves, k, n)
    expected = torch.fft.ifft2(kept, dim=(1, 2))
    assert expected.imag.abs().max() < 1e-12
    found = basis.fields(mixing(basis.coefficients(fields)))
    torch.testing.assert_close(found, expected.real.flatten(1, 2))


def test_a_light_network_without_attention_commutes_with_translations():
    """So do its convolutions, which close where the grid does."""
    shape, counts = (12, 16), (3, 4)
    basis = FourierBasis(counts, constant=True).sample(Grid(shape, periodic=True), dtype=F64)
    network = SupraOperator(
        2,
        1,
        basis.modes,
        width=6,
        depth=3,
        light=True,
        attention=False,
        mixing=partial(WaveMixing, counts=counts),
        local=True,
    ).double()
    inputs = torch.randn(2, basis.points, 2, dtype=F64)
    found = network(moved(inputs, shape, (3, 5)), basis)
    torch.testing.assert_close(found, moved(network(inputs, basis), shape, (3, 5)))


@pytest.mark.parametrize("counts", [(5,), (5, 3), (2, 3, 4)])
def test_matrices_between_knots_are_interpolated_linearly_along_each_axis(counts):
    """A matrix that is linear in every frequency, and known at the knots, is known everywhere."""
    smooth = WaveMixing(2, counts, knots=2).double()
    whole = WaveMixing(2, counts).double()

    def linear(axes):
        """Beyond the first axis, frequencies have two signs."""
        signed = [axis.double().repeat(1 if first == 0 else 2) for first, axis in enumerate(axes)]
        grids = torch.meshgrid(*signed, indexing="ij")
        factor = sum((axis + 1) * grid.flatten() for axis, grid in enumerate(grids)) + 1
        return factor[:, None, None] * torch.ones(2, 4, dtype=F64)

    with torch.no_grad():
        smooth.weight.copy_(linear([torch.tensor([0, count]) for count in counts]))
        whole.weight.copy_(linear([torch.arange(count + 1) for count in counts]))
    torch.testing.assert_close(smooth.matrices, whole.weight, rtol=1e-5, atol=1e-5)


def test_with_as_many_knots_as_frequencies_every_wave_has_a_matrix():
    assert WaveMixing(2, (2, 1), knots=3).weight.shape == WaveMixing(2, (2, 1)).weight.shape
    with pytest.raises(ValueError, match="At least two"):
        WaveMixing(2, (2, 1), knots=1)


def test_mixing_is_refused_outside_of_light_blocks():
    for options in ({"mixing": partial(ModeMixing, modes=4)}, {"attention": False}):
        with pytest.raises(ValueError, match="are for light blocks"):
            SupraOperator(1, 1, 4, heads=2, **options)
    with pytest.raises(ValueError, match="attention or mixing"):
        SupraOperator(1, 1, 4, heads=2, light=True, attention=False)
    with pytest.raises(ValueError, match="`width` must be even, got 5"):
        SupraOperator(1, 1, 4, width=5, heads=2, light=True)


def test_a_map_per_mode_does_not_see_the_modes_signs():
    mixing, coordinates = ModeMixing(3, modes=5).double(), torch.randn(2, 3, 5, dtype=F64)
    signs = torch.tensor([1.0, -1, -1, 1, -1], dtype=F64)
    torch.testing.assert_close(mixing(signs * coordinates), signs * mixing(coordinates))


def test_a_light_block_is_its_formula():
    basis = CosineBasis((3, 3)).sample(Grid((6, 5)), dtype=F64)
    network = SupraOperator(
        1, 1, 9, width=4, depth=1, heads=3, light=True, mixing=partial(ModeMixing, modes=9)
    ).double()
    (block,) = network.blocks
    fields = torch.randn(2, 30, 4, dtype=F64, requires_grad=True)
    first, second = fields.chunk(2, dim=-1)
    values = torch.cat([gelu(first), first * second.tanh()], dim=-1)
    coordinates = basis.coefficients(values)
    inside = block.attention(coordinates) + block.mixing(coordinates)
    expected = fields + block.skip(values) + basis.fields(inside)
    found = block(fields, basis)
    torch.testing.assert_close(found, expected)
    weights = [fields, *block.parameters()]
    torch.testing.assert_close(
        torch.autograd.grad(found.square().sum(), weights),
        torch.autograd.grad(expected.square().sum(), weights),
    )
