"""From samples in memory to a surrogate, and what it says about cases unlike them."""

import numpy as np
import pytest

import supra
from supra.data import Channel, DataError, Layout
from supra.domain import DomainError, Grid, OutsideWarning, PointSet, shapes
from supra.domain.probe import Probe
from supra.experiment.errors import ConfigError
from supra.experiment.seen import ExtrapolationWarning
from supra.train import TrainError

SMALL = {
    "basis": {"kind": "laplacian", "modes": 8, "geometry": "own"},
    "model": {"width": 8, "depth": 1},
    "train": {"epochs": 2, "batch_size": 2},
    "data": {"valid": 1},
}
pytestmark = pytest.mark.usefixtures("unchecked")


def sample(number: int, size: int = 1) -> supra.Sample:
    mesh = shapes.square(3 + number % 3)
    rng = np.random.default_rng(number)
    inputs = rng.uniform(0, size, (len(mesh.points), 2))
    return supra.Sample(inputs, inputs.sum(axis=1, keepdims=True), mesh)


@pytest.fixture(scope="module")
def surrogate(tmp_path_factory) -> supra.Surrogate:
    samples = [sample(number) for number in range(8)]
    layout = Layout((Channel("load"), Channel("heat")), (Channel("u"),))
    out = tmp_path_factory.mktemp("fit") / "run"
    return supra.fit(samples[:6], samples[6:], out, layout=layout, **SMALL)


def test_the_samples_are_kept_with_the_run(surrogate):
    stored = supra.open_dataset(surrogate.experiment.data.root, valid=0)
    assert (len(stored.train), len(stored.test)) == (6, 2)
    np.testing.assert_allclose(stored.train[0].inputs, sample(0).inputs, rtol=1e-6)


def test_it_predicts_on_a_mesh_it_never_saw(surrogate):
    new = sample(5)
    assert surrogate.predict(new.inputs, new.domain).shape == new.targets.shape


def test_values_far_from_the_training_samples_are_named(surrogate):
    new = sample(1, size=10)
    with pytest.warns(ExtrapolationWarning, match=r"load goes from .* extrapolation"):
        surrogate.predict(new.inputs, new.domain)
    moved = sample(1)
    far = moved.domain.with_points(moved.domain.points + np.array([5.0, 0.0]))
    with pytest.warns(ExtrapolationWarning, match="x goes from 5 to 6 here, and from 0 to 1"):
        surrogate.predict(moved.inputs, far)


def test_another_dimension_and_other_channels_are_named(surrogate):
    cube = shapes.cube(2)
    with pytest.raises(DataError, match="lie in 2 dimensions: got a domain in 3"):
        surrogate.predict(np.zeros((len(cube.points), 2)), cube)
    new = sample(1)
    with pytest.raises(DataError, match=r"\(load, heat\)"):
        surrogate.predict(new.inputs[:, :1], new.domain)


def test_bad_samples_are_named(tmp_path):
    with pytest.raises(DataError, match="Got 0 samples to learn from and 1 to test on"):
        supra.fit([], [sample(0)], tmp_path / "run", **SMALL)
    timed = supra.Sample(sample(0).inputs, np.zeros((3, 16, 1)), sample(0).domain)
    with pytest.raises(DataError, match="need a `layout`"):
        supra.fit([timed], [timed], tmp_path / "run", **SMALL)


def test_an_earlier_run_is_not_replaced_unasked(surrogate):
    folder = surrogate.experiment.data.root.parent
    with pytest.raises(TrainError, match="not empty"):
        supra.fit([sample(0)], [sample(1)], folder, **SMALL)


def test_another_system_comes_with_its_recipe_and_what_is_given_goes_before_it(tmp_path):
    own = {**SMALL, "model": {"width": 8, "depth": 1, "structured": False}}
    samples = [sample(number) for number in range(4)]
    found = supra.fit(samples[:3], samples[3:], tmp_path / "run", system="transolver", **own)
    model, train = found.experiment.model, found.experiment.train
    assert (model.kind, model.slices, model.width) == ("transolver", 32, 8)
    assert (train.clip, train.epochs) == (0.1, 2)
    with pytest.raises(ConfigError, match="transolver"):
        supra.fit(samples[:3], samples[3:], tmp_path / "other", system="transolvr", **SMALL)


def test_points_in_chunks_give_the_same_prediction(surrogate):
    new = sample(5)
    whole = surrogate.predict(new.inputs, new.domain)
    np.testing.assert_allclose(surrogate.predict(new.inputs, new.domain, chunk=7), whole, atol=1e-5)


