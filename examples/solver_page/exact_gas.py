"""Gas flows that are known: thin subsonic flow past the profile, the shock of a wedge."""

import numpy as np
from scipy.optimize import brentq

from supra.problems.gas import GAMMA
from supra.problems.naca import naca_0012


def incompressible_pressure(x: np.ndarray, panels: int = 200) -> np.ndarray:
    """Cp of NACA-0012 at zero incidence, by sources on panels (Hess–Smith)."""
    stations = (1 - np.cos(np.linspace(0, np.pi, panels + 1))) / 2
    half = np.append(naca_0012(stations[:-1]), 0)
    z = np.concatenate([(stations + 1j * half)[::-1], (stations - 1j * half)[1:]])
    length = np.abs(np.diff(z))
    along, middle = np.diff(z) / length, (z[1:] + z[:-1]) / 2
    apart = np.log((middle[:, None] - z[:-1]) / along / ((middle[:, None] - z[1:]) / along))
    velocity = np.conj(apart / (2 * np.pi * along))
    np.fill_diagonal(velocity, -0.5j * along)
    outwards = velocity * np.conj(-1j * along)[:, None]
    strength = np.linalg.solve(outwards.real, -np.conj(-1j * along).real)
    speed = along.real + (velocity * np.conj(along)[:, None]).real @ strength
    return np.interp(x, middle.real[:panels][::-1], (1 - speed**2)[:panels][::-1])


def karman_tsien(incompressible: np.ndarray, mach: float) -> np.ndarray:
    """Cp of the compressible flow from that of the incompressible one."""
    root = np.sqrt(1 - mach**2)
    return incompressible / (root + mach**2 / (1 + root) * incompressible / 2)


def oblique_shock(mach: float, degrees: float) -> tuple[float, float, float]:
    """Angle of the shock, pressure ratio and Mach number behind it; θ–β–M, Rankine–Hugoniot."""
    turn = np.deg2rad(degrees)

    def relation(angle: float) -> float:
        lead = mach**2 * np.sin(angle) ** 2 - 1
        return 2 / np.tan(angle) * lead / (mach**2 * (GAMMA + np.cos(2 * angle)) + 2) - np.tan(turn)

    angle = brentq(relation, np.arcsin(1 / mach) + 1e-9, 1.0)
    normal = (mach * np.sin(angle)) ** 2
    behind = np.sqrt((normal + 5) / (7 * normal - 1)) / np.sin(angle - turn)
    return angle, (7 * normal - 1) / 6, behind
