"""Surfaces, volumes and points without cells, from the solver to a prediction in a file."""

from pathlib import Path

import meshio
import numpy as np
import pytest

from supra.data import open_dataset
from supra.domain import Domain, Mesh, PointSet
from supra.domain.files import write_mesh
from supra.experiment.build import build_data
from supra.experiment.preset import load_experiment
from supra.experiment.run import new_surrogate, prepare_folder, train
from supra.experiment.surrogate import Surrogate
from supra.problems import Ball, PlatePoints, Problem, Surface

pytestmark = [
    pytest.mark.usefixtures("unchecked"),
    # four training samples have not seen much
    pytest.mark.filterwarnings("ignore:.*extrapolation"),
]

# Samples of other geometries and numbers of nodes than those learned from.
UNSEEN: dict[str, tuple[Problem, tuple[str, ...]]] = {
    "surface": (Surface(resolution=4), ("f",)),
    "ball": (Ball(resolution=4), ("f",)),
    "plate_points": (PlatePoints(resolution=9, holes=3), ("a", "f")),
}
CELLS = {"surface": "triangle", "ball": "tetra"}


def domain_of(sample: dict[str, np.ndarray]) -> Domain:
    if "cells" in sample:
        return Mesh(sample["points"], sample["cells"])
    return PointSet(sample["points"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A place where every preset is trained once."""
    return tmp_path_factory.mktemp("shapes")


@pytest.fixture
def trained(folder, monkeypatch):
    """Trains a preset at the smallest scale, and gives the folder of the run."""
    monkeypatch.chdir(folder)

    def run(name: str, *changes: str) -> Path:
        out = folder / "-".join(["runs", name, *changes])
        if not out.exists():
            prepare_folder(out, resume=False, overwrite=False)
            result = train(load_experiment(name, "smoke", changes), out)
            assert 0 < result["test"]["relative_l2"] < 2
        return out

    return run


@pytest.mark.parametrize("name", UNSEEN)
def test_a_preset_is_trained_saved_and_used_on_an_unseen_geometry(name, trained, tmp_path):
    surrogate = Surrogate.load(trained(name))
    problem, given = UNSEEN[name]
    sample = problem.sample(0, seed=7)
    inputs = np.stack([sample[key] for key in given], axis=1)
    prediction = surrogate.predict(inputs, domain_of(sample))
    assert prediction.shape == (len(sample["u"]), 1)
    assert np.isfinite(prediction).all()
    surrogate.save(tmp_path / "surrogate.pt")
    again = Surrogate.load(tmp_path / "surrogate.pt").predict(inputs, domain_of(sample))
    np.testing.assert_array_equal(again, prediction)


def test_points_are_stored_without_cells(trained):
    trained("plate_points")
    splits = open_dataset("data/plate_points-smoke/data.h5", valid=0)
    domains = [splits.train[k].domain for k in range(len(splits.train))]
    assert all(isinstance(domain, PointSet) for domain in domains)
    assert len({len(domain.points) for domain in domains}) > 1


def test_an_order_of_the_points_has_no_meaning(trained):
    """Up to how the cloud's Laplacian chooses between triangulations that are equally good."""
    surrogate = Surrogate.load(trained("plate_points"))
    sample = UNSEEN["plate_points"][0].sample(1)
    inputs = np.stack([sample["a"], sample["f"]], axis=1)
    order = np.random.default_rng(0).permutation(len(inputs))
    prediction = surrogate.predict(inputs, PointSet(sample["points"]))
    shuffled = surrogate.predict(inputs[order], PointSet(sample["points"][order]))
    np.testing.assert_allclose(shuffled, prediction[order], atol=0.02 * np.ptp(prediction))


@pytest.mark.parametrize("name", CELLS)
def test_a_case_on_a_surface_or_volume_is_predicted_into_a_file(name, trained, tmp_path, succeed):
    sample = UNSEEN[name][0].sample(1)
    fields = {"f": sample["f"], "u": sample["u"]}
    write_mesh(tmp_path / "case.vtu", domain_of(sample), fields)
    succeed("predict", trained(name), tmp_path / "case.vtu", "-o", tmp_path / "found.vtu")
    found = meshio.read(tmp_path / "found.vtu")
    assert [block.type for block in found.cells] == [CELLS[name]]
    np.testing.assert_allclose(found.points, sample["points"])
    error = found.point_data["u_predicted"] - found.point_data["u"]
    np.testing.assert_allclose(found.point_data["u_error"], error, atol=1e-6)


def test_a_table_of_points_is_predicted_into_a_file(trained, tmp_path, succeed):
    sample = UNSEEN["plate_points"][0].sample(1)
    table = np.column_stack([sample["points"], sample["a"], sample["f"]])
    np.savetxt(tmp_path / "case.csv", table, delimiter=",", header="x,y,a,f")
    run, case, found_file = trained("plate_points"), tmp_path / "case.csv", tmp_path / "found.npz"
    succeed("predict", run, case, "-o", found_file)
    with np.load(found_file) as found:
        assert found["u_predicted"].shape == sample["u"].shape


@pytest.mark.parametrize("name", ["surface", "plate_points"])
def test_a_report_shows_the_shapes(name, trained, succeed):
    out = trained(name)
    succeed("report", out)
    assert (out / "report.html").stat().st_size > 10_000


@pytest.mark.parametrize("name", CELLS)
def test_eigenfunctions_of_the_mean_shape_serve_where_all_have_the_same_cells(name, trained):
    trained(name, "basis.geometry=mean")


@pytest.mark.parametrize("name", UNSEEN)
@pytest.mark.parametrize("system", ["galerkin", "gnot", "lno", "transolver"])
def test_other_systems_take_the_same_presets(system, name, trained):
    """They are built and give something; to train them is what `test_systems` does."""
    trained(name)  # makes the data
    experiment = load_experiment(name, "smoke", system=system)
    data = build_data(experiment)
    sample = data.test[0]
    surrogate = new_surrogate(experiment, data.train)
    assert np.isfinite(surrogate.predict(sample.inputs, sample.domain)).all()


def test_a_torus_is_a_surface_too(trained):
    changes = ("data.root=data/torus", "data.generate.options.shape=torus")
    out = trained("surface", *changes)
    sample = Surface(resolution=3, shape="torus").sample(5)
    surrogate = Surrogate.load(out)
    assert surrogate.predict(sample["f"][:, None], domain_of(sample)).shape == (len(sample["u"]), 1)
