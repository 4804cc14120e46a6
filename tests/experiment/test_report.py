"""The page of a run: whole, without references, with the run's own numbers and pictures."""

import io
import json
import re
import subprocess
import sys
from base64 import b64decode
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from typer import Typer
from typer.testing import CliRunner

from supra.basis import ChebyshevBasis, CosineBasis
from supra.cli.report import report
from supra.data import Batch, Channel, DataError, Layout, Sample, StoreWriter, open_dataset
from supra.domain import Grid, PointSet, SphereGrid
from supra.domain.shapes import cube, disk, square
from supra.experiment.canvas import window
from supra.experiment.config import DataConfig, GenerateConfig
from supra.experiment.preset import parse_experiment
from supra.experiment.report import PAGE, write_report
from supra.experiment.report.attention import attention_matrices
from supra.experiment.report.cases import draw_case
from supra.experiment.report.number import duration, number, percent
from supra.experiment.report.plots import styled
from supra.experiment.report.scales import spread_ranks
from supra.experiment.report.spectrum import ERROR, PREDICTION, TRUTH, Ladder, SpectrumSum
from supra.experiment.report.speed import solver_seconds
from supra.experiment.report.study import Case
from supra.experiment.report.trivial import LAST, MEAN, mean_targets, trivial_guesses
from supra.experiment.run import train
from supra.experiment.subspace import FamilySubspace, MeshSubspace
from supra.experiment.surrogate import Surrogate
from supra.train import TrainError

SECTIONS = ["errors", "learning", "cases", "spectrum", "basis", "attention", "configuration"]
WITHOUT_ATTENTION = [name for name in SECTIONS if name != "attention"]
STEADY = Layout((Channel("a"), Channel("f$1$")), (Channel("u <K>"), Channel("v")))
ROLLOUT = Layout((Channel("w0"), Channel("w1")), (Channel("w"),), "rollout", (0.5, 1.0, 1.5))
TIMED = Layout((Channel("die"),), (Channel("x"), Channel("y"), Channel("z")), "condition", (1, 2))


