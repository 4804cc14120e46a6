"""SUPRA against neuraloperator's FNO at the paper's settings: time, memory, share of GEMM rate.

python benchmarks/efficiency.py            # all settings, some 10 minutes
python benchmarks/efficiency.py --quick    # 64 hidden functions on a 64² grid
"""

import argparse
import warnings

import torch
from neuralop.models import FNO
from rich.console import Console
from rich.table import Table

from supra import ChebyshevBasis, Grid
from supra.experiment.efficiency import Cost, Subject, costs
from supra.model import SupraOperator

BATCH, DEPTH = 4, 8
MODES = {128: (16, 8), 256: (16, 16)}


def supra(width: int, side: int, modes: int, *, dense: bool = False, **options: object) -> Subject:
    basis = ChebyshevBasis(MODES[modes]).sample(Grid((side, side)))
    model = SupraOperator.of_paper(3, 1, modes, width=width, depth=DEPTH, **options)
    inputs = torch.randn(BATCH, side * side, 3)
    extra = ", dense" * dense + ", checkpointing" * bool(options.get("checkpointing"))
    return Subject(f"SUPRA N={modes}{extra}", model, (inputs, basis.dense() if dense else basis))


def fno(width: int, side: int) -> Subject:
    model = FNO(
        n_modes=(12, 12), in_channels=1, out_channels=1, hidden_channels=width, n_layers=DEPTH
    )
    return Subject("FNO 12×12", model, (torch.randn(BATCH, 1, side, side),))


def subjects(width: int, side: int) -> list[Subject]:
    return [
        supra(width, side, 128),
        supra(width, side, 256),
        supra(width, side, 256, dense=True),
        supra(width, side, 256, checkpointing=True),
        fno(width, side),
    ]


def row(cost: Cost, reference: Cost) -> tuple[str, ...]:
    times = (cost.forward, cost.backward, cost.step, cost.inference)
    return (
        cost.subject.name,
        f"{cost.subject.weights / 1e6:.2f} M",
        *(f"{1e3 * seconds:.0f}" for seconds in times),
        f"{cost.step / reference.step:.2f}",
        f"{100 * cost.gemm_fraction:.0f} %",
        f"{cost.kept:.0f}",
        f"{cost.peak:.0f}",
    )


COLUMNS = ("model", "weights", "forward", "backward", "step", "inference", "step ÷ FNO's",
           "of GEMM rate", "kept MiB", "peak MiB")  # fmt: skip


def main(quick: bool) -> None:
    console = Console(width=130)
    settings = [(64, 64)] if quick else [(64, 64), (64, 128), (256, 64), (256, 128)]
    for width, side in settings:
        table = Table(title=f"{width} functions, {side}² grid, depth {DEPTH}, batch {BATCH}; ms")
        for column in COLUMNS:
            table.add_column(column, justify="right")
        measured = costs(subjects(width, side), rounds=7 if width == 64 else 3)
        for cost in measured:
            table.add_row(*row(cost, measured[-1]))
        console.print(table)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one setting only")
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    main(parser.parse_args().quick)
