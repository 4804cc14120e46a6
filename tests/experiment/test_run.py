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
from supra.data.cases.case_file import read_case
from supra.domain.files import write_mesh
from supra.experiment.preset import load_experiment, preset_names
from supra.problems import PerforatedPlate
from supra.train import History
from supra.train.checkpoint import load_checkpoint, save_checkpoint

pytestmark = pytest.mark.usefixtures("unchecked")


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


def test_weights_of_a_version_that_built_another_network_are_refused(here, command, tmp_path):
    state = load_checkpoint(here / "runs/demo/best.pt")
    state["experiment"]["model"]["width"] += 2
    save_checkpoint(tmp_path / "old.pt", state)
    status, _, err = command("evaluate", str(tmp_path / "old.pt"))
    assert status == 2
    (line,) = err.splitlines()
    assert "old.pt do not fit the network" in line
    assert "size mismatch" in line


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


@pytest.fixture
def plate(tmp_path) -> tuple[Path, supra.Mesh]:
    """A file of a case and its mesh."""
    problem = PerforatedPlate(resolution=10, holes=2)
    sample, mesh = problem.sample(0, split="test"), problem.mesh(0)
    write_mesh(tmp_path / "plate.vtu", mesh, {k: sample[k] for k in ("a", "f", "u")})
    return tmp_path / "plate.vtu", mesh


def middles(mesh: supra.Mesh) -> np.ndarray:
    return mesh.points[mesh.cells].mean(axis=1)


def write_table(path: Path, header: str, columns: np.ndarray) -> Path:
    np.savetxt(path, columns, delimiter=",", header=header, comments="", fmt="%.17g")
    return path


@pytest.mark.filterwarnings("default:.*outside of the domain")
def test_predict_takes_points_and_gives_a_table_of_them(here, command, tmp_path, plate):
    case, mesh = plate
    points = np.vstack([middles(mesh), mesh.points[-3:], [[9.0, 9.0]]])
    number = np.arange(len(points))
    where = write_table(tmp_path / "points.csv", "x,y,id", np.column_stack([points, number]))
    output = tmp_path / "out.csv"
    status, out, err = command("predict", "runs/demo", case, "--at", where, "-o", output)
    assert status == 0, err
    assert f"1 of {len(points)} points lie outside" in err
    assert "u_predicted" in out
    assert "nan" not in out
    found = np.genfromtxt(output, delimiter=",", names=True)
    assert found.dtype.names == ("x", "y", "a", "f", "id", "u_predicted", "u", "u_error")
    np.testing.assert_array_equal(np.stack([found["x"], found["y"]], axis=1), points)
    np.testing.assert_array_equal(found["id"], number)
    assert np.isnan(found["u_predicted"]).tolist() == [False] * (len(points) - 1) + [True]
    fields = {k: v[:, 0] for k, v in read_case([case], []).fields.items()}
    inputs = np.stack([fields["a"], fields["f"]], axis=1)
    expected = supra.Surrogate.load("runs/demo").predict(inputs, mesh, at=points[:-1])[:, 0]
    np.testing.assert_allclose(found["u_predicted"][:-1], expected, rtol=1e-6)
    np.testing.assert_allclose(found["u"][-4:-1], fields["u"][-3:], rtol=1e-9)
    np.testing.assert_allclose(found["u_error"], found["u_predicted"] - found["u"], atol=1e-7)


def test_what_was_measured_at_points_is_the_truth_there(here, command, tmp_path, plate):
    case, mesh = plate
    columns = np.column_stack([mesh.points[:5], np.full(5, 0.25)])
    where = write_table(tmp_path / "sensors.csv", "x,y,u", columns)
    output = tmp_path / "out.vtu"
    status, _, err = command("predict", "runs/demo", case, "--at", where, "-o", output)
    assert status == 0, err
    written = meshio.read(output)
    assert [(block.type, len(block.data)) for block in written.cells] == [("vertex", 5)]
    np.testing.assert_array_equal(written.points[:, :2], mesh.points[:5])
    fields = written.point_data
    np.testing.assert_array_equal(fields["u"], 0.25)
    np.testing.assert_allclose(fields["u_error"], fields["u_predicted"] - 0.25, atol=1e-7)


