"""What a finished run of a table leaves: one small file, which outlives the run's folder."""

import json
from pathlib import Path
from typing import Any

from supra.data.replacement import replacing
from supra.experiment.config import Experiment
from supra.experiment.preset import parse_experiment
from supra.experiment.reproduce.cell import Cell, of_run
from supra.experiment.run import RESULT, load_config
from supra.train import METRICS, History, TrainError

FAILED = "failed.txt"
Outcome = dict[str, Any]


def outcome(cell: Cell, runs: Path, records: Path) -> Outcome | None:
    """What a finished cell found: its result, or why it failed. Nothing if it is not finished.

    What is found in the folder of its run is recorded; a record needs no run.
    """
    path = records / f"{cell.name}.json"
    if path.exists():
        record = _read(path)
        _check_same(cell, parse_experiment(record["experiment"], str(path)), path)
        return record["outcome"]
    folder = runs / cell.name
    found = _of_run(folder)
    if found is not None:
        _check_same(cell, load_config(folder), folder)
        command = cell.command(Path(cell.name))  # where the run was is nobody else's matter
        _write(path, {"command": command, "experiment": _dump(cell), "outcome": found})
    return found


def _of_run(folder: Path) -> Outcome | None:
    if (folder / RESULT).exists():
        result = json.loads((folder / RESULT).read_text())
        result.get("provenance", {}).pop("command", None)  # that of the cell says it
        return {**result, "history": _history(folder)}
    if (folder / FAILED).exists():
        return {"failed": (folder / FAILED).read_text(), "history": _history(folder)}
    return None


def _history(folder: Path) -> list[dict[str, float]]:
    """Validation error and CPU seconds of every epoch."""
    if not (folder / METRICS).exists():
        return []
    keys = ("epoch", "valid_error", "cpu_seconds")
    return [{key: line[key] for key in keys} for line in History.read(folder).lines]


def _check_same(cell: Cell, before: Experiment, where: Path) -> None:
    """Refuse a run of an earlier version whose defaults were others."""
    old, new = of_run(before), of_run(cell.experiment)
    old["data"]["root"] = new["data"]["root"]  # the same data may lie elsewhere
    if old != new:
        parts = [name for name in new if new[name] != old[name]]
        raise TrainError(
            f"{where} was trained with other values of {', '.join(parts)} than the table asks for "
            f"now. Remove it to train it again."
        )


def _dump(cell: Cell) -> dict[str, Any]:
    return cell.experiment.model_dump(mode="json")


def _read(path: Path) -> dict[str, Any]:
    try:
        record = json.loads(path.read_text())
        return {"experiment": record["experiment"], "outcome": record["outcome"]}
    except (ValueError, KeyError, TypeError) as error:
        raise TrainError(
            f"{path} is not a record of a run ({error}). Remove it to train it again."
        ) from error


def _write(path: Path, record: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as unfinished:
        unfinished.write_text(json.dumps(record, indent=1) + "\n")
