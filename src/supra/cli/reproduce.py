"""``supra reproduce``: the paper's tables, measured here."""

from pathlib import Path
from typing import Annotated, Literal

import torch
import typer

from supra.cli.screen import console, errors, table
from supra.domain.choice import check_choice
from supra.experiment.benchmark import SETTINGS, Setting, efficiency
from supra.experiment.efficiency import Cost
from supra.experiment.errors import ConfigError
from supra.experiment.preset import Scale, preset_names, system_names
from supra.experiment.progress import progress
from supra.experiment.reproduce.budget import Budget
from supra.experiment.reproduce.convergence import SIZES, write_convergence
from supra.experiment.reproduce.convergence import errors as errors_of_subspaces
from supra.experiment.reproduce.efficiency import write_efficiency
from supra.experiment.reproduce.entries import Wanted
from supra.experiment.reproduce.recipe import Recipe
from supra.experiment.reproduce.reproduce import reproduce
from supra.experiment.reproduce.table import Measured
from supra.experiment.reproduce.write import shown, write_table

Name = Literal[
    "accuracy",
    "basis-number",
    "basis-choice",
    "airfoil-basis",
    "normalization",
    "model-size",
    "ingredients",
    "geometry",
    "efficiency",
    "convergence",
]


def reproduce_command(
    name: Annotated[Name, typer.Argument(metavar="TABLE", help="Which table.")],
    scale: Annotated[Scale, typer.Option(help="Seconds, minutes, or as published.")] = "small",
    seeds: Annotated[int, typer.Option(min=1, help="Runs of each cell.")] = 1,
    problems: Annotated[
        str, typer.Option(metavar="A,B", help="Only these problems, with commas between.")
    ] = "",
    models: Annotated[
        str, typer.Option(metavar="A,B", help=f"Only these of: {', '.join(system_names())}.")
    ] = "",
    budget: Annotated[Budget, typer.Option(help="What is equal for all systems.")] = "epochs",
    recipe: Annotated[
        Recipe, typer.Option(help="Each system trained as published, or all as SUPRA is.")
    ] = "published",
    samples: Annotated[
        int | None,
        typer.Option(min=2, help="At most so many training samples, with as many steps."),
    ] = None,
    long: Annotated[
        bool, typer.Option("--long", help="Runs as long as the presets', at small not shortened.")
    ] = False,
    recorded: Annotated[
        bool, typer.Option("--recorded", help="Train nothing: show what has a record in OUT/cells.")
    ] = False,
    workers: Annotated[int, typer.Option(min=1, help="Runs side by side.")] = 2,
    cluster: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Run on this Dask scheduler instead.")
    ] = None,
    runs: Annotated[Path, typer.Option(help="Folder of the runs.")] = Path("runs/reproduce"),
    out: Annotated[
        Path, typer.Option(help="Folder of the tables, and of a record of every finished cell.")
    ] = Path("results"),
) -> None:
    """Measure a table of the paper here; stopped, the same command goes on where it was.

    Example: supra reproduce accuracy --scale smoke --problems darcy --models fno,supra
    """
    if name in ("efficiency", "convergence"):
        _refuse(name, problems=problems, models=models, seeds=seeds > 1,
                budget=budget != "epochs", recipe=recipe != "published",
                samples=samples, long=long, recorded=recorded)  # fmt: skip
    if name == "efficiency":
        _efficiency(out, quick=scale == "smoke")
        return
    if name == "convergence":
        _convergence(out)
        return
    wanted = Wanted(scale, seeds, _chosen(problems, preset_names(), "problem"),
                    _chosen(models, system_names(), "model"), recipe, samples, long)  # fmt: skip
    stopped = "stopped; the same command goes on"
    with progress("reproduce", errors, stopped=stopped) as report:
        measured = reproduce(
            name, wanted, runs, out / "cells",
            budget=budget, workers=workers, cluster=cluster, train=not recorded, report=report,
        )  # fmt: skip
    _show(measured)
    for path in write_table(measured, out, runs):
        console.print(str(path), highlight=False, soft_wrap=True)


def _refuse(name: str, **given: object) -> None:
    """Options about training would be ignored without a word."""
    for option, value in given.items():
        if value:
            raise ConfigError(f"Nothing is trained for the table {name}: leave out --{option}.")


def _efficiency(out: Path, quick: bool) -> None:
    """Measured here and now: nothing is trained."""
    torch.manual_seed(0)
    found: dict[Setting, list[Cost]] = {}
    for setting in SETTINGS[:1] if quick else SETTINGS:
        found |= efficiency(console, [setting], rounds=1 if quick else None)
        paths = write_efficiency(found, out)  # the last setting takes long, and much memory
    for path in paths:
        console.print(str(path), highlight=False, soft_wrap=True)


def _convergence(out: Path) -> None:
    found = errors_of_subspaces()
    drawn = table("relative error of attention in a subspace of N functions",
                  ("functions", "basis", *map(str, SIZES)))  # fmt: skip
    for kind, curves in found.items():
        for basis, curve in curves.items():
            drawn.add_row(kind, basis, *(f"{error:.1e}" for error in curve))
    console.print(drawn)
    for path in write_convergence(found, out):
        console.print(str(path), highlight=False, soft_wrap=True)


def _chosen(text: str, known: list[str], kind: str) -> tuple[str, ...]:
    chosen = tuple(word.strip() for word in text.split(",") if word.strip())
    for word in chosen:
        check_choice(kind, word, known, ConfigError)
    return chosen


def _show(measured: Measured) -> None:
    drawn = table(f"{measured.title}: relative L2 error in per cent (the paper's)",
                  ("", *measured.columns))  # fmt: skip
    drawn.columns[0].no_wrap = False  # where it is narrow, names give way, not numbers
    for row in measured.rows:
        found = [measured.at(row, column) for column in measured.columns]
        # In short lines, six systems fit on a narrow terminal.
        drawn.add_row(row, *("" if f is None else _in_lines(shown(f)) for f in found))
    console.print(drawn)
    for remark in measured.remarks:
        console.print(remark, highlight=False, soft_wrap=True)


def _in_lines(text: str) -> str:
    return text.replace(" ±", "\n±").replace(" (", "\n(")
