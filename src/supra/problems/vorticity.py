r"""Two-dimensional incompressible flow on the periodic unit square, in vorticity form.

The vorticity :math:`w = \partial_x v - \partial_y u` of a velocity :math:`(u, v)` obeys

.. math:: \partial_t w + (u, v) \cdot \nabla w = \nu \Delta w + f, \qquad
          (u, v) = (\partial_y \psi, -\partial_x \psi), \qquad -\Delta \psi = w.

Space: Fourier modes :math:`|k| \le K`, products on ``n > 3K`` nodes (the 2/3 rule), so that the
quadratic term has no aliasing error and the unforced inviscid flow keeps its energy and enstrophy.
A disc of modes, not a square: no direction is favoured, and for a flow along the diagonal, as the
benchmark's forcing drives it, the stable step is √2 longer.

Time: classical Runge–Kutta of order 4 for the advection, diffusion and forcing exact between its
stages, each step as long as the flow at its beginning lets it be stable. At that limit the error of
time is already below that of space, and of the methods compared (Runge–Kutta 3 and 4,
Adams–Bashforth 2 to 4) none got to the end in noticeably fewer evaluations.
"""

from collections.abc import Sequence
from math import isfinite, sqrt

import numpy as np
from jaxtyping import Complex, Float
from scipy import fft

from supra.problems.errors import ProblemError

# Runge–Kutta 4 is stable up to 2.83 along the imaginary axis, where advection has its spectrum.
STABLE_COURANT = 2.7
Field = Float[np.ndarray, "n n"]
Spectrum = Complex[np.ndarray, "n modes"]


def evolve(
    vorticity: Field,
    times: Float[np.ndarray, " t"] | Sequence[float],
    viscosity: float,
    forcing: Field | None = None,
    *,
    courant: float = STABLE_COURANT,
) -> Float[np.ndarray, "n n t"]:
    """The vorticity at ``times`` of the flow that has ``vorticity`` at time 0.

    Fields are given at the nodes ``i / n`` of a square grid, axes ``[x, y]``; modes beyond the 2/3
    rule are dropped. The arithmetic has the precision of ``vorticity``, float32 or float64. A mean
    vorticity moves no fluid: it is carried along, and there is no mean velocity.

    Args:
        vorticity: the initial field.
        times: ascending and not negative.
        viscosity: ν, not negative.
        forcing: f, constant in time.
        courant: every step times the fastest advection rate stays below it; smaller is more exact.

    >>> wave = np.cos(2 * np.pi * np.arange(16) / 16)
    >>> late = evolve(np.outer(wave, wave), [0.0, 2.0], viscosity=0.01)[..., 1]
    >>> bool(np.allclose(late, np.outer(wave, wave) * np.exp(-0.01 * 8 * np.pi**2 * 2)))
    True
    """
    times = np.asarray(times, np.float64)
    forcing = np.zeros_like(vorticity) if forcing is None else forcing
    _check_fields(vorticity, forcing)
    _check_numbers(times, viscosity, courant)
    flow = Flow(forcing.astype(vorticity.dtype), viscosity)
    state = flow.spectrum(vorticity)
    solution = np.empty((*vorticity.shape, len(times)), vorticity.dtype)
    for k, duration in enumerate(np.diff(times, prepend=0.0)):
        state = flow.advance(state, float(duration), courant)
        solution[..., k] = flow.field(state)
    return solution