@pytest.mark.parametrize("kind", [".csv", ".npz"])
def test_predict_takes_points_for_arrays_on_the_shared_domain(here, command, tmp_path, kind):
    mesh = supra.Surrogate.load("runs/demo").domain
    inputs = np.ones((len(mesh.points), 2))
    np.savez(tmp_path / "in.npz", inputs=inputs, targets=mesh.points[:, :1])
    where = write_table(tmp_path / "points.csv", "x,y", middles(mesh))
    output = tmp_path / f"out{kind}"
    status, _, err = command(
        "predict", "runs/demo", tmp_path / "in.npz", "--at", where, "-o", output
    )
    assert status == 0, err
    expected = supra.Surrogate.load("runs/demo").predict(inputs, at=middles(mesh))[:, 0]
    if kind == ".csv":
        found = np.genfromtxt(output, delimiter=",", names=True)
        prediction, error = found["u_predicted"], found["u_error"]
    else:
        with np.load(output) as arrays:
            np.testing.assert_array_equal(arrays["points"], middles(mesh))
            prediction, error = arrays["prediction"][:, 0], arrays["error"][:, 0]
    np.testing.assert_allclose(prediction, expected, rtol=1e-6)
    np.testing.assert_allclose(error, expected - middles(mesh)[:, 0], atol=1e-6)


@pytest.mark.parametrize(
    ("table", "output", "message"),
    [
        (None, "out.csv", "There is no file points.csv"),
        ("", "out.csv", "'points.csv' cannot be read as a table: 0 names"),
        ("x,y\n", "out.csv", "'points.csv' cannot be read as a table: 2 names"),
        ("x,y\n0.5,zero\n", "out.csv", "'zero' in line 2 is not a number"),
        ("a,b\n0.5,0.5\n", "out.csv", "needs columns x, y"),
        ("x,y\n0.5,nan\n", "out.csv", "must be finite"),
        ("x,y,z\n0.5,0.5,0.5\n", "out.csv", "points.csv must give the points' coordinates x, y:"),
        ("x\n0.5\n", "out.csv", "coordinates x, y: got x."),
        ("x,y\n500,300\n", "out.csv", "None of the 1 points lies in the domain"),
        ("x,y\n0.01,0.01\n", "out.stl", "are written as .csv, .vtu, .npz"),
        ("x,y\n0.01,0.01\n", "points.csv", "would overwrite"),
        ("x,y\n0.01,0.01\n", "nowhere/out.csv", "nowhere"),
    ],
)
def test_bad_points_are_one_line_and_leave_no_file(
    here, command, tmp_path, plate, monkeypatch, table, output, message
):
    monkeypatch.chdir(tmp_path)
    if table is not None:
        Path("points.csv").write_text(table)
    before = sorted(path.name for path in tmp_path.rglob("*"))
    status, out, err = command(
        "predict", here / "runs/demo", plate[0], "--at", "points.csv", "-o", output
    )
    assert status == 2
    assert message in err
    assert len(err.strip().splitlines()) == 1
    assert not out
    assert sorted(path.name for path in tmp_path.rglob("*")) == before


def test_points_in_a_file_of_an_unknown_kind_are_refused(here, command, tmp_path, plate):
    where = tmp_path / "points.txt"
    where.write_text("0.5 0.5")
    status, _, err = command(
        "predict", "runs/demo", plate[0], "--at", where, "-o", tmp_path / "out.csv"
    )
    assert status == 2
    assert "points.txt' has '.txt'. Known are .csv .npz" in err


