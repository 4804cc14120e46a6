"""What a measured table says, in a sentence: computed from its numbers."""

from collections.abc import Iterator

from supra.experiment.preset import SUPRA
from supra.experiment.reproduce.entries import WHOLE
from supra.experiment.reproduce.findings import verdicts
from supra.experiment.reproduce.table import Found, Measured


def remarks(name: str, measured: Measured) -> Iterator[str]:
    """Sentences to print below a table."""
    if name == "accuracy":
        yield from _ranks(measured)
    elif name == "geometry":
        yield from _ways(measured)
    elif name == "ingredients":
        yield from _worth(measured)
    else:
        yield from verdicts(name, measured)
        yield from _ratios(measured)


def _ranks(measured: Measured) -> Iterator[str]:
    """Where SUPRA stands on every problem, against the best of the others."""
    firsts = compared = 0
    for row in measured.rows:
        found = _row(measured, row)
        supra = [f for f in found if f.entry.column == SUPRA]
        others = [f for f in found if not f.entry.column.startswith(SUPRA)]
        if not supra or not others:
            continue
        rival = min(others, key=lambda f: f.mean)
        change = supra[0].mean / rival.mean - 1
        firsts, compared = firsts + (change < 0), compared + 1
        word = "lower" if change < 0 else "higher"
        yield (
            f"{row}: SUPRA's error is {abs(change):.0%} {word} than that of {rival.entry.column}, "
            f"the best of the others."
        )
    if compared:
        yield f"SUPRA has the lowest error on {firsts} of {compared} problems."


def _ways(measured: Measured) -> Iterator[str]:
    """The best way to a basis against the other ways, and against networks without a basis."""
    found = [f for f in measured.found if not f.failed]
    supra = [f for f in found if f.entry.cells[0].system.startswith(SUPRA)]
    others = [f for f in found if f not in supra]
    if not supra:
        return
    best, worst = min(supra, key=_measured_key), max(supra, key=_measured_key)
    row = best.entry.row
    yield f"Lowest error: {row}. {worst.entry.row} has {worst.mean / best.mean:.2f} times as much."
    for other in others:
        yield f"{other.entry.row} has {other.mean / best.mean:.2f} times the error of {row}."


def _worth(measured: Measured) -> Iterator[str]:
    """How much larger errors are without a part."""
    for row in measured.rows:
        pairs = [(measured.at(row, c), measured.at(WHOLE, c)) for c in measured.columns]
        times = [
            f"{less.mean / whole.mean:.2f} ({less.entry.column})"
            for less, whole in pairs
            if less is not None and whole is not None and less != whole
        ]
        if times:
            yield f"{row}: {', '.join(times)} times the error of {WHOLE}."


def _ratios(measured: Measured) -> Iterator[str]:
    """The order of the columns (or rows) here and in the paper."""
    for row in measured.rows:
        found = [f for f in _row(measured, row) if f.entry.paper is not None]
        if len(found) > 1:
            ours, theirs = (min(found, key=key).entry.column for key in (_measured_key, _paper_key))
            agrees = "as in the paper" if ours == theirs else f"in the paper {theirs}"
            spread = max(map(_measured_key, found)) / min(map(_measured_key, found))
            yield f"{row}: best {ours}, {agrees}; worst to best {spread:.2f}."


def _row(measured: Measured, row: str) -> list[Found]:
    found = (measured.at(row, column) for column in measured.columns)
    return [f for f in found if f is not None and not f.failed]


def _measured_key(found: Found) -> float:
    return found.mean


def _paper_key(found: Found) -> float:
    paper = found.entry.paper
    return float("inf") if paper is None or paper != paper else paper
