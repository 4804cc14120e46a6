"""Incompressible rubber in plane stress: energy, stress and tangent in closed form."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

Plane = Float[np.ndarray, "*points 2 2"]


class Rubber(NamedTuple):
    r"""Rivlin and Saunders' (Mooney's) material :math:`w = C_1(I_1 - 3) + C_2(I_2 - 3)`, a sheet.

    The sheet's sides are free, σ₃₃ = 0, and it keeps its volume. So it gets thinner by as much as
    its area grows, :math:`F_{33} = 1/J` with J the determinant of the 2 × 2 deformation gradient F,
    and the invariants of :math:`C = F^T F` in space are, with :math:`a = |F|^2`,

    .. math:: I_1 = a + J^{-2}, \qquad I_2 = a J^{-2} + J^2.

    The pressure, that incompressibility would ask for as another unknown, is gone: w is a function
    of F, its derivative :math:`P = \partial w/\partial F` is the first Piola–Kirchhoff stress, and
    σ₃₃ = 0 is its stationarity in F₃₃. Nothing can lock.

    For small strains this is linear elasticity in plane stress with E = 6 (C₁ + C₂), ν = ½.

    Attributes:
        c1: C₁, a stress.
        c2: C₂.
    """

    c1: float
    c2: float

    @property
    def young(self) -> float:
        """Young's modulus at small strains."""
        return 6 * (self.c1 + self.c2)

    def energy(self, gradient: Plane) -> Float[np.ndarray, "*points"]:
        """w, per undeformed volume, at displacement gradients ∇u = F − I with J > 0."""
        F = np.eye(2) + gradient
        a, J = (F**2).sum(axis=(-2, -1)), determinant(F)
        return self.c1 * (a + J**-2 - 3) + self.c2 * (a * J**-2 + J**2 - 3)

    def stress(self, gradient: Plane) -> Plane:
        r""":math:`P = \partial w/\partial F`: force per undeformed area.

        .. math:: P = 2 w_a F + w_J\,\mathrm{cof} F
                    = 2 w_a(F - \mathrm{cof} F) + (2 w_a + w_J)\,\mathrm{cof} F,

        the second form because in the first, small stresses are differences of large numbers.
        """
        cofactor = _cofactor(gradient)
        J = determinant(np.eye(2) + gradient)
        by_square = self.c1 + self.c2 * J**-2
        shear = _spread(2 * by_square) * (gradient - cofactor)
        return shear + _spread(self._excess(gradient)) * (np.eye(2) + cofactor)

    def tangent(self, gradient: Plane) -> Float[np.ndarray, "*points 2 2 2 2"]:
        r""":math:`\partial^2 w/\partial F\partial F`."""
        F = np.eye(2) + gradient
        a, J, cofactor = (F**2).sum(axis=(-2, -1)), determinant(F), _cofactor(F)
        by_square = self.c1 + self.c2 * J**-2
        by_area = -2 * (self.c1 + self.c2 * a) * J**-3 + 2 * self.c2 * J
        by_both = -2 * self.c2 * J**-3
        twice_by_area = 6 * (self.c1 + self.c2 * a) * J**-4 + 2 * self.c2
        crossed = np.einsum("...ab,...cd->...abcd", 2 * F, cofactor)
        return (
            _spread(2 * by_square, 4) * np.einsum("ac,bd->abcd", np.eye(2), np.eye(2))
            + _spread(by_area, 4) * _COFACTOR_SLOPE
            + _spread(twice_by_area, 4) * np.einsum("...ab,...cd->...abcd", cofactor, cofactor)
            + _spread(by_both, 4) * (crossed + np.moveaxis(crossed, (-4, -3), (-2, -1)))
        )

    def cauchy(self, gradient: Plane) -> Plane:
        r""":math:`\sigma = P F^T`: force per deformed area, as the volume is kept."""
        return self.stress(gradient) @ (np.eye(2) + gradient).swapaxes(-1, -2)

    def _excess(self, gradient: np.ndarray) -> np.ndarray:
        """2 w_a + w_J, which is zero at rest, without differences of large numbers."""
        trace = gradient[..., 0, 0] + gradient[..., 1, 1]
        e = trace + determinant(gradient)  # J − 1
        growth = 5 * e + 6 * e**2 + 4 * e**3 + e**4  # J + J⁴ − 2
        squares = 2 * trace + (gradient**2).sum(axis=(-2, -1))  # a − 2
        cubed = np.expm1(-3 * np.log1p(e))  # J⁻³ − 1
        return -2 * self.c1 * cubed + 2 * self.c2 * (1 + cubed) * (growth - squares)


def von_mises(stress: Plane) -> Float[np.ndarray, "*points"]:
    """Von Mises' equivalent stress of a Cauchy stress in plane stress."""
    xx, yy = stress[..., 0, 0], stress[..., 1, 1]
    return np.sqrt(xx**2 - xx * yy + yy**2 + 3 * stress[..., 0, 1] ** 2)


def determinant(matrices: Plane) -> Float[np.ndarray, "*points"]:
    """Of 2 × 2 matrices; of F, it is the deformed area over the undeformed one."""
    return matrices[..., 0, 0] * matrices[..., 1, 1] - matrices[..., 0, 1] * matrices[..., 1, 0]


# The cofactor, ∂J/∂F, is linear in F: Σ_cd S_abcd F_cd with
_COFACTOR_SLOPE = np.zeros((2, 2, 2, 2))
_COFACTOR_SLOPE[0, 0, 1, 1] = _COFACTOR_SLOPE[1, 1, 0, 0] = 1
_COFACTOR_SLOPE[0, 1, 1, 0] = _COFACTOR_SLOPE[1, 0, 0, 1] = -1


def _cofactor(matrices: np.ndarray) -> np.ndarray:
    return np.einsum("abcd,...cd->...ab", _COFACTOR_SLOPE, matrices)


def _spread(values: np.ndarray, axes: int = 2) -> np.ndarray:
    return values.reshape(values.shape + (1,) * axes)
