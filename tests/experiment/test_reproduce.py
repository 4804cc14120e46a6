"""The paper's tables: what is trained, what is kept, what is written."""

import csv
import json
import shutil
from dataclasses import replace
from itertools import pairwise
from math import inf, isnan, nan
from pathlib import Path

import numpy as np
import pytest
import yaml

from supra.experiment.build import build_subspace
from supra.experiment.config import Experiment, LaplacianConfig, PodConfig, SupraConfig
from supra.experiment.errors import ConfigError
from supra.experiment.preset import load_experiment, system_names
from supra.experiment.reproduce import paper, work
from supra.experiment.reproduce.budget import as_long_as_supra, budgeted, probe
from supra.experiment.reproduce.cell import Cell
from supra.experiment.reproduce.curves import curves
from supra.experiment.reproduce.draw_panels import draw_panels
from supra.experiment.reproduce.entries import SYSTEMS, TABLES, WHOLE, Wanted, accuracy
from supra.experiment.reproduce.findings import FINDINGS
from supra.experiment.reproduce.record import FAILED, outcome
from supra.experiment.reproduce.reproduce import reproduce
from supra.experiment.reproduce.table import Entry, Found, Measured
from supra.experiment.reproduce.work import run_cells
from supra.experiment.reproduce.write import markdown, write_table
from supra.train import LATEST, TrainError

SCALES = ("smoke", "small", "paper")
ENTRIES = [
    (name, scale, entry)
    for name, (_, make) in TABLES.items()
    for scale in SCALES
    for entry in make(Wanted(scale))
]


def result(error: float, seconds: float = 60.0) -> dict:
    return {"test": {"relative_l2": error}, "train_error": error / 2, "parameters": 1000,
            "epochs": 3, "training_cpu_seconds": seconds}  # fmt: skip


@pytest.mark.parametrize(("name", "scale", "entry"), ENTRIES)
def test_every_cell_is_an_experiment_whose_heads_divide_its_modes(name, scale, entry):
    experiment = entry.cells[0].experiment
    basis, model = experiment.basis, experiment.model
    if not isinstance(model, SupraConfig):
        return
    if isinstance(basis, LaplacianConfig | PodConfig):
        modes = basis.modes
    else:
        modes = build_subspace(experiment, None).modes
    assert (model.rank or modes) % model.heads == 0


@pytest.mark.parametrize("scale", SCALES)
def test_systems_differ_in_the_network_and_its_recipe_only(scale):
    ours = Cell("darcy", scale).experiment
    for system in SYSTEMS:
        theirs = Cell("darcy", scale, system).experiment
        assert (theirs.data, theirs.train.epochs, theirs.train.loss, theirs.weighting) == (
            ours.data, ours.train.epochs, ours.train.loss, ours.weighting,
        )  # fmt: skip
        assert theirs.train.symmetry == ours.train.symmetry
        assert theirs.model.kind == system


def test_the_faithful_network_is_supra_without_what_we_added():
    for problem in paper.PROBLEMS:
        faithful = Cell(problem, "small", "supra-paper").experiment
        model = faithful.model
        assert (model.attention, model.rank) == ("paper", None)
        assert not any((model.local, model.light, model.mixing))
        assert faithful.train.optimizer == "adamw"
    assert set(SYSTEMS) | {"supra-paper"} == set(system_names())


def test_other_systems_do_not_depend_on_our_basis():
    names = {
        system: {Cell("darcy", "small", system, (f"basis.modes=[{n}, {n}]",)).name for n in (4, 5)}
        for system in ("supra", "fno")
    }
    assert {system: len(each) for system, each in names.items()} == {"supra": 2, "fno": 1}


def test_fewer_samples_make_as_many_steps():
    def cell(samples):
        return next(accuracy(Wanted(problems=("darcy",), samples=samples))).cells[0]

    few, whole = cell(100), cell(None)
    assert few.experiment.data.limit == 100
    assert few.experiment.train.epochs * 100 == whole.experiment.train.epochs * 950 == 8 * 950
    assert cell(950) == cell(951) == whole  # all there are: the same run, trained once


