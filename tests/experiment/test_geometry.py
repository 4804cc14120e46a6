"""A geometry per sample: other nodes, other cells, other topology, in one batch."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
import torch

from supra.basis import BasisError, CosineBasis, LaplacianBasis, SampledBasis
from supra.basis.align import Align, aligned
from supra.basis.landmark import Landmarks
from supra.data import Channel, Collate, Dataset, Layout, Sample
from supra.domain import DomainError, Grid, Mesh, PointSet, shapes
from supra.domain.files import write_mesh
from supra.experiment.build import build_subspace, restore_subspace
from supra.experiment.config import Experiment
from supra.experiment.preset import load_experiment
from supra.experiment.run import new_surrogate
from supra.experiment.subspace import FamilySubspace, MeshSubspace, OwnSubspace
from supra.experiment.surrogate import Surrogate
from supra.problems import PerforatedPlate
from supra.train import evaluate
from supra.train.loss import relative_l2

from .padding import assert_padding_changes_nothing

pytestmark = [
    pytest.mark.usefixtures("unchecked"),
    # Six samples have not seen everything that a new one holds.
    pytest.mark.filterwarnings("ignore:.*extrapolation"),
]

PLATES = PerforatedPlate(resolution=8, holes=5, fewest=1, geometry="each")
WAYS = {
    "reference": {"kind": "laplacian", "modes": 16, "geometry": "reference"},
    "own": {"kind": "laplacian", "modes": 16, "geometry": "own", "align": "none"},
    "signs": {"kind": "laplacian", "modes": 16, "geometry": "own", "align": "signs"},
    "clusters": {"kind": "laplacian", "modes": 16, "geometry": "own", "align": "clusters"},
    "span": {"kind": "laplacian", "modes": 16, "geometry": "own", "align": "span"},
    "held": {"kind": "laplacian", "modes": 16, "geometry": "own", "boundary": "dirichlet"},
    "cosine": {"kind": "cosine", "modes": [4, 4]},
    "chebyshev": {"kind": "chebyshev", "modes": [4, 4]},
    "fourier": {"kind": "fourier", "modes": [2, 2]},
}


def as_sample(solution: dict[str, np.ndarray]) -> Sample:
    inputs = np.stack([solution["a"], solution["f"]], axis=1)
    mesh = Mesh(solution["points"], solution["cells"])
    return Sample(inputs, solution["u"][:, None], mesh)


@pytest.fixture(scope="module")
def samples() -> list[Sample]:
    found = [as_sample(solution) for solution in PLATES.generate(6)]
    assert len({sample.domain.euler_characteristic for sample in found}) >= 3
    assert len({len(sample.inputs) for sample in found}) >= 5
    return found


@pytest.fixture
def dataset(samples) -> Dataset:
    layout = Layout((Channel("a"), Channel("f")), (Channel("u"),))
    return Dataset(layout, samples.__getitem__, np.arange(len(samples)), None)


@pytest.fixture
def double() -> Iterator[None]:
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


SMALL = {"width": 8, "depth": 2}
ATTENDING = {**SMALL, "attention": "self-biased"}
FULL = {**ATTENDING, "light": False, "mixing": False, "rank": None, "norm": "instance", "gain": 3.0}


def experiment(basis: dict, **parts: dict) -> Experiment:
    content = {"data": {"name": "file", "root": "x.h5"}, "basis": basis, "model": SMALL, **parts}
    return Experiment.model_validate(content)


@pytest.mark.parametrize("model", [SMALL, FULL], ids=["light", "full"])
@pytest.mark.parametrize("way", WAYS)
def test_a_padded_batch_equals_batches_of_one(way, model, dataset, samples):
    surrogate = new_surrogate(experiment(WAYS[way], model=model), dataset)
    assert surrogate.collate(samples).basis.values.ndim == 3
    assert_padding_changes_nothing(surrogate, samples, 1e-6)


@pytest.mark.parametrize("model", [SMALL, FULL], ids=["light", "full"])
@pytest.mark.parametrize("way", WAYS)
def test_a_padded_batch_equals_batches_of_one_to_the_last_digits(
    way, model, dataset, samples, double
):
    surrogate = new_surrogate(experiment(WAYS[way], model=model), dataset)
    surrogate.predictor.double()  # its normalisers are float32 otherwise
    assert_padding_changes_nothing(surrogate, samples, 1e-12)


@pytest.mark.parametrize("way", WAYS)
def test_every_basis_is_orthonormal_in_the_samples_own_quadrature(way, dataset, samples, double):
    subspace = build_subspace(experiment(WAYS[way]), dataset)
    for sample in samples:
        gram = subspace(sample.domain).gram()
        assert (gram - torch.eye(16)).abs().max() < 1e-9
        weights = torch.as_tensor(sample.domain.weights)
        torch.testing.assert_close(subspace(sample.domain).weights, weights)


@pytest.mark.parametrize("way", WAYS)
def test_a_prediction_does_not_depend_on_the_numbering_of_the_nodes(way, dataset, samples):
    surrogate = new_surrogate(experiment(WAYS[way]), dataset)
    sample = samples[0]
    order = np.random.default_rng(0).permutation(len(sample.inputs))
    renumbered = Mesh(sample.domain.points[order], np.argsort(order)[sample.domain.cells])
    expected = surrogate.predict(sample.inputs, sample.domain)[order]
    found = surrogate.predict(sample.inputs[order], renumbered)
    np.testing.assert_allclose(found, expected, atol=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize("way", WAYS)
def test_a_saved_surrogate_predicts_the_same_on_a_new_mesh(way, dataset, tmp_path):
    surrogate = new_surrogate(experiment(WAYS[way]), dataset)
    surrogate.save(tmp_path / "surrogate.pt")
    again = Surrogate.load(tmp_path / "surrogate.pt")
    new = as_sample(PLATES.sample(0, split="test"))
    expected = surrogate.predict(new.inputs, new.domain)
    np.testing.assert_array_equal(again.predict(new.inputs, new.domain), expected)


def test_what_was_saved_before_alignment_existed_stays_unaligned(samples):
    old = restore_subspace(experiment(WAYS["span"]), {})
    mesh = samples[0].domain
    expected = LaplacianBasis.from_mesh(mesh, 16).sample()
    torch.testing.assert_close(old(mesh).values, expected.values)


def test_a_sample_read_again_finds_its_basis_in_memory(dataset, samples, monkeypatch):
    subspace = build_subspace(experiment(WAYS["span"]), dataset)
    first = subspace(samples[0].domain)
    monkeypatch.setattr(LaplacianBasis, "from_mesh", None)  # neither solved nor read from disk
    mesh = samples[0].domain
    assert subspace(Mesh(mesh.points.copy(), mesh.cells.copy())) is first


def test_a_point_cloud_has_the_weights_of_its_own_laplacian(samples):
    """Equal weights would not be those that its functions are orthonormal in."""
    cloud = PointSet(samples[0].domain.points)
    sampled = OwnSubspace(8, "neumann")(cloud)
    torch.testing.assert_close(sampled.gram(), torch.eye(8), atol=1e-5, rtol=0)
    assert sampled.weights.max() > 1.5 * sampled.weights.min()


def test_a_grid_that_meets_itself_is_glued_for_its_own_basis():
    points = shapes.c_grid_points(17, 6)
    grid = Grid((17, 6), points=points)
    sampled = OwnSubspace(6, "neumann")(grid)
    assert sampled.shape == (17, 6)
    values = sampled.values.view(17, 6, 6)[:, 0]  # along the inner line, once there and back
    torch.testing.assert_close(values[:2], values[-2:].flip(0))
    torch.testing.assert_close(sampled.gram(), torch.eye(6), atol=1e-5, rtol=0)


def test_a_reference_mesh_from_a_file_covers_the_samples(dataset, samples, tmp_path):
    write_mesh(tmp_path / "square.vtu", shapes.square(20))
    basis = {**WAYS["reference"], "reference": str(tmp_path / "square.vtu")}
    subspace = build_subspace(experiment(basis), dataset)
    assert isinstance(subspace, MeshSubspace)
    assert len(subspace.basis.domain.points) == 21**2
    assert subspace(samples[0].domain).modes == 16
    moved = samples[0].domain.with_points(samples[0].domain.points + 1)
    with pytest.raises(DomainError, match="outside"):
        subspace(moved)


def test_the_reference_is_the_box_around_all_samples(dataset):
    subspace = build_subspace(experiment(WAYS["reference"]), dataset)
    box = subspace.basis.domain
    np.testing.assert_allclose([box.points.min(axis=0), box.points.max(axis=0)], [[0, 0], [1, 1]])
    expected = np.sort(CosineBasis((8, 8)).eigenvalues)[:16]
    np.testing.assert_allclose(subspace.basis.eigenvalues, expected, rtol=0.05, atol=1e-9)


def test_a_flat_box_asks_for_a_reference():
    flat = shapes.square(3)
    mesh = Mesh(np.pad(flat.points, ((0, 0), (0, 1))), flat.cells)
    sample = Sample(np.zeros((len(mesh.points), 1)), np.zeros((len(mesh.points), 1)), mesh)
    layout = Layout((Channel("a"),), (Channel("u"),))
    data = Dataset(layout, lambda _: sample, np.arange(2), None)
    with pytest.raises(DomainError, match=r"basis\.reference"):
        build_subspace(experiment(WAYS["reference"]), data)


def test_a_reference_that_nothing_would_use_is_refused():
    with pytest.raises(ValueError, match="geometry=reference"):
        experiment({**WAYS["own"], "reference": "square.vtu"})


def test_too_many_functions_for_a_mesh_are_named(samples):
    subspace = FamilySubspace(CosineBasis((40, 40)))
    with pytest.raises(BasisError, match="independent"):
        subspace(samples[0].domain)


# ---- trained -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A place where the data are made once."""
    return tmp_path_factory.mktemp("plates")


