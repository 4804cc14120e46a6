"""A network as a file that runs without this library: torch.export programs and ONNX models.

The basis goes in as plain arrays, so that one exported model serves every domain: the values and
weights of a `SampledBasis`, or those of each axis of a `SeparableBasis`.
"""

from pathlib import Path

import torch
from torch import Tensor, nn
from torch.export import Dim, ExportedProgram

from supra.basis.errors import BasisError
from supra.basis.sampled import Sampled, SampledBasis, SeparableBasis
from supra.model.local_stencil import LocalStencil


def basis_arrays(basis: Sampled) -> dict[str, Tensor]:
    """The arrays that an exported model takes beside its inputs, by name and in order."""
    if isinstance(basis, SampledBasis):
        return {"values": basis.values, "weights": basis.weights}
    named = {}
    for number, axis in enumerate(_axes(basis)):
        named[f"values_{number}"] = axis.values
        named[f"weights_{number}"] = axis.weights
    return named


def export_program(model: nn.Module, basis: Sampled, in_channels: int) -> ExportedProgram:
    """An exported program of ``(inputs, *basis_arrays(basis).values())``.

    The batch may have any size; with a dense basis, so may the number of points.

    Raises:
        BasisError: the network needs more of a mesh than these arrays.
    """
    if any(isinstance(module, LocalStencil) for module in model.modules()):
        raise BasisError(
            "A network with a local branch on meshes cannot be exported: its sparse operators have "
            "no place among the arrays of an exported model. Train with model.local=false."
        )
    return torch.export.export(
        _TakesArrays(model, basis).eval(),
        _example(basis, in_channels),
        dynamic_shapes=_dynamic_shapes(basis),
    )


def export_onnx(model: nn.Module, basis: Sampled, in_channels: int, path: str | Path) -> None:
    """Write an ONNX model with the inputs ``inputs`` and those of `basis_arrays`.

    Needs the extra ``onnx``.
    """
    try:
        import onnxscript  # noqa: F401
    except ImportError:
        raise ModuleNotFoundError(
            "ONNX needs the extra 'onnx': pip install 'supra-operator[onnx]'."
        ) from None
    program = torch.onnx.export(
        export_program(model, basis, in_channels),
        dynamo=True,
        input_names=["inputs", *basis_arrays(basis)],
        output_names=["outputs"],
        verbose=False,
    )
    assert program is not None
    program.save(str(path))


class _TakesArrays(nn.Module):
    """A network whose basis comes as arrays."""

    def __init__(self, model: nn.Module, basis: Sampled) -> None:
        super().__init__()
        self.model = model
        self.separable = isinstance(basis, SeparableBasis)
        self.periodic = [each.periodic for each in _axes(basis)]

    def forward(self, inputs: Tensor, *arrays: Tensor) -> Tensor:
        given = zip(arrays[::2], arrays[1::2], self.periodic, strict=True)
        axes = tuple(
            SampledBasis(values, weights, periodic=periodic) for values, weights, periodic in given
        )
        outputs: Tensor = self.model(inputs, SeparableBasis(axes) if self.separable else axes[0])
        return outputs


def _axes(basis: Sampled) -> tuple[SampledBasis, ...]:
    return basis.axes if isinstance(basis, SeparableBasis) else (basis,)


def _example(basis: Sampled, in_channels: int) -> tuple[Tensor, ...]:
    arrays = basis_arrays(basis)
    first = next(iter(arrays.values()))
    return first.new_zeros(2, basis.points, in_channels), *arrays.values()


def _dynamic_shapes(basis: Sampled) -> tuple[object, ...]:
    batch, points = Dim("batch"), Dim("points")
    if isinstance(basis, SeparableBasis):
        return {0: batch}, tuple(None for _ in basis_arrays(basis))
    if basis.values.ndim == 3:
        return {0: batch, 1: points}, ({0: batch, 1: points}, {0: batch, 1: points})
    return {0: batch, 1: points}, ({0: points}, {0: points})
