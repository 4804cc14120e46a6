"""A network as a file that runs without this library: torch.export programs and ONNX models.

The basis goes in as plain arrays, so that one exported model serves every domain: the values and
weights of a `SampledBasis`, and its eigenvalues where it carries them, or the values and weights of
each axis of a `SeparableBasis`.
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
    named: dict[str, Tensor] = {}
    if isinstance(basis, SampledBasis):
        named |= {"values": basis.values, "weights": basis.weights}
        return named if basis.eigenvalues is None else {**named, "eigenvalues": basis.eigenvalues}
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
        outputs: Tensor = self.model(inputs, self._basis(*arrays))
        return outputs

    def _basis(self, *arrays: Tensor) -> Sampled:
        if not self.separable:
            values, weights, *eigenvalues = arrays
            basis = SampledBasis(values, weights, periodic=self.periodic[0])
            return basis.with_eigenvalues(eigenvalues[0]) if eigenvalues else basis
        given = zip(arrays[::2], arrays[1::2], self.periodic, strict=True)
        return SeparableBasis(
            tuple(SampledBasis(values, weights, periodic=ends) for values, weights, ends in given)
        )


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
    of_each, of_points = ({0: batch}, {0: batch, 1: points}) if basis.values.ndim == 3 else (
        None, {0: points},
    )  # fmt: skip
    eigenvalues = () if basis.eigenvalues is None else (of_each,)
    return {0: batch, 1: points}, (of_points, of_points, *eigenvalues)
