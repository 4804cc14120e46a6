"""A measured table as Markdown, CSV, JSON and a picture."""

import csv
import io
import json
from math import isnan
from pathlib import Path
from typing import Any

from supra.data.replacement import replacing
from supra.experiment.report.number import number
from supra.experiment.reproduce.curves import draw_curves
from supra.experiment.reproduce.draw import draw
from supra.experiment.reproduce.table import Found, Measured, of_one_problem

_FIELDS = ("row", "column", "paper_percent", "mean_percent", "spread_percent", "seeds", "weights",
           "epochs", "cpu_minutes", "command")  # fmt: skip


def write_table(measured: Measured, folder: Path, root: Path) -> list[Path]:
    """Files ``name.md``, ``.csv``, ``.json``, and pictures; ``root`` is where the runs are."""
    folder.mkdir(parents=True, exist_ok=True)
    records = [_record(found, root) for found in measured.found]
    texts = {
        "md": markdown(measured, root),
        "csv": _csv(records),
        "json": json.dumps({"title": measured.title, "entries": records}, indent=1) + "\n",
    }
    paths = []
    for suffix, text in texts.items():
        with replacing(folder / f"{measured.name}.{suffix}") as unfinished:
            unfinished.write_text(text)
        paths.append(folder / f"{measured.name}.{suffix}")
    pictures = [folder / f"{measured.name}.png", folder / f"{measured.name}-curves.png"]
    draw(measured, pictures[0])
    draw_curves(measured, pictures[1])
    return [*paths, *pictures]


def markdown(measured: Measured, root: Path) -> str:
    """The table, remarks, and the commands that its numbers come from."""
    head = ["", *measured.columns]
    lines = [
        f"# {measured.title}",
        "",
        "Relative L2 error in per cent, mean ± standard deviation over seeds where there are "
        "several; in brackets the paper's number.",
        "",
        *markdown_rows([head, *([row, *_shown_row(measured, row)] for row in measured.rows)]),
        "",
        *(f"- {remark}" for remark in measured.remarks),
        "",
        "## Cost and commands",
        "",
        *markdown_rows([
            ["", "", "weights", "epochs", "seeds", "CPU minutes", "command (first seed)"],
            *(_cost_row(found, root) for found in measured.found),
        ]),
        "",
    ]  # fmt: skip
    return "\n".join(lines)


def shown(found: Found) -> str:
    """``1.23 ± 0.04 (0.43)``; an arrow where training diverged."""
    text = "↑" if found.failed else number(found.mean)
    if found.spread is not None:
        text += f" ± {float(f'{found.spread:.1g}'):g}"  # 10, not 1e+01
    if found.entry.paper is None:
        return text
    return text + (" (↑)" if isnan(found.entry.paper) else f" ({found.entry.paper:g})")


def _shown_row(measured: Measured, row: str) -> list[str]:
    found = [measured.at(row, column) for column in measured.columns]
    there = measured.in_row(row)
    compared = there if of_one_problem(there) and len(there) > 1 else []
    best = min((f.mean for f in compared if not f.failed), default=None)
    return ["" if f is None else _bold(shown(f), f.mean == best) for f in found]


def _bold(text: str, strong: bool) -> str:
    return f"**{text}**" if strong else text


def _cost_row(found: Found, root: Path) -> list[str]:
    cell = found.entry.cells[0]
    weights = "" if found.weights is None else f"{found.weights:,}"
    command = f"`{cell.command(root / cell.name)}`"
    return [found.entry.row, found.entry.column, weights, str(found.epochs or ""),
            str(len(found.outcomes)), f"{found.cpu_minutes:.1f}", command]  # fmt: skip


def markdown_rows(rows: list[list[str]]) -> list[str]:
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return [lines[0], "|" + "---|" * len(rows[0]), *lines[1:]]


def _record(found: Found, root: Path) -> dict[str, Any]:
    entry, cell = found.entry, found.entry.cells[0]
    values = (entry.row, entry.column, _plain(entry.paper), _plain(found.mean),
              _plain(found.spread), len(found.outcomes), found.weights, found.epochs,
              round(found.cpu_minutes, 2), cell.command(root / cell.name))  # fmt: skip
    return dict(zip(_FIELDS, values, strict=True))


def _plain(value: float | None) -> float | str | None:
    """JSON has no word for what is not a number."""
    if value is None:
        return None
    return "diverged" if isnan(value) else round(value, 5)


def _csv(records: list[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, _FIELDS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()