def changes(part: dict) -> list[str]:
    return [word for name, value in part.items() for word in ("-s", f"basis.{name}={value}")]


@pytest.mark.parametrize("way", ["reference", "own", "signs", "clusters", "span", "cosine"])
def test_every_way_is_trained_saved_and_used_on_a_new_mesh(way, folder, monkeypatch, succeed):
    monkeypatch.chdir(folder)
    out = folder / "runs" / way
    succeed("train", "plates", "--scale", "smoke", *changes(WAYS[way]), "--out", out)
    assert 0 < json.loads((out / "result.json").read_text())["test"]["relative_l2"] < 2
    new = PLATES.sample(1, split="test")
    fields = {name: new[name] for name in ("a", "f", "u")}
    write_mesh(folder / "new.vtu", Mesh(new["points"], new["cells"]), fields)
    succeed("predict", out, "new.vtu", "-o", folder / f"{way}.vtu")
    assert (folder / f"{way}.vtu").exists()


@pytest.mark.parametrize("system", ["transolver", "gnot", "supra-paper"])
def test_other_networks_are_trained_on_the_same_plates(system, folder, monkeypatch, succeed):
    monkeypatch.chdir(folder)
    out = folder / "runs" / system
    succeed("train", "plates", "--scale", "smoke", "--model", system, "--out", out)
    assert 0 < json.loads((out / "result.json").read_text())["test"]["relative_l2"] < 2


