"""Gaussian random fields by Karhunen–Loève, in any basis of Laplacian eigenfunctions."""

from dataclasses import dataclass, field
from math import isfinite, pi, sqrt
from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from supra.basis import Basis, FourierBasis, LaplacianBasis, SphericalHarmonicBasis
from supra.basis.tensor import TensorBasis
from supra.domain import Mesh
from supra.problems.errors import ProblemError

_ZERO = 1e-10  # eigenvalues below this part of the largest are zero up to round-off


@dataclass(frozen=True, eq=False)
class RandomField:
    r"""Gaussian functions with mean 0 and covariance :math:`\sigma^2(-\Delta + \tau^2)^{-\alpha}`.

    With eigenfunctions :math:`\varphi_k` of −Δ, eigenvalues :math:`\lambda_k` and independent
    standard normal :math:`\xi_k`,

    .. math:: u = \sum_k \xi_k d_k \varphi_k, \qquad
              d_k = \sigma(\lambda_k + \tau^2)^{-\alpha/2} / \sqrt{|\Omega|}.

    This is the Matérn family: in d dimensions samples have just under α − d/2 derivatives, and
    1/τ is their correlation length. Eigenfunctions of the operator are orthonormal in the
    *integral* over the domain Ω, ours in the *mean*: hence the measure |Ω|.

    The basis gives domain and boundary: ``FourierBasis(n, constant=True)`` is periodic,
    ``CosineBasis(n)`` free, `LaplacianBasis` any mesh. Its modes are all the randomness there is,
    drawn in its order, so a sample is one function, the same on every grid.

    Attributes:
        basis: eigenfunctions of −Δ; more of them give finer detail.
        tau: inverse correlation length τ ≥ 0, in the units of the domain (of the box: its side).
        alpha: smoothness α > 0; below d/2 samples get rougher without bound as modes are added.
        scale: σ, the root of the factor in front of the covariance.
        constant: whether functions with eigenvalue zero take part. By default they do not, and
            every sample has mean zero: the constant has the largest variance,
            :math:`\sigma^2\tau^{-2\alpha}`, and would drown the rest (thresholded media of one
            material only), and the mean of a vorticity has to vanish. The public Darcy and
            Navier–Stokes data leave it out, too.
        measure: length, area or volume of the domain; known unless the basis is of a point cloud.
        deviations: standard deviations :math:`d_k` of the coefficients, made here.

    >>> from supra.basis import CosineBasis
    >>> from supra.domain import Grid
    >>> medium = RandomField(CosineBasis((32, 32)), tau=3, alpha=2)
    >>> medium.sample(np.random.default_rng(0), Grid((85, 85))).shape
    (7225,)
    """

    basis: Basis
    tau: float
    alpha: float
    scale: float = 1.0
    constant: bool = False
    measure: float | None = None
    deviations: Float[np.ndarray, " modes"] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        _check_numbers(self)
        measure = _measure(self.basis) if self.measure is None else self.measure
        eigenvalues = _eigenvalues(self.basis)
        random = np.full(len(eigenvalues), True)
        if not self.constant:
            random = eigenvalues > _ZERO * eigenvalues.max()
        shifted = eigenvalues[random] + self.tau**2
        if not shifted.all():
            raise ProblemError(
                "With tau=0 the constant function has infinite variance. "
                "Take tau > 0 or constant=False."
            )
        deviations = np.zeros(len(eigenvalues))
        deviations[random] = self.scale * shifted ** (-self.alpha / 2) / sqrt(measure)
        object.__setattr__(self, "deviations", deviations)

    @property
    def variance(self) -> float:
        """Variance at a point, averaged over the domain; on a periodic box it is so everywhere."""
        return float((self.deviations**2).sum())

    def coefficients(self, rng: np.random.Generator) -> Float[np.ndarray, " modes"]:
        """Coordinates of one random function in the basis."""
        return self.deviations * rng.standard_normal(len(self.deviations))

    def values(
        self, coefficients: Float[np.ndarray, "*batch modes"], domain: Any = None
    ) -> Float[np.ndarray, "*batch points"]:
        """Functions with these coordinates at the points of a domain, flattened in C order.

        Args:
            coefficients: of one function, or of several along leading axes.
            domain: as for `Basis.sample`; for a `LaplacianBasis` its own nodes by default. Box
                bases take a `Grid` by its own coordinates, other points relative to their
                bounding box.
        """
        if coefficients.shape[-1:] != self.deviations.shape:
            raise ProblemError(
                f"{self.basis!r} takes one coefficient per mode along the last axis, "
                f"{self.basis.modes}: got shape {coefficients.shape}."
            )
        if domain is None and not isinstance(self.basis, LaplacianBasis):
            raise ProblemError(f"{self.basis!r} has no nodes of its own: give `domain`, a Grid.")
        # "keep": where the points are too few to tell all modes apart, their values are still right
        sampled = self.basis.sample(domain, defect="keep", dtype=torch.float64)
        flat = torch.from_numpy(coefficients.reshape(1, -1, self.basis.modes))
        return sampled.fields(flat)[0].mT.numpy().reshape(*coefficients.shape[:-1], -1)

    def sample(self, rng: np.random.Generator, domain: Any = None) -> Float[np.ndarray, " points"]:
        """One random function at the points of a domain; see `values`."""
        return self.values(self.coefficients(rng), domain)


def _check_numbers(random_field: RandomField) -> None:
    tau, alpha, scale = random_field.tau, random_field.alpha, random_field.scale
    if not (isfinite(tau) and isfinite(alpha) and isfinite(scale)) or tau < 0 or alpha <= 0:
        raise ProblemError(
            f"A random field needs finite tau >= 0, alpha > 0 and scale: got tau={tau}, "
            f"alpha={alpha}, scale={scale}."
        )
    measure = random_field.measure
    if measure is not None and not 0 < measure < np.inf:
        raise ProblemError(f"`measure` is the size of the domain and positive: got {measure}.")


def _eigenvalues(basis: Basis) -> np.ndarray:
    if isinstance(basis, FourierBasis) and not basis.constant:
        raise ProblemError(
            f"{basis!r} leaves out every function of fewer variables, so its random fields would "
            f"not look alike everywhere. Use constant=True in the basis."
        )
    try:
        eigenvalues = basis.eigenvalues  # type: ignore[attr-defined]
    except (AttributeError, NotImplementedError):
        raise ProblemError(
            f"A random field needs eigenfunctions of the Laplacian: {basis!r} has no eigenvalues. "
            f"Use FourierBasis, CosineBasis, SphericalHarmonicBasis or LaplacianBasis."
        ) from None
    return np.maximum(eigenvalues, 0.0)


def _measure(basis: Basis) -> float:
    """Length, area or volume of the domain that a basis is made for."""
    if isinstance(basis, TensorBasis):
        return 1.0
    if isinstance(basis, SphericalHarmonicBasis):
        return 4 * pi
    if isinstance(basis, LaplacianBasis) and isinstance(basis.domain, Mesh):
        return basis.domain.measure
    raise ProblemError(f"{basis!r} does not know the size of its domain: give `measure`.")
