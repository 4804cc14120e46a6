"""All systems through the same commands, at the smallest and at the published size."""

import json
from pathlib import Path

import numpy as np
import pytest

from supra.basis import SeparableBasis
from supra.cli import main
from supra.domain import DomainError, Grid
from supra.experiment.build import build_data
from supra.experiment.config import Experiment
from supra.experiment.preset import load_experiment
from supra.experiment.reproduce.entries import SYSTEMS
from supra.experiment.run import load_config, prepare_folder, train
from supra.experiment.surrogate import Surrogate
from supra.problems import Darcy

pytestmark = pytest.mark.usefixtures("unchecked")
PROBLEMS = ("darcy", "navier_stokes", "plasticity", "airfoil", "pipe")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A place where the data are made once."""
    return tmp_path_factory.mktemp("systems")


@pytest.fixture
def here(folder, monkeypatch) -> Path:
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_system_is_trained_saved_and_used_like_any_other(system, here, succeed):
    succeed("train", "darcy", "--scale", "smoke", "--model", system)
    out = here / "runs" / ("darcy" if system == "supra" else f"darcy-{system}")
    result = json.loads((out / "result.json").read_text())
    assert 0 < result["test"]["relative_l2"] < 2
    assert 0 < result["train_error"] < 2
    surrogate = Surrogate.load(out)
    assert surrogate.experiment.model.kind == system
    solution = Darcy(resolution=22).solve(np.random.default_rng(0))
    prediction = surrogate.predict(solution["coeff"].reshape(-1, 1).astype(np.float32))
    assert np.isfinite(prediction).all()


def test_an_unknown_system_is_named(here, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["supra", "train", "darcy", "--model", "transsolver"])
    with pytest.raises(SystemExit, match="2"):
        main()
    assert "Did you mean 'transolver'?" in capsys.readouterr().err


def test_a_report_of_another_system_is_written(here, succeed):
    succeed("train", "darcy", "--scale", "smoke", "--model", "lno", "--out", "runs/other")
    succeed("report", "runs/other")
    assert "lno: 2 layers of 8 features" in (here / "runs/other/report.html").read_text()


def test_a_table_is_measured_once(here, succeed):
    """Really trained, in processes of their own; asked again, nothing is trained."""
    arguments = ("reproduce", "accuracy", "--scale", "smoke", "--problems", "darcy")
    succeed(*arguments, "--models", "fno,supra")
    results = sorted(Path("runs/reproduce").glob("*/result.json"))
    assert len(results) == 2
    before = [path.stat().st_mtime_ns for path in results]
    succeed(*arguments, "--models", "fno,supra")
    assert [path.stat().st_mtime_ns for path in results] == before
    table = json.loads(Path("results/accuracy-smoke.json").read_text())
    measured = [json.loads(path.read_text())["test"]["relative_l2"] for path in results]
    shown = [entry["mean_percent"] / 100 for entry in table["entries"]]
    np.testing.assert_allclose(sorted(shown), sorted(measured), rtol=1e-3)


_FEW = {
    "darcy": "{train: 8, test: 4, options: {resolution: 22}}",
    "navier_stokes": "{train: 3, test: 2, options: {resolution: 32, stored: 32}}",
    "pipe": "{train: 3, test: 1, options: {resolution: 33}}",
    "airfoil": "{train: 3, test: 1}",
    "plasticity": "{train: 3, test: 1}",
}


def _at_paper_scale(problem: str, system: str) -> Experiment:
    """The published network and recipe on a handful of samples."""
    changes = [
        f"data.root=data/{problem}-few",
        f"data.generate={_FEW[problem]}",
        "data.valid=1",
        "data.limit=2",
        "train.epochs=2",
        "train.batch_size=2",
    ]
    if problem == "darcy":
        changes.append("data.options.stride=1")
    # Grids this coarse have fewer frequencies than the published networks keep.
    if system == "fno":
        changes.append("model.modes=8")
    if system == "galerkin":
        changes.append("model.decoder=pointwise")
    return load_experiment(problem, "paper", changes, system)


def _stop_in_second_epoch(stage: str, *_: int) -> None:
    if stage.startswith("epoch 2"):
        raise KeyboardInterrupt


def _starts_and_resumes(problem: str, system: str) -> None:
    experiment, folder = _at_paper_scale(problem, system), Path(f"runs/paper-{problem}-{system}")
    prepare_folder(folder, resume=False, overwrite=False)
    with pytest.raises(KeyboardInterrupt):
        train(experiment, folder, report=_stop_in_second_epoch)
    first = (folder / "metrics.jsonl").read_text()
    result = train(load_config(folder), folder, resume=True)
    assert (folder / "metrics.jsonl").read_text().startswith(first)
    assert result["epochs"] == 2
    assert np.isfinite(result["test"]["relative_l2"])


@pytest.mark.parametrize("system", ["supra", "transolver"])
def test_the_published_size_starts_and_resumes(system, here):
    _starts_and_resumes("darcy", system)


@pytest.mark.slow
@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("problem", [each for each in PROBLEMS if each != "darcy"])
def test_every_other_published_size_starts_and_resumes(problem, system, here):
    _starts_and_resumes(problem, system)


@pytest.mark.parametrize("system", ["supra", "supra-paper"])
def test_principal_components_serve_as_a_basis(system, here, succeed):
    out = here / f"runs/pod-{system}"
    change = ("-s", "basis.kind=pod", "-s", "basis.modes=4")
    succeed("train", "darcy", "--scale", "smoke", "--model", system, *change, "--out", out)
    surrogate = Surrogate.load(out)
    coarse = np.ones((11 * 11, 1), np.float32)
    with pytest.raises(DomainError, match="known at the 484 points of the training samples"):
        surrogate.predict(coarse, Grid((11, 11)))


def test_the_airfoil_can_do_with_fourier_functions_on_its_grid(here, succeed):
    out = here / "runs/airfoil-fourier"
    change = ("-s", "basis.kind=fourier", "-s", "basis.modes=[2, 2]")
    succeed("train", "airfoil", "--scale", "smoke", *change, "--out", out)
    surrogate = Surrogate.load(out)
    basis = surrogate.subspace(build_data(surrogate.experiment).test[0].domain)
    assert isinstance(basis, SeparableBasis)
    assert (basis.shape, basis.modes) == ((221, 51), 16)


def test_a_convolution_on_the_c_grid_sees_its_shape(here, succeed):
    """The basis is that of the glued mesh, the samples' points are those of the grid."""
    out = here / "runs/local"
    succeed("train", "airfoil", "--scale", "smoke", "-s", "model.local=true", "--out", out)
    surrogate = Surrogate.load(out)
    data = build_data(surrogate.experiment)
    assert surrogate.subspace(data.test[0].domain).shape == (221, 51)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("accuracy --problems darcy,darci", "'darcy'"),
        ("accuracy --models fnoo", "Did you mean 'fno'?"),
        ("accuracy --recipe nonsense", "'nonsense' is not one of 'published', 'shared'"),
        ("accuracy --problems darcy,surface", "The table accuracy has the problems airfoil, darcy"),
        ("accuracy --problems plates --models fno", "pipe, plasticity for fno: got plates"),
        ("geometry --problems darcy", "The table geometry has the problems plates: got darcy"),
        ("normalization --models fno", "model.norm"),
        ("convergence --recipe shared", "Nothing is trained for the table convergence"),
        ("efficiency --models fno", "leave out --models"),
    ],
)
def test_a_table_names_what_it_does_not_know_and_writes_nothing(
    arguments, message, command, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")  # one line in a box
    status, _, complaint = command("reproduce", *arguments.split())
    assert status == 2
    assert message in complaint
    assert not list(tmp_path.iterdir())


def test_convergence_needs_no_training(here, succeed):
    succeed("reproduce", "convergence", "--out", "tables")
    found = json.loads(Path("tables/convergence.json").read_text())
    assert found["errors"]["a jump"]["Fourier"][-1] < found["errors"]["a jump"]["Fourier"][0]
    assert Path("tables/convergence.png").stat().st_size > 1000
    for suffix, mark in (("md", " | "), ("csv", ",")):
        text = Path(f"tables/convergence.{suffix}").read_text()
        line = next(line for line in text.splitlines() if "a jump" in line and "Fourier" in line)
        last = float(line.strip(" |").split(mark)[-1])
        assert last == pytest.approx(found["errors"]["a jump"]["Fourier"][-1], rel=0.05)