def test_long_runs_are_the_presets_own():
    for entry in accuracy(Wanted(long=True)):
        (cell,) = entry.cells
        assert cell == Cell(cell.problem, "small", cell.system)
    few = next(accuracy(Wanted(problems=("darcy",), samples=100, long=True))).cells[0]
    assert few.experiment.train.epochs == 950  # as many steps as 100 epochs of 950 samples


def test_a_network_for_grids_is_left_out_where_there_is_none():
    plates = [entry.column for entry in accuracy(Wanted(problems=("plates",)))]
    assert set(plates) == set(SYSTEMS) - {"fno"}


def test_an_ingredient_is_taken_away_or_replaced_at_a_time(tmp_path):
    measured = reproduce("ingredients", Wanted("smoke", problems=("darcy",)), tmp_path, tmp_path)
    assert measured.columns == ["darcy"]
    assert [found.failed for found in measured.found] == [False] * 13
    weights = {found.entry.row: found.weights for found in measured.found}
    both, *one = (weights[row] for row in ("attention, too", WHOLE, "attention, not mixing"))
    assert both > max(one)
    assert len(measured.remarks) == 12
    with pytest.raises(ConfigError, match="leave out --models"):
        reproduce("ingredients", Wanted("smoke", systems=("fno",)), tmp_path, tmp_path)
    with pytest.raises(ConfigError, match="leave out --budget"):
        reproduce("ingredients", Wanted("smoke"), tmp_path, tmp_path, budget="time")
    with pytest.raises(ConfigError, match="has the problems plates: got darcy"):
        reproduce("ingredients", Wanted("paper", problems=("darcy",)), tmp_path, tmp_path)


def test_what_a_preset_does_not_have_is_not_taken_away():
    rows = {
        problem: {entry.row for entry in TABLES["ingredients"][1](Wanted(problems=(problem,)))}
        for problem in ("darcy", "navier_stokes", "plates")
    }
    assert rows["darcy"] - rows["navier_stokes"] == {"waves of the domain's length", "no H1 loss"}
    assert rows["darcy"] - rows["plates"] == {"no local branch", "no H1 loss", "no symmetries"}


def test_equal_runs_share_a_folder_and_different_ones_do_not():
    cell = Cell("darcy", "small")
    default = f"model.width={cell.experiment.model.width}"
    assert replace(cell, changes=(default,)).name == cell.name
    others = (
        replace(cell, seed=1),
        replace(cell, changes=("model.width=8",)),
        replace(cell, system="fno"),
        replace(cell, scale="paper"),
    )
    assert len({cell.name, *(other.name for other in others)}) == 5


def test_a_shared_recipe_is_supras_and_changes_nothing_else():
    (plain,) = Wanted("small", systems=["transolver"]).cells("darcy", "transolver")
    (shared,) = Wanted("small", recipe="shared").cells("darcy", "transolver")
    (supra,) = Wanted("small", recipe="shared").cells("darcy", "supra")
    assert shared.experiment.train == supra.experiment.train != plain.experiment.train
    assert supra == Wanted("small").cells("darcy", "supra")[0]
    assert shared.experiment.model == plain.experiment.model
    assert shared.experiment.data == plain.experiment.data


def test_the_command_of_a_cell_is_what_is_run(monkeypatch, tmp_path):
    cell = Cell("darcy", "smoke", "fno", ("model.width=8",), 3)
    folder = tmp_path / "run"
    written = "supra train darcy --scale smoke --model fno -s model.width=8 -s seed=3 --out "
    assert cell.command(folder) == written + str(folder)


def test_time_is_shared_out_in_epochs():
    cell, supra = (budgeted(Cell("darcy", "small", s)) for s in ("transolver", "supra"))
    probes = {probe(cell): result(0.1, 50.0), probe(supra): result(0.1, 10.0)}
    assert as_long_as_supra(supra, probes) == supra
    timed = as_long_as_supra(cell, probes)
    assert timed.experiment.train.epochs == round(supra.experiment.train.epochs / 5)
    slow = {probe(cell): result(0.1, 1e6), probe(supra): result(0.1, 10.0)}
    assert as_long_as_supra(cell, slow).experiment.train.epochs == 1


