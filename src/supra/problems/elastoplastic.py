r"""Elastoplasticity at one point of a sheet: finite strains, plane stress, isotropic hardening.

The deformation gradient splits into :math:`F = F_e F_p` (Lee). The energy is quadratic in the
logarithmic elastic strain (Hencky), the stress is in plane (:math:`\tau_{33} = 0`) and must not
leave von Mises' surface:

.. math:: \varepsilon = \tfrac12 \ln b_e, \quad b_e = F C_p^{-1} F^T, \qquad
          \sqrt{\tfrac32}\,\|\operatorname{dev} \tau\| \le \sigma_Y + H \alpha, \qquad
          \dot\alpha = \text{equivalent plastic strain rate.}

Logarithms turn the finite problem into the small-strain one, in the axes of the trial
:math:`b_e`: rotations drop out, and plastic flow keeps the volume exactly, because the thickness
follows from :math:`\det C_p = 1` in space. In the plane only two numbers matter, the mean of the
principal values and half their difference. For strain and stress both,

.. math:: m = \frac{E}{1-\nu}\,\varepsilon_m, \quad d = 2G\,\varepsilon_d, \qquad
          \tau = m I + d N, \qquad \sigma_{eq}^2 = m^2 + 3 d^2,

with N the trace-free tensor of unit principal values along the axes. The stress here is
Kirchhoff's, force over the undeformed area: it differs from Cauchy's by the elastic change of
volume, one part in a thousand for a metal.
"""

from collections.abc import Callable
from inspect import unwrap
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from supra.problems.compiled import njit

NEWTON_STEPS = 3  # leave an excess below 1e-11 of the strength, however far the trial stress is
TINY = 1e-200  # against 0 / 0 where nothing is strained

Three = tuple[float, float, float]
Four = tuple[float, float, float, float]


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compiled into the loop that calls it, which can then work on several points at once.

    (Four times faster. Left to itself the compiler finds the law too long to be worth it.)
    """
    return njit(inline="always", fastmath=True, error_model="numpy")(unwrap(function))


class Material(NamedTuple):
    """What a metal is made of, in mm, s, MPa and tonnes.

    Attributes:
        young: E.
        poisson: ν.
        strength: σ_Y, the stress at which the virgin material yields.
        hardening: H, how much the strength grows per equivalent plastic strain.
        density: of the undeformed material.
    """

    young: float = 200e3
    poisson: float = 0.3
    strength: float = 70.0
    hardening: float = 500.0
    density: float = 7.85e-9


class Moduli(NamedTuple):
    """The numbers that the loops need of a material.

    Attributes:
        mean: E / (1 − ν), mean stress per mean strain.
        shear: G.
        strength: σ_Y.
        hardening: H.
        poisson: ν.
        wave_speed: of the fastest elastic waves in a thin sheet.
    """

    mean: float
    shear: float
    strength: float
    hardening: float
    poisson: float
    wave_speed: float


def moduli(material: Material) -> Moduli:
    """The moduli of a material in plane stress."""
    E, nu = material.young, material.poisson
    return Moduli(
        mean=E / (1 - nu),
        shear=E / (2 * (1 + nu)),
        strength=material.strength,
        hardening=material.hardening,
        poisson=nu,
        wave_speed=sqrt(E / (1 - nu**2) / material.density),
    )


@inlined
def plastic_multiplier(mean: float, half: float, strength: float, law: Moduli) -> float:
    r"""How far to return from a trial stress: x = Δα / (new strength), 0 if it may stay.

    Backward Euler scales both parts of the stress,

    .. math:: m = \frac{m_t}{1 + x E/2(1-\nu)}, \quad d = \frac{d_t}{1 + 3Gx}, \quad
              \sigma_{eq}(x) = \frac{\sigma}{1 - Hx},

    where σ is the strength before. Newton's method on the *reciprocals*: :math:`1/\sigma_{eq}(x)`
    is a power mean of two lines, so concave and nearly straight. From 0 the steps therefore never
    overshoot, and a fixed number of them is enough. (A fixed number, so that the compiler can work
    on several points at once.)
    """
    a, b = 0.5 * law.mean, 3 * law.shear
    x = 0.0
    for _ in range(NEWTON_STEPS):
        p, q = 1 + a * x, 1 + b * x
        over = 1 / (p * q)
        u, w = (mean * q * over) ** 2, 3 * (half * p * over) ** 2  # m² and 3 d² at x
        square = u + w + TINY
        equivalent = np.sqrt(square)
        # (1 - Hx) / σ - 1 / σ_eq over its slope, with one division.
        excess = (1 - law.hardening * x) * equivalent - strength
        slope = law.hardening * equivalent * square + strength * (a * u * q + b * w * p) * over
        x = max(x + excess * square / (slope + TINY), 0.0)
    return x


@inlined
def conjugate(A: Four, S: Three) -> Three:
    """A S Aᵀ of a matrix (entries 11, 12, 21, 22) and a symmetric one (11, 12, 22)."""
    a11, a12, a21, a22 = A
    s11, s12, s22 = S
    g11, g12 = a11 * s11 + a12 * s12, a11 * s12 + a12 * s22
    g21, g22 = a21 * s11 + a22 * s12, a21 * s12 + a22 * s22
    return g11 * a11 + g12 * a12, g11 * a21 + g12 * a22, g21 * a21 + g22 * a22


@inlined
def inverse(A: Four) -> Four:
    """Inverse of a matrix, entries 11, 12, 21, 22."""
    a11, a12, a21, a22 = A
    over = 1 / (a11 * a22 - a12 * a21)
    return a22 * over, -a12 * over, -a21 * over, a11 * over


@inlined
def logarithm(b: Three) -> Four:
    r"""Strain :math:`\tfrac12 \ln b`: its mean, half the difference, and N's entries 11 and 12."""
    b11, b12, b22 = b
    determinant = b11 * b22 - b12 * b12
    centre, offset = 0.5 * (b11 + b22), 0.5 * (b11 - b22)
    radius = np.sqrt(offset * offset + b12 * b12)
    over = 1 / (radius + TINY)
    mean = 0.5 * artanh((determinant - 1) / (determinant + 1))
    return mean, 0.5 * artanh(radius / centre), offset * over, b12 * over


