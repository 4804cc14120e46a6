"""Heat in plates with holes, at points without connectivity."""

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal

import numpy as np

from supra.domain import Mesh
from supra.domain.choice import check_choice
from supra.problems.errors import ProblemError
from supra.problems.perforated import PerforatedPlate
from supra.problems.problem import Problem, Solution

Scatter = Literal["nodes", "uniform"]
FIELDS = ("a", "f", "u")


@dataclass(frozen=True)
class PlatePoints(Problem):
    """A random `PerforatedPlate` per sample, of which only points are kept: no cells, no edges.

    It is solved on a mesh as ever. What is told is where the points are and ``a``, ``f`` and ``u``
    there, in no order: that there are holes shows only in where no points are.

    Attributes:
        resolution: cells per side of the plate that is solved on.
        holes: number of round holes.
        fewest: if given, the number of holes is random, too, from ``fewest`` to ``holes``.
        scatter: ``"nodes"``: the points are the nodes of the mesh, about equally far from each
            other; ``"uniform"``: as many points anywhere, with crowds and gaps as chance has them.
    """

    name: ClassVar[str] = "plate_points"
    given: ClassVar[tuple[str, ...]] = ("a", "f")

    resolution: int = 28
    holes: int = 5
    fewest: int | None = None
    scatter: Scatter = "nodes"

    def __post_init__(self) -> None:
        check_choice("scatter", self.scatter, Scatter, ProblemError)
        self.plate()  # checks the other options

    def plate(self) -> PerforatedPlate:
        """What is solved."""
        return _plate(self.resolution, self.holes, self.fewest)

    def solve(self, rng: np.random.Generator) -> Solution:
        solution = self.plate().solve(rng)
        mesh = Mesh(solution["points"], solution["cells"])
        nodes = len(mesh.points)
        if self.scatter == "nodes":
            corners, weights = rng.permutation(nodes)[:, None], np.ones((nodes, 1))
        else:
            corners, weights = _anywhere(mesh, nodes, rng)
        kept = {name: solution[name] for name in FIELDS} | {"points": mesh.points}
        return {
            name: np.einsum("pc,pc...->p...", weights, values[corners])
            for name, values in kept.items()
        }


def _anywhere(mesh: Mesh, count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Points of equal density: the corners of their cells, and their coordinates in these."""
    share = mesh.cell_measures / mesh.measure
    cells = mesh.cells[rng.choice(len(share), size=count, p=share)]
    return cells, rng.dirichlet(np.ones(cells.shape[1]), size=count)


@lru_cache(maxsize=4)
def _plate(resolution: int, holes: int, fewest: int | None) -> PerforatedPlate:
    """Kept, because a plate that is new draws a mesh to check its options."""
    return PerforatedPlate(resolution, holes, geometry="each", fewest=fewest)