# ---- at any points ---------------------------------------------------------------------------


def test_a_prediction_is_a_function_on_the_mesh(surrogate):
    new = sample(5)
    at_nodes = surrogate.predict(new.inputs, new.domain)
    np.testing.assert_allclose(
        surrogate.predict(new.inputs, new.domain, at=new.domain.points), at_nodes, rtol=1e-6
    )
    middle = new.domain.points[new.domain.cells].mean(axis=1)
    found = surrogate.predict(new.inputs, new.domain, at=middle)
    np.testing.assert_allclose(found, at_nodes[new.domain.cells].mean(axis=1), rtol=1e-5)
    both = surrogate.predict(np.stack([new.inputs] * 2), new.domain, at=middle)
    np.testing.assert_allclose(both, [found, found], rtol=1e-6)  # products of another size


def test_points_without_a_prediction_are_told(surrogate):
    new = sample(5)
    with pytest.warns(OutsideWarning, match="1 of 2 points lie outside"):
        found = surrogate.predict(new.inputs, new.domain, at=np.array([[3.0, 0.5], [0.5, 0.5]]))
    assert np.isnan(found).tolist() == [[True], [False]]
    with pytest.raises(DomainError, match="None of the 1 points"):
        surrogate.predict(new.inputs, new.domain, at=np.array([[3.0, 0.5]]))
    with pytest.raises(DomainError, match=r"\(queries, 2\): got \(1, 3\)"):
        surrogate.predict(new.inputs, new.domain, at=np.zeros((1, 3)))


SPACES = {
    "grid": (Grid((6, 5)), {"kind": "cosine", "modes": [4, 2]}),
    "points": (
        PointSet(np.random.default_rng(2).random((80, 2))),
        {"kind": "cosine", "modes": [4, 2]},
    ),
    "tetrahedra": (shapes.ball(3), {"kind": "laplacian", "modes": 8}),
    "surface": (shapes.sphere(4), {"kind": "laplacian", "modes": 8}),
}


@pytest.mark.parametrize("name", SPACES)
def test_every_kind_of_domain_is_looked_at_between_its_points_at_every_moment(name, tmp_path):
    domain, basis = SPACES[name]
    rng = np.random.default_rng(0)
    states = rng.normal(size=(4, 3, len(domain.points), 1))
    samples = [supra.Sample(found[0], found[1:], domain) for found in states]
    layout = Layout((Channel("now"),), (Channel("next"),), "rollout", (1.0, 2.0))
    parts = {**SMALL, "basis": basis}
    surrogate = supra.fit(samples[:3], samples[3:], tmp_path / "run", layout=layout, **parts)
    given = samples[0].inputs
    near = domain.points[[0, 7]] * 0.6 + domain.points[[1, 8]] * 0.4
    found = surrogate.rollout(given, 2, domain, at=near)
    assert found.shape == (2, 2, 1)
    whole = surrogate.rollout(given, 2, domain)
    np.testing.assert_allclose(found, Probe.of(domain, near)(whole), rtol=1e-5)


def drifting(number: int) -> supra.Sample:
    """States that move on by the same field at every step."""
    mesh = shapes.square(4)
    start = np.random.default_rng(number).normal() + mesh.points[:, :1]
    steps = [start + (step + 1) * 0.1 * mesh.points[:, 1:] for step in range(3)]
    return supra.Sample(start, np.stack(steps), mesh)


def test_a_surrogate_of_changes_is_one_after_loading(tmp_path):
    state = (Channel("u"),)
    layout = Layout(state, state, "rollout", (1.0, 2.0, 3.0))
    samples = [drifting(number) for number in range(6)]
    small = {**SMALL, "normalize": {"targets": "point"}, "predicts": "change"}
    trained = supra.fit(samples[:5], samples[5:], tmp_path / "run", layout=layout, **small)
    trained.predictor.target_scale.zero_()  # the network says nothing: the mean change is left
    trained.save(tmp_path / "file.pt")
    loaded = supra.Surrogate.load(tmp_path / "file.pt")
    new = drifting(9)
    found = loaded.predict(new.inputs, new.domain)
    np.testing.assert_allclose(found, new.targets, atol=1e-5)


def test_changes_are_of_rollouts_only(tmp_path):
    with pytest.raises(ConfigError, match="predicts=change is for rollouts"):
        supra.fit([sample(0)], [sample(1)], tmp_path / "run", predicts="change",
                  **{**SMALL, "data": {"valid": 0}})  # fmt: skip