class Flow:
    r"""The semi-discrete equation :math:`\dot w = N(w) - \nu |2\pi k|^2 w + f` in Fourier modes.

    A spectrum has shape ``(n, K + 1)``: all :math:`k_x` in the order of the discrete Fourier
    transform and :math:`k_y = 0 \dots K`, zero where :math:`|k| > K`; the rest follows as fields
    are real. Leaving out the columns beyond K spares a third of one direction's transforms.
    """

    def __init__(self, forcing: Field, viscosity: float) -> None:
        self.nodes = len(forcing)
        self.cutoff = (self.nodes - 1) // 3
        self.kx, self.ky = wavenumbers(self.nodes, self.cutoff)
        self.viscosity = viscosity
        self._kept = self.kx**2 + self.ky**2 <= self.cutoff**2
        # Complex factors even where they are real: numpy would convert them in every product.
        self._precision = np.result_type(forcing.dtype, np.complex64)
        self._velocity = np.stack([self._factor(factor) for factor in self._biot_savart()])
        self._strain, self._shear = map(self._factor, self._advection())
        self._forcing = self.spectrum(forcing)
        self._forced = _present(self._forcing)
        self._acceleration = self._advection_rate(self._velocities(self._forcing))
        self._products = np.empty((2, self.nodes, self.nodes), forcing.dtype)

    def spectrum(self, field: Field) -> Spectrum:
        """Coefficients of the modes kept, so normalised that the first is the mean."""
        return self._columns(field) * self._kept

    def field(self, spectrum: Spectrum) -> Field:
        """Values at the nodes."""
        return self._values(spectrum.copy())

    def advance(self, state: Spectrum, duration: float, courant: float) -> Spectrum:
        """The state ``duration`` later, in stable steps."""
        while duration > 0:
            velocity = self._velocities(state)
            steps = self._steps(velocity, duration, courant)
            state = self._step(state, self._tendency(velocity), duration / steps)
            duration *= (steps - 1) / steps
        return state

    def _steps(self, velocity: np.ndarray, duration: float, courant: float) -> int:
        r"""How many steps cover ``duration``: h with :math:`h\,(r + a h) \le` ``courant``.

        :math:`r = 2\pi K \max|(u, v)|` bounds the rate of advection now, :math:`a` its growth by
        the forcing, without which a flow starting at rest would have no bound at all.
        """
        rate, growth = self._advection_rate(velocity), self._acceleration
        if not isfinite(rate):
            raise ProblemError(
                "The flow's velocity is no longer finite. Start from a smaller vorticity, or lower "
                f"`courant`: up to {STABLE_COURANT} it is stable."
            )
        inverse = (rate + sqrt(rate**2 + 4 * courant * growth)) / (2 * courant)
        return max(1, int(np.ceil(duration * inverse)))

    def _step(self, state: Spectrum, slope: Spectrum, h: float) -> Spectrum:
        r"""One Runge–Kutta step of the advection in the frame of the linear flow over h/2.

        That flow is :math:`L w = e^{-\nu|2\pi k|^2 h/2} w + g`, exact for diffusion and forcing:
        no bound on h from the viscosity, and a steady balance of the two is kept exactly.
        """
        decay, gain = self._linear_flow(h / 2)

        def carried(w: Spectrum) -> Spectrum:
            w *= decay
            w[self._forced] += gain
            return w

        middle = carried(state.copy())
        slope *= decay
        end = middle + slope * (h / 6)
        slope = self._tendency(self._velocities(middle + slope * (h / 2)))
        end += slope * (h / 3)
        slope = self._tendency(self._velocities(middle + slope * (h / 2)))
        end += slope * (h / 3)
        slope = self._tendency(self._velocities(carried(middle + slope * h)))
        return carried(end) + slope * (h / 6)

    def _linear_flow(self, duration: float) -> tuple[Spectrum, Complex[np.ndarray, " forced"]]:
        """Factors that diffusion multiplies the modes by, and what the forcing adds to its own."""
        rate = self.viscosity * (2 * np.pi) ** 2
        decay = np.exp(-rate * duration * self.kx**2) * np.exp(-rate * duration * self.ky**2)
        damping = rate * (self.kx**2 + self.ky**2)[self._forced] * duration
        # (1 - exp(-x)) / x without cancellation; 1 where x is 0.
        share = np.divide(
            -np.expm1(-damping), damping, out=np.ones_like(damping), where=damping > 0
        )
        gain = self._forcing[self._forced] * (duration * share)
        return decay.astype(self._precision), gain.astype(self._precision)

    def _velocities(self, vorticity: Spectrum) -> Float[np.ndarray, "2 n n"]:
        return self._values(self._velocity * vorticity)

    def _tendency(self, velocity: Float[np.ndarray, "2 n n"]) -> Spectrum:
        r"""Advection :math:`-(u, v) \cdot \nabla w`, from the velocity alone.

        As the curl of the momentum fluxes it is
        :math:`\partial_{xy}(u^2 - v^2) - (\partial_{xx} - \partial_{yy})\,uv`:
        four transforms in all, where the vorticity itself would take a fifth.
        """
        (u, v), (difference, product) = velocity, self._products
        np.multiply(u, v, out=product)
        np.multiply(u, u, out=difference)
        difference -= np.multiply(v, v, out=v)
        difference, product = self._columns(self._products)
        difference *= self._strain
        product *= self._shear
        return difference + product

    def _columns(self, fields: np.ndarray) -> np.ndarray:
        """Transforms of fields along the last two axes, columns beyond K left out."""
        rows = fft.rfft(fields, axis=-1, norm="forward")[..., : self.cutoff + 1]
        return fft.fft(rows, axis=-2, norm="forward")

    def _values(self, spectra: np.ndarray) -> np.ndarray:
        """Fields of spectra, which are overwritten."""
        rows = fft.ifft(spectra, axis=-2, norm="forward", overwrite_x=True)
        return fft.irfft(rows, n=self.nodes, axis=-1, norm="forward")

    def _advection_rate(self, velocity: np.ndarray) -> float:
        squared = np.square(velocity[0])
        squared += np.square(velocity[1])
        return 2 * np.pi * self.cutoff * sqrt(squared.max())

    def _biot_savart(self) -> tuple[np.ndarray, np.ndarray]:
        """The factors from vorticity to velocity; none for the mean."""
        squared = self.kx**2 + self.ky**2
        squared[0, 0] = np.inf
        stream = 1j / (2 * np.pi * squared)
        return self.ky * stream, -self.kx * stream

    def _advection(self) -> tuple[np.ndarray, np.ndarray]:
        """The factors of u² - v² and of uv in the tendency."""
        scale = (2 * np.pi) ** 2
        return -scale * self.kx * self.ky, scale * (self.kx**2 - self.ky**2)

    def _factor(self, values: np.ndarray) -> np.ndarray:
        return (self._kept * values).astype(self._precision)


