"""From the name of a table to its numbers and files."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from supra.basis.eigen import Report
from supra.experiment.errors import ConfigError
from supra.experiment.preset import SUPRA
from supra.experiment.reproduce.budget import Budget, as_long_as_supra, probe
from supra.experiment.reproduce.cell import Cell
from supra.experiment.reproduce.entries import TABLES, Wanted
from supra.experiment.reproduce.record import Outcome
from supra.experiment.reproduce.remarks import remarks
from supra.experiment.reproduce.table import Entry, Found, Measured
from supra.experiment.reproduce.work import finished, run_cells


def reproduce(
    table: str,
    wanted: Wanted,
    runs: Path,
    records: Path,
    *,
    budget: Budget = "epochs",
    workers: int = 2,
    cluster: str | None = None,
    train: bool = True,
    report: Report = lambda *_: None,
) -> Measured:
    """Train what the table needs, all systems with as many epochs or as much time.

    What has a record is not trained again. Without ``train`` nothing is: the table has what is
    there, and as many seeds of it as there are.
    """

    def run(cells: Sequence[Cell]) -> dict[Cell, Outcome]:
        if not train:
            return finished(cells, runs, records)
        return run_cells(cells, runs, records, workers, cluster, report)

    title, make = TABLES[table]
    _check_problems(table, wanted)
    entries = list(make(wanted))
    if budget == "time" and all(cell.system == SUPRA for e in entries for cell in e.cells):
        raise ConfigError("Time is counted in SUPRA's epochs: leave out --budget for SUPRA alone.")
    if budget == "time":
        title += ", as much CPU time for each as for SUPRA"
        entries = _timed(entries, run([probe(c) for e in entries for c in _with_supra(e)]))
    outcomes = run([cell for entry in entries for cell in entry.cells])
    found = [Found(e, known) for e in entries if (known := _known(e, outcomes))]
    if not found:
        raise ConfigError(f"No run of this table has a record in {records}.")
    if wanted.recipe == "shared":
        title += ", all trained by SUPRA's recipe"
    if wanted.long:
        title += ", as long as the presets"
    if wanted.samples is not None:
        title += f", at most {wanted.samples} training samples"
    special = {
        "long": wanted.long,
        budget: budget != "epochs",
        wanted.recipe: wanted.recipe != "published",
        f"{wanted.samples}-samples": wanted.samples is not None,
    }
    parts = (table, *(part for part, there in special.items() if there), wanted.scale)
    measured = Measured("-".join(parts), title, found)
    return replace(measured, remarks=tuple(remarks(table, measured)))


def _check_problems(table: str, wanted: Wanted) -> None:
    """A problem that is not in the table would be left out without a word."""
    _, make = TABLES[table]
    known = {entry.cells[0].problem for entry in make(replace(wanted, problems=()))}
    for problem in wanted.problems:
        if problem not in known:
            systems = f" for {', '.join(wanted.systems)}" if wanted.systems else ""
            raise ConfigError(
                f"The table {table} has the problems {', '.join(sorted(known))}{systems}: "
                f"got {problem}."
            )


def _with_supra(entry: Entry) -> list[Cell]:
    """The first seed's cell and SUPRA's on the same problem: time is counted in SUPRA's epochs."""
    first = replace(entry.cells[0], seed=0)
    return [first, replace(first, system=SUPRA)]


def _timed(entries: Sequence[Entry], probes: Mapping[Cell, Outcome]) -> list[Entry]:
    """The entries whose cost is known, with epochs of the same cost."""

    def timed(cell: Cell) -> Cell:
        return replace(as_long_as_supra(replace(cell, seed=0), probes), seed=cell.seed)

    return [
        replace(entry, cells=tuple(map(timed, entry.cells)))
        for entry in entries
        if all(probe(cell) in probes for cell in _with_supra(entry))
    ]


def _known(entry: Entry, outcomes: Mapping[Cell, Outcome]) -> tuple[Outcome, ...]:
    return tuple(outcomes[cell] for cell in entry.cells if cell in outcomes)
