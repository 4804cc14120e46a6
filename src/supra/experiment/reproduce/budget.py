"""How long the runs of a table are: the same for all systems, in epochs or in time."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from supra.experiment.preset import SUPRA
from supra.experiment.reproduce.cell import Cell

Budget = Literal["epochs", "time"]

# A table has dozens of runs: at the small scale each is cut to a few minutes on a CPU.
_EPOCHS: dict[str, dict[str, int]] = {
    "small": {"darcy": 8, "navier_stokes": 6, "plasticity": 6, "airfoil": 16, "pipe": 8}
}


def budgeted(cell: Cell) -> Cell:
    """The cell with the number of epochs that all systems get."""
    epochs = _EPOCHS.get(cell.scale, {}).get(cell.problem)
    return cell if epochs is None else with_epochs(cell, epochs)


def with_epochs(cell: Cell, epochs: int) -> Cell:
    return replace(cell, changes=(*cell.changes, f"train.epochs={epochs}"))


def probe(cell: Cell) -> Cell:
    """One epoch of it, to see what an epoch costs."""
    return with_epochs(cell, 1)


def as_long_as_supra(cell: Cell, probes: Mapping[Cell, dict[str, Any]]) -> Cell:
    """The cell with so many epochs that it takes the CPU time that SUPRA's epochs take."""
    if cell.system == SUPRA:
        return cell
    own, supra = (
        probes[probe(each)]["training_cpu_seconds"] for each in (cell, replace(cell, system=SUPRA))
    )
    return with_epochs(cell, max(1, round(cell.experiment.train.epochs * supra / own)))
