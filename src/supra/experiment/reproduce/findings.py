"""What the paper's ablations show, and whether a table measured here agrees."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import inf

from supra.experiment.reproduce.table import Measured

Errors = dict[str, float]  # by column; infinite where the training diverged
_MUCH = 1.5  # times the best error; the paper's own numbers differ by up to 1.41
_LITTLE = 1.15
_CLEARLY = 0.95  # times: less of a difference is noise


@dataclass(frozen=True)
class Finding:
    """What the paper's numbers show, in which columns, and the test of a row that supports it."""

    statement: str
    columns: tuple[str, ...]
    supported: Callable[[Errors], bool]


def _few_suffice(errors: Errors) -> bool:
    return errors["few"] <= _MUCH * min(errors.values())


def _alike(errors: Errors) -> bool:
    pair = errors["fourier"], errors["chebyshev"]
    return max(pair) <= _LITTLE * min(pair)


def _eigen_wins(errors: Errors) -> bool:
    return errors["laplacian"] < errors["fourier"]


def _norm_needed(errors: Errors) -> bool:
    return errors["none"] > 2 * min(errors["layer"], errors["instance"])


def _norms_alike(errors: Errors) -> bool:
    return errors["instance"] <= _LITTLE * errors["layer"]


def _larger_is_better(errors: Errors) -> bool:
    return errors["large"] <= _CLEARLY * errors["small"]


FINDINGS: dict[str, Sequence[Finding]] = {
    "basis-number": (
        Finding(
            f"few basis functions do not hurt much (less than {_MUCH} times)",
            ("few", "medium", "many"),
            _few_suffice,
        ),
    ),
    "basis-choice": (
        Finding(
            f"Fourier and Chebyshev are within {_LITTLE} times of each other",
            ("fourier", "chebyshev"),
            _alike,
        ),
    ),
    "airfoil-basis": (
        Finding(
            "eigenfunctions of the mesh beat Fourier functions of the grid",
            ("laplacian", "fourier"),
            _eigen_wins,
        ),
    ),
    "normalization": (
        Finding(
            "without a norm training can fail (here: twice the error)",
            ("none", "layer", "instance"),
            _norm_needed,
        ),
        Finding(
            f"instance norm is no worse than {_LITTLE} times layer norm",
            ("layer", "instance"),
            _norms_alike,
        ),
    ),
    "model-size": (
        Finding(
            f"more layers and more functions lower the error (below {_CLEARLY} times)",
            ("small", "large"),
            _larger_is_better,
        ),
    ),
}


def verdicts(table: str, measured: Measured) -> Iterator[str]:
    """One sentence for every finding: confirmed, contradicted, or where.

    A row in which one of the columns to compare is still to be measured says nothing.
    """
    for finding in FINDINGS.get(table, ()):
        errors = {row: _errors(measured, row) for row in measured.rows}
        judged = [row for row in errors if errors[row].keys() >= set(finding.columns)]
        agree = [row for row in judged if finding.supported(errors[row])]
        differ = [row for row in judged if row not in agree]
        if judged:
            yield f"In the paper {finding.statement}: {_verdict(agree, differ)}."


def _verdict(agree: Sequence[str], differ: Sequence[str]) -> str:
    if not differ:
        return "confirmed here"
    if not agree:
        return "contradicted here"
    return f"confirmed on {'; '.join(agree)}; not on {'; '.join(differ)}"


def _errors(measured: Measured, row: str) -> Errors:
    found = (measured.at(row, column) for column in measured.columns)
    return {f.entry.column: inf if f.failed else f.mean for f in found if f is not None}
