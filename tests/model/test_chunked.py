"""A part of the points at a time: the same numbers."""

from functools import partial

import pytest
import torch

from supra.basis import LaplacianBasis, SampledBasis
from supra.domain import shapes
from supra.model import ModeMixing, SupraOperator
from supra.model.chunked import predict_in_chunks


def given(dtype: torch.dtype, **options: object) -> tuple:
    torch.manual_seed(0)
    basis = LaplacianBasis.from_mesh(shapes.perforated_plate(resolution=12), 16).sample(dtype=dtype)
    network = SupraOperator(3, 2, 16, width=8, depth=3, heads=4, **options).to(dtype)
    return network, torch.randn(2, basis.points, 3, dtype=dtype), basis


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-12)])
@pytest.mark.parametrize("norm", ["layer", "none"])
@pytest.mark.parametrize("chunk", [1, 37, 10_000])
def test_chunks_of_any_size_give_the_whole(norm, chunk, dtype, tolerance):
    network, inputs, basis = given(dtype, norm=norm)
    expected = network(inputs, basis)
    found = predict_in_chunks(network, inputs, basis, chunk)
    torch.testing.assert_close(found, expected, atol=tolerance, rtol=tolerance)


def test_light_blocks_go_in_chunks():
    mixing = partial(ModeMixing, modes=16)
    network, inputs, basis = given(torch.float64, light=True, mixing=mixing)
    found = predict_in_chunks(network, inputs, basis, 37)
    torch.testing.assert_close(found, network(inputs, basis))


def test_what_needs_more_than_a_chunk_is_refused():
    network, inputs, basis = given(torch.float32, norm="instance")
    with pytest.raises(ValueError, match="meet in the coordinates only"):
        predict_in_chunks(network, inputs, basis)
    network, inputs, basis = given(torch.float32)
    with pytest.raises(ValueError, match="counts points: got 0"):
        predict_in_chunks(network, inputs, basis, 0)
    with pytest.raises(ValueError, match="basis per sample"):
        predict_in_chunks(network, inputs, SampledBasis.stack([basis, basis]))
