"""C-shaped grids around a deformed profile, by a square root that unwraps it."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.optimize import brentq

from supra.problems.errors import ProblemError
from supra.problems.naca import NOSE_RADIUS, naca_0012, vertical_displacement

FOCUS = NOSE_RADIUS / 2  # inside the nose, where the square root turns the profile into a flat bump
EDGE_CLUSTERING = 0.6  # 0: nodes evenly spaced in ξ; towards 1: gathered at the trailing edge
OUTWARD_GROWTH = 4.4  # the last cell outwards is e^4.4 times the first, in η


@dataclass(frozen=True)
class CGrid:
    r"""How many cells a C-grid has, and how far it reaches.

    The map :math:`z = z_0 + \zeta^2`, :math:`\zeta = \xi + i\eta`, opens the plane along the wake:
    the undeformed profile becomes a shallow bump on :math:`\eta = 0`, and lines of constant
    :math:`\xi` and :math:`\eta` are parabolas that cross at right angles. All spacings are smooth
    functions of the index divided by the number of cells, so grids of doubled numbers are nested.

    Attributes:
        around: cells around the profile, an even number.
        wake: cells behind it, on each side.
        outwards: cells from the profile to the far field.
        radius: chords from the profile to the outer boundary.
    """

    around: int = 120
    wake: int = 50
    outwards: int = 50
    radius: float = 40.0

    def __post_init__(self) -> None:
        if self.around < 8 or self.around % 2 or min(self.wake, self.outwards) < 4:
            raise ProblemError(
                "A C-grid needs an even number of at least 8 cells `around` the profile and at "
                f"least 4 in the `wake` and `outwards`: got around={self.around}, "
                f"wake={self.wake}, outwards={self.outwards}."
            )
        if not self.radius >= 5:
            raise ProblemError(
                f"The far field must be at least 5 chords away: got radius={self.radius}."
            )
        if not self._first_wake_step < 1:
            raise ProblemError(
                "Cells must grow along the wake, so there can be at most about "
                f"{int(self.wake / self._first_wake_step)} of them here: got wake={self.wake}. "
                "Take fewer, or more `around` the profile."
            )

    @property
    def shape(self) -> tuple[int, int]:
        """Nodes along the C and outwards."""
        return self.around + 2 * self.wake + 1, self.outwards + 1

    def points(self, theta: Float[np.ndarray, " 8"]) -> Float[np.ndarray, "along outwards 2"]:
        """Nodes around the profile deformed by ``theta`` (see `vertical_displacement`).

        i runs from the end of the wake over the upper side, the nose and the lower side back to
        the end of the wake; j = 0 is the wake and the profile, the last j the far field.
        """
        x, y, xi, bump = self._upper_feet()
        far = np.sqrt(self.radius)
        eta = far * _growing(np.linspace(0, 1, self.outwards + 1), OUTWARD_GROWTH)
        upper = _parabolic(xi[:, None], bump[:, None] + (1 - bump[:, None] / far) * eta)
        lower = upper[-2::-1] * np.array([1, -1])
        moved = np.concatenate([upper, lower])
        moved[..., 1] += self._foot_displacement(theta, x, y)[:, None] * (1 - (eta / far) ** 2)
        return moved

    def _upper_feet(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Nodes of the upper wake and profile, as x, y and as ξ, η; the nose comes last."""
        t = np.linspace(1, 0, self.around // 2 + 1)
        chord = ((1 - EDGE_CLUSTERING) * t + EDGE_CLUSTERING * np.sin(np.pi / 2 * t)) ** 2
        zeta = np.sqrt(chord - FOCUS + 1j * naca_0012(chord))
        edge = np.sqrt(1 - FOCUS)
        xi = np.concatenate([edge + self._wake_spacing(edge), zeta.real[1:]])
        bump = np.concatenate([np.zeros(self.wake + 1), zeta.imag[1:]])
        x = np.concatenate([xi[: self.wake] ** 2 + FOCUS, chord])
        y = np.concatenate([np.zeros(self.wake), naca_0012(chord)])
        y[self.wake] = 0  # not only to rounding: both sides' trailing edges are one node
        return x, y, xi, bump

    def _wake_spacing(self, edge: float) -> np.ndarray:
        """Steps in ξ behind the trailing edge, the last one first: it goes on as the profile's."""
        growth = brentq(lambda a: a / np.expm1(a) - self._first_wake_step, 1e-9, 50)
        length = np.sqrt(self.radius + 1) - edge
        return length * _growing(np.linspace(1, 0, self.wake + 1), growth)

    @property
    def _first_wake_step(self) -> float:
        """The profile's last step in ξ, relative to the mean one of the wake."""
        last = (1 - EDGE_CLUSTERING) / (self.around / 2)
        return float(last * self.wake / (np.sqrt(self.radius + 1) - np.sqrt(1 - FOCUS)))

    def _foot_displacement(self, theta: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Displacement along j = 0: the profile's, and the trailing edge's dying out downstream."""
        sides = []
        for side in (y, -y):
            moved = vertical_displacement(theta, np.minimum(x, 1), side)
            sides.append(moved * np.clip((self.radius + 1 - x) / self.radius, 0, 1) ** (x > 1))
        return np.concatenate([sides[0], sides[1][-2::-1]])


def _growing(t: np.ndarray, growth: float) -> np.ndarray:
    """From 0 to 1, in steps that grow geometrically."""
    return np.expm1(growth * t) / np.expm1(growth)


def _parabolic(xi: np.ndarray, eta: np.ndarray) -> Float[np.ndarray, "along outwards 2"]:
    return np.stack([FOCUS + xi**2 - eta**2, 2 * xi * eta], axis=-1)
