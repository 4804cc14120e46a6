"""The command line: thin, one function per command."""

import io
import sys
import warnings
from typing import Annotated

import typer

import supra
from supra.basis import BasisError
from supra.cli.basis import basis
from supra.cli.benchmark import benchmark
from supra.cli.data import app as data_app
from supra.cli.data import generate_command
from supra.cli.demo import demo
from supra.cli.report import report
from supra.cli.reproduce import reproduce_command
from supra.cli.run import evaluate, export, predict, schema, train
from supra.cli.screen import console, say, show_warning
from supra.data import DataError
from supra.domain import DomainError
from supra.experiment.allocator import keep_freed_memory
from supra.experiment.errors import ConfigError
from supra.problems import ProblemError
from supra.train import TrainError

# What a user can get wrong: told in one line.
EXPECTED = (DomainError, BasisError, DataError, ProblemError, TrainError, ConfigError, OSError)

app = typer.Typer(
    help="Neural-operator surrogates for PDEs on general domains.",
    invoke_without_command=True,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(demo)
app.command("generate")(generate_command)
app.command()(basis)
app.command()(train)
app.command()(evaluate)
app.command()(report)
app.command()(predict)
app.command()(export)
app.command()(benchmark)
app.command("reproduce")(reproduce_command)
app.command()(schema)
app.add_typer(data_app, name="data")


@app.callback()
def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Neural-operator surrogates for PDEs on general domains."""
    if version:
        console.print(supra.__version__, highlight=False)
        raise typer.Exit


def main() -> None:
    """Run the command line; what a user got wrong is one line and exit status 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without λ loses a sign, not the run
    warnings.showwarning = show_warning
    keep_freed_memory()
    try:
        app()
    except EXPECTED as error:
        say("error", error, "red")
        sys.exit(2)
