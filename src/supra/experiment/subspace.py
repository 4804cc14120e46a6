"""Where the basis of a sample comes from: its grid, one mesh for all, or its own mesh."""

from dataclasses import dataclass, field, replace
from functools import partial
from math import ceil
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from supra.basis import Basis, LaplacianBasis, SampledBasis
from supra.basis.align import Align, aligned
from supra.basis.base import Boundary
from supra.basis.landmark import Landmarks, bounding_box
from supra.basis.pod import principal_components
from supra.basis.sampled import Sampled
from supra.basis.stencil import Stencil
from supra.data import Dataset
from supra.domain import Domain, DomainError, Grid, Mesh
from supra.experiment.kept import Kept, fingerprint

_NODES_PER_MODE = 40  # of a box's mesh: its last eigenvalue is then within a few per cent
_ROWS = 4000  # snapshots that principal components are made of
_TYPICAL = 16  # samples whose eigenvalues tell which ones to expect


@dataclass(frozen=True)
class FamilySubspace:
    """Functions known at any point: sampled on each domain, once per shape of grid.

    On other points than a grid's they are made orthonormal in the sample's own quadrature.

    Attributes:
        basis: the functions.
        stencil: on a mesh, its operators between neighbours go with them; as in the others below.
    """

    basis: Basis
    stencil: bool = False
    _kept: Kept = field(default_factory=Kept, repr=False)

    @property
    def modes(self) -> int:
        return self.basis.modes

    def __call__(self, domain: Domain) -> Sampled:
        if isinstance(domain, Grid):
            # Functions on the box do not depend on where a mapped grid's points are.
            key = (domain.shape, domain.periodic, domain.nodes)
            return self._kept(key, lambda: self.basis.sample(domain))
        make = partial(self.basis.sample, domain, defect="adapt")
        return self._kept(fingerprint(domain), lambda: _carrying(self.stencil, make(), domain))

    def state(self) -> dict[str, Any]:
        return {"stencil": self.stencil}