def test_costs_are_compared_with_few_samples_and_one_epoch():
    whole = budgeted(Cell("darcy", "small"))
    few = replace(whole, changes=("data.limit=40",))
    for cell, samples in ((whole, 150), (few, 40)):
        probed = probe(cell).experiment
        assert (probed.data.limit, probed.train.epochs) == (samples, 1)


@pytest.fixture
def without_training(monkeypatch):
    """Cells that only note that they ran; ``behaviour`` says what else happens."""
    ran, behaviour = [], {}

    def run(command, **_):
        given = dict(pairwise(command))
        folder, problem = Path(given["--out"]), given["train"]
        ran.append(command)
        changes = [value for name, value in pairwise(command) if name == "-s"]
        system = given.get("--model", "supra")
        experiment = load_experiment(problem, "smoke", changes, system)
        (folder / "config.yaml").write_text(yaml.safe_dump(experiment.model_dump(mode="json")))
        status, message = behaviour.get(problem, (0, ""))
        if status == 0:
            (folder / "result.json").write_text(json.dumps(result(0.1)))
        return type("Ended", (), {"returncode": status, "stdout": "", "stderr": message})

    monkeypatch.setattr(work.subprocess, "run", run)
    monkeypatch.setattr(work, "ensure_data", lambda *_: None)
    return ran, behaviour


def test_finished_cells_are_not_run_again(without_training, tmp_path):
    ran, _ = without_training
    cells = [Cell("darcy", "smoke"), Cell("pipe", "smoke")]
    runs, records = tmp_path / "runs", tmp_path / "records"
    run_cells(cells[:1], runs, records)
    found = run_cells([*cells, *cells], runs, records)
    assert len(ran) == 2
    assert found == {cell: {**result(0.1), "history": []} for cell in cells}
    shutil.rmtree(runs)
    assert run_cells(cells, runs, records) == found  # a record needs no run
    shutil.rmtree(records)
    run_cells(cells, runs, records)
    assert len(ran) == 4


@pytest.mark.parametrize("budget", ["epochs", "time"])
def test_a_table_of_what_is_recorded_trains_nothing(budget, without_training, tmp_path):
    ran, _ = without_training
    there = Wanted("smoke", problems=("darcy",), systems=("fno", "supra"))
    more = Wanted("smoke", seeds=2, problems=("darcy", "pipe"))
    folders = tmp_path / "runs", tmp_path / "records"
    with pytest.raises(ConfigError, match="No run of this table has a record in"):
        reproduce("accuracy", more, *folders, budget=budget, train=False)
    assert ran == []
    reproduce("accuracy", there, *folders, budget=budget)
    trained = len(ran)
    shown = reproduce("accuracy", more, *folders, budget=budget, train=False)
    assert len(ran) == trained > 0
    assert (shown.rows, shown.columns) == (["darcy"], ["fno", "supra"])
    assert [len(found.outcomes) for found in shown.found] == [1, 1]


def test_a_record_says_what_was_run_and_how_it_learned(tmp_path):
    cell, runs, records = Cell("darcy", "smoke"), tmp_path / "runs", tmp_path / "records"
    trained = run_cells([cell], runs, records)[cell]
    record = json.loads((records / f"{cell.name}.json").read_text())
    assert record["command"] == cell.command(Path(cell.name))
    assert Experiment.model_validate(record["experiment"]) == cell.experiment
    assert record["outcome"] == trained
    metrics = [json.loads(line) for line in (runs / cell.name / "metrics.jsonl").open()]
    assert [line["valid_error"] for line in trained["history"]] == [
        line["valid_error"] for line in metrics
    ]
    assert len(metrics) == cell.experiment.train.epochs


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"experiment": {}}'])
def test_a_broken_record_is_named(content, tmp_path):
    cell = Cell("darcy", "smoke")
    (tmp_path / f"{cell.name}.json").write_text(content)
    with pytest.raises(TrainError, match=r"is not a record of a run .* Remove it"):
        run_cells([cell], tmp_path / "runs", tmp_path)


