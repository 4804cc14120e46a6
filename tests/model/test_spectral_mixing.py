"""Maps by eigenvalue: functions of the Laplacian, whatever the domain and its eigenfunctions."""

from functools import partial

import numpy as np
import pytest
import torch

from supra.basis import LaplacianBasis, SampledBasis
from supra.basis.errors import BasisError
from supra.domain import shapes
from supra.model import ModeMixing, SpectralMixing, SupraOperator
from supra.model.chunked import predict_in_chunks
from supra.model.export import basis_arrays, export_program
from supra.model.hats import hat_functions
from supra.model.spectral_mixing import knots_of

F64 = torch.float64


def on(mesh, modes=12) -> SampledBasis:
    basis = LaplacianBasis.from_mesh(mesh, modes)
    return basis.sample(dtype=F64).with_eigenvalues(torch.tensor(basis.eigenvalues))


def turned(basis: SampledBasis, matrix: torch.Tensor) -> SampledBasis:
    """The functions turned into each other; only legal where their eigenvalues are equal."""
    return SampledBasis(basis.values @ matrix, basis.weights, eigenvalues=basis.eigenvalues)


def mixing_on(basis: SampledBasis, width: int = 3) -> SpectralMixing:
    assert basis.eigenvalues is not None
    torch.manual_seed(0)
    return SpectralMixing(width, knots_of(basis.eigenvalues)).double()


def test_hat_functions_interpolate_linearly_and_stay_constant_beyond_the_ends():
    knots = torch.tensor([0.0, 1.0, 3.0, 3.5], dtype=F64)
    values = torch.randn(4, dtype=F64)
    places = torch.linspace(-1, 5, 61, dtype=F64)
    expected = np.interp(places, knots, values)
    np.testing.assert_allclose(hat_functions(places, knots) @ values, expected, atol=1e-12)


def test_knots_ascend_where_eigenvalues_repeat():
    sphere = torch.tensor([l * (l + 1.0) for l in range(5) for _ in range(2 * l + 1)])  # noqa: E741
    knots = knots_of(sphere)
    assert len(knots) == 13
    assert (knots.diff() > 0).all()
    assert knots[-1] == pytest.approx(20**0.5, rel=0.02)


@pytest.mark.parametrize("eigenvalues", [[0.0], [0.0, 0.0, 0.0]])
def test_eigenvalues_that_are_all_zero_have_the_first_matrix(eigenvalues):
    """Of the constant alone, or of a mesh's separate parts."""
    mixing = SpectralMixing(3, knots_of(torch.tensor(eigenvalues)), torch.tensor(eigenvalues))
    coordinates = torch.randn(2, 3, len(eigenvalues))
    expected = torch.einsum("bck,cd->bdk", coordinates, mixing.weight[0])
    basis = SampledBasis(torch.eye(4)[:, : len(eigenvalues)], torch.full((4,), 0.25))
    torch.testing.assert_close(mixing(coordinates, basis), expected)


def test_a_matrix_linear_in_the_wave_number_is_that_function_of_the_laplacian():
    """W = (2 + 3 √λ) A gives (2 + 3 √λ) of an eigenfunction, times A between the functions."""
    basis = on(shapes.disk(8))
    mixing, matrix = mixing_on(basis), torch.randn(3, 3, dtype=F64)
    with torch.no_grad():
        mixing.weight.copy_((2 + 3 * mixing.knots)[:, None, None] * matrix)
        coordinates = torch.randn(2, 3, 12, dtype=F64)
        factors = 2 + 3 * basis.eigenvalues.clamp_min(0).sqrt().clamp_max(mixing.knots[-1])
        expected = torch.einsum("bck,cd,k->bdk", coordinates, matrix, factors)
        torch.testing.assert_close(mixing(coordinates, basis), expected)


def test_at_the_knots_it_is_a_matrix_per_mode():
    per_mode = ModeMixing(3, modes=5).double()
    by_eigenvalue = SpectralMixing(3, torch.arange(5.0)).double()
    by_eigenvalue.weight = per_mode.weight
    basis = SampledBasis(torch.eye(5, dtype=F64), torch.full((5,), 0.2, dtype=F64))
    basis = basis.with_eigenvalues(torch.arange(5.0) ** 2)
    coordinates = torch.randn(2, 3, 5, dtype=F64)
    torch.testing.assert_close(by_eigenvalue(coordinates, basis), per_mode(coordinates))