@pytest.mark.parametrize(
    ("name", "spoil", "message"),
    [
        ("inputs", lambda a: np.where(a > 0, np.nan, a), "inputs must be finite: got"),
        ("inputs", lambda a: a + 1j, "inputs must be real numbers: got an array of complex128"),
        ("inputs", lambda a: a.astype(object), "cannot be read as .npz: Object arrays"),
        ("targets", lambda a: a[1:], "targets must be real numbers of shape"),
        ("targets", lambda a: a.astype(str), "targets must be real numbers of shape"),
    ],
)
def test_arrays_that_are_no_fields_are_one_line(here, command, tmp_path, name, spoil, message):
    points = len(supra.Surrogate.load("runs/demo").domain.points)
    arrays = {"inputs": np.ones((points, 2)), "targets": np.ones((points, 1))}
    np.savez(tmp_path / "in.npz", **(arrays | {name: spoil(arrays[name])}))
    output = tmp_path / "out.npz"
    status, _, err = command("predict", "runs/demo", tmp_path / "in.npz", "-o", output)
    assert status == 2
    assert message in err
    assert len(err.strip().splitlines()) == 1
    assert not output.exists()


def test_several_samples_do_not_fit_into_a_table(here, command, tmp_path):
    mesh = supra.Surrogate.load("runs/demo").domain
    np.savez(tmp_path / "in.npz", inputs=np.ones((3, len(mesh.points), 2)))
    where = write_table(tmp_path / "points.csv", "x,y", middles(mesh))
    options = ("--at", where, "-o", tmp_path / "out.csv")
    status, _, err = command("predict", "runs/demo", tmp_path / "in.npz", *options)
    assert status == 2
    assert "several samples are written as .npz" in err


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


def test_a_run_that_failed_in_its_first_epoch_is_not_in_the_way(here, command, tmp_path):
    """Its configuration and an empty table of metrics are nothing to lose."""
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "config.yaml").write_text("seed: 0")
    (folder / "metrics.jsonl").touch()
    status, _, err = command("train", "demo", "--scale", "smoke", "--out", folder)
    assert status == 0, err


@pytest.mark.parametrize(
    ("preset", "options", "message"),
    [
        ("darcy", "stride=0", "`stride` must divide the 21 × 21 intervals"),
        ("darcy", "stride=-1", "Possible are 1, 3, 7, 21."),
        ("darcy", "stride=1000", "got 1000"),
        ("darcy", "stride=x", "`stride` takes whole numbers: got 'x'"),
        ("darcy", "strid=3", "got `strid`"),
        ("demo", "stride=2", "Only public data sets have options: got `stride` for perforated"),
    ],
)
def test_bad_options_of_the_data_are_named_and_the_command_can_be_corrected(
    here, command, tmp_path, preset, options, message
):
    run = ("train", preset, "--scale", "smoke", "--out", tmp_path / "run", "-s")
    status, _, err = command(*run, f"data.options.{options}")
    assert status == 2
    assert message in err.strip().splitlines()[-1]
    assert "Traceback" not in err
    status, _, err = command(*run, "train.epochs=1")
    assert status == 0, err


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
    assert "Principal components" in out  # what kinds there are, and what they mean


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
    (("train", "demo", "-s", "model.width=7"), "`width` must be even, got 7"),
    (("train", "demo", "-s", "nonsense"), "field=value"),
    (("train", "demo", "--out", "runs/demo/config.yaml"), "config.yaml is a file"),
    (("train", "missing.yaml"), "neither a preset"),
    (("train", "demo", "--resume", "--out", "nowhere"), "nowhere"),
    (("train", "demo", "--resume", "--overwrite"), "choose one"),
    (("train", "demo", "-s", "model.norm=instance"), "light blocks have no `norm`"),
    (("train", "demo", "-s", "model.mlp_ratio=2"), "light blocks have no `mlp_ratio`"),
    (("train", "demo", "--resume", "-s", "train.epochs=9"), "keeps its settings"),
    (("train", "demo", "--scale", "smoke", "--out", "x", "--device", "gpu"), "gpu"),
    (("evaluate", "nowhere"), "nowhere"),
    (("evaluate", "runs/demo", "--symmetries"), "trained without symmetries"),
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
    [
        ("model.heads=7", "attention=self-biased"),
        ("model.kind=transolver", "grid"),
        ("basis.modes=5000", "modes"),
    ],
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
