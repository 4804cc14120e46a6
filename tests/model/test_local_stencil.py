"""The local branch on meshes: its formula, its derivatives, and what batches must not change."""

from functools import partial

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck

from supra import Grid, LaplacianBasis, SampledBasis
from supra.basis import BasisError, CosineBasis, Stencil
from supra.domain import Mesh, shapes
from supra.model import LocalStencil, SupraOperator
from supra.model.chunked import predict_in_chunks
from supra.model.export import export_program
from supra.train import TrainSettings
from supra.train.muon import Muon
from supra.train.optimizer import make_optimizers

F64 = torch.float64
MESHES = [shapes.perforated_plate(8), shapes.ball(3), shapes.sphere(4)]


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def sampled(mesh: Mesh, modes: int = 16, dtype: torch.dtype = F64) -> SampledBasis:
    basis = LaplacianBasis.from_mesh(mesh, modes).sample(dtype=dtype)
    return basis.with_stencil(Stencil.from_mesh(mesh))


def branch(width: int = 5, dimensions: int = 2) -> LocalStencil:
    return LocalStencil(width, dimensions).double()


def network(dimensions: int = 2, **options) -> SupraOperator:
    options = {"width": 8, "depth": 2, "heads": 4, **options}
    local = partial(LocalStencil, dimensions=dimensions)
    return SupraOperator(3, 2, 16, local=local, **options).double()


@pytest.mark.parametrize("mesh", MESHES, ids=repr)
def test_it_is_its_formula(mesh):
    """Of a linear function in the plane and in space: its slope, weighted, times the local size."""
    space = mesh.points.shape[1]
    layer, basis = branch(5, space), sampled(mesh)
    single = [torch.zeros_like(layer.kernel) for _ in range(1 + space)]
    for number, weight in enumerate(single):
        weight[number] = 1
    fields = torch.randn(2, basis.points, 5, dtype=F64)
    parts = []
    for weight in single:
        alone = branch(5, space)
        alone.kernel.data = weight
        parts.append(alone(fields, basis))
    expected = sum(k * part for k, part in zip(layer.kernel, parts, strict=True))
    torch.testing.assert_close(layer(fields, basis), expected)
    if not mesh.is_embedded:
        size = torch.tensor(mesh.node_measures ** (1 / mesh.dimension))
        height = torch.tensor(mesh.points[:, :1]).expand(1, -1, 5)
        alone.kernel.data = single[1]
        torch.testing.assert_close(alone(height, basis), size[:, None].expand(1, -1, 5))


@pytest.mark.parametrize("stacked", [False, True])
def test_derivatives_are_those_of_finite_differences(stacked):
    basis = sampled(shapes.disk(2), modes=4)
    if stacked:
        basis = SampledBasis.stack([basis, sampled(shapes.square(2), modes=4)])
    layer = branch(3)
    fields = torch.randn(2, basis.points, 3, dtype=F64, requires_grad=True)

    def of(fields: torch.Tensor, kernel: torch.Tensor) -> torch.Tensor:
        return torch.func.functional_call(layer, {"kernel": kernel}, (fields, basis))

    assert gradcheck(of, (fields, layer.kernel))


@pytest.mark.parametrize("norm", ["layer", "instance", "none"])
@pytest.mark.parametrize("mesh", MESHES, ids=repr)
def test_the_networks_derivatives_are_those_that_pytorch_finds_by_itself(mesh, norm, monkeypatch):
    basis, model = sampled(mesh), network(mesh.points.shape[1], norm=norm)
    inputs = torch.randn(2, basis.points, 3, dtype=F64, requires_grad=True)
    weights = [inputs, *model.parameters()]
    ours = torch.autograd.grad(model(inputs, basis).square().sum(), weights)
    plain = "supra.model.local_stencil._Combined.apply"
    from supra.model.local_stencil import _combined

    monkeypatch.setattr(plain, _combined)
    theirs = torch.autograd.grad(model(inputs, basis).square().sum(), weights)
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("norm", ["layer", "instance", "none"])
def test_a_padded_batch_equals_batches_of_one(norm, check_padding):
    check_padding(network(norm=norm), [sampled(shapes.perforated_plate(n)) for n in (6, 8, 10)])