@pytest.mark.parametrize("recorded", [False, True])
def test_a_run_with_other_defaults_is_not_taken_for_the_same(recorded, tmp_path):
    cell, runs, records = Cell("darcy", "smoke"), tmp_path / "runs", tmp_path / "records"
    folder = runs / cell.name
    folder.mkdir(parents=True)
    (folder / "result.json").write_text(json.dumps(result(0.1)))
    content = cell.experiment.model_dump(mode="json")
    content["data"]["root"] = "/elsewhere/data"
    (folder / "config.yaml").write_text(yaml.safe_dump(content))
    assert run_cells([cell], runs, records)[cell] == {**result(0.1), "history": []}
    path = records / f"{cell.name}.json"
    record = json.loads(path.read_text())
    content["train"]["weight_decay"] = 0.3
    if recorded:
        path.write_text(json.dumps({**record, "experiment": content}))
    else:
        path.unlink()
        (folder / "config.yaml").write_text(yaml.safe_dump(content))
    with pytest.raises(TrainError, match="other values of train than the table asks for"):
        run_cells([cell], runs, records)


def test_a_stopped_cell_is_resumed(without_training, tmp_path):
    ran, _ = without_training
    cell = Cell("darcy", "smoke")
    folder = tmp_path / cell.name
    folder.mkdir()
    (folder / LATEST).touch()
    run_cells([cell], tmp_path, tmp_path)
    assert "--resume" in ran[0]
    assert "-s" not in ran[0]


def test_a_diverged_run_is_an_outcome(without_training, tmp_path):
    _, behaviour = without_training
    behaviour["darcy"] = (2, "error: The training diverged in epoch 3: the loss is not a number.")
    cell = Cell("darcy", "smoke")
    assert "diverged" in run_cells([cell], tmp_path, tmp_path)[cell]["failed"]
    assert (tmp_path / cell.name / FAILED).exists()
    assert "diverged" in outcome(cell, Path("no runs"), tmp_path)["failed"]


def test_another_failure_ends_the_work_and_keeps_what_is_finished(without_training, tmp_path):
    _, behaviour = without_training
    behaviour["pipe"] = (2, "error: no space left on device")
    good, bad = Cell("darcy", "smoke"), Cell("pipe", "smoke")
    with pytest.raises(TrainError, match=r"supra train pipe .* failed: error: no space left"):
        run_cells([good, bad], tmp_path, tmp_path, workers=1)
    assert outcome(good, Path("no runs"), tmp_path)["test"] == result(0.1)["test"]
    assert outcome(bad, tmp_path, tmp_path) is None


@pytest.fixture
def measured() -> Measured:
    def found(row, column, errors, paper):
        cells = tuple(Cell("darcy", "smoke", column, (), seed) for seed in range(len(errors)))
        outcomes = tuple({"failed": "diverged"} if isnan(e) else result(e) for e in errors)
        return Found(Entry(row, column, cells, paper), outcomes)

    places = [
        found("darcy", "supra", (0.010, 0.014), 0.43),
        found("darcy", "fno", (0.018, 0.018), None),
        found("pipe", "supra", (0.03, 0.03), 0.31),
        found("pipe", "fno", (nan, nan), nan),
        found("plates", "supra", (0.40, 0.60), None),
    ]
    return Measured("small-table", "A table", places, ("A remark.",))


def test_the_files_hold_means_spreads_the_papers_numbers_and_commands(measured, tmp_path):
    paths = write_table(measured, tmp_path / "out", Path("runs"))
    assert [path.suffix for path in paths] == [".md", ".csv", ".json", ".png", ".png"]
    assert all(path.stat().st_size for path in paths)
    text = paths[0].read_text()
    assert "| darcy | **1.20 ± 0.3 (0.43)** | 1.80 ± 0 |" in text
    assert "| pipe | **3.00 ± 0 (0.31)** | ↑ (↑) |" in text
    assert "| plates | 50.0 ± 10 |  |" in text  # nothing to compare it with
    assert "A remark." in text
    assert "`supra train darcy --scale smoke --model fno -s seed=0 --out runs/" in text
    rows = list(csv.DictReader(paths[1].open()))
    assert [float(row["mean_percent"]) for row in rows[:3]] == pytest.approx([1.2, 1.8, 3.0])
    assert rows[3]["mean_percent"] == "diverged"
    entries = json.loads(paths[2].read_text())["entries"]
    assert entries[0]["spread_percent"] == pytest.approx(0.2 * 2**0.5, abs=1e-4)
    assert entries[0]["cpu_minutes"] == 1.0


