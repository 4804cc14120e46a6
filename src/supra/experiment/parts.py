"""Finished samples on disk, one file each, so that a generation can be stopped and go on."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from supra.data import DataError
from supra.data.replacement import replacing
from supra.problems import Solution, Split


@dataclass(frozen=True)
class Parts:
    """A folder of finished samples and the request they belong to."""

    folder: Path

    @classmethod
    def open(cls, folder: Path, request: dict[str, Any]) -> "Parts":
        """The folder's parts, if they are of the same problem, options and seed."""
        folder.mkdir(parents=True, exist_ok=True)
        note = folder / "request.json"
        if not note.exists():
            with replacing(note) as unfinished:
                unfinished.write_text(json.dumps(request, indent=1))
        found = json.loads(note.read_text())
        if found != json.loads(json.dumps(request)):
            raise DataError(
                f"{folder} holds samples of another request: {found}, not {request}. Delete the "
                f"folder or name another output."
            )
        return cls(folder)

    def missing(self, split: Split, count: int) -> list[int]:
        """Numbers of the samples that are not there yet."""
        return [index for index in range(count) if not self._path(split, index).exists()]

    def save(self, split: Split, index: int, solution: Solution) -> None:
        # Given a name, numpy would add an extension.
        with replacing(self._path(split, index)) as unfinished, open(unfinished, "wb") as file:
            np.savez(file, **solution)  # type: ignore[arg-type]

    def load(self, split: Split, index: int) -> Solution:
        path = self._path(split, index)
        try:
            with np.load(path) as arrays:
                return dict(arrays)
        except (ValueError, OSError, BadZipFile, EOFError) as error:
            raise DataError(f"{path} is damaged ({error}). Delete it and run again.") from error

    def all(self, split: Split, count: int) -> Iterator[Solution]:
        return (self.load(split, index) for index in range(count))

    def remove(self) -> None:
        shutil.rmtree(self.folder)

    def _path(self, split: Split, index: int) -> Path:
        return self.folder / f"{split}-{index:06d}.npz"