def wavenumbers(
    nodes: int, cutoff: int
) -> tuple[Float[np.ndarray, "n 1"], Float[np.ndarray, "1 modes"]]:
    """All wavenumbers of the first axis, those of the second from 0 to ``cutoff``."""
    return fft.fftfreq(nodes, 1 / nodes)[:, None], np.arange(cutoff + 1.0)[None, :]


def _present(spectrum: Spectrum) -> tuple[np.ndarray, ...]:
    """Where a spectrum is more than the rounding of its transform."""
    size = np.abs(spectrum)
    return np.nonzero(size > 10 * np.finfo(size.dtype).eps * size.max())


def _check_fields(vorticity: np.ndarray, forcing: np.ndarray) -> None:
    if vorticity.ndim != 2 or len(set(vorticity.shape)) != 1 or len(vorticity) < 4:
        raise ProblemError(
            f"`vorticity` takes a square grid of at least 4 × 4 nodes: got {vorticity.shape}."
        )
    if vorticity.dtype not in (np.float32, np.float64):
        raise ProblemError(
            f"`vorticity` must be float32 or float64: got {vorticity.dtype}. "
            "Convert it with vorticity.astype(np.float64)."
        )
    if forcing.shape != vorticity.shape:
        raise ProblemError(
            f"`forcing` is given at the nodes of `vorticity`, {vorticity.shape}: "
            f"got {forcing.shape}."
        )
    if not (np.isfinite(vorticity).all() and np.isfinite(forcing).all()):
        raise ProblemError("`vorticity` and `forcing` must be finite: got NaN or infinity.")


def _check_numbers(times: np.ndarray, viscosity: float, courant: float) -> None:
    if times.ndim != 1 or not np.isfinite(times).all() or (np.diff(times, prepend=0.0) < 0).any():
        raise ProblemError(f"`times` must ascend from 0 or later: got {times}.")
    if not 0 <= viscosity < np.inf:
        raise ProblemError(f"`viscosity` must be finite and not negative: got {viscosity}.")
    if not 0 < courant < np.inf:
        raise ProblemError(
            f"`courant` must be positive, and up to {STABLE_COURANT} to be stable: got {courant}."
        )
