"""The six public data sets, as the community publishes them."""

from functools import partial

import numpy as np

from supra.data.dataset import Channel, Layout
from supra.data.errors import DataError
from supra.data.public.layout import Array, Axis, Fields, PublicSet, Values


def public_set(name: str) -> PublicSet:
    """The description of a public set by its name, with hyphens or underscores."""
    known = name.replace("-", "_").lower()
    if known not in SETS:
        raise DataError(f"The public data sets are {', '.join(SETS)}: got {name!r}.")
    return SETS[known]


def _darcy(values: Values) -> Fields:
    return Fields(values["coeff"].reshape(-1, 1), values["sol"].reshape(-1, 1))


def _navier_stokes(values: Values) -> Fields:
    past, future = np.split(values["u"].reshape(-1, 20), 2, axis=1)
    return Fields(past, future.T[..., None])


def _flow(channel: int, values: Values) -> Fields:
    positions = np.stack([values["X"], values["Y"]], axis=-1)
    return Fields(positions.reshape(-1, 2), values["Q"][channel].reshape(-1, 1), positions)


def _plasticity(values: Values) -> Fields:
    output = values["output"]
    _, height, steps, channels = output.shape
    targets = np.moveaxis(output, 2, 0).reshape(steps, -1, channels)
    return Fields(np.repeat(values["input"], height)[:, None], targets)


def _elasticity(values: Values) -> Fields:
    return Fields(values["XY"], values["sigma"][:, None], values["XY"])


def _channels(*names: str) -> tuple[Channel, ...]:
    return tuple(Channel(name) for name in names)


def _samples(count: int) -> Axis:
    return Axis("sample", count, "always")


def _structured(prefix: str, samples: int, i: int, j: int, quantities: int) -> tuple[Array, ...]:
    """Positions and flow of Airfoil and Pipe; positions keep what the thin cells need."""
    grid = (Axis("i", i, "generated"), Axis("j", j, "generated"))
    flow = (_samples(samples), Axis("quantity", quantities), *grid)
    return (
        Array("X", f"{prefix}_X.npy", (_samples(samples), *grid), "<f8"),
        Array("Y", f"{prefix}_Y.npy", (_samples(samples), *grid), "<f8"),
        Array("Q", f"{prefix}_Q.npy", flow),
    )


_SQUARE = (_samples(1024), Axis("x", 421, "always"), Axis("y", 421, "always"))
_SMOOTH = ("piececonst_r421_N1024_smooth1.mat", "piececonst_r421_N1024_smooth2.mat")
_TORUS = (Axis("x", 64, "generated"), Axis("y", 64, "generated"), Axis("time", 20))
_BLOCK = (Axis("x", 101, "generated"), Axis("y", 31, "generated"))
_NODE = Axis("node", 972, "generated")
_CELL = "Random_UnitCell_{}_10.npy"

SETS = {
    described.name: described
    for described in (
        PublicSet(
            "darcy",
            tuple(Array(k, _SMOOTH[0], _SQUARE, test_file=_SMOOTH[1]) for k in ("coeff", "sol")),
            Layout(_channels("coefficient"), _channels("pressure")),
            _darcy,
            *(1000, 200),
            grid=("x", "y"),
            stride=5,
        ),
        PublicSet(
            "navier_stokes",
            (Array("u", "NavierStokes_V1e-5_N1200_T20.mat", (_samples(1200), *_TORUS)),),
            Layout(
                _channels(*(f"vorticity at t={t}" for t in range(1, 11))),
                _channels("vorticity"),
                "rollout",
                tuple(float(t) for t in range(11, 21)),
            ),
            _navier_stokes,
            *(1000, 200),
            test_last=True,
            grid=("x", "y"),
            periodic=True,
        ),
        PublicSet(
            "airfoil",
            (
                *_structured("NACA_Cylinder", 2490, 221, 51, quantities=5),
                Array("theta", "NACA_theta.npy", (_samples(2490), Axis("angle", 8)), needed=False),
            ),
            Layout(_channels("x", "y"), _channels("Mach")),
            partial(_flow, 4),
            *(1000, 200),
            grid=("i", "j"),
        ),
        PublicSet(
            "pipe",
            _structured("Pipe", 2310, 129, 129, quantities=3),
            Layout(_channels("x", "y"), _channels("x-velocity")),
            partial(_flow, 0),
            *(1000, 200),
            grid=("i", "j"),
        ),
        PublicSet(
            "plasticity",
            (
                Array("input", "plas_N987_T20.mat", (_samples(987), _BLOCK[0])),
                Array(
                    "output",
                    "plas_N987_T20.mat",
                    (_samples(987), *_BLOCK, Axis("time", 20), Axis("quantity", 4)),
                ),
            ),
            Layout(
                _channels("die profile"),
                _channels("x", "y", "u_x", "u_y"),
                "condition",
                tuple(float(t) for t in np.linspace(0, 1, 20)),
            ),
            _plasticity,
            *(900, 80),
            test_last=True,
            grid=("x", "y"),
        ),
        PublicSet(
            "elasticity",
            (
                Array("XY", _CELL.format("XY"), (_NODE, Axis("xy", 2), _samples(2000)), "<f8"),
                Array("sigma", _CELL.format("sigma"), (_NODE, _samples(2000))),
                Array("rr", _CELL.format("rr"), (Axis("angle", 42), _samples(2000)), needed=False),
            ),
            Layout(_channels("x", "y"), _channels("stress")),
            _elasticity,
            *(1000, 200),
            test_last=True,
        ),
    )
}
