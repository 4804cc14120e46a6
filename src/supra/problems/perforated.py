"""Diffusion in plates with holes: a problem on general domains, shared or one per sample."""

from dataclasses import dataclass, replace
from functools import lru_cache
from math import sqrt
from typing import ClassVar, Literal

import numpy as np

from supra.basis import CosineBasis
from supra.domain import Mesh
from supra.domain.choice import check_choice
from supra.domain.shapes import perforated_plate
from supra.problems.diffusion import solve_diffusion
from supra.problems.errors import ProblemError
from supra.problems.problem import Problem, Solution
from supra.problems.random_field import RandomField

Geometry = Literal["shared", "each"]


@dataclass(frozen=True)
class PerforatedPlate(Problem):
    r"""Heat in a plate: :math:`-\nabla\cdot(a\nabla u) = f`, the outer edge held at zero.

    No heat passes the edges of the holes. The conductivity is :math:`a = e^{0.7 g}`, the source
    :math:`f = 1 + g'`, with g and g' independent Gaussian fields of variance 1 and correlation
    length 1/4 of the side.

    Attributes:
        resolution: cells per side of the plate.
        holes: number of round holes.
        geometry: ``"shared"``: one plate for all samples; ``"each"``: a random plate and mesh per
            sample.
        plate: which random plate is the shared one.
        fewest: if given, the number of holes of each plate is random, too, from ``fewest`` to
            ``holes``: the samples differ in topology.
    """

    name: ClassVar[str] = "perforated"
    given: ClassVar[tuple[str, ...]] = ("a", "f")

    resolution: int = 28
    holes: int = 5
    geometry: Geometry = "shared"
    plate: int = 0
    fewest: int | None = None

    def __post_init__(self) -> None:
        check_choice("geometry", self.geometry, Geometry, ProblemError)
        if self.fewest is not None:
            _check_fewest(self.fewest, self.holes, self.geometry)
        self.mesh(self.plate)  # a plate that cannot be meshed is refused now, not in sample 1

    def mesh(self, plate: int) -> Mesh:
        """The mesh of one of the random plates with all holes."""
        return _mesh(self.resolution, self.holes, plate)

    def shared_domain(self) -> Mesh | None:
        return self.mesh(self.plate) if self.geometry == "shared" else None

    def solve(self, rng: np.random.Generator) -> Solution:
        own = self.geometry == "each"
        mesh = self._random_mesh(rng) if own else self.mesh(self.plate)
        drawn = np.stack([_field().coefficients(rng) for _ in range(2)])
        medium, source = _field().values(drawn, mesh)
        coefficient, force = np.exp(0.7 * medium), 1 + source
        solution = solve_diffusion(mesh, coefficient, force, np.unique(mesh.boundaries["outer"]))
        fields = {"a": coefficient, "f": force, "u": solution}
        return fields | {"points": mesh.points, "cells": mesh.cells} if own else fields

    def _random_mesh(self, rng: np.random.Generator) -> Mesh:
        plate = int(rng.integers(2**32))
        if self.fewest is None:
            return self.mesh(plate)
        holes = int(rng.integers(self.fewest, self.holes, endpoint=True))
        return _mesh(self.resolution, holes, plate)


def _check_fewest(fewest: int, holes: int, geometry: Geometry) -> None:
    if geometry != "each" or not 0 <= fewest <= holes:
        raise ProblemError(
            f"`fewest` holes, from 0 to `holes`, are for plates that differ, geometry='each': got "
            f"fewest={fewest}, holes={holes}, geometry={geometry!r}."
        )


@lru_cache(maxsize=4)
def _mesh(resolution: int, holes: int, plate: int) -> Mesh:
    return perforated_plate(resolution, holes=holes, seed=plate)


@lru_cache(maxsize=1)
def _field() -> RandomField:
    field = RandomField(CosineBasis((16, 16)), tau=4.0, alpha=3.0)
    return replace(field, scale=1 / sqrt(field.variance))
