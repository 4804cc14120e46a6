"""What we write beside generated files: how many samples they hold, and where those come from.

File names of public sets state the published counts whatever a file holds, so the true ones
stand in ``generated.json``.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from supra.data.errors import DataError

SIDECAR = "generated.json"
Shapes = dict[str, dict[str, tuple[int, ...]]]


@dataclass(frozen=True)
class Sidecar:
    """The record of a generated set.

    Attributes:
        problem: name of the set.
        train, test: numbers of samples; in one file, those for training come first.
        shapes: of the arrays, by file and key.
        provenance: seed, options, version: whatever the samples depend on.
    """

    problem: str
    train: int
    test: int
    shapes: Shapes
    provenance: Mapping[str, Any]

    def to_json(self) -> str:
        own = {"problem": self.problem, "train": self.train, "test": self.test}
        return json.dumps({**self.provenance, **own, "shapes": self.shapes}, indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "Sidecar":
        """Raises whatever is raised by a text that says something else."""
        record = json.loads(text)
        own = {name: record.pop(name) for name in ("problem", "train", "test", "shapes")}
        shapes = {
            file: {key: tuple(_count(n) for n in shape) for key, shape in arrays.items()}
            for file, arrays in own["shapes"].items()
        }
        return cls(str(own["problem"]), _count(own["train"]), _count(own["test"]), shapes, record)

    @classmethod
    def read(cls, root: Path) -> "Sidecar | None":
        """The record in a folder, if there is one."""
        path = root / SIDECAR
        try:
            return cls.from_json(path.read_text())
        except FileNotFoundError:
            return None
        except Exception as error:  # anything can be wrong with a text that others may change
            raise DataError(
                f"{path} is not a record of generated files ({type(error).__name__}: {error}). "
                f"Without it, the files are taken for the public ones."
            ) from error


def _count(value: Any) -> int:
    if type(value) is not int or value < 1:
        raise DataError(f"{value!r} is not a number of at least 1")
    return value