def test_curves_are_the_errors_in_per_cent_against_the_cpu_minutes_so_far(measured):
    """Of the first seed with a history; a system without one stays out of the legend."""
    place = measured.at("darcy", "supra")
    first, second = place.outcomes
    lines = [{"epoch": n, "valid_error": e, "cpu_seconds": 60.0} for n, e in ((1, 0.5), (2, 0.2))]
    for outcomes in ((first | {"history": lines}, second), (first, second | {"history": lines})):
        changed = replace(place, outcomes=outcomes)
        figure = curves(replace(measured, found=[changed, *measured.found[1:]]))
        (line,) = figure.axes[0].lines
        assert line.get_xydata() == pytest.approx(np.array([[1, 50], [2, 20]]))
        assert [text.get_text() for text in figure.legends[0].get_texts()] == ["supra"]


def test_errors_on_different_problems_are_not_compared(measured):
    found = [
        replace(
            f, entry=replace(f.entry, row="a part", column=problem, cells=(Cell(problem, "smoke"),))
        )
        for f, problem in zip(measured.found[:2], ("darcy", "pipe"), strict=True)
    ]
    assert "| a part | 1.20 ± 0.3 (0.43) | 1.80 ± 0 |" in markdown(
        replace(measured, found=found), Path("runs")
    )


def test_what_a_table_of_one_column_compares_is_drawn_in_one_panel(measured):
    one = replace(measured, found=[f for f in measured.found if f.entry.column == "supra"])
    assert (one.columns, len(one.rows)) == (["supra"], 3)
    (axes,) = curves(one).axes
    assert axes.get_title() == "supra"
    assert curves(measured).axes[0].get_title() == "darcy"