@dataclass(frozen=True)
class MeshSubspace:
    """Eigenfunctions of one mesh for all samples.

    Attributes:
        basis: the eigenfunctions on the mesh, its coincident nodes glued.
        node_map: from the samples' points to the glued mesh's.
        by_position: sample at other points by interpolation, orthonormal in their own quadrature;
            else by the number of the point, for samples whose meshes are deformations of this one.
        stencil: operators between neighbours are those of the mesh, like its functions, or those
            of the domain that has other points.
    """

    basis: LaplacianBasis
    node_map: np.ndarray
    by_position: bool
    stencil: bool = False
    _kept: Kept = field(default_factory=Kept, repr=False)

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

    @classmethod
    def of_reference(
        cls, dataset: Dataset, mesh: Mesh | None, modes: int, boundary: Boundary
    ) -> "MeshSubspace":
        """Of a domain that covers all samples: a given mesh, or the box around them."""
        mesh = _box_mesh(dataset, _NODES_PER_MODE * modes) if mesh is None else mesh
        return cls(*_glued_basis(mesh, modes, boundary), by_position=True)

    @property
    def modes(self) -> int:
        return self.basis.modes

    def __call__(self, domain: Domain) -> Sampled:
        same = len(domain.points) == len(self.node_map)
        if same and (not self.by_position or self._is_mine(domain)):
            return self._at_nodes(_grid_shape(domain))
        if not self.by_position:
            raise DomainError(
                f"This subspace is of meshes with {len(self.node_map)} points: got "
                f"{len(domain.points)}."
            )
        return self._kept(fingerprint(domain), lambda: self._by_position(domain))

    def _by_position(self, domain: Domain) -> Sampled:
        sampled = self.basis.sample(domain, defect="adapt")
        if not self.stencil or not isinstance(domain, Mesh):
            return _carrying(self.stencil, sampled, domain)
        glued = domain.welded()  # as the functions' own mesh is
        return _carrying(self.stencil, sampled, glued, glued.node_map)

    def _is_mine(self, domain: Domain) -> bool:
        return np.array_equal(domain.points, self.basis.domain.points[self.node_map])

    def _at_nodes(self, shape: tuple[int, ...] | None) -> Sampled:
        def make() -> Sampled:
            sampled = self.basis.sample(self.basis.domain)
            assert isinstance(sampled, SampledBasis)
            sampled = replace(sampled.unwelded(torch.tensor(self.node_map)), shape=shape)
            return _carrying(self.stencil, sampled, self.basis.domain, self.node_map)

        return self._kept(shape, make)

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
        own = {"method": basis.method, "by_position": self.by_position, "stencil": self.stencil}
        return {**tensors, **own}

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
    """Eigenfunctions of each sample's own domain, turned so that they can be compared.

    Those used last are kept in memory, all that were computed before in the cache on disk.

    Attributes:
        modes: how many.
        boundary: free or held at zero.
        align: how much they are turned; see `supra.basis.align`.
        landmarks: the functions towards which they are turned, the same for all samples.
        spectrum: eigenvalues of a typical sample; not there where all functions are turned into
            each other, so that none is an eigenfunction any more.
    """

    modes: int
    boundary: Boundary
    align: Align = "none"
    landmarks: Landmarks | None = None
    spectrum: Float[Tensor, " modes"] | None = None
    stencil: bool = False
    _kept: Kept = field(default_factory=Kept, repr=False)

    @classmethod
    def of_samples(
        cls, dataset: Dataset, modes: int, boundary: Boundary, align: Align
    ) -> "OwnSubspace":
        """With landmarks on the box around all samples."""
        landmarks = None if align == "none" else Landmarks(*_box(dataset), modes, boundary)
        subspace = cls(modes, boundary, align, landmarks)
        if align == "span":
            return subspace
        some = np.linspace(0, len(dataset) - 1, min(_TYPICAL, len(dataset))).astype(int)
        spectra = [subspace._basis(dataset[number].domain)[0].eigenvalues for number in some]
        return replace(subspace, spectrum=torch.tensor(np.mean(spectra, axis=0)))

    def __call__(self, domain: Domain) -> Sampled:
        make = partial(self._made, domain)
        return self._kept(fingerprint(domain), lambda: _carrying(self.stencil, make(), domain))

    def _made(self, domain: Domain) -> Sampled:
        basis, node_map = self._basis(domain)
        sampled = self._turned(basis).sample()
        if self.spectrum is not None:
            sampled = sampled.with_eigenvalues(torch.tensor(basis.eigenvalues))
        if isinstance(domain, Grid):
            return replace(sampled.unwelded(torch.tensor(node_map)), shape=domain.shape)
        return sampled

    def _basis(self, domain: Domain) -> tuple[LaplacianBasis, np.ndarray | None]:
        """Eigenfunctions as they come; of a grid those of its glued mesh, and what was glued."""
        if isinstance(domain, Grid):
            return _glued_basis(_as_mesh(domain), self.modes, self.boundary)
        if isinstance(domain, Mesh):
            return LaplacianBasis.from_mesh(domain, self.modes, self.boundary), None
        return LaplacianBasis.from_points(domain.points, self.modes), None

    def _turned(self, basis: LaplacianBasis) -> LaplacianBasis:
        if self.landmarks is None:
            return basis
        values, weights = basis.values, basis.domain.weights
        references = self.landmarks(basis.domain.points)
        turned = aligned(values, weights, basis.eigenvalues, references, self.align)
        return replace(basis, values=turned)

    def state(self) -> dict[str, Any]:
        state: dict[str, Any] = {"stencil": self.stencil}
        if self.spectrum is not None:
            state["spectrum"] = self.spectrum
        if self.landmarks is not None:
            state["low"] = torch.tensor(self.landmarks.low)
            state["high"] = torch.tensor(self.landmarks.high)
            state["align"] = self.align
        return state

    @classmethod
    def from_state(cls, state: dict[str, Any], modes: int, boundary: Boundary) -> "OwnSubspace":
        spectrum = state["spectrum"].cpu() if "spectrum" in state else None
        subspace = cls(modes, boundary, spectrum=spectrum)
        if "align" not in state:
            return subspace
        low, high = (state[corner].cpu().numpy() for corner in ("low", "high"))
        landmarks = Landmarks(low, high, modes, boundary)
        return replace(subspace, align=state["align"], landmarks=landmarks)


