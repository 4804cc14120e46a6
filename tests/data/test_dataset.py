"""Splits and batches: what is where, padding, and equality with batches of one."""

import numpy as np
import pytest
import torch

from supra.basis import LaplacianBasis, SampledBasis
from supra.data import (
    Channel,
    Collate,
    DataError,
    Dataset,
    Layout,
    Sample,
    Splits,
    in_order,
    loader,
)
from supra.domain import Domain, Grid, Mesh, shapes
from supra.model import SupraOperator

STEADY = Layout((Channel("a"),), (Channel("u", "K"),))
MESHES = [shapes.perforated_plate(5, holes=1, seed=k) for k in range(3)]


def sample_on(domain: Domain, number: int, steps: tuple[int, ...] = ()) -> Sample:
    rng = np.random.default_rng(number)
    points = len(domain.points)
    return Sample(rng.normal(size=(points, 1)), rng.normal(size=(*steps, points, 1)), domain)


class OnGrid:
    grid = Grid((4, 3))

    def __call__(self, index: int) -> Sample:
        return sample_on(self.grid, index)


class OnMeshes:
    def __call__(self, index: int) -> Sample:
        return sample_on(MESHES[index % len(MESHES)], index)


def on_grid(count: int = 20) -> Dataset:
    return Dataset(STEADY, OnGrid(), np.arange(count), OnGrid.grid)


def modes_of(domain: Mesh) -> SampledBasis:
    return LaplacianBasis.from_mesh(domain, 8, cache=False).sample(domain)


def test_splits_share_no_sample_and_lose_none():
    splits = Splits.of(on_grid(20), on_grid(5), valid=0.2)
    assert (len(splits.train), len(splits.valid), len(splits.test)) == (16, 4, 5)
    both = np.concatenate([splits.train.indices, splits.valid.indices])
    np.testing.assert_array_equal(np.sort(both), np.arange(20))


def test_the_validation_samples_are_the_same_every_time_and_others_with_another_seed():
    chosen = [Splits.of(on_grid(), on_grid(), 5, seed).valid.indices for seed in (0, 0, 1)]
    np.testing.assert_array_equal(chosen[0], chosen[1])
    assert not np.array_equal(chosen[0], chosen[2])


@pytest.mark.parametrize("valid", [-1, 20, 1.0, 2.5, True])
def test_a_validation_set_that_cannot_be_cut_is_refused(valid):
    with pytest.raises(DataError, match=r"`valid` is|can be held out"):
        Splits.of(on_grid(20), on_grid(20), valid)


def test_subsets_number_their_own_samples():
    part = on_grid(10).subset(slice(2, 8)).subset([1, 3])
    np.testing.assert_array_equal(part.indices, [3, 5])
    np.testing.assert_array_equal(part[1].inputs, OnGrid()(5).inputs)


def test_positions_follow_the_inputs_and_samples_keep_their_order():
    collate = Collate(SampledBasis(torch.ones(12, 1), torch.full((12,), 1 / 12)))
    batch = collate([on_grid()[k] for k in (3, 1)])
    assert batch.inputs.shape == (2, 12, 3)
    np.testing.assert_allclose(batch.inputs[1, :, 0], OnGrid()(1).inputs[:, 0], rtol=1e-6)
    np.testing.assert_allclose(batch.inputs[0, :, 1:], OnGrid.grid.points, rtol=1e-6)
    np.testing.assert_allclose(batch.weights, OnGrid.grid.weights, rtol=1e-6)


def test_reference_positions_are_those_of_the_unit_box():
    bent = Grid((4, 3), points=OnGrid.grid.points.reshape(4, 3, 2) * [5, 1])
    basis = SampledBasis(torch.ones(12, 1), torch.full((12,), 1 / 12))
    batch = Collate(basis, positions="reference")([sample_on(bent, 0)])
    np.testing.assert_allclose(batch.inputs[0, :, 1:], OnGrid.grid.points, rtol=1e-6)
    with pytest.raises(DataError, match="grids only"):
        Collate(modes_of, positions="reference")([sample_on(MESHES[0], 0)])


def test_uniform_weights_count_every_point_alike_and_padding_not_at_all():
    batch = Collate(modes_of, weighting="uniform")([sample_on(mesh, 0) for mesh in MESHES])
    torch.testing.assert_close(batch.weights.sum(dim=1), torch.ones(3))
    for weights, mesh in zip(batch.weights, MESHES, strict=True):
        count = len(mesh.points)
        torch.testing.assert_close(weights[:count], torch.full((count,), 1 / count))
        assert not weights[count:].any()


def test_a_padded_batch_equals_batches_of_one():
    torch.manual_seed(0)
    model = SupraOperator(3, 1, modes=8, width=8, depth=2, heads=2)
    samples = [sample_on(mesh, k) for k, mesh in enumerate(MESHES)]
    together = Collate(modes_of)(samples)
    predicted = model(together.inputs, together.basis)
    for k, sample in enumerate(samples):
        alone = Collate(modes_of)([sample])
        count = len(sample.inputs)
        torch.testing.assert_close(
            predicted[k, :count], model(alone.inputs, alone.basis)[0], atol=1e-6, rtol=1e-5
        )


def test_time_steps_stay_before_the_points_when_padded():
    batch = Collate(modes_of)([sample_on(mesh, 0, (4,)) for mesh in MESHES])
    most = max(len(mesh.points) for mesh in MESHES)
    assert batch.targets.shape == (3, 4, most, 1)


@pytest.mark.parametrize("workers", [0, 2])
def test_a_loader_gives_the_asked_batches(workers):
    data = Dataset(STEADY, OnMeshes(), np.arange(6), None)
    batches = list(loader(data, Collate(modes_of), in_order(data, 4), workers))
    assert [len(batch) for batch in batches] == [4, 2]
    expected = torch.as_tensor(OnMeshes()(5).targets, dtype=torch.float32)
    torch.testing.assert_close(batches[1].targets[1, : len(expected)], expected)


def test_a_batch_moves_as_a_whole():
    moved = Collate(modes_of)([sample_on(MESHES[0], 0)]).to(torch.float64)
    for part in (moved.inputs, moved.targets, moved.weights, moved.basis.weights):
        assert part.dtype == torch.float64


@pytest.mark.parametrize(
    "arguments",
    [
        {"time": "rollout"},
        {"times": (1.0,)},
        {"time": "rollout", "times": (1.0,), "targets": (Channel("u"), Channel("v"))},
    ],
)
def test_layouts_that_contradict_themselves_are_refused(arguments):
    with pytest.raises(DataError):
        Layout(**{"inputs": (Channel("a"),), "targets": (Channel("u"),), **arguments})
