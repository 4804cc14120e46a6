"""Families of functions, and their values on a domain."""

from supra.basis.base import Basis
from supra.basis.chebyshev import ChebyshevBasis
from supra.basis.cosine import CosineBasis
from supra.basis.errors import BasisError, BasisWarning
from supra.basis.fourier import FourierBasis
from supra.basis.laplacian import LaplacianBasis
from supra.basis.sampled import SampledBasis, SeparableBasis
from supra.basis.sphere import SphericalHarmonicBasis
from supra.basis.stencil import Stencil
from supra.basis.tensor import TensorBasis

__all__ = [
    "Basis",
    "BasisError",
    "BasisWarning",
    "ChebyshevBasis",
    "CosineBasis",
    "FourierBasis",
    "LaplacianBasis",
    "SampledBasis",
    "SeparableBasis",
    "SphericalHarmonicBasis",
    "Stencil",
    "TensorBasis",
]
