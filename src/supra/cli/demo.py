"""``supra demo``: the main job on embedded defaults."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from supra.cli.screen import console, errors, table
from supra.experiment.preset import Scale, load_experiment
from supra.experiment.progress import progress
from supra.experiment.report import PAGE, Study, study_run, write_page
from supra.experiment.run import prepare_folder, train


def demo(
    out: Annotated[Path, typer.Option(help="Folder for data, run and report.")] = Path("demo"),
    scale: Annotated[Scale, typer.Option(help="How large: smoke is for tests.")] = "small",
) -> None:
    """Heat in a plate with holes: solve, learn, test, and draw what came out.

    Makes data by finite elements, trains a network on Laplacian eigenfunctions of the plate, and
    writes a page with errors and pictures.

    Example: supra demo --out demo
    """
    experiment = load_experiment("demo", scale, [f"data.root={out / 'data'}"])
    run = out / "run"
    prepare_folder(run, resume=False, overwrite=True)
    with progress("demo", errors) as report:
        train(experiment, run, report=report)
        study = study_run(run, report)
        report("drawing", 3, 4)
        write_page(study, run / PAGE)
    console.print(_summary(study))
    console.print(
        f"Look at {run / PAGE} in a browser.", markup=False, highlight=False, soft_wrap=True
    )


def _summary(study: Study) -> Table:
    shown = table("heat in a plate with holes", ("quantity", "value"))
    test, speed = study.result["test"], study.speed
    shown.add_row("training samples", str(len(study.data.train)))
    shown.add_row("weights", f"{study.result['parameters']:,}")
    shown.add_row("training", f"{study.result['training_seconds']:.0f} s")
    shown.add_row("test error (relative L2)", f"{test['relative_l2']:.2%}")
    for name, error in study.trivial.items():
        shown.add_row(f"the same of the {name}", f"{error:.2%}")
    shown.add_row("seconds per prediction", f"{1 / speed.per_second:.4f}")
    if speed.solver_seconds is not None:
        shown.add_row("seconds per solve", f"{speed.solver_seconds:.4f}")
    return shown
