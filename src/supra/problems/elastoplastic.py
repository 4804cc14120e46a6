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

from typing import NamedTuple

import numpy as np

from supra.problems.compiled import compiled

NEWTON_STEPS = 4
TINY = 1e-200

Three = tuple[float, float, float]
Four = tuple[float, float, float, float]


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
    """

    mean: float
    shear: float
    strength: float
    hardening: float


def moduli(material: Material) -> Moduli:
    """The moduli of a material in plane stress."""
    return Moduli(
        mean=material.young / (1 - material.poisson),
        shear=material.young / (2 * (1 + material.poisson)),
        strength=material.strength,
        hardening=material.hardening,
    )


@compiled
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
    mean2, half2 = mean * mean, 3 * half * half
    x = 0.0
    for _ in range(NEWTON_STEPS):
        u, w = 1 / (1 + a * x), 1 / (1 + b * x)
        u2, w2 = mean2 * u * u, half2 * w * w
        inverse = 1 / np.sqrt(u2 + w2 + TINY)
        excess = (1 - law.hardening * x) - strength * inverse
        slope = law.hardening + strength * inverse**3 * (a * u2 * u + b * w2 * w)
        x = max(x + excess / slope, 0.0)
    return x


@compiled
def conjugate(A: Four, S: Three) -> Three:
    """A S Aᵀ of a matrix (entries 11, 12, 21, 22) and a symmetric one (11, 12, 22)."""
    a11, a12, a21, a22 = A
    s11, s12, s22 = S
    g11, g12 = a11 * s11 + a12 * s12, a11 * s12 + a12 * s22
    g21, g22 = a21 * s11 + a22 * s12, a21 * s12 + a22 * s22
    return g11 * a11 + g12 * a12, g11 * a21 + g12 * a22, g21 * a21 + g22 * a22


@compiled
def inverse(A: Four) -> Four:
    """Inverse of a matrix, entries 11, 12, 21, 22."""
    a11, a12, a21, a22 = A
    over = 1 / (a11 * a22 - a12 * a21)
    return a22 * over, -a12 * over, -a21 * over, a11 * over


@compiled
def logarithm(b: Three) -> Four:
    r"""Strain :math:`\tfrac12 \ln b`: its mean, half the difference, and N's entries 11 and 12."""
    b11, b12, b22 = b
    determinant = b11 * b22 - b12 * b12
    centre, offset = 0.5 * (b11 + b22), 0.5 * (b11 - b22)
    radius = np.sqrt(offset * offset + b12 * b12)
    over = 1 / (radius + TINY)
    mean = 0.5 * artanh((determinant - 1) / (determinant + 1))
    return mean, 0.5 * artanh(radius / centre), offset * over, b12 * over


@compiled
def exponential_of(mean: float, half: float, n11: float, n12: float) -> Three:
    """The tensor b whose `logarithm` this is."""
    scale, grow = exponential(2 * mean), exponential(2 * half)
    shrink = 1 / grow
    even, odd = 0.5 * scale * (grow + shrink), 0.5 * scale * (grow - shrink)
    return even + odd * n11, odd * n12, even - odd * n11


@compiled
def respond(F: Four, plastic: Three, alpha: float, law: Moduli) -> tuple[Four, Three, float]:
    r"""First Piola–Kirchhoff stress :math:`P = \tau F^{-T}` and the new plastic state.

    ``plastic`` holds the entries 11, 12, 22 of :math:`C_p^{-1}`.
    """
    mean, half, n11, n12 = logarithm(conjugate(F, plastic))
    strength = law.strength + law.hardening * alpha
    x = plastic_multiplier(law.mean * mean, 2 * law.shear * half, strength, law)
    mean /= 1 + 0.5 * law.mean * x
    half /= 1 + 3 * law.shear * x
    m, d = law.mean * mean, 2 * law.shear * half
    back = inverse(F)
    stress = piola(m + d * n11, d * n12, m - d * n11, back)
    c11, c12, c22 = conjugate(back, exponential_of(mean, half, n11, n12))
    flows = x > 0  # else the state stays as it is, without rounding
    plastic = (
        c11 if flows else plastic[0],
        c12 if flows else plastic[1],
        c22 if flows else plastic[2],
    )
    return stress, plastic, alpha + strength * x / (1 - law.hardening * x)


@compiled
def piola(t11: float, t12: float, t22: float, back: Four) -> Four:
    """The stress τ on the undeformed body, given F^{-1}."""
    i11, i12, i21, i22 = back
    return (
        t11 * i11 + t12 * i12,
        t11 * i21 + t12 * i22,
        t12 * i11 + t22 * i12,
        t12 * i21 + t22 * i22,
    )


@compiled
def artanh(z: float) -> float:
    """Area hyperbolic tangent by its series: exact to rounding for elastic strains below 5 %."""
    s = z * z
    return z * (1 + s * (1 / 3 + s * (1 / 5 + s * (1 / 7 + s * (1 / 9 + s / 11)))))


@compiled
def exponential(z: float) -> float:
    """Exponential by its series: exact to rounding for elastic strains below 5 %."""
    s = 1 + z / 8 * (1 + z / 9 * (1 + z / 10))
    return 1 + z * (1 + z / 2 * (1 + z / 3 * (1 + z / 4 * (1 + z / 5 * (1 + z / 6 * (1 + z / 7 * s))))))