def test_the_compared_networks_are_about_as_large(dataset):
    weights = {}
    for system in ("supra", "transolver", "gnot"):
        plates = load_experiment("plates", "small", (), system)
        assert plates.data == load_experiment("plates", "small").data
        predictor = new_surrogate(plates, dataset).predictor
        weights[system] = sum(weight.numel() for weight in predictor.parameters())
    assert weights["transolver"] >= 0.9 * weights["supra"]
    assert weights["gnot"] >= 0.9 * weights["supra"]
    assert max(weights.values()) < 2 * weights["supra"]


@dataclass(frozen=True)
class Flipped:
    """Eigenfunctions with random signs, other ones in every sample; then aligned."""

    landmarks: Landmarks
    align: Align

    def __call__(self, domain: Mesh) -> SampledBasis:
        basis = LaplacianBasis.from_mesh(domain, self.landmarks.count)
        seed = int.from_bytes(domain.points[:2].tobytes(), "little")
        signs = np.random.default_rng(seed).choice([-1.0, 1.0], basis.modes)
        values = aligned(
            basis.values * signs,
            domain.weights,
            basis.eigenvalues,
            self.landmarks(domain.points),
            self.align,
        )
        return replace(basis, values=values).sample()


def renumbered(sample: dict[str, np.ndarray], mesh: Mesh, seed: int) -> Sample:
    """The same sample with its nodes in another order: what a mesh generator does."""
    order = np.random.default_rng(seed).permutation(len(mesh.points))
    other = {name: sample[name][order] for name in ("a", "f", "u")}
    cells = np.argsort(order)[mesh.cells]
    return as_sample({**other, "points": mesh.points[order], "cells": cells})


@pytest.mark.parametrize(
    ("model", "of_unaligned"), [(FULL, 0.7), (ATTENDING, 0.95), (SMALL, None)], ids=str
)
def test_misaligned_signs_hurt_and_alignment_repairs_it(model, of_unaligned):
    """One plate, network and seed; only the solver's signs differ, and what is done to them.

    They hurt attention, whose matrices act between modes. A matrix per mode leaves every mode, and
    so its sign, by itself: such a network does not see signs.
    """
    problem = PerforatedPlate(resolution=8, holes=2)
    mesh = problem.mesh(0)
    samples = [renumbered(s, mesh, seed) for seed, s in enumerate(problem.generate(60))]
    layout = Layout((Channel("a"), Channel("f")), (Channel("u"),))
    data = Dataset(layout, samples.__getitem__, np.arange(60), None)
    train, test = data.subset(slice(40)), data.subset(slice(40, 60))
    landmarks = Landmarks.around([mesh.points], 16)
    network = experiment(WAYS["span"], model=model)
    flipped, repaired = (
        trained_error(network, Flipped(landmarks, align), train, test)
        for align in ("none", "signs")
    )
    if of_unaligned is None:
        assert repaired == pytest.approx(flipped, rel=1e-3)
    else:
        assert repaired < of_unaligned * flipped


def trained_error(network: Experiment, subspace: Flipped, train: Dataset, test: Dataset) -> float:
    torch.manual_seed(0)
    surrogate = new_surrogate(network, train)
    predictor, collate = surrogate.predictor, Collate(subspace)
    optimizer = torch.optim.AdamW(predictor.parameters(), lr=3e-3)
    batches = [collate([train[i] for i in range(k, k + 4)]) for k in range(0, len(train), 4)]
    for _ in range(30):
        for batch in batches:
            optimizer.zero_grad()
            prediction = predictor(batch.inputs, batch.basis)
            relative_l2(prediction, batch.targets, batch.weights).mean().backward()
            optimizer.step()
    return float(evaluate(predictor, test, collate).l2.mean())
