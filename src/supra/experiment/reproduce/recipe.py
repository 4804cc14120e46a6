"""How the systems are trained: each as its authors do, or all as SUPRA is."""

from dataclasses import replace
from typing import Any, Literal

from supra.experiment.preset import SUPRA
from supra.experiment.reproduce.cell import Cell, changes_to

Recipe = Literal["published", "shared"]
_OWN = ("epochs", "batch_size")  # not a matter of the recipe


def with_shared_recipe(cell: Cell) -> Cell:
    """The cell with SUPRA's optimiser, learning rate and schedule on the same problem."""
    own, shared = _training(cell), _training(replace(cell, system=SUPRA, changes=()))
    other = {
        name: value for name, value in shared.items() if name not in _OWN and value != own[name]
    }
    return replace(cell, changes=(*cell.changes, *changes_to("train", other)))


def _training(cell: Cell) -> dict[str, Any]:
    return cell.experiment.train.model_dump(mode="json")
