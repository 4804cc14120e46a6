"""``supra benchmark``: what things cost here."""

from typing import Annotated, Literal

import torch
import typer

from supra.cli.screen import console
from supra.experiment.benchmark import SETTINGS, efficiency, growth, irregular


def benchmark(
    table: Annotated[Literal["efficiency"], typer.Argument(help="What to measure.")],
    quick: Annotated[
        bool, typer.Option("--quick", help="The smallest setting only, one round.")
    ] = False,
) -> None:
    """Measure what the network costs here: time, memory, share of the matrix-product rate.

    Example: supra benchmark efficiency --quick
    """
    torch.manual_seed(0)
    if quick:
        efficiency(console, SETTINGS[:1], rounds=1)
    else:
        efficiency(console)
        growth(console)
        irregular(console)
