"""The main job from the command line, in this process: good input, bad input, nothing lost."""

import json
from pathlib import Path

import meshio
import numpy as np
import pytest
import yaml

import supra
from supra.cli import main
from supra.data import load_dataset
from supra.domain.files import write_mesh
from supra.experiment.preset import load_experiment, preset_names
from supra.problems import PerforatedPlate
from supra.train import History

pytestmark = pytest.mark.usefixtures("unchecked")


@pytest.fixture
def command(monkeypatch, capsys):
    """Run a command: exit status, what it printed, what it complained about."""

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["supra", *map(str, arguments)])
        try:
            main()
            status = 0
        except SystemExit as end:
            status = int(end.code or 0)
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return run


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> Path:
    """A folder with a run of the demo at its smallest."""
    folder = tmp_path_factory.mktemp("trained")
    patch = pytest.MonkeyPatch()
    patch.chdir(folder)
    patch.setattr("sys.argv", ["supra", "train", "demo", "--scale", "smoke"])
    with pytest.raises(SystemExit, match="0"):
        main()
    patch.undo()
    return folder


@pytest.fixture
def here(trained, monkeypatch) -> Path:
    monkeypatch.chdir(trained)
    return trained


def test_a_run_leaves_its_configuration_metrics_weights_and_result(here):
    folder = here / "runs" / "demo"
    assert {path.name for path in folder.iterdir()} >= {
        "config.yaml",
        "metrics.jsonl",
        "checkpoint.pt",
        "best.pt",
        "result.json",
    }
    result = json.loads((folder / "result.json").read_text())
    assert result["test"]["samples"] == 4
    assert result["epochs"] == 2
    assert result["provenance"]["command"] == "supra train demo --scale smoke"
    assert yaml.safe_load((folder / "config.yaml").read_text())["basis"]["modes"] == 16


def test_evaluate_repeats_the_result(here, command):
    status, out, _ = command("evaluate", "runs/demo")
    result = json.loads((here / "runs/demo/result.json").read_text())
    assert status == 0
    assert f"{result['test']['relative_l2']:.3%}" in out


def test_a_surrogate_predicts_what_the_run_evaluated(here):
    surrogate = supra.Surrogate.load("runs/demo")
    data = supra.open_dataset("data/perforated-smoke/data.h5", valid=2)
    sample = data.test[0]
    prediction = surrogate.predict(sample.inputs)
    errors = surrogate.evaluate(data.test).l2
    weights = sample.domain.weights[:, None]
    away = np.sqrt((weights * (prediction - sample.targets) ** 2).sum())
    size = np.sqrt((weights * sample.targets**2).sum())
    assert away / size == pytest.approx(errors[0], rel=1e-4)


def test_a_saved_surrogate_predicts_the_same(here, tmp_path):
    surrogate = supra.Surrogate.load("runs/demo")
    surrogate.save(tmp_path / "mine.pt")
    again = supra.Surrogate.load(tmp_path / "mine.pt")
    inputs = np.random.default_rng(0).uniform(0.2, 3.0, (3, len(surrogate.domain.points), 2))
    np.testing.assert_array_equal(again.predict(inputs), surrogate.predict(inputs))


def test_predict_takes_a_mesh_file_and_gives_one_with_prediction_and_error(here, command, tmp_path):
    problem = PerforatedPlate(resolution=10, holes=2)
    sample, mesh = problem.sample(0, split="test"), problem.mesh(0)
    write_mesh(tmp_path / "plate.vtu", mesh, {k: sample[k] for k in ("a", "f", "u")})
    output = tmp_path / "prediction.vtu"
    status, out, err = command("predict", "runs/demo", tmp_path / "plate.vtu", "-o", output)
    assert status == 0, err
    assert "u_predicted" in out
    fields = meshio.read(output).point_data
    np.testing.assert_allclose(fields["u_error"], fields["u_predicted"] - sample["u"], atol=1e-6)
    inputs = np.stack([sample["a"], sample["f"]], axis=1)
    expected = supra.Surrogate.load("runs/demo").predict(inputs, mesh)[:, 0]
    np.testing.assert_allclose(fields["u_predicted"], expected, atol=1e-6)


def test_predict_takes_arrays_on_the_domain_of_the_training_samples(here, command, tmp_path):
    points = len(supra.Surrogate.load("runs/demo").domain.points)
    np.savez(tmp_path / "in.npz", inputs=np.ones((3, points, 2)), targets=np.ones((3, points, 1)))
    status, _, err = command(
        "predict", "runs/demo", tmp_path / "in.npz", "-o", tmp_path / "out.npz"
    )
    assert status == 0, err
    with np.load(tmp_path / "out.npz") as arrays:
        assert arrays["prediction"].shape == (3, points, 1)
        np.testing.assert_allclose(arrays["error"], arrays["prediction"] - 1, atol=1e-6)


@pytest.mark.parametrize("kind", ["onnx", "torch-export"])
@pytest.mark.filterwarnings("ignore")
def test_export_checks_what_it_wrote(here, command, tmp_path, kind):
    output = tmp_path / ("model.onnx" if kind == "onnx" else "model.pt2")
    status, out, err = command("export", "runs/demo", "--format", kind, "-o", output)
    assert status == 0, err
    assert "differs by" in out
    assert output.stat().st_size > 1000


def test_an_earlier_run_is_refused_then_replaced(here, command, monkeypatch, tmp_path):
    options = ("train", "demo", "--scale", "smoke", "--out", tmp_path / "run")
    assert command(*options)[0] == 0
    before = (tmp_path / "run/best.pt").read_bytes()
    status, _, err = command(*options)
    assert status == 2
    assert "--resume" in err
    assert "--overwrite" in err
    assert (tmp_path / "run/best.pt").read_bytes() == before
    assert command(*options, "--overwrite", "-s", "train.epochs=1")[0] == 0
    assert History.read(tmp_path / "run").epochs == 1


