"""One training run of a table: what it is, where it lives, how to start it by hand."""

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from supra.experiment.config import Experiment, SupraConfig
from supra.experiment.preset import SUPRA, Scale, load_experiment


@dataclass(frozen=True)
class Cell:
    """A system trained on a problem.

    Attributes:
        problem: a preset.
        scale: of the preset.
        system: the network and its recipe.
        changes: fields that differ from the recipe, as ``name=value``.
        seed: of weights and order.
    """

    problem: str
    scale: Scale
    system: str = SUPRA
    changes: tuple[str, ...] = ()
    seed: int = 0

    @property
    def experiment(self) -> Experiment:
        return load_experiment(self.problem, self.scale, self._all_changes, self.system)

    @property
    def _all_changes(self) -> tuple[str, ...]:
        return (*self.changes, f"seed={self.seed}")

    @property
    def name(self) -> str:
        """Of its folder: equal for runs that are equal, whatever table they belong to.

        Options at their defaults do not count, so that runs outlive an option added later.
        """
        content = of_run(self.experiment, exclude_defaults=True)
        kinds = of_run(self.experiment, include={"basis": {"kind"}, "model": {"kind"}})
        code = sha256(json.dumps([content, kinds], sort_keys=True).encode()).hexdigest()[:8]
        return f"{self.problem}-{self.scale}-{self.system}-{code}"

    def arguments(self, folder: Path) -> list[str]:
        """Of the command that trains it."""
        change = [word for each in self._all_changes for word in ("-s", each)]
        chosen = ["--scale", self.scale, "--model", self.system]
        return ["train", self.problem, *chosen, *change, "--out", str(folder)]

    def command(self, folder: Path) -> str:
        return "supra " + shlex.join(self.arguments(folder))


def changes_to(part: str, values: Mapping[str, Any]) -> tuple[str, ...]:
    """Values of a part of an experiment, as changes such as ``train.epochs=8``."""
    return tuple(f"{part}.{name}={json.dumps(value)}" for name, value in values.items())


def of_run(experiment: Experiment, **options: Any) -> dict[str, Any]:
    """What a run depends on. Other systems have no basis: one is there for the points only."""
    content = experiment.model_dump(mode="json", **options)
    if not isinstance(experiment.model, SupraConfig):
        content.pop("basis", None)
    return content