@inlined
def exponential(mean: float, half: float, n11: float, n12: float) -> Three:
    """The tensor b whose `logarithm` this is."""
    scale = exp(2 * mean)
    even, odd = scale * cosh(2 * half), scale * sinh(2 * half)
    return even + odd * n11, odd * n12, even - odd * n11


@inlined
def respond(F: Four, plastic: Three, alpha: float, law: Moduli) -> tuple[Four, Three, float]:
    r"""First Piola–Kirchhoff stress :math:`P = \tau F^{-T}` and the new plastic state.

    ``plastic`` holds the entries 11, 12, 22 of :math:`C_p^{-1}`.
    """
    mean, half, n11, n12 = logarithm(conjugate(F, plastic))
    strength = law.strength + law.hardening * alpha
    x = plastic_multiplier(law.mean * mean, 2 * law.shear * half, strength, law)
    p, q = 1 + 0.5 * law.mean * x, 1 + 3 * law.shear * x
    over = 1 / (p * q)  # one division: they take most of the time
    mean *= q * over
    half *= p * over
    m, d = law.mean * mean, 2 * law.shear * half
    back = inverse(F)
    stress = piola(m + d * n11, d * n12, m - d * n11, back)
    c11, c12, c22 = conjugate(back, exponential(mean, half, n11, n12))
    flows = x > 0  # else the state stays as it is, without rounding
    plastic = (
        c11 if flows else plastic[0],
        c12 if flows else plastic[1],
        c22 if flows else plastic[2],
    )
    return stress, plastic, alpha + strength * x / (1 - law.hardening * x)


@inlined
def piola(t11: float, t12: float, t22: float, back: Four) -> Four:
    """The stress τ on the undeformed body, given F^{-1}."""
    i11, i12, i21, i22 = back
    return (
        t11 * i11 + t12 * i12,
        t11 * i21 + t12 * i22,
        t12 * i11 + t22 * i12,
        t12 * i21 + t22 * i22,
    )


# Series, exact to rounding for elastic strains below 2.5 %. A metal yields at a tenth of that, and
# an explicit step strains it by less than a thousandth.


@inlined
def artanh(z: float) -> float:
    """Area hyperbolic tangent."""
    s = z * z
    return z * (1 + s * (1 / 3 + s * (1 / 5 + s * (1 / 7 + s * (1 / 9 + s / 11)))))


@inlined
def cosh(z: float) -> float:
    """Hyperbolic cosine."""
    s = z * z
    return 1 + s / 2 * (1 + s / 12 * (1 + s / 30 * (1 + s / 56 * (1 + s / 90))))


@inlined
def sinh(z: float) -> float:
    """Hyperbolic sine."""
    s = z * z
    return z * (1 + s / 6 * (1 + s / 20 * (1 + s / 42 * (1 + s / 72))))


@inlined
def exp(z: float) -> float:
    """Exponential."""
    return cosh(z) + sinh(z)
