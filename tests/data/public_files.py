"""Files of the public sets, made small: by numpy, scipy and h5py alone, or by the library."""

from pathlib import Path

import h5py
import numpy as np
import scipy.io

from supra.data.dataset import Splits
from supra.data.public.sets import public_set
from supra.data.public.write import write_public

SMOOTH = "piececonst_r421_N1024_smooth{}.mat"
VORTICITY = "NavierStokes_V1e-5_N1200_T20.mat"
PLASTIC = "plas_N987_T20.mat"
CELL = "Random_UnitCell_{}_10.npy"

# One sample's shapes, small; as the problems make them.
SMALL = {
    "darcy": {"coeff": (6, 6), "sol": (6, 6)},
    "navier_stokes": {"u": (4, 4, 20)},
    "airfoil": {"X": (7, 3), "Y": (7, 3), "Q": (5, 7, 3), "theta": (8,)},
    "pipe": {"X": (4, 5), "Y": (4, 5), "Q": (3, 4, 5)},
    "plasticity": {"input": (5,), "output": (5, 3, 20, 4)},
    "elasticity": {"XY": (9, 2), "sigma": (9,), "rr": (42,)},
}


def coded(*shape: int) -> np.ndarray:
    """An array whose every entry tells its indices."""
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


def solutions(name: str, count: int, seed: int) -> list[dict[str, np.ndarray]]:
    rng = np.random.default_rng(seed)
    return [
        {key: rng.standard_normal(shape, np.float32) for key, shape in SMALL[name].items()}
        for _ in range(count)
    ]


def write(name: str, root: Path, train: int = 5, test: int = 2, version: str = "auto") -> list:
    """A small generated set: all its samples, in order."""
    first, then = solutions(name, train, 1), solutions(name, test, 2)
    origin = {"seed": 1, "options": {"resolution": 6}, "version": "0.1.0"}
    write_public(
        name,
        root,
        iter(first),
        iter(then),
        counts=(train, test),
        provenance=origin,
        version=version,
    )
    return first + then


def hand_made(name: str, root: Path, count: int) -> dict[str, np.ndarray]:
    """Files with the published axes and few samples: their arrays."""
    if name == "darcy":
        arrays = {"coeff": coded(count, 421, 421) % 1009, "sol": coded(count, 421, 421) % 2003}
        for number in (1, 2):
            shifted = {key: value + number for key, value in arrays.items()}
            scipy.io.savemat(root / SMOOTH.format(number), shifted)
        return arrays
    if name == "navier_stokes":
        arrays = {"u": coded(count, 64, 64, 20)}
        scipy.io.savemat(root / VORTICITY, arrays, do_compression=True)
        return arrays
    if name == "plasticity":
        arrays = {"input": coded(count, 101), "output": coded(count, 101, 31, 20, 4)}
        with h5py.File(root / PLASTIC, "w", userblock_size=512) as file:
            file.update({key: value.T for key, value in arrays.items()})
        return arrays
    if name == "elasticity":
        arrays = {"XY": coded(972, 2, count), "sigma": coded(972, count)}
        files = {key: CELL.format(key) for key in arrays}
    else:
        prefix, shape, channels = {
            "airfoil": ("NACA_Cylinder", (221, 51), 5),
            "pipe": ("Pipe", (129, 129), 3),
        }[name]
        arrays = {
            "X": coded(count, *shape),
            "Y": coded(count, *shape)[..., ::-1],
            "Q": coded(count, channels, *shape),
        }
        files = {key: f"{prefix}_{key}.npy" for key in arrays}
    for key, file in files.items():
        np.save(root / file, arrays[key])
    return arrays


def as_written(name: str, samples: list, part: str, data: Splits) -> None:
    """Compare what is read with the samples that were written."""
    described = public_set(name)
    for got, sample in zip(getattr(data, part), samples, strict=True):
        fields = described.assemble(sample)
        np.testing.assert_array_equal(got.inputs, fields.inputs)
        np.testing.assert_array_equal(got.targets, fields.targets)
