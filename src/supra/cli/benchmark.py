"""``supra benchmark``: what things cost here."""

from typing import Annotated, Literal

import torch
import typer

from supra.cli.screen import console
from supra.experiment.benchmark import SETTINGS, efficiency, growth, irregular


def benchmark(
    table: Annotated[Literal["efficiency"], typer.Argument(help="What to measure.")],
    quick: Annotated[bool, typer.Option("--quick", help="The smallest setting only.")] = False,
) -> None:
    """Measure what the network costs here: time, memory, share of the matrix-product rate.

    Example: supra benchmark efficiency --quick
    """
    torch.manual_seed(0)
    efficiency(console, SETTINGS[:1] if quick else SETTINGS)
    if not quick:
        growth(console)
        irregular(console)
