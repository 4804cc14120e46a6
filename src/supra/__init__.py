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
from supra.data import DataError, Dataset, Sample, Splits, load_dataset, open_dataset
from supra.domain import (
    DomainError,
    Grid,
    Mesh,
    MeshError,
    MeshWarning,
    OutsideWarning,
    PointSet,
    SphereGrid,
)
from supra.experiment.fit import fit
from supra.experiment.surrogate import Surrogate
from supra.model import SubspaceAttention, SupraOperator
from supra.problems import RandomField

__version__ = "0.1.0"

__all__ = [
    "Basis",
    "BasisError",
    "BasisWarning",
    "ChebyshevBasis",
    "CosineBasis",
    "DataError",
    "Dataset",
    "DomainError",
    "FourierBasis",
    "Grid",
    "LaplacianBasis",
    "Mesh",
    "MeshError",
    "MeshWarning",
    "OutsideWarning",
    "PointSet",
    "RandomField",
    "Sample",
    "SampledBasis",
    "SeparableBasis",
    "SphereGrid",
    "SphericalHarmonicBasis",
    "Splits",
    "SubspaceAttention",
    "SupraOperator",
    "Surrogate",
    "fit",
    "load_dataset",
    "open_dataset",
]
