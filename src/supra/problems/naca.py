"""The NACA-0012 profile, and its deformation by eight control nodes of a box around it."""

import numpy as np
from jaxtyping import Float

CONTROL_NODES = 8
BOX_LENGTH, BOX_HEIGHT = 1.5, 0.2  # centred at (0.5, 0); the chord is [0, 1]
NOSE_RADIUS = 0.0158


def naca_0012(x: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    """Half the thickness of NACA-0012 at ``x`` along the chord, with a closed trailing edge."""
    powers = np.stack([np.sqrt(x), x, x**2, x**3, x**4])
    return 0.6 * np.array([0.2969, -0.1260, -0.3516, 0.2843, -0.1036]) @ powers


def vertical_displacement(
    theta: Float[np.ndarray, " 8"], x: Float[np.ndarray, " n"], y: Float[np.ndarray, " n"]
) -> Float[np.ndarray, " n"]:
    r"""How far points move up when the box's control nodes move up by ``theta``.

    :math:`d(x, y) = \sum_{a,b} \theta_{ab}\, \Phi_a(x)\, \Psi_b(y)` with the cubic Lagrange
    functions :math:`\Phi` of four stations along the chord and the linear ones :math:`\Psi` of the
    box's bottom and top. The nodes are numbered once round the box, as in the public data: along
    the bottom from left to right, then along the top from right to left.
    """
    stations = 0.5 + BOX_LENGTH * np.array([-1 / 2, -1 / 6, 1 / 6, 1 / 2])
    along = np.stack([_lagrange(stations, a, x) for a in range(4)])
    up = 0.5 + y / BOX_HEIGHT
    return (1 - up) * (theta[:4] @ along) + up * (theta[:3:-1] @ along)


def _lagrange(stations: np.ndarray, a: int, x: np.ndarray) -> np.ndarray:
    """The polynomial that is one at station ``a`` and zero at the others."""
    others = np.delete(stations, a)
    return np.prod((x[:, None] - others) / (stations[a] - others), axis=1)