def test_a_shared_mesh_equals_one_mesh_per_sample():
    basis, model = sampled(MESHES[0]), network()
    for batch in (1, 3, 2):
        inputs = torch.randn(batch, basis.points, 3, dtype=F64)
        each = SampledBasis.stack([basis] * batch)
        torch.testing.assert_close(model(inputs, basis), model(inputs, each))


def test_permuting_the_nodes_permutes_the_prediction():
    mesh, model = MESHES[0], network()
    basis = sampled(mesh)
    order = np.random.default_rng(0).permutation(basis.points)
    renumbered = Mesh(mesh.points[order], np.argsort(order)[mesh.cells])
    permuted = SampledBasis(basis.values[order], basis.weights[order])
    permuted = permuted.with_stencil(Stencil.from_mesh(renumbered))
    inputs = torch.randn(2, basis.points, 3, dtype=F64)
    torch.testing.assert_close(model(inputs[:, order], permuted), model(inputs, basis)[:, order])


def test_float32_agrees_with_float64_and_checkpointing_changes_nothing():
    basis, model = sampled(MESHES[0]), network()
    inputs = torch.randn(2, basis.points, 3, dtype=F64)
    exact = model(inputs, basis)
    single = model.float()(inputs.float(), basis.to(torch.float32))
    torch.testing.assert_close(single.double(), exact, atol=1e-5, rtol=1e-4)
    saving = network(checkpointing=True)
    saving.load_state_dict(model.double().state_dict())
    for each in (model, saving):
        each(inputs, basis).square().sum().backward()
    for one, other in zip(model.parameters(), saving.parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad)


def test_bfloat16_autocast_agrees_to_its_precision():
    basis, model = sampled(MESHES[0], dtype=torch.float32), network().float()
    inputs = torch.randn(2, basis.points, 3)
    with torch.autocast("cpu", torch.bfloat16):
        half = model(inputs, basis)
    half.float().sum().backward()
    torch.testing.assert_close(half.float(), model(inputs, basis), atol=0.05, rtol=0.05)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("stacked", [False, True])
def test_it_compiles_without_graph_breaks(stacked):
    basis, model = sampled(MESHES[0]), network().eval()
    basis = SampledBasis.stack([basis, basis]) if stacked else basis
    inputs = torch.randn(2, basis.points, 3, dtype=F64)
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(inputs, basis), model(inputs, basis))


def test_its_weights_are_one_per_function_and_operator_and_not_for_muon():
    model = network(dimensions=3)
    kernels = [weight for name, weight in model.named_parameters() if "local" in name]
    assert [kernel.numel() for kernel in kernels] == [4 * 8] * 2
    muon = make_optimizers(model, TrainSettings(optimizer="muon"))[0]
    assert isinstance(muon, Muon)
    taken = {id(weight) for group in muon.param_groups for weight in group["params"]}
    assert taken
    assert not taken & {id(kernel) for kernel in kernels}
    assert "dimensions=3" in repr(model)


def test_a_basis_without_operators_is_named():
    mesh, layer = MESHES[0], branch()
    bare = LaplacianBasis.from_mesh(mesh, 4).sample(dtype=F64)
    fields = torch.zeros(1, bare.points, 5, dtype=F64)
    with pytest.raises(BasisError, match=r"with_stencil.*model\.local=false"):
        layer(fields, bare)
    grid = CosineBasis((2, 2)).sample(Grid((4, 5)), dtype=F64)
    with pytest.raises(BasisError, match=r"model\.local=false"):
        layer(torch.zeros(1, 20, 5, dtype=F64), grid)
    with pytest.raises(BasisError, match="meshes in 3 dimensions: got Stencil"):
        branch(5, 3)(fields, bare.with_stencil(Stencil.from_mesh(mesh)))


def test_neither_chunks_nor_exported_models_know_it():
    basis, model = sampled(MESHES[0]), network()
    inputs = torch.randn(1, basis.points, 3, dtype=F64)
    with pytest.raises(ValueError, match="a local branch"):
        predict_in_chunks(model, inputs, basis)
    with pytest.raises(BasisError, match=r"cannot be exported.*model\.local=false"):
        export_program(model, basis, in_channels=3)
