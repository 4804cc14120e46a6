"""Exact spectra and measures of agreement that the tests of this layer share."""

from collections.abc import Callable, Sequence
from itertools import pairwise, product

import numpy as np
from scipy import linalg, optimize, special

Function = Callable[[float], float]


def observed_orders(errors: list[float]) -> np.ndarray:
    """Orders of convergence between successive meshes, each half as coarse as the one before."""
    return np.log2(np.array(errors[:-1]) / np.array(errors[1:]))


def span_angle(one: np.ndarray, other: np.ndarray, weights: np.ndarray) -> float:
    """Largest principal angle between the spans of two families sampled with these weights."""
    root = np.sqrt(weights)[:, None]
    return float(linalg.subspace_angles(root * one, root * other).max())


def groups(eigenvalues: np.ndarray) -> list[slice]:
    """Ranges of equal exact eigenvalues."""
    edges = [0, *(np.flatnonzero(np.diff(eigenvalues) > 1e-9) + 1).tolist(), len(eigenvalues)]
    return [slice(*pair) for pair in pairwise(edges)]


def box_spectrum(sides: tuple[float, ...], modes: int, lowest: int = 0) -> np.ndarray:
    """Neumann (``lowest=0``) or Dirichlet (``lowest=1``) eigenvalues of a box."""
    waves = product(range(lowest, modes + lowest), repeat=len(sides))
    return _lowest(
        [sum((np.pi * m / a) ** 2 for m, a in zip(w, sides, strict=True)) for w in waves], modes
    )


def disk_spectrum(modes: int, boundary: str) -> np.ndarray:
    """Squared zeros of Bessel's J (Dirichlet) or J' (Neumann), twice for every order m > 0."""
    zeros = special.jn_zeros if boundary == "dirichlet" else special.jnp_zeros
    values = [] if boundary == "dirichlet" else [0.0]
    for order in range(modes):
        values += [z**2 for z in zeros(order, modes) for _ in range(2 if order else 1)]
    return _lowest(values, modes)


def annulus_spectrum(inner: float, modes: int, boundary: str) -> np.ndarray:
    """Squared roots of Bessel's cross products."""
    j, y = (special.jv, special.yv) if boundary == "dirichlet" else (special.jvp, special.yvp)
    values = [] if boundary == "dirichlet" else [0.0]
    for order in range(modes):

        def cross(k: float, m: int = order) -> float:
            return j(m, k) * y(m, inner * k) - j(m, inner * k) * y(m, k)

        values += [k**2 for k in _roots(cross, 0.3, 25) for _ in range(2 if order else 1)]
    return _lowest(values, modes)


def ball_spectrum(modes: int) -> np.ndarray:
    """Squared zeros of the spherical Bessel functions, 2l + 1 times (Dirichlet)."""
    values = []
    for degree in range(modes):
        roots = _roots(lambda k, el=degree: special.spherical_jn(el, k), 1.0, 20)
        values += [k**2 for k in roots for _ in range(2 * degree + 1)]
    return _lowest(values, modes)


def sphere_spectrum(modes: int) -> np.ndarray:
    """l (l + 1), each 2l + 1 times."""
    return _lowest([el * (el + 1.0) for el in range(modes) for _ in range(2 * el + 1)], modes)


def cylinder_spectrum(circumference: float, height: float, modes: int) -> np.ndarray:
    """Surface of an open cylinder: (2πm/L)² + (πn/H)², twice for m > 0."""
    values = [
        (2 * np.pi * m / circumference) ** 2 + (np.pi * n / height) ** 2
        for m in range(-modes, modes + 1)
        for n in range(modes)
    ]
    return _lowest(values, modes)


def torus_spectrum(major: float, minor: float, modes: int, nodes: int = 81) -> np.ndarray:
    """Surface of a ring: separated in the long angle, Fourier collocation in the short one.

    For exp(imu) f(v) with w = R + r cos v:  −(w f')' / r² + m² f / w = λ w f.
    """
    angle = 2 * np.pi * np.arange(nodes) / nodes
    width = major + minor * np.cos(angle)
    derivative = _fourier_derivative(nodes)
    stiffness = derivative.T @ (width[:, None] * derivative) / minor**2
    values: list[float] = []
    for m in range(modes):
        f = linalg.eigh(stiffness + np.diag(m**2 / width), np.diag(width), eigvals_only=True)
        values += [value for value in f[:modes] for _ in range(2 if m else 1)]
    return _lowest(values, modes)


def _fourier_derivative(nodes: int) -> np.ndarray:
    """Differentiation of periodic functions at an odd number of even nodes, exact to round-off."""
    offset = np.subtract.outer(np.arange(nodes), np.arange(nodes))
    with np.errstate(divide="ignore"):
        matrix = 0.5 * (-1.0) ** offset / np.sin(np.pi * offset / nodes)
    np.fill_diagonal(matrix, 0)
    return matrix


def _roots(function: Function, start: float, stop: float) -> list[float]:
    x = np.arange(start, stop, 0.05)
    values = np.array([function(at) for at in x])
    changes = np.flatnonzero(np.sign(values[:-1]) * np.sign(values[1:]) < 0)
    return [float(optimize.brentq(function, x[i], x[i + 1], xtol=1e-13)) for i in changes]


def _lowest(values: Sequence[float] | np.ndarray, modes: int) -> np.ndarray:
    return np.sort(values)[:modes]
