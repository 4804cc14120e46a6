"""Neural-operator surrogates for PDEs on general domains."""

from supra.basis import (
    Basis,
    BasisError,
    BasisWarning,
    ChebyshevBasis,
    CosineBasis,
    FourierBasis,
    LaplacianBasis,
    SampledBasis,
    SeparableBasis,
    SphericalHarmonicBasis,
)
from supra.domain import DomainError, Grid, Mesh, MeshError, MeshWarning, PointSet, SphereGrid
from supra.model import SubspaceAttention, SupraOperator

__version__ = "0.1.0"

__all__ = [
    "Basis",
    "BasisError",
    "BasisWarning",
    "ChebyshevBasis",
    "CosineBasis",
    "DomainError",
    "FourierBasis",
    "Grid",
    "LaplacianBasis",
    "Mesh",
    "MeshError",
    "MeshWarning",
    "PointSet",
    "SampledBasis",
    "SeparableBasis",
    "SphereGrid",
    "SphericalHarmonicBasis",
    "SubspaceAttention",
    "SupraOperator",
]
