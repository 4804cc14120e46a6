"""``supra report``: a run as a page to look at."""

from pathlib import Path
from typing import Annotated

import typer

from supra.cli.run import RunFolder
from supra.cli.screen import console, errors
from supra.experiment.progress import progress
from supra.experiment.report import write_report


def report(
    run: RunFolder,
    out: Annotated[
        Path | None, typer.Option(metavar="PAGE", help="The page; RUN/report.html by default.")
    ] = None,
) -> None:
    """Errors, curves, pictures and speed of a finished run in one HTML page.

    The page holds its pictures and needs no network.

    Example: supra report runs/darcy
    """
    with progress("report", errors) as step:
        path = write_report(run, out, step)
    console.print(f"report: {path}", highlight=False, markup=False, soft_wrap=True)
