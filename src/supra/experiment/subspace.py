"""Where the basis of a sample comes from: its grid, one mesh for all, or its own mesh."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from supra.basis import Basis, LaplacianBasis, SampledBasis
from supra.basis.base import Boundary
from supra.basis.sampled import Sampled
from supra.data import Dataset
from supra.domain import Domain, DomainError, Grid, Mesh


@dataclass(frozen=True)
class FamilySubspace:
    """Functions known at any point: sampled on each grid, once per shape of grid."""

    basis: Basis
    _sampled: dict[Any, Sampled] = field(default_factory=dict, repr=False)

    @property
    def modes(self) -> int:
        return self.basis.modes

    def __call__(self, domain: Domain) -> Sampled:
        # Functions on the box do not depend on where a mapped grid's points are.
        key = (domain.shape, domain.periodic, domain.nodes) if isinstance(domain, Grid) else domain
        if key not in self._sampled:
            self._sampled[key] = self.basis.sample(domain)
        return self._sampled[key]

    def state(self) -> dict[str, Any]:
        return {}


@dataclass(frozen=True)
class MeshSubspace:
    """Eigenfunctions of one mesh for all samples.

    Attributes:
        basis: the eigenfunctions on the mesh, its coincident nodes glued.
        node_map: from the samples' points to the glued mesh's.
        by_position: sample at other points by interpolation; else by the number of the point, for
            samples whose meshes are deformations of this one.
    """

    basis: LaplacianBasis
    node_map: np.ndarray
    by_position: bool
    _sampled: dict[Any, Sampled] = field(default_factory=dict, repr=False)

    @classmethod
    def of_shared(cls, domain: Domain, modes: int, boundary: Boundary) -> "MeshSubspace":
        return cls(*_glued_basis(_as_mesh(domain), modes, boundary), by_position=True)

    @classmethod
    def of_mean(cls, dataset: Dataset, modes: int, boundary: Boundary) -> "MeshSubspace":
        """Of the mesh whose points are the means of those of all samples."""
        domains = [dataset[k].domain for k in range(len(dataset))]
        if len({len(domain.points) for domain in domains}) > 1:
            raise DomainError(
                "The mean of meshes needs the same points in each: they differ in number. Use "
                "basis.geometry=own."
            )
        points = np.mean([domain.points for domain in domains], axis=0)
        first = domains[0]
        mean = Grid(first.shape, points=points) if isinstance(first, Grid) else None
        mesh = _as_mesh(mean) if mean is not None else _as_mesh(first).with_points(points)
        return cls(*_glued_basis(mesh, modes, boundary), by_position=False)

    @property
    def modes(self) -> int:
        return self.basis.modes

    def __call__(self, domain: Domain) -> Sampled:
        same = len(domain.points) == len(self.node_map)
        if same and (not self.by_position or self._is_mine(domain)):
            return self._at_nodes()
        if not self.by_position:
            raise DomainError(
                f"This subspace is of meshes with {len(self.node_map)} points: got "
                f"{len(domain.points)}."
            )
        if domain not in self._sampled:
            self._sampled[domain] = self.basis.sample(domain)
        return self._sampled[domain]

    def _is_mine(self, domain: Domain) -> bool:
        return np.array_equal(domain.points, self.basis.domain.points[self.node_map])

    def _at_nodes(self) -> Sampled:
        if "nodes" not in self._sampled:
            sampled = self.basis.sample(self.basis.domain)
            assert isinstance(sampled, SampledBasis)
            self._sampled["nodes"] = sampled.unwelded(torch.tensor(self.node_map))
        return self._sampled["nodes"]

    def state(self) -> dict[str, Any]:
        """The functions themselves: eigenvectors computed elsewhere may be turned differently."""
        basis, mesh = self.basis, self.basis.domain
        assert isinstance(mesh, Mesh)
        arrays = {
            "points": mesh.points,
            "cells": mesh.cells,
            "values": basis.values,
            "eigenvalues": basis.eigenvalues,
            "residuals": basis.residuals,
            "node_map": self.node_map,
        }
        tensors = {name: torch.tensor(a) for name, a in arrays.items()}
        return {**tensors, "method": basis.method, "by_position": self.by_position}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "MeshSubspace":
        arrays = {name: t.numpy() for name, t in state.items() if isinstance(t, torch.Tensor)}
        mesh = Mesh(arrays["points"], arrays["cells"])
        basis = LaplacianBasis(
            mesh, arrays["values"], arrays["eigenvalues"], arrays["residuals"], state["method"]
        )
        return cls(basis, arrays["node_map"], state["by_position"])


@dataclass(frozen=True)
class OwnSubspace:
    """Eigenfunctions of each sample's own mesh; those computed before are read from the cache."""

    modes: int
    boundary: Boundary

    def __call__(self, domain: Domain) -> Sampled:
        if isinstance(domain, Grid):
            domain = _as_mesh(domain)
        if isinstance(domain, Mesh):
            return LaplacianBasis.from_mesh(domain, self.modes, self.boundary).sample(domain)
        return LaplacianBasis.from_points(domain.points, self.modes).sample(domain)

    def state(self) -> dict[str, Any]:
        return {}


Subspace = FamilySubspace | MeshSubspace | OwnSubspace


def _as_mesh(domain: Domain) -> Mesh:
    if isinstance(domain, Grid):
        return domain.to_mesh()
    if not isinstance(domain, Mesh):
        raise DomainError(
            f"Eigenfunctions for all samples need a mesh or a grid: got a "
            f"{type(domain).__name__}. Use basis.geometry=own."
        )
    return domain


def _glued_basis(mesh: Mesh, modes: int, boundary: Boundary) -> tuple[LaplacianBasis, np.ndarray]:
    """Where a grid meets itself, as behind an airfoil, functions have to be continuous."""
    glued = mesh.welded()
    node_map = np.arange(len(mesh.points)) if glued.node_map is None else glued.node_map
    return LaplacianBasis.from_mesh(glued, modes, boundary), node_map
