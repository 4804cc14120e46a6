"""How long the runs of a table are: the same for all systems, in epochs or in time."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from supra.experiment.preset import SUPRA
from supra.experiment.reproduce.cell import Cell

Budget = Literal["epochs", "time"]

# A table has dozens of runs: at the small scale each is cut to a few minutes on a CPU. Ablations,
# which compare a network with itself, get along with less.
_SHORTER: dict[str, dict[str, tuple[str, ...]]] = {
    "small": {
        "darcy": ("train.epochs=8",),
        "navier_stokes": ("train.epochs=5",),
        "plasticity": ("train.epochs=8", "data.options.stride=2"),
        "airfoil": ("train.epochs=30", "data.options.stride=2"),
        "pipe": ("train.epochs=15", "data.options.stride=2"),
        "plates": ("train.epochs=10",),
    }
}
_ABLATION: dict[str, dict[str, tuple[str, ...]]] = {
    "small": {
        **_SHORTER["small"],
        "darcy": ("train.epochs=10", "data.options.stride=20"),
        "navier_stokes": ("train.epochs=3",),
        "plasticity": ("train.epochs=5", "data.options.stride=2"),
    }
}


_PROBED = 150  # training samples that tell what a system costs: twenty steps or more


def budgeted(cell: Cell, ablation: bool = False) -> Cell:
    """The cell with the points and the number of epochs that all of a table get."""
    lengths = _ABLATION if ablation else _SHORTER
    shorter = lengths.get(cell.scale, {}).get(cell.problem, ())
    return replace(cell, changes=(*cell.changes, *shorter))


def with_samples(cell: Cell, samples: int) -> Cell:
    """The cell with so many training samples at most, and epochs that make as many steps."""
    data = cell.experiment.data
    assert data.generate is not None  # presets say how their data are made
    whole = data.generate.train - int(data.valid)
    if samples >= whole:
        return cell
    fewer = replace(cell, changes=(*cell.changes, f"data.limit={samples}"))
    return with_epochs(fewer, round(cell.experiment.train.epochs * whole / samples))


def with_epochs(cell: Cell, epochs: int) -> Cell:
    return replace(cell, changes=(*cell.changes, f"train.epochs={epochs}"))


def probe(cell: Cell) -> Cell:
    """One epoch of it with few samples, to see what it costs beside the same of others."""
    few = min(cell.experiment.data.limit or _PROBED, _PROBED)
    return with_epochs(replace(cell, changes=(*cell.changes, f"data.limit={few}")), 1)


def as_long_as_supra(cell: Cell, probes: Mapping[Cell, dict[str, Any]]) -> Cell:
    """The cell with so many epochs that it takes the CPU time that SUPRA's epochs take."""
    if cell.system == SUPRA:
        return cell
    own, supra = (
        probes[probe(each)]["training_cpu_seconds"] for each in (cell, replace(cell, system=SUPRA))
    )
    return with_epochs(cell, max(1, round(cell.experiment.train.epochs * supra / own)))
