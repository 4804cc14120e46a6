"""``supra train``, ``evaluate``, ``schema``: runs."""

import json
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from supra.cli.screen import console, errors, table
from supra.experiment.build import build_data, build_symmetries
from supra.experiment.errors import ConfigError
from supra.experiment.export import SUFFIXES, Format, export_surrogate
from supra.experiment.predict import predict_file
from supra.experiment.preset import (
    SUPRA,
    Scale,
    field_names,
    literals,
    load_experiment,
    preset_names,
    system_names,
)
from supra.experiment.progress import progress
from supra.experiment.run import load_config, prepare_folder
from supra.experiment.run import train as run_training
from supra.experiment.surrogate import Surrogate
from supra.train import joined_world

_POSITIONS = 8  # at most, of a sample whose predictions are averaged

RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.")]


def train(
    source: Annotated[
        str,
        typer.Argument(
            metavar="PRESET|FILE", help=f"A YAML file, or: {', '.join(preset_names())}."
        ),
    ],
    scale: Annotated[Scale, typer.Option(help="How large: seconds, minutes, or as published.")] = (
        "small"
    ),
    model: Annotated[
        str,
        typer.Option(metavar="NAME", help=f"Network with its recipe: {', '.join(system_names())}."),
    ] = SUPRA,
    change: Annotated[
        list[str] | None,
        typer.Option("-s", metavar="FIELD=VALUE", help="Change a field, e.g. model.width=64."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the run.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a stopped run.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier run.")] = False,
    device: Annotated[str | None, typer.Option(help="cpu or cuda; found by itself.")] = None,
) -> None:
    """Train a surrogate, test it once, and keep everything in the run's folder.

    Data that are not there are generated first. On several GPUs or processes:
    torchrun --nproc-per-node 2 -m supra train darcy

    The same data with another network: supra train darcy --model transolver

    Example: supra train darcy --scale small -s model.width=64 --out runs/darcy
    """
    folder = out or Path("runs") / (Path(source).stem + (f"-{model}" if model != SUPRA else ""))
    if resume and (change or model != SUPRA):
        raise ConfigError(
            f"A resumed run keeps its settings ({folder}): no -s or --model with --resume."
        )
    experiment = (
        load_config(folder) if resume else load_experiment(source, scale, change or [], model)
    )
    with joined_world(device) as world:
        if world.writes:
            prepare_folder(folder, resume, overwrite)
        world.wait()
        stopped = "stopped; add --resume to go on"
        with progress("train", errors, not world.writes, stopped) as report:
            result = run_training(experiment, folder, resume=resume, world=world, report=report)
    if result:
        console.print(_errors(result, f"{folder}: errors on the test set"))
        console.print(f"For pictures: supra report {folder}", highlight=False, soft_wrap=True)


def evaluate(
    run: RunFolder,
    symmetries: Annotated[
        bool,
        typer.Option(
            "--symmetries", help="Average predictions over the symmetries it was trained with."
        ),
    ] = False,
) -> None:
    """Errors of a trained surrogate on the test set of its data.

    Example: supra evaluate runs/darcy
    """
    surrogate = Surrogate.load(run)
    data = build_data(surrogate.experiment)
    moves = build_symmetries(surrogate.experiment, data.test) if symmetries else ()
    if symmetries and not moves:
        raise ConfigError(f"{run} was trained without symmetries: leave out --symmetries.")
    chosen = moves[:: max(1, len(moves) // _POSITIONS)]
    batch_size = surrogate.experiment.train.batch_size
    result = surrogate.evaluate(data.test, batch_size, chosen).summary()
    averaged = f", averaged over {len(chosen)} symmetries" if chosen else ""
    console.print(_errors({"test": result}, f"{run}: errors on the test set{averaged}"))
    console.print_json(json.dumps(result))


def predict(
    run: RunFolder,
    source: Annotated[Path, typer.Argument(metavar="INPUT", help="A case: mesh, CSV or NPZ file.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="File to write.")],
    at: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Predict at these points: CSV with columns x, y[, z]."),
    ] = None,
) -> None:
    """Predict for a case in a file; where the file holds the truth, the error is written too.

    With --at it is written for any points of the domain, as .csv, .vtu or .npz:
    supra predict runs/demo plate.vtu --at points.csv -o prediction.csv
    Points outside of the domain are counted in a warning, and have nan.

    Example: supra predict runs/demo plate.vtu -o prediction.vtu
    """
    found = predict_file(Surrogate.load(run), source, output, at)
    shown = table(str(output), ("field", "smallest", "largest"))
    for name, values in found.items():
        shown.add_row(name, f"{np.nanmin(values):.4g}", f"{np.nanmax(values):.4g}")
    console.print(shown)


def export(
    run: RunFolder,
    kind: Annotated[Format, typer.Option("--format", help="Of the file.")] = "onnx",
    output: Annotated[Path | None, typer.Option("-o", "--output", help="File to write.")] = None,
) -> None:
    """Write a model that runs without this library, and check that it gives the same numbers.

    Example: supra export runs/darcy --format onnx
    """
    path = output or run / f"model{SUFFIXES[kind]}"
    difference = export_surrogate(Surrogate.load(run), path, kind)
    console.print(f"{path}: differs by {difference:.1e} of the largest value", soft_wrap=True)


def schema() -> None:
    """Every field of an experiment: its name, default and meaning.

    Example: supra schema
    """
    shown = table("fields of an experiment", ("field", "default", "meaning"))
    for name, field in field_names():
        default = field.get_default(call_default_factory=True)
        choices = ", ".join(str(choice) for choice in literals(field.annotation))
        meaning = f"{field.description or ''} ({choices})" if choices else field.description
        shown.add_row(name, "required" if field.is_required() else str(default), meaning)
    for column in shown.columns:
        column.justify = "left"
    shown.columns[2].no_wrap = False
    console.print(shown)


def _errors(result: dict, title: str) -> object:
    test = result["test"]
    shown = table(title, ("error", "value"))
    shown.add_row("relative L2, mean", f"{test['relative_l2']:.3%}")
    shown.add_row("relative L2, median", f"{test['relative_l2_median']:.3%}")
    shown.add_row("relative L2, worst", f"{test['relative_l2_worst']:.3%}")
    if "relative_h1" in test:
        shown.add_row("relative H1", f"{test['relative_h1']:.3%}")
    if "boundary" in test:
        shown.add_row("at the boundary", f"{test['boundary']:.3%}")
    for name, value in test["channels"].items():
        shown.add_row(f"relative L2 of {name}", f"{value:.3%}")
    for step, value in enumerate(test.get("steps", []), 1):
        shown.add_row(f"relative L2 of step {step}", f"{value:.3%}")
    return shown