def test_signs_and_turns_inside_a_repeated_eigenvalue_make_no_difference():
    """The operator on fields is the same; a matrix per mode would notice the turns."""
    basis = on(shapes.sphere(2), modes=9)
    eigenvalues = torch.tensor([0.0, *3 * [2.0], *5 * [6.0]], dtype=F64)
    basis = basis.with_eigenvalues(eigenvalues)  # exactly repeated, as on the round sphere
    turn = torch.block_diag(
        -torch.eye(1, dtype=F64),
        *(torch.linalg.qr(torch.randn(n, n, dtype=F64)).Q for n in (3, 5)),
    )
    fields = torch.randn(2, basis.points, 3, dtype=F64)

    def applied(mixing, basis):
        return basis.fields(mixing(basis.coefficients(fields), basis))

    spectral, per_mode = mixing_on(basis), ModeMixing(3, modes=9).double()
    other = turned(basis, turn)
    torch.testing.assert_close(applied(spectral, basis), applied(spectral, other))
    assert not torch.allclose(applied(per_mode, basis), applied(per_mode, other), rtol=0.1)


def test_eigenvalues_of_all_samples_need_not_go_with_the_basis():
    basis = on(shapes.disk(6))
    plain = SampledBasis(basis.values, basis.weights)
    by_basis = mixing_on(basis)
    by_itself = SpectralMixing(3, by_basis.knots, basis.eigenvalues).double()
    by_itself.load_state_dict(by_basis.state_dict())
    coordinates = torch.randn(2, 3, 12, dtype=F64)
    found, expected = by_itself(coordinates, plain), by_basis(coordinates, basis)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)  # knots are single precision


def test_a_batch_of_domains_equals_each_by_itself():
    bases = [on(shapes.disk(6)), on(shapes.l_shape(6)), on(shapes.square(5))]
    together = SampledBasis.stack(bases)
    mixing = mixing_on(bases[0])
    coordinates = torch.randn(3, 3, 12, dtype=F64)
    mixed = mixing(coordinates, together)
    for number, basis in enumerate(bases):
        alone = mixing(coordinates[number : number + 1], basis)
        torch.testing.assert_close(mixed[number : number + 1], alone)


@pytest.mark.usefixtures("unchecked")
def test_a_basis_without_eigenvalues_is_refused():
    plain = LaplacianBasis.from_mesh(shapes.disk(6), 12).sample(dtype=F64)
    mixing = mixing_on(on(shapes.disk(6)))
    with pytest.raises(ValueError, match="with_eigenvalues"):
        mixing(torch.randn(1, 3, 12, dtype=F64), plain)
    with pytest.raises(BasisError, match=r"shape \(12,\): got \(11,\)"):
        plain.with_eigenvalues(torch.zeros(11))


def test_eigenvalues_move_with_the_basis():
    basis = on(shapes.disk(6))
    assert basis.to(F64) is basis
    assert basis.to(torch.float32).eigenvalues.dtype == torch.float32
    mixed = SampledBasis.stack(
        [basis, LaplacianBasis.from_mesh(shapes.square(5), 12).sample(dtype=F64)]
    )
    assert mixed.eigenvalues is None  # not all have them


@pytest.fixture
def network() -> SupraOperator:
    knots = knots_of(on(shapes.disk(6)).eigenvalues)
    mixing = partial(SpectralMixing, knots=knots)
    options = {"width": 4, "depth": 2, "light": True, "attention": False, "mixing": mixing}
    return SupraOperator(2, 1, 12, **options).double()


def test_points_in_chunks_give_the_same(network):
    basis = on(shapes.l_shape(6))
    inputs = torch.randn(2, basis.points, 2, dtype=F64)
    torch.testing.assert_close(
        predict_in_chunks(network, inputs, basis, 10), network(inputs, basis).detach()
    )


@pytest.mark.usefixtures("unchecked")
def test_an_exported_network_takes_eigenvalues_of_any_domain(network):
    program = export_program(network, on(shapes.disk(6)), 2)
    other = on(shapes.l_shape(7))
    inputs = torch.randn(3, other.points, 2, dtype=F64)
    arrays = basis_arrays(other)
    assert list(arrays) == ["values", "weights", "eigenvalues"]
    found = program.module()(inputs, *arrays.values())
    torch.testing.assert_close(found, network(inputs, other))
