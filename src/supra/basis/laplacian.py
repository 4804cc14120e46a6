"""Laplacian eigenfunctions of a mesh or a point cloud: the Fourier basis of a general domain."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy import sparse
from scipy.spatial import KDTree

from supra.basis import cache as disk
from supra.basis.base import Basis, Boundary
from supra.basis.canonical import make_canonical
from supra.basis.eigen import Eigenpairs, Eigenproblem, Method, Report, lowest_eigenspaces
from supra.basis.errors import BasisError
from supra.basis.fem import stiffness_matrix
from supra.basis.orthonormal import Defect, orthonormality_defect, sampled_orthonormal
from supra.basis.sampled import SampledBasis
from supra.domain import Domain, Mesh, MeshWarning, PointSet
from supra.domain.choice import check_choice
from supra.domain.interpolate import cloud_interpolation_matrix, interpolation_matrix


@dataclass(frozen=True, eq=False)
class LaplacianBasis(Basis):
    r"""Eigenfunctions of −Δ with the lowest eigenvalues, at the nodes of a domain.

    They solve :math:`K\varphi = \lambda M\varphi` with linear finite elements and the *lumped*
    mass, so they are exactly orthonormal in the weights that projection uses. Eigenvalues ascend;
    each function's entry of largest magnitude is positive; the mean of its square is 1.

    Attributes:
        domain: the `Mesh` or `PointSet` it was computed on.
        values: the functions at the domain's points, shape ``(points, modes)``, float64.
        eigenvalues: shape ``(modes,)``.
        residuals: norm of :math:`M^{-1/2}(K\varphi - \lambda M\varphi)` per mode, relative to the
            largest eigenvalue computed (a few more than ``modes`` are).
        method: how the eigenpairs were found.
        from_cache: whether they were found earlier.
    """

    domain: Mesh | PointSet
    values: Float[np.ndarray, "points modes"]
    eigenvalues: Float[np.ndarray, " modes"]
    residuals: Float[np.ndarray, " modes"]
    method: str
    from_cache: bool = False

    @classmethod
    def from_mesh(
        cls,
        mesh: Mesh,
        modes: int,
        boundary: Boundary = "neumann",
        *,
        method: Method = "auto",
        cache: bool = True,
        report: Report | None = None,
    ) -> "LaplacianBasis":
        """Eigenfunctions of a mesh: segments, triangles (also a surface) or tetrahedra.

        Args:
            mesh: checked first; see `Mesh.check`.
            modes: how many.
            boundary: ``"neumann"`` leaves the boundary free, ``"dirichlet"`` holds it at zero.
            method: ``"auto"`` falls back by itself; see `supra.basis.eigen`.
            cache: keep the result on disk and look there first; see `supra.basis.cache`.
            report: called with a stage, steps done and steps in all, for progress bars.

        Raises:
            MeshError: the mesh is broken.
            BasisError: more modes than free nodes, or the eigen-solve failed.
        """
        _check_request(modes, boundary)
        mesh.check()
        if boundary == "neumann":
            _say_components(mesh)
        free = _free_nodes(mesh, boundary)

        def solve() -> Eigenpairs:
            stiffness = stiffness_matrix(mesh)[free][:, free]
            mass, points = mesh.node_measures[free], mesh.points[free]
            problem = Eigenproblem(stiffness, mass, points, mesh.dimension)
            return lowest_eigenspaces(problem, modes, method, report)

        key = disk.key("mesh", mesh.points, mesh.cells, modes, boundary, method)
        pairs, kept = disk.remembered(key, solve) if cache else (solve(), False)
        return cls._from_pairs(mesh, free, pairs, modes, kept)

    @classmethod
    def from_points(
        cls,
        points: Float[np.ndarray, "points dimensions"],
        modes: int,
        *,
        method: Method = "auto",
        cache: bool = True,
        report: Report | None = None,
    ) -> "LaplacianBasis":
        """Eigenfunctions of a cloud of points on a plane domain or on a surface, without cells.

        The Laplacian is the tufted one of Sharp & Crane; the boundary of the cloud is free. Needs
        the extra ``pointcloud``.
        """
        _check_request(modes, "neumann")
        cloud = PointSet(points)
        if cloud.points.shape[1] == 1:
            raise BasisError(
                "Points on a line have an order: use Mesh.from_structured and from_mesh."
            )
        stiffness, mass = _cloud_laplacian(cloud.points)

        def solve() -> Eigenpairs:
            problem = Eigenproblem(stiffness, mass, cloud.points, 2)
            return lowest_eigenspaces(problem, modes, method, report)

        key = disk.key("points", cloud.points, np.empty(0), modes, "neumann", method)
        pairs, kept = disk.remembered(key, solve) if cache else (solve(), False)
        domain = PointSet(cloud.points, mass)
        return cls._from_pairs(domain, np.arange(len(mass)), pairs, modes, kept)

    @classmethod
    def _from_pairs(
        cls,
        domain: Mesh | PointSet,
        free: Int[np.ndarray, " free"],
        pairs: Eigenpairs,
        modes: int,
        kept: bool,
    ) -> "LaplacianBasis":
        values = np.zeros((len(domain.points), len(pairs.values)))
        values[free] = pairs.vectors
        values /= np.sqrt(domain.weights @ values[:, 0] ** 2)  # the mean of φ² becomes 1 for all
        make_canonical(values, pairs.values, domain)
        largest = max(pairs.values[-1], np.finfo(float).tiny)
        return cls(
            domain,
            np.ascontiguousarray(values[:, :modes]),
            pairs.values[:modes].copy(),
            pairs.residuals[:modes] / largest,
            pairs.method,
            kept,
        )

    @property
    def modes(self) -> int:
        return self.values.shape[1]

    @property
    def orthonormality(self) -> float:
        """Largest entry of ΦᵀWΦ − I."""
        return orthonormality_defect(self.values, self.domain.weights)

    def sample(
        self,
        domain: Any = None,
        *,
        defect: Defect = "repair",
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> SampledBasis:
        """The functions on their own nodes (no ``domain``), or interpolated to another domain.

        See `Basis.sample` for the arguments.
        """
        target = self.domain if domain is None else domain
        sampled = super().sample(target, defect=defect, dtype=dtype, device=device)
        assert isinstance(sampled, SampledBasis)
        return sampled

    def _sample(self, domain: Domain, defect: Defect) -> SampledBasis:
        if domain is self.domain:
            return sampled_orthonormal(self.values, domain.weights, "keep", repr(self))
        values = self._interpolation(domain.points) @ self.values
        return sampled_orthonormal(values, domain.weights, defect, repr(self))

    def _interpolation(self, queries: np.ndarray) -> sparse.csr_array:
        if isinstance(self.domain, Mesh):
            return interpolation_matrix(self.domain, queries)
        return cloud_interpolation_matrix(self.domain.points, queries)

    def __repr__(self) -> str:
        return f"LaplacianBasis({self.modes} modes of {len(self.domain.points)} points)"


def _check_request(modes: int, boundary: str) -> None:
    if not isinstance(modes, int | np.integer) or modes < 1:
        raise BasisError(f"`modes` must be a positive whole number: got {modes!r}.")
    check_choice("boundary", boundary, Boundary, BasisError)


def _free_nodes(mesh: Mesh, boundary: Boundary) -> Int[np.ndarray, " free"]:
    if boundary == "neumann":
        return np.arange(len(mesh.points))
    if not mesh.boundary_nodes.size:
        raise BasisError(
            f"{mesh!r} has no boundary to hold at zero: it is closed. Use boundary='neumann'."
        )
    return np.setdiff1d(np.arange(len(mesh.points)), mesh.boundary_nodes)


def _say_components(mesh: Mesh) -> None:
    if mesh.component_count > 1:
        warnings.warn(
            f"{mesh!r} has {mesh.component_count} connected components; without a fixed boundary "
            f"as many eigenvalues are zero. If they should be one, glue them with mesh.welded().",
            MeshWarning,
            stacklevel=3,
        )


def _cloud_laplacian(points: np.ndarray) -> tuple[sparse.csr_array, np.ndarray]:
    try:
        import robust_laplacian
    except ImportError:
        raise BasisError(
            "Point clouds need the extra 'pointcloud': pip install 'supra-operator[pointcloud]'."
        ) from None
    _check_cloud(points)
    in_space = np.pad(points, ((0, 0), (0, 3 - points.shape[1])))
    try:
        neighbours = min(30, len(points) - 1)
        stiffness, mass = robust_laplacian.point_cloud_laplacian(in_space, n_neighbors=neighbours)
    except RuntimeError as error:
        raise BasisError(
            f"These {len(points)} points have no Laplacian: {error}. Do they lie on a line, or "
            f"several at the same place?"
        ) from error
    return sparse.csr_array(stiffness), mass.diagonal()


def _check_cloud(points: np.ndarray) -> None:
    """Points must lie on a plane domain or a surface: locally, two directions, not three."""
    if len(points) < 8:
        raise BasisError(f"A point cloud needs at least 8 points: got {len(points)}.")
    if points.shape[1] < 3:
        return
    near = KDTree(points).query(points, k=min(12, len(points)))[1]
    spread = np.linalg.svd(points[near] - points[near].mean(axis=1, keepdims=True))[1]
    if np.median(spread[:, 2] / spread[:, 1]) > 0.4:
        raise BasisError(
            "These points fill a volume; clouds are for plane domains and surfaces. "
            "Make a mesh of tetrahedra (e.g. scipy.spatial.Delaunay) and use from_mesh."
        )
