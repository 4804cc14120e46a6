"""A trained surrogate as a file that runs without this library, checked to give its numbers."""

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from supra.basis.sampled import Sampled
from supra.data import DataError
from supra.experiment.surrogate import Surrogate
from supra.model.export import basis_arrays, export_onnx, export_program
from supra.train import TrainError

Format = Literal["onnx", "torch-export"]
Run = Callable[[Path, Tensor, Sampled], Tensor]
SUFFIXES = {"onnx": ".onnx", "torch-export": ".pt2"}
_TOLERANCE = 1e-4  # of the largest value, in single precision


def export_surrogate(surrogate: Surrogate, path: Path, kind: Format) -> float:
    """Write normalisers and network as one model of ``(inputs, basis arrays)``; check it.

    Inputs are physical fields with the positions behind them, outputs physical fields of one step.

    Returns:
        The largest difference to the surrogate's own numbers, relative to the largest of these.
    """
    if path.suffix != SUFFIXES[kind]:
        raise DataError(f"A model as {kind} is a {SUFFIXES[kind]} file: got {path.name!r}.")
    if not path.parent.is_dir():
        raise DataError(f"The folder {path.parent} does not exist. Make it first.")
    if surrogate.domain is None:
        raise DataError("A model is exported with the domain of its samples: they had one each.")
    basis = surrogate.subspace(surrogate.domain)
    predictor = surrogate.predictor.eval()
    channels = surrogate.channels
    unfinished = path.with_name(f".unfinished-{path.name}")
    try:
        if kind == "onnx":
            export_onnx(predictor, basis, channels, unfinished)
            found = _run_onnx
        else:
            torch.export.save(export_program(predictor, basis, channels), unfinished)
            found = _run_program
        difference = _difference(surrogate, basis, found, unfinished)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return difference


def _difference(surrogate: Surrogate, basis: Sampled, run: Run, path: Path) -> float:
    shape = (3, basis.points, surrogate.channels)
    noise = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    predictor = surrogate.predictor
    inputs = noise * predictor.input_scale + predictor.input_shift
    with torch.no_grad():
        expected = predictor(inputs, basis)
        found = run(path, inputs, basis)
    difference = float((found - expected).abs().max() / expected.abs().max())
    if not difference < _TOLERANCE:
        raise TrainError(f"The exported model differs by {difference:.1e} of the largest value.")
    return difference


def _run_program(path: Path, inputs: Tensor, basis: Sampled) -> Tensor:
    return torch.export.load(path).module()(inputs, *basis_arrays(basis).values())


def _run_onnx(path: Path, inputs: Tensor, basis: Sampled) -> Tensor:
    import onnxruntime

    session = onnxruntime.InferenceSession(path)
    arrays = {"inputs": inputs, **basis_arrays(basis)}
    given: dict[str, np.ndarray] = {name: array.numpy() for name, array in arrays.items()}
    return torch.tensor(session.run(None, given)[0])
