"""The benchmark on others' data, on small arrays laid out like theirs; the published records."""

import importlib.util
import json
import shlex
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from supra.domain import shapes
from supra.experiment.reproduce.cell import Cell
from supra.experiment.reproduce.record import outcome

PATH = Path(__file__).parent.parent / "benchmarks" / "real.py"
RECORDS = PATH.parent / "results" / "cells"


@pytest.fixture(scope="module")
def real():
    specification = importlib.util.spec_from_file_location("real", PATH)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("others")
    rng = np.random.default_rng(0)
    mesh = shapes.square(9)
    count, turned = len(mesh.points), mesh.cells.copy()
    turned[::2] = turned[::2, ::-1]  # every second triangle clockwise
    parameters = np.concatenate([rng.uniform(1, 100, (10, 8)), rng.uniform(-1, 1, (10, 3))], 1)
    where = {"points": mesh.points, "triangles": turned}
    _save(
        folder / "smithers" / "elastic_block.npz",
        **where,
        parameters=parameters,
        snapshots=rng.normal(size=(10, 2 * count)).astype("f4"),
    )
    x, y = (mesh.points[:, k] ** rng.uniform(0.8, 1.2, (10, 1)) for k in range(2))
    corner, u = rng.random((10, 2)), rng.normal(size=(10, count))
    _save(folder / "pina" / "holed_poisson.npz", x=x, y=y, u=u, triangles=turned, corner=corner)
    flow = {name: rng.normal(size=(59, count)) for name in ("pressure", "vx", "vy")}
    _save(folder / "ezyrb" / "cylinder_flow.npz", **where, time=np.arange(59), **flow)
    return folder


def _save(path: Path, **arrays: np.ndarray) -> None:
    path.parent.mkdir()
    np.savez(path, **arrays)


def test_every_point_has_the_stiffness_of_its_block_and_the_ninth_is_one(real, folder):
    sample = real.elastic_block(folder).train[0]
    given = np.load(folder / "smithers" / "elastic_block.npz")["parameters"][0]
    stiffness = np.exp(sample.inputs[:, 0])
    for block, expected in enumerate([*given[:8], 1.0]):
        row, column = divmod(block, 3)
        middle = np.array([column + 0.5, row + 0.5]) / 3
        nearest = np.linalg.norm(sample.domain.points - middle, axis=1).argmin()
        assert stiffness[nearest] == pytest.approx(expected)
    np.testing.assert_array_equal(sample.inputs[:, 1:], np.tile(given[8:], (100, 1)))


def test_a_forecast_begins_where_learning_ends_and_no_step_is_learned_twice(real, folder):
    problem = real.cylinder_flow(folder)
    states = np.load(folder / "ezyrb" / "cylinder_flow.npz")["vx"]
    first, second = problem.train
    np.testing.assert_array_equal(first.targets[-1], second.inputs)
    np.testing.assert_array_equal(second.targets[-1], problem.test[0].inputs)
    np.testing.assert_array_equal(problem.test[0].targets[..., 1], states[45:])


def test_what_is_linear_is_predicted_exactly(real):
    rng = np.random.default_rng(1)
    given, wanted, map_ = rng.normal(size=(12, 3)), rng.normal(size=(4, 3)), rng.normal(size=(3, 7))
    np.testing.assert_allclose(real.linear(given, given @ map_ + 1, wanted), wanted @ map_ + 1)


def test_a_growing_oscillation_is_forecast_exactly(real):
    """States in the plane that two patterns span, turned and stretched from one to the next."""
    patterns = np.random.default_rng(2).normal(size=(2, 5, 3))
    phase = 1.05 ** np.arange(40) * np.exp(0.7j * np.arange(40))
    states = np.einsum("kt,kpc->tpc", [phase.real, phase.imag], patterns)
    found = real.dynamic_modes(states[:30], np.full(5, 0.2), steps=10)
    np.testing.assert_allclose(found, states[30:], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", ["elastic-block", "holed-poisson", "cylinder-flow"])
def test_every_problem_has_simple_predictors_and_a_line_for_each(real, folder, name):
    rows = list(real.simple_rows(name, real.PROBLEMS[name](folder)))
    assert rows[0].model == "mean"
    assert len(real.markdown(rows).splitlines()) == 2 + len(rows)


def test_networks_are_trained_once_and_the_table_is_written(real, folder, tmp_path):
    rows = real.main(folder, ["holed-poisson"], tmp_path, epochs=1)
    assert [row.weights is None for row in rows].count(False) == 5  # four rows of SUPRA, Transolver
    assert (tmp_path / "real.md").read_text() == real.markdown(rows)
    written = json.loads((tmp_path / "real.json").read_text())
    assert [line["error"] for line in written] == [row.error for row in rows]
    again = real.main(folder, ["holed-poisson"], tmp_path, epochs=1)
    assert [row.minutes for row in again[-5:]] == [row.minutes for row in rows[-5:]]


def test_every_published_record_is_found_by_its_command(tmp_path):
    # Its name is made from the configuration: a changed default would lose it without a word.
    paths = list(RECORDS.glob("*.json"))
    lost = [path.name for path in paths if outcome(_cell(path), tmp_path, RECORDS) is None]
    assert paths
    assert not lost


def _cell(path: Path) -> Cell:
    _, _, problem, *words = shlex.split(json.loads(path.read_text())["command"])
    given = dict(pairwise(words))
    *changes, seed = (value for name, value in pairwise(words) if name == "-s")
    return Cell(
        problem, given["--scale"], given["--model"], tuple(changes), int(seed.partition("=")[2])
    )