def test_a_finished_run_resumes_to_nothing_more_and_the_same_result(here, command):
    before = json.loads((here / "runs/demo/result.json").read_text())
    status, _, err = command("train", "demo", "--resume")
    assert status == 0, err
    after = json.loads((here / "runs/demo/result.json").read_text())
    assert after["test"] == before["test"]


def test_schema_names_every_field(command):
    status, out, _ = command("schema")
    assert status == 0
    for name in ("model.width", "train.loss.h1", "basis.modes", "data.generate.train"):
        assert name in out


@pytest.mark.parametrize("name", preset_names())
@pytest.mark.parametrize("scale", ["smoke", "small", "paper"])
def test_every_preset_is_valid_at_every_scale(name, scale):
    experiment = load_experiment(name, scale)
    assert experiment.data.generate is not None


@pytest.mark.parametrize("name", ["darcy", "navier_stokes"])
def test_other_presets_train_too(name, command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, out, err = command("train", name, "--scale", "smoke")
    assert status == 0, err
    assert "relative L2, mean" in out
    assert load_dataset(name, f"data/{name}-smoke").test


BAD = [
    (("train", "dmeo"), "Did you mean 'demo'"),
    (("train", "demo", "-s", "model.widht=3"), "Did you mean 'model.width'"),
    (("train", "demo", "-s", "train.epoch=3"), "Did you mean 'train.epochs'"),
    (("train", "demo", "-s", "basis.kind=wavelet"), "wavelet"),
    (("train", "demo", "-s", "model.width=0"), "model.width"),
    (("train", "demo", "-s", "nonsense"), "field=value"),
    (("train", "missing.yaml"), "neither a preset"),
    (("train", "demo", "--resume", "--out", "nowhere"), "nowhere"),
    (("train", "demo", "--resume", "--overwrite"), "choose one"),
    (("train", "demo", "--resume", "-s", "train.epochs=9"), "keeps its settings"),
    (("train", "demo", "--scale", "smoke", "--out", "x", "--device", "gpu"), "gpu"),
    (("evaluate", "nowhere"), "nowhere"),
    (("predict", "runs/demo", "missing.vtu", "-o", "x.vtu"), "missing.vtu"),
    (("predict", "nowhere", "missing.vtu", "-o", "x.vtu"), "nowhere"),
    (("export", "runs/demo", "-o", "model.txt"), "model.txt"),
    (("export", "nowhere"), "nowhere"),
    (("report", "nowhere"), "nowhere"),
    (("generate", "darzy", "--out", "x"), "Did you mean 'darcy'"),
    (("generate", "darcy", "--out", "x", "-s", "resolution"), "name=value"),
    (("data", "info", "nowhere"), "nowhere"),
    (("data", "import", "nowhere", "--input", "a", "--target", "u", "--out", "x.h5"), "nowhere"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=[" ".join(a) for a, _ in BAD])
def test_bad_input_is_one_line_and_status_2(here, command, arguments, message):
    before = sorted(path.name for path in here.rglob("*"))
    status, out, err = command(*arguments)
    assert status == 2
    assert message in err
    assert err.startswith("error: ")
    assert len(err.strip().splitlines()) == 1
    assert not out
    assert sorted(path.name for path in here.rglob("*")) == before


@pytest.mark.parametrize(
    "name",
    [
        "train",
        "evaluate",
        "report",
        "predict",
        "export",
        "schema",
        "generate",
        "data info",
        "data import",
    ],
)
def test_help_has_an_example(command, name):
    status, out, _ = command(*name.split(), "--help")
    assert status == 0
    assert f"Example: supra {name}" in out


def test_info_tells_and_draws_what_is_there(here, command, tmp_path):
    status, out, err = command(
        "data", "info", "data/perforated-smoke", "--plot", tmp_path / "x.png"
    )
    assert status == 0, err
    for word in ("7 train", "4 test", "input a", "target u"):
        assert word in out, out
    assert (tmp_path / "x.png").read_bytes()[:4] == b"\x89PNG"


def test_import_makes_a_data_file_of_a_folder_of_cases(command, tmp_path):
    problem = PerforatedPlate(resolution=8, holes=1)
    (tmp_path / "cases").mkdir()
    for k, sample in enumerate(problem.generate(5)):
        write_mesh(tmp_path / f"cases/{k}.vtu", problem.mesh(0), sample)
    status, out, err = command(
        *("data", "import", tmp_path / "cases", "--out", tmp_path / "plates.h5"),
        *("--input", "a", "--input", "f", "--target", "u"),
    )
    assert status == 0, err
    splits = supra.open_dataset(tmp_path / "plates.h5", valid=0)
    assert len(splits.train) + len(splits.test) == 5
    assert "target u" in out


def test_the_demo_makes_everything_and_says_where_to_look(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, out, err = command("demo", "--scale", "smoke")
    assert status == 0, err
    for words in ("test error", "mean of the training targets", "seconds per solve"):
        assert words in out
    assert "demo/run/report.html" in out
    assert (tmp_path / "demo/run/report.html").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("change", "message"),
    [("model.heads=7", "heads"), ("model.local=true", "grid"), ("basis.modes=5000", "modes")],
)
def test_settings_that_do_not_fit_together_leave_nothing_in_the_way(
    here, command, tmp_path, change, message
):
    options = ("train", "demo", "--scale", "smoke", "--out", tmp_path / "run")
    status, _, err = command(*options, "-s", change)
    assert status == 2
    assert err.splitlines()[-1].startswith("error: ")
    assert message in err
    assert command(*options)[0] == 0
