"""The same network in other precisions, compiled, exported."""

import pytest
import torch

from supra import FourierBasis, Grid, LaplacianBasis, SampledBasis
from supra.domain import shapes
from supra.model import SupraOperator


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def network(**options) -> SupraOperator:
    return SupraOperator(3, 1, 16, **{"width": 16, "depth": 2, "heads": 4, **options}).eval()


def bases() -> dict[str, object]:
    mesh = LaplacianBasis.from_mesh(shapes.perforated_plate(8), 16).sample()
    return {
        "mesh": mesh,
        "grid": FourierBasis((2, 2)).sample(Grid((12, 10), periodic=True)),
        "per sample": SampledBasis.stack([mesh, mesh]),
    }


def test_float32_agrees_with_float64():
    model = network()
    for basis in bases().values():
        inputs = torch.randn(2, basis.points, 3)
        exact = model.double()(inputs.double(), basis.to(dtype=torch.float64))
        torch.testing.assert_close(
            model.float()(inputs, basis).double(), exact, atol=1e-5, rtol=1e-4
        )


def test_bfloat16_autocast_agrees_to_its_precision():
    model = network()
    for basis in bases().values():
        inputs = torch.randn(2, basis.points, 3)
        with torch.autocast("cpu", torch.bfloat16):
            half = model(inputs, basis)
        assert half.dtype == torch.bfloat16
        torch.testing.assert_close(half.float(), model(inputs, basis), atol=0.05, rtol=0.05)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("norm", ["layer", "instance"])
@pytest.mark.parametrize("name", ["mesh", "grid", "per sample"])
def test_it_compiles_without_graph_breaks(name, norm):
    model, basis = network(norm=norm), bases()[name]
    inputs = torch.randn(2, basis.points, 3)
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(inputs, basis), model(inputs, basis))


@pytest.mark.slow
@pytest.mark.usefixtures("unchecked")
def test_inductors_code_gives_the_same_numbers():
    torch.compiler.reset()  # what other tests compiled counts against the limit of versions
    model, basis = network(), bases()["grid"]
    inputs = torch.randn(2, basis.points, 3)
    compiled = torch.compile(model, fullgraph=True)
    torch.testing.assert_close(compiled(inputs, basis), model(inputs, basis), atol=1e-5, rtol=1e-4)
    compiled(inputs, basis).sum().backward()