@dataclass(frozen=True)
class PodSubspace:
    """Principal components of the training targets, known at the training samples' points only.

    Attributes:
        components: values at the points, orthonormal in ``weights``.
        weights: of the points, summing to 1.
    """

    components: torch.Tensor
    weights: torch.Tensor
    stencil: bool = False
    _kept: Kept = field(default_factory=Kept, repr=False)

    @classmethod
    def of_targets(cls, train: Dataset | None, modes: int) -> "PodSubspace":
        assert train is not None
        domain = train[0].domain
        shared = train.domain is not None
        weights = domain.weights if shared else np.full(len(domain.points), 1 / len(domain.points))
        components = principal_components(_snapshots(train), weights, modes)
        return cls(torch.tensor(components), torch.tensor(weights))

    @property
    def modes(self) -> int:
        return self.components.shape[1]

    def __call__(self, domain: Domain) -> Sampled:
        if len(domain.points) != len(self.components):
            raise DomainError(
                f"Principal components are known at the {len(self.components)} points of the "
                f"training samples: got {len(domain.points)}. Use another basis.kind."
            )
        shape, precision = _grid_shape(domain), torch.get_default_dtype()
        make = partial(SampledBasis, self.components.to(precision), self.weights.to(precision))
        key = fingerprint(domain) if self.stencil else shape
        return self._kept(key, lambda: _carrying(self.stencil, make(shape), domain))

    def state(self) -> dict[str, Any]:
        return {"components": self.components, "weights": self.weights, "stencil": self.stencil}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "PodSubspace":
        return cls(state["components"], state["weights"])


Subspace = FamilySubspace | MeshSubspace | OwnSubspace | PodSubspace


def _snapshots(train: Dataset) -> np.ndarray:
    """Targets as rows, spread evenly over samples, moments and channels, but not too many."""
    sizes = {train[k].targets.shape for k in range(len(train))}
    if len(sizes) > 1:
        raise DomainError(
            "Principal components need the same points in every sample. Use another basis.kind."
        )
    shape = sizes.pop()
    rows_each = shape[-1] * (shape[0] if len(shape) == 3 else 1)
    chosen = np.linspace(0, len(train) - 1, min(len(train), max(1, _ROWS // rows_each)))
    samples = [train[int(k)].targets for k in chosen]
    return np.concatenate([np.moveaxis(s, -2, -1).reshape(-1, shape[-2]) for s in samples])


def _carrying(
    stencil: bool, sampled: Sampled, domain: Domain, node_map: np.ndarray | None = None
) -> Sampled:
    """With the operators between a mesh's neighbours, if they are wanted."""
    if not stencil:
        return sampled
    if not isinstance(domain, Mesh):
        raise DomainError(
            f"The local branch of this network needs a mesh: got a {type(domain).__name__}. Give "
            f"the mesh of the points, or train with model.local=false."
        )
    assert isinstance(sampled, SampledBasis)
    return sampled.with_stencil(Stencil.from_mesh(domain, node_map))


def _grid_shape(domain: Domain) -> tuple[int, ...] | None:
    return domain.shape if isinstance(domain, Grid) else None


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


def _box(dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """The corners of the box around all samples."""
    if dataset.domain is not None:
        return bounding_box([dataset.domain.points])
    return bounding_box([dataset[k].domain.points for k in range(len(dataset))])


def _box_mesh(dataset: Dataset, nodes: int) -> Mesh:
    """A mesh of the box around all samples, of about so many nodes."""
    low, high = _box(dataset)
    extents = high - low
    if not extents.all():
        raise DomainError(
            f"The box around the samples is flat, {extents.tolist()}: name a mesh file in "
            f"basis.reference."
        )
    spacing = (extents.prod() / nodes) ** (1 / len(extents))
    axes = [
        np.linspace(a, b, max(2, ceil((b - a) / spacing) + 1))
        for a, b in zip(low, high, strict=True)
    ]
    return Mesh.from_structured(np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1), name="box")
