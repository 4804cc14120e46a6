from functools import partial

import numpy as np
import pytest
import torch

from supra import CosineBasis, FourierBasis, Grid, LaplacianBasis
from supra.domain import shapes
from supra.model import SupraOperator, WaveMixing
from supra.model.export import basis_arrays, export_onnx, export_program

pytestmark = pytest.mark.usefixtures("unchecked")


@pytest.fixture
def model() -> SupraOperator:
    torch.manual_seed(0)
    return SupraOperator(3, 2, 16, width=16, depth=2, heads=4).eval()


def mesh(resolution: int):
    return LaplacianBasis.from_mesh(shapes.perforated_plate(resolution), 16).sample()


def grid(side: int):
    return CosineBasis((4, 4)).sample(Grid((side, 9)))


@pytest.mark.parametrize(
    ("made_with", "used_with"), [(mesh(6), mesh(9)), (grid(8), grid(8))], ids=["mesh", "grid"]
)
def test_an_exported_program_takes_any_batch_and_any_mesh(model, made_with, used_with):
    program = export_program(model, made_with, in_channels=3).module()
    inputs = torch.randn(5, used_with.points, 3)
    outputs = program(inputs, *basis_arrays(used_with).values())
    torch.testing.assert_close(outputs, model(inputs, used_with))


@pytest.mark.parametrize("periodic", [False, True])
def test_light_blocks_on_grids_are_exported(periodic, tmp_path):
    """Waves, and convolutions that close where the grid does."""
    onnxruntime = pytest.importorskip("onnxruntime")
    torch.manual_seed(0)
    family = FourierBasis((2, 2), constant=True, period=1.0 if periodic else 1.2)
    basis = family.sample(Grid((8, 9), periodic=periodic))
    waves = partial(WaveMixing, counts=(2, 2))
    options = {"rank": 8, "light": True, "mixing": waves, "local": True}
    model = SupraOperator(3, 2, 25, width=16, depth=2, heads=4, **options).eval()
    inputs = torch.randn(5, basis.points, 3)
    program = export_program(model, basis, in_channels=3).module()
    outputs = program(inputs, *basis_arrays(basis).values())
    torch.testing.assert_close(outputs, model(inputs, basis))
    export_onnx(model, basis, 3, tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    arrays = {"inputs": inputs, **basis_arrays(basis)}
    (found,) = session.run(None, {name: array.numpy() for name, array in arrays.items()})
    np.testing.assert_allclose(found, outputs.detach(), atol=1e-5)


@pytest.mark.parametrize("norm", ["layer", "instance"])
@pytest.mark.parametrize(
    ("made_with", "used_with"), [(mesh(6), mesh(9)), (grid(8), grid(8))], ids=["mesh", "grid"]
)
def test_onnx_runtime_gives_the_same_numbers(norm, made_with, used_with, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    torch.manual_seed(0)
    model = SupraOperator(3, 2, 16, width=16, depth=2, heads=4, norm=norm).eval()
    export_onnx(model, made_with, 3, tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    inputs = torch.randn(5, used_with.points, 3)
    arrays = {"inputs": inputs, **basis_arrays(used_with)}
    assert [i.name for i in session.get_inputs()] == list(arrays)
    (outputs,) = session.run(None, {name: array.numpy() for name, array in arrays.items()})
    expected = model(inputs, used_with).detach().numpy()
    np.testing.assert_allclose(outputs, expected, atol=1e-5 * np.abs(expected).max())