class Page(HTMLParser):
    """What a page refers to, shows and says; complains about tags that do not match."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.references: list[str] = []
        self.pictures: list[Image.Image] = []
        self.alts: list[str] = []
        self.sections: list[str] = []
        self.text = ""
        self._open: list[str] = []
        self.source = path.read_text("utf-8")
        self.feed(self.source)
        self.close()
        assert not self._open

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if tag not in ("meta", "img"):
            self._open.append(tag)
        if tag == "section":
            self.sections.append(found["id"])
        if tag == "img":
            self.alts.append(found["alt"])
            kind, data = found["src"].split(",")
            assert kind == "data:image/png;base64"
            self.pictures.append(Image.open(io.BytesIO(b64decode(data, validate=True))))
        elif "href" in found or "src" in found:
            self.references.append(found.get("href") or found["src"])

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        self.text += data


def fields(layout, domain, seed):
    """Smooth random functions; what is predicted depends on what is given."""
    random = np.random.default_rng(seed)
    x = domain.points
    waves = random.normal(size=(len(layout.inputs), 3))
    given = np.stack([a + b * x[:, 0] + c * x[:, 1] for a, b, c in waves], axis=1)
    first = given[:, :1] + np.arange(len(layout.targets))
    if layout.time == "steady":
        return Sample(given, first, domain)
    return Sample(given, np.stack([first * (1 + 0.1 * t) for t in layout.times]), domain)


def write_data(path, layout, domains, shared):
    with StoreWriter(path, layout, domains[0] if shared else None) as store:
        for number, domain in enumerate(domains):
            store.add(fields(layout, domain, number), "train" if number < 4 else "test")


def run(folder, layout, domains, basis, shared=True):
    """A trained run on a data file of its own; the last samples are for testing."""
    write_data(folder / "data.h5", layout, domains, shared)
    values = {
        "data": {"name": "file", "root": str(folder / "data.h5"), "valid": 1},
        "basis": basis,
        "model": {"width": 4, "depth": 2},
        "train": {"epochs": 2, "batch_size": 3},
    }
    (folder / "run").mkdir()
    train(parse_experiment(values, "test"), folder / "run")
    return folder / "run"


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    """A run on plates with holes, with data made by the solver."""
    folder = tmp_path_factory.mktemp("smoke")
    options = {"resolution": 8, "holes": 1}
    values = {
        "data": {
            "name": "perforated",
            "root": str(folder / "data"),
            "valid": 1,
            "generate": {"train": 4, "test": 3, "options": options},
        },
        "basis": {"kind": "laplacian", "modes": 8},
        "model": {"width": 4, "depth": 2, "attention": "self-biased"},
        "train": {"epochs": 2, "batch_size": 2},
    }
    (folder / "run").mkdir()
    train(parse_experiment(values, "test"), folder / "run")
    return folder / "run"


@pytest.fixture(scope="module")
def smoke_page(smoke):
    return Page(write_report(smoke))


def test_the_page_is_in_the_run_and_has_all_sections(smoke, smoke_page):
    assert (smoke / PAGE).exists()
    assert smoke_page.sections == SECTIONS
    assert not list(smoke.glob("*unfinished*"))


def test_the_page_refers_to_nothing_outside_of_itself(smoke_page):
    assert smoke_page.references == [f"#{name}" for name in SECTIONS]
    written = re.sub(r'src="data:[^"]*"', "", smoke_page.source)
    for word in ("http", "src=", "<script", "<link", "@import", "url("):
        assert word not in written


def test_the_page_says_the_numbers_of_the_result(smoke, smoke_page):
    result = json.loads((smoke / "result.json").read_text())
    test = result["test"]
    for name in ("relative_l2", "relative_l2_median", "relative_l2_worst", "relative_h1"):
        assert percent(test[name]) in smoke_page.text
    assert percent(test["boundary"]) in smoke_page.text
    assert percent(test["largest_error"]) in smoke_page.text
    assert f"{result['parameters']:,}" in smoke_page.text
    assert result["provenance"]["torch"] in smoke_page.text
    assert "have changed" not in smoke_page.text


def test_the_page_compares_with_the_solver_and_the_mean(smoke_page):
    assert "speed-up" in smoke_page.text
    assert "per sample on one core" in smoke_page.text
    assert MEAN in smoke_page.text


def test_pictures_are_whole_and_described(smoke_page):
    # curves, histogram, three cases, spectrum, basis, attention
    assert len(smoke_page.pictures) == 8
    assert all(smoke_page.alts)
    for picture in smoke_page.pictures:
        picture.verify()
        assert picture.format == "PNG"


def test_the_configuration_is_on_the_page(smoke_page):
    assert "geometry: shared" in smoke_page.text


def test_the_command_writes_where_told_and_points_out_a_changed_result(smoke, tmp_path):
    copied = tmp_path / "run"
    copied.mkdir()
    for file in smoke.glob("*.[!h]*"):  # all but the page
        (copied / file.name).write_bytes(file.read_bytes())
    result = json.loads((smoke / "result.json").read_text())
    result["test"]["relative_l2"] *= 2
    (copied / "result.json").write_text(json.dumps(result))
    config = (copied / "config.yaml").read_text()
    (copied / "config.yaml").write_text(re.sub(r"  generate:\n(    .*\n)+", "", config))
    command = Typer()
    command.command()(report)
    told = CliRunner().invoke(command, [str(copied), "--out", str(tmp_path / "other.html")])
    assert told.exit_code == 0, told.output
    assert "other.html" in told.output
    page = Page(tmp_path / "other.html")
    assert "have changed" in page.text
    assert "speed-up" not in page.text  # nobody says how the data are made
    assert not (copied / PAGE).exists()


@pytest.mark.usefixtures("unchecked")
def test_a_grid_with_two_channels_whose_names_are_no_markup(tmp_path):
    basis = {"kind": "chebyshev", "modes": [4, 4]}
    page = Page(write_report(run(tmp_path, STEADY, 6 * [Grid((9, 7))], basis)))
    assert page.sections == WITHOUT_ATTENTION
    assert "L2 of u <K>" in page.text
    assert "a, f$1$ → u <K>, v" in page.text


@pytest.mark.usefixtures("unchecked")
def test_a_rollout_has_strips_and_errors_of_each_moment(tmp_path):
    basis = {"kind": "fourier", "modes": [2, 2]}
    folder = run(tmp_path, ROLLOUT, 7 * [Grid((8, 8), periodic=True)], basis)
    page = Page(write_report(folder))
    steps = json.loads((folder / "result.json").read_text())["test"]["steps"]
    assert all(percent(step) in page.text for step in steps)
    assert LAST in page.text
    assert sum("over time" in alt for alt in page.alts) == 3
    assert "2 states of w → the next 3" in page.text


@pytest.mark.usefixtures("unchecked")
def test_time_conditioned_data_on_a_mapped_grid(tmp_path):
    moved = Grid((6, 5), points=Grid((6, 5)).points * [4, 1] + 1)
    page = Page(
        write_report(run(tmp_path, TIMED, 5 * [moved], {"kind": "cosine", "modes": [4, 4]}))
    )
    assert "die, time → x, y, z" in page.text
    assert "The first 2 of 3 channels are drawn." in page.text
    assert sum("over time" in alt for alt in page.alts) == 2  # one sample is best and worst


@pytest.mark.usefixtures("unchecked")
def test_a_mesh_for_each_sample(tmp_path):
    domains = [(square, disk)[k % 2](resolution=4 + k % 3) for k in range(7)]
    basis = {"kind": "laplacian", "modes": 6, "geometry": "own"}
    page = Page(write_report(run(tmp_path, STEADY, domains, basis, shared=False)))
    assert page.sections == WITHOUT_ATTENTION
    assert "2 layers of 4 functions" in page.text
    assert "4 heads" not in page.text


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ((), "config.yaml is missing"),
        (("config.yaml",), "has no result yet"),
        (("config.yaml", "result.json"), "not a record of a training"),
        (("config.yaml", "result.json", "metrics.jsonl"), "best.pt"),
    ],
)
def test_what_is_no_finished_run_is_refused_in_one_line(smoke, tmp_path, files, words):
    for name in files:
        (tmp_path / name).write_bytes((smoke / name).read_bytes())
    with pytest.raises(TrainError, match=words) as refused:
        write_report(tmp_path)
    assert "\n" not in str(refused.value)
    assert not (tmp_path / PAGE).exists()


@pytest.mark.parametrize(("content", "words"), [("{", "cannot be read"), ("[]", "no errors")])
def test_a_broken_result_is_refused(smoke, tmp_path, content, words):
    (tmp_path / "config.yaml").write_bytes((smoke / "config.yaml").read_bytes())
    (tmp_path / "result.json").write_text(content)
    with pytest.raises(TrainError, match=words):
        write_report(tmp_path)


def test_a_page_that_cannot_be_written_is_refused_before_the_work(smoke, tmp_path):
    with pytest.raises(TrainError, match="is a folder"):
        write_report(smoke, tmp_path)
    with pytest.raises(DataError, match="does not exist"):
        write_report(smoke, tmp_path / "nowhere" / "page.html")


def test_attention_matrices_are_one_per_layer_with_rows_that_sum_to_one(smoke):
    surrogate = Surrogate.load(smoke)
    domain = surrogate.subspace.basis.domain
    sample = fields(Layout((Channel("a"), Channel("f")), (Channel("u"),)), domain, 0)
    matrices = attention_matrices(surrogate, sample)
    assert [matrix.shape for matrix in matrices] == [(4, 4), (4, 4)]
    for matrix in matrices:
        np.testing.assert_allclose(matrix.sum(axis=1), 1, rtol=1e-5)


def test_the_spectrum_of_a_basis_function_is_one_mode():
    """Truth φ₃, prediction φ₃ / 2: mean squares 1, 1/4 and, of the error, 1/4."""
    basis = CosineBasis((3, 3))
    sampled = basis.sample(Grid((16, 16)), dtype=torch.float64)
    ladder = Ladder.of(FamilySubspace(basis))
    unit = torch.eye(9, dtype=torch.float64)[None, 2:3]
    truth = sampled.fields(unit)
    added = SpectrumSum(ladder)
    added.add(truth / 2, truth, sampled)
    spectrum = added.result()
    place = ladder.order.tolist().index(2)
    for name, size in ((TRUTH, 1), (PREDICTION, 0.25), (ERROR, 0.25)):
        expected = np.zeros(9)
        expected[place] = size
        np.testing.assert_allclose(spectrum.sizes[name], expected, atol=1e-12)
        assert spectrum.outside[name] == pytest.approx(0, abs=1e-9)


def test_what_the_basis_does_not_reach_is_outside():
    few, many = CosineBasis((2, 2)), CosineBasis((4, 4))
    grid = Grid((32, 32))
    sharp = many.sample(grid, dtype=torch.float64).fields(torch.eye(16).double()[None, 15:])
    added = SpectrumSum(Ladder.of(FamilySubspace(few)))
    added.add(torch.zeros_like(sharp), sharp, few.sample(grid, dtype=torch.float64))
    assert added.result().outside[TRUTH] == pytest.approx(1)


def test_modes_are_ordered_from_smooth_to_sharp():
    ladder = Ladder.of(FamilySubspace(CosineBasis((3, 3))))
    assert (np.diff(ladder.values) >= 0).all()
    np.testing.assert_allclose(ladder.values / np.pi**2, [0, 1, 1, 2, 4, 4, 5, 5, 8])
    polynomials = Ladder.of(FamilySubspace(ChebyshevBasis((2, 3))))
    assert polynomials.values.tolist() == [0, 1, 1, 2, 2, 3]
    shared = Ladder.of(MeshSubspace.of_shared(square(resolution=6), 5, "neumann"))
    assert shared.order.tolist() == [0, 1, 2, 3, 4]


def batch_of(targets, inputs):
    weights = torch.full((targets.shape[-2],), 1 / targets.shape[-2])
    basis = CosineBasis((1, 1)).sample(Grid((2, 2)))
    return Batch(inputs, targets, weights, basis, (Grid((2, 2)),))


def test_trivial_predictors_are_the_mean_and_the_last_state():
    """Truth 2 everywhere; the mean 1 is wrong by a half, the last state 3 likewise."""
    truth, given = torch.full((1, 3, 4, 1), 2.0), torch.tensor([7.0, 3.0]).expand(1, 4, 2)
    guesses = trivial_guesses(batch_of(truth, given), ROLLOUT, torch.ones(3, 4, 1))
    assert {name: errors.item() for name, errors in guesses} == {MEAN: 0.5, LAST: 0.5}


def test_the_mean_is_taken_at_each_point_where_points_are_shared(tmp_path):
    grid = Grid((3, 3))
    write_data(tmp_path / "one.h5", STEADY, 6 * [grid], shared=True)
    write_data(tmp_path / "each.h5", STEADY, [square(k + 2) for k in range(6)], shared=False)
    one, each = (open_dataset(tmp_path / f"{name}.h5", valid=0) for name in ("one", "each"))
    expected = np.mean([fields(STEADY, grid, k).targets for k in range(4)], axis=0)
    np.testing.assert_allclose(mean_targets(one.train, one.test), expected, rtol=1e-6)
    assert mean_targets(each.train, each.test).shape == (1, 2)


def test_solver_that_takes_too_long_or_is_unknown_has_no_time():
    made = GenerateConfig(options={"resolution": 8, "holes": 1})
    known = DataConfig(name="perforated", root=Path("x"), generate=made)
    assert solver_seconds(known, patience=0.0) is None
    assert solver_seconds(known.model_copy(update={"name": "unknown"})) is None
    assert solver_seconds(known.model_copy(update={"generate": None})) is None
    wrong = made.model_copy(update={"options": {"colour": 3}})
    assert solver_seconds(known.model_copy(update={"generate": wrong})) is None


def test_the_window_is_where_nearly_all_points_are():
    even = Grid((20, 20)).points
    assert np.ptp(window(even), axis=0) == pytest.approx([1.04, 1.04])
    far = np.vstack([even, [[50, 50], [-50, -50]]])
    assert np.ptp(window(far), axis=0).max() < 2


@pytest.mark.parametrize("layout", [STEADY, ROLLOUT], ids=["steady", "rollout"])
@pytest.mark.parametrize(
    "domain",
    [Grid((12,)), cube(resolution=2), PointSet(Grid((4, 4)).points), SphereGrid(3)],
    ids=["line", "volume", "points", "sphere"],
)
def test_a_case_is_drawn_on_any_domain(domain, layout):
    flat = PointSet(domain.points[:, [0, -1]])
    made = fields(layout, flat, 0)
    sample = Sample(made.inputs, made.targets, domain)
    with styled():
        pictures = draw_case(Case("best", 0, 0.1, sample, 0.9 * made.targets), layout)
    for picture in pictures:
        Image.open(io.BytesIO(picture.png)).verify()


@pytest.mark.parametrize(("modes", "most"), [(1, 12), (5, 12), (16, 12), (900, 12)])
def test_ranks_go_from_the_first_to_the_last(modes, most):
    ranks = spread_ranks(modes, most)
    assert ranks[0] == 0
    assert ranks[-1] == modes - 1
    assert (np.diff(ranks) > 0).all()
    assert min(modes, most) - 2 <= len(ranks) <= most


def test_numbers_have_sensible_digits():
    assert [number(x) for x in (12345.6, 104.4, 5, 0.01234)] == ["12,346", "104", "5.00", "0.0123"]
    assert percent(0.012345) == "1.23 %"
    assert [duration(x) for x in (7200, 90, 1.5, 0.02, 3e-5)] == [
        "2.00 h", "1.50 min", "1.50 s", "20.0 ms", "30.0 µs",
    ]  # fmt: skip


def test_the_command_is_told_in_one_line(smoke, tmp_path):
    code = (
        "from supra.cli import app, main\n"
        "from supra.cli.report import report\n"
        "known = [command.callback.__name__ for command in app.registered_commands]\n"
        "'report' in known or app.command()(report)\n"
        "main()"
    )
    command = [sys.executable, "-c", code, "report", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert "is not a run's folder" in done.stderr


def test_the_mean_is_taken_at_each_point_of_grids_that_moved(tmp_path):
    square_points = Grid((3, 3)).points
    grids = [Grid((3, 3), points=square_points * (1 + k / 10)) for k in range(6)]
    write_data(tmp_path / "moved.h5", STEADY, grids, shared=False)
    moved = open_dataset(tmp_path / "moved.h5", valid=0)
    assert mean_targets(moved.train, moved.test).shape == (9, 2)
