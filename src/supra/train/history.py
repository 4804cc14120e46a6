"""The course of a training: one line of ``metrics.jsonl`` per epoch."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from supra.data.replacement import replacing
from supra.train.errors import TrainError
from supra.train.world import ALONE, World

METRICS = "metrics.jsonl"


@dataclass(frozen=True)
class History:
    """Metrics of all epochs so far, in a file and here."""

    path: Path
    lines: tuple[dict[str, Any], ...] = ()

    @classmethod
    def new(cls, folder: Path, world: World = ALONE) -> "History":
        """An empty history; the file is made anew."""
        if world.writes:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / METRICS).write_text("")
        return cls(folder / METRICS)

    @classmethod
    def read(cls, folder: Path, epochs: int | None = None) -> "History":
        """The history up to an epoch; what was written after it is forgotten."""
        path = folder / METRICS
        try:
            lines = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
            kept = [line for line in lines if epochs is None or line["epoch"] <= epochs]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise TrainError(f"{path} is not a record of a training: {error}") from error
        if epochs is not None and len(kept) != epochs:
            raise TrainError(f"{path} holds {len(kept)} epochs, the checkpoint {epochs}.")
        return cls(path, tuple(kept))

    @property
    def epochs(self) -> int:
        return len(self.lines)

    @property
    def errors(self) -> list[float]:
        """The validation error of each epoch."""
        return [line["valid_error"] for line in self.lines]

    @property
    def best(self) -> int:
        """Number of the epoch with the lowest validation error, from 1."""
        return self.errors.index(min(self.errors)) + 1

    @property
    def is_best(self) -> bool:
        """Whether the last epoch is the best so far."""
        return self.best == self.epochs

    @property
    def epochs_without_gain(self) -> int:
        return self.epochs - self.best if self.epochs else 0

    def with_epoch(self, **metrics: Any) -> "History":
        return History(self.path, (*self.lines, metrics))

    def write(self) -> None:
        """All lines, through another file: a reader never sees half a line."""
        with replacing(self.path) as unfinished:
            unfinished.write_text("".join(json.dumps(line) + "\n" for line in self.lines))