def test_of_many_variants_every_problem_gets_a_panel_with_their_names(measured):
    """Errors on different problems share no axis, and more bars than colours are named."""
    (place, *_) = measured.found
    variants = [f"variant {n}" for n in range(12)]
    table = replace(
        measured,
        found=[
            replace(place, entry=replace(place.entry, row=v, column=p, cells=(Cell(p, "smoke"),)))
            for p in ("darcy", "pipe", "airfoil", "plasticity")
            for v in variants
            if (p, v) != ("pipe", "variant 3")
        ],
    )
    figure = draw_panels(table.for_pictures)
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert [axes.get_title(loc="left") for axes in shown] == table.columns
    assert [len(axes.containers) // 2 for axes in shown] == [12, 11, 12, 12]  # bars, and spreads
    assert [text.get_text() for text in shown[0].get_yticklabels()] == variants
    assert [axes.get_title() for axes in curves(table).axes] == table.columns


def test_the_remarks_count_where_supra_is_first(monkeypatch, tmp_path):
    errors = {"supra": 0.02, "fno": 0.03, "lno": 0.025}

    def trained(cells, *_):
        return {cell: result(errors[cell.system]) for cell in cells}

    monkeypatch.setattr("supra.experiment.reproduce.reproduce.run_cells", trained)
    wanted = Wanted("smoke", 1, ("darcy", "pipe"), ("fno", "lno", "supra"))
    found = reproduce("accuracy", wanted, tmp_path, tmp_path)
    assert "20% lower than that of lno" in found.remarks[0]
    assert found.remarks[-1] == "SUPRA has the lowest error on 2 of 2 problems."
    alone = reproduce(
        "accuracy", Wanted("smoke", 1, ("plates",), ("fno", "supra")), tmp_path, tmp_path
    )
    assert alone.remarks == ()  # there is no rival for plates among them


def test_the_remarks_on_geometry_name_the_best_way_and_the_others_factors(monkeypatch, tmp_path):
    def trained(cells, *_):
        errors = {"supra": 0.02, "transolver": 0.03, "gnot": 0.06}
        unaligned = {c for c in cells if "basis.align=none" in c.changes}
        return {c: result(0.05 if c in unaligned else errors[c.system]) for c in cells}

    monkeypatch.setattr("supra.experiment.reproduce.reproduce.run_cells", trained)
    found = reproduce("geometry", Wanted("smoke"), tmp_path, tmp_path)
    assert found.columns == ["error"]
    assert len(found.rows) == 10
    best = found.remarks[0]
    assert best.endswith("(b) own, unaligned has 2.50 times as much.")
    assert found.remarks[1].startswith("transolver has 1.50 times the error of (")
    assert found.remarks[2].startswith("gnot has 3.00 times")
    assert "**" not in write_table(found, tmp_path, tmp_path)[0].read_text()
    assert not list(TABLES["geometry"][1](Wanted("smoke", problems=("darcy",))))


def test_the_remarks_on_an_ablation_compare_the_order_with_the_papers(monkeypatch, tmp_path):
    def trained(cells, *_):
        order = {"layer": 0.02, "instance": 0.01, "none": 0.03}
        return {cell: result(order[cell.experiment.model.norm]) for cell in cells}

    monkeypatch.setattr("supra.experiment.reproduce.reproduce.run_cells", trained)
    found = reproduce(
        "normalization", Wanted("smoke", 1, ("darcy", "plasticity")), tmp_path, tmp_path
    )
    texts = " ".join(found.remarks)
    assert "darcy: best instance, in the paper layer; worst to best 3.00" in texts
    assert "plasticity: best instance, as in the paper" in texts
    assert "training can fail (here: twice the error): confirmed here." in texts


@pytest.mark.parametrize("table", FINDINGS)
def test_the_paper_s_own_numbers_show_what_it_is_said_to_show(table):
    entries = list(TABLES[table][1](Wanted("paper")))
    rows: dict[str, dict[str, float]] = {}
    for entry in entries:
        if entry.paper is not None:
            number = inf if isnan(entry.paper) else entry.paper
            rows.setdefault(entry.row, {})[entry.column] = number
    differ = {
        row for finding in FINDINGS[table] for row in rows if not finding.supported(rows[row])
    }
    # Without a norm Darcy is the one problem whose training did not fail.
    assert differ == ({"darcy"} if table == "normalization" else set())


def test_findings_of_the_paper_are_confirmed_contradicted_or_both(monkeypatch, tmp_path):
    depths = {2: 0.02, 3: 0.03, 4: 0.01}  # deeper is better, wider is not

    def trained(cells, *_):
        sizes = [(c, c.experiment.model) for c in cells]
        wide = {c for c in cells if any("width" in change for change in c.changes)}
        return {c: result(0.01 * m.width if c in wide else depths[m.depth]) for c, m in sizes}

    monkeypatch.setattr("supra.experiment.reproduce.reproduce.run_cells", trained)
    (verdict, *_) = reproduce(
        "model-size", Wanted("smoke", 1, ("darcy",)), tmp_path, tmp_path
    ).remarks
    assert verdict.endswith("confirmed on darcy, layers; not on darcy, width.")

    def diverged_with_eigenfunctions(cells, *_):
        eigen = {c for c in cells if c.experiment.basis.kind == "laplacian"}
        return {c: {"failed": "diverged"} if c in eigen else result(0.01) for c in cells}

    monkeypatch.setattr(
        "supra.experiment.reproduce.reproduce.run_cells", diverged_with_eigenfunctions
    )
    (verdict, *_) = reproduce("airfoil-basis", Wanted("smoke"), tmp_path, tmp_path).remarks
    assert verdict.endswith("Fourier functions of the grid: contradicted here.")


@pytest.mark.parametrize("table", FINDINGS)
def test_what_is_not_measured_yet_is_not_judged(table, monkeypatch, tmp_path):
    first = "supra.experiment.reproduce.reproduce.finished"
    monkeypatch.setattr(first, lambda cells, *_: {cells[0]: result(0.01)})
    measured = reproduce(table, Wanted("small"), tmp_path, tmp_path, train=False)
    assert not any("In the paper" in remark for remark in measured.remarks)
