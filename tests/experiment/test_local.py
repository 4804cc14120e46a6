"""`model.local`: the convolution where samples lie on grids, finite-element operators on meshes."""

import numpy as np
import pytest
import torch

from supra.basis import CosineBasis, SampledBasis
from supra.data import Channel, Dataset, Layout, Sample
from supra.domain import Domain, DomainError, Grid, Mesh, PointSet, shapes
from supra.experiment.build import build_subspace, restore_subspace
from supra.experiment.config import Experiment
from supra.experiment.errors import ConfigError
from supra.experiment.kept import bytes_of
from supra.experiment.run import new_surrogate
from supra.experiment.surrogate import Surrogate
from supra.model import LocalConvolution, LocalStencil

from .padding import assert_padding_changes_nothing

pytestmark = [
    pytest.mark.usefixtures("unchecked"),
    pytest.mark.filterwarnings("ignore:.*extrapolation"),
]

OWN = {"kind": "laplacian", "modes": 16, "geometry": "own"}
WAYS = {
    "shared": {"kind": "laplacian", "modes": 16},
    "mean": {"kind": "laplacian", "modes": 16, "geometry": "mean"},
    "reference": {"kind": "laplacian", "modes": 16, "geometry": "reference"},
    "own": OWN,
    "cosine": {"kind": "cosine", "modes": [4, 4]},
    "pod": {"kind": "pod", "modes": 4},
}
LAYOUT = Layout((Channel("a"),), (Channel("u"),))


def experiment(basis: dict, local: bool = True) -> Experiment:
    model = {"width": 8, "depth": 2, "local": local}
    content = {"data": {"name": "file", "root": "x.h5"}, "basis": basis, "model": model}
    return Experiment.model_validate(content)


def sample(domain: Domain, seed: int) -> Sample:
    values = np.random.default_rng(seed).standard_normal((2, len(domain.points), 1))
    return Sample(values[0], values[1], domain)


def dataset(domains: list[Domain]) -> Dataset:
    shared = domains[0] if all(d is domains[0] for d in domains) else None
    samples = [sample(domain, number) for number, domain in enumerate(domains)]
    return Dataset(LAYOUT, samples.__getitem__, np.arange(len(samples)), shared)


def slit() -> Mesh:
    """A ring with a seam: nodes of the first and the last column coincide."""
    angle, radius = np.meshgrid(np.linspace(0, 2 * np.pi, 17), np.linspace(1, 2, 5), indexing="ij")
    return Mesh.from_structured(np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1))


def samples_for(way: str) -> Dataset:
    if way in ("shared", "pod"):
        return dataset([slit()] * 6)
    if way == "mean":
        mesh = slit()
        return dataset([mesh.with_points(mesh.points * factor) for factor in (1.0, 1.1, 1.2)])
    return dataset([shapes.perforated_plate(n, holes=2) for n in (6, 7, 8)])


def first_branch(surrogate: Surrogate) -> torch.nn.Module:
    return surrogate.predictor.network.blocks[0].local


@pytest.mark.parametrize("way", WAYS)
def test_on_meshes_it_is_the_stencil_and_a_batch_equals_batches_of_one(way):
    data = samples_for(way)
    surrogate = new_surrogate(experiment(WAYS[way]), data)
    assert isinstance(first_branch(surrogate), LocalStencil)
    assert_padding_changes_nothing(surrogate, [data[k] for k in range(3)], tol=1e-6)


@pytest.mark.parametrize("way", WAYS)
def test_a_saved_surrogate_has_its_branch_again(way, tmp_path):
    data = samples_for(way)
    surrogate = new_surrogate(experiment(WAYS[way]), data)
    surrogate.save(tmp_path / "surrogate.pt")
    again = Surrogate.load(tmp_path / "surrogate.pt")
    one = data[1]
    expected = surrogate.predict(one.inputs, one.domain)
    np.testing.assert_array_equal(again.predict(one.inputs, one.domain), expected)


@pytest.mark.parametrize("way", WAYS)
def test_operators_are_made_only_if_asked_for(way):
    data = samples_for(way)
    plain = build_subspace(experiment(WAYS[way], local=False), data)
    asked = build_subspace(experiment(WAYS[way]), data)
    domain = data[0].domain
    without, carrying = plain(domain), asked(domain)
    assert isinstance(without, SampledBasis)
    assert without.stencil is None
    assert carrying.stencil.points == len(domain.points)
    assert bytes_of(carrying) == bytes_of(without) + carrying.stencil.nbytes
    assert asked(domain) is carrying


def test_across_a_seam_neighbours_see_each_other():
    """A field that differs between the seam's two sides is averaged there: both get the same."""
    data = samples_for("shared")
    basis = build_subspace(experiment(WAYS["shared"]), data)(data[0].domain)
    layer = LocalStencil(1, 2)
    found = layer(torch.randn(1, basis.points, 1), basis).reshape(17, 5)
    torch.testing.assert_close(found[0], found[-1])


@pytest.mark.parametrize("basis", [WAYS["cosine"], OWN], ids=["cosine", "laplacian"])
def test_on_grids_it_stays_the_convolution(basis):
    data = dataset([Grid((8, 9))] * 4)
    surrogate = new_surrogate(experiment(basis), data)
    assert isinstance(first_branch(surrogate), LocalConvolution)
    assert getattr(surrogate.subspace(data[0].domain), "stencil", None) is None
    assert surrogate.predict(data[0].inputs, data[0].domain).shape == (72, 1)


def test_what_was_saved_before_there_were_stencils_has_none():
    for basis, state in ((WAYS["cosine"], {}), (OWN, {})):
        assert not restore_subspace(experiment(basis), state).stencil


def test_point_clouds_are_refused_by_name():
    points = PointSet(np.random.default_rng(0).random((80, 2)))
    with pytest.raises(ConfigError, match=r"a mesh: got a PointSet\. Use model\.local=false"):
        new_surrogate(experiment(WAYS["cosine"]), dataset([points] * 4))
    surrogate = new_surrogate(experiment(WAYS["cosine"]), samples_for("cosine"))
    with pytest.raises(DomainError, match=r"needs a mesh: got a PointSet.*model\.local=false"):
        surrogate.predict(np.zeros((80, 1)), points)


def test_the_basis_itself_does_not_change():
    data = samples_for("cosine")
    subspace = build_subspace(experiment(WAYS["cosine"]), data)
    expected = CosineBasis((4, 4)).sample(data[0].domain, defect="adapt")
    torch.testing.assert_close(subspace(data[0].domain).values, expected.values)
