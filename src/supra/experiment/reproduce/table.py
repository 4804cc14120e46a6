"""A table: rows and columns of cells, the paper's numbers beside them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import isnan, nan
from statistics import mean, stdev

from supra.experiment.reproduce.cell import Cell
from supra.experiment.reproduce.record import Outcome


def test_error(outcome: Outcome) -> float:
    """The relative L2 error on the test set; not a number where the training diverged."""
    return nan if "failed" in outcome else float(outcome["test"]["relative_l2"])


def train_error(outcome: Outcome) -> float:
    return nan if "failed" in outcome else float(outcome["train_error"])


@dataclass(frozen=True)
class Entry:
    """One place of a table.

    Attributes:
        row, column: names.
        cells: the same run with several seeds.
        paper: the paper's number, in per cent; not a number where its training blew up, nothing
            where it has none.
        value: what of an outcome is shown.
    """

    row: str
    column: str
    cells: tuple[Cell, ...]
    paper: float | None = None
    value: Callable[[Outcome], float] = test_error


@dataclass(frozen=True)
class Found:
    """What was measured for an entry, with all of its seeds or some."""

    entry: Entry
    outcomes: tuple[Outcome, ...]

    @property
    def values(self) -> list[float]:
        """Per cent, one per seed."""
        return [100 * self.entry.value(outcome) for outcome in self.outcomes]

    @property
    def mean(self) -> float:
        return mean(self.values)

    @property
    def spread(self) -> float | None:
        """Standard deviation over the seeds, if there are several."""
        return stdev(self.values) if len(self.values) > 1 and not self.failed else None

    @property
    def weights(self) -> int | None:
        return self.outcomes[0].get("parameters")

    @property
    def cpu_minutes(self) -> float:
        """Of one run, on average."""
        return mean(outcome.get("training_cpu_seconds", 0.0) for outcome in self.outcomes) / 60

    @property
    def epochs(self) -> int | None:
        return self.outcomes[0].get("epochs")

    @property
    def failed(self) -> bool:
        return isnan(self.mean)


@dataclass(frozen=True)
class Measured:
    """A table with its numbers.

    Attributes:
        name: of the table.
        title: what it shows.
        found: entries, in order.
        remarks: sentences below it.
    """

    name: str
    title: str
    found: Sequence[Found]
    remarks: Sequence[str] = field(default_factory=tuple)

    @property
    def rows(self) -> list[str]:
        return list(dict.fromkeys(found.entry.row for found in self.found))

    @property
    def columns(self) -> list[str]:
        return list(dict.fromkeys(found.entry.column for found in self.found))

    def at(self, row: str, column: str) -> Found | None:
        matching = (f for f in self.found if (f.entry.row, f.entry.column) == (row, column))
        return next(matching, None)

    def in_row(self, row: str) -> list[Found]:
        return [found for found in self.found if found.entry.row == row]

    @property
    def for_pictures(self) -> "Measured":
        """A table whose rows compare nothing lies on its side there.

        What is compared belongs side by side: such a table has one column, or problems for columns.
        """
        if len(self.columns) > 1 and all(of_one_problem(self.in_row(row)) for row in self.rows):
            return self
        turned = [
            replace(f, entry=replace(f.entry, row=f.entry.column, column=f.entry.row))
            for f in self.found
        ]
        return replace(self, found=turned)


def of_one_problem(found: Sequence[Found]) -> bool:
    """Whether their errors may be compared."""
    return len({f.entry.cells[0].problem for f in found}) == 1
