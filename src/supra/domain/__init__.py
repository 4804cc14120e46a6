"""Where functions live: meshes, grids, points. numpy and scipy only, no torch."""

from supra.domain.errors import DomainError, MeshError, MeshWarning, OutsideWarning
from supra.domain.grid import Grid
from supra.domain.mesh import Mesh
from supra.domain.point_set import Domain, PointSet
from supra.domain.sphere_grid import SphereGrid

__all__ = [
    "Domain",
    "DomainError",
    "Grid",
    "Mesh",
    "MeshError",
    "MeshWarning",
    "OutsideWarning",
    "PointSet",
    "SphereGrid",
]
