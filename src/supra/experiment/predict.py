"""Predictions from file to file."""

import csv
import warnings
from pathlib import Path

import numpy as np

from supra.data import DataError, Layout
from supra.data.cases.case_file import (
    AXES,
    MESHES,
    Case,
    read_arrays,
    read_case,
    split_channels,
)
from supra.data.replacement import replacing
from supra.domain import Mesh, OutsideWarning
from supra.domain.files import WRITABLE, check_writable, write_mesh, write_points
from supra.domain.probe import Probe
from supra.experiment.surrogate import Surrogate

Named = dict[str, np.ndarray]
POINTS = (".csv", ".vtu", ".npz")  # files of values at points
_REAL = "fiub"  # numpy's kinds of real numbers


def predict_file(surrogate: Surrogate, source: Path, output: Path, at: Path | None = None) -> Named:
    """Read the given functions, predict, and write what was predicted.

    A mesh file, a CSV table or an ``.npz`` with ``points`` is one case on its own domain, its
    fields named as the input channels; an ``.npz`` with ``inputs`` alone holds fields ``(points,
    channels)``, of one sample or several, on the domain of the training samples. Where the truth
    is among the fields, the error is written too.

    ``at`` is a file of points, usually a table with columns x, y and perhaps z: what would be
    written for the nodes is then written for these points, beside what else the file says about
    them. A column of it named as a target is the truth there.
    """
    for file in (source, at):
        if file is not None and not file.exists():
            raise DataError(f"There is no file {file}.")
    _check_output(output, [source] if at is None else [source, at])
    places = None if at is None else _read_places(at, surrogate.dimensions)
    arrays = read_arrays(source) if source.suffix.lower() == ".npz" else {}
    if "inputs" in arrays and "points" not in arrays:
        found = _from_arrays(surrogate, arrays, output, places)
        mesh = None
    else:
        case = read_case([source], [channel.name for channel in surrogate.layout.inputs])
        found = _from_case(surrogate, case, places)
        mesh = case.domain if isinstance(case.domain, Mesh) and places is None else None
    _write(output, found, mesh)
    return found


def _read_places(at: Path, dimensions: int) -> Case:
    places = read_case([at], [])
    wanted, got = (", ".join(AXES[:n]) for n in (dimensions, places.domain.points.shape[1]))
    if got != wanted:
        raise DataError(f"{at} must give the points' coordinates {wanted}: got {got}.")
    return places


def _from_case(surrogate: Surrogate, case: Case, places: Case | None) -> Named:
    layout = surrogate.layout
    given = case.channels([channel.name for channel in layout.inputs])
    probe = None if places is None else Probe.of(case.domain, places.domain.points)
    inputs = np.column_stack([np.empty((len(case.domain.points), 0)), *given.values()])
    prediction = surrogate.predict(inputs, case.domain)
    columns = _columns(case)
    known = {name: columns[name] for name in _by_name(layout, prediction) if name in columns}
    if probe is None or places is None:
        return given | _compared(layout, prediction, known)
    given, known = _looked_at(probe, given), _looked_at(probe, known) | _columns(places)
    found = given | _columns(places) | _compared(layout, probe(prediction), known)
    return _positions(places) | found | _positions(places)  # inputs may be called x and y, too


def _from_arrays(surrogate: Surrogate, arrays: Named, output: Path, places: Case | None) -> Named:
    """For inputs on the domain of the training samples."""
    inputs, truth = arrays["inputs"], arrays.get("targets")
    as_table = output.suffix.lower() != ".npz"
    if as_table and inputs.ndim != 2:
        raise DataError(
            f"Predictions for several samples are written as .npz: got {output.name!r}."
        )
    _check_inputs(inputs)
    at = None if places is None else places.domain.points
    prediction = surrogate.predict(inputs, at=at)
    if truth is not None:
        _check_truth(truth, (*prediction.shape[:-2], inputs.shape[-2], prediction.shape[-1]))
    if truth is not None and at is not None and surrogate.domain is not None:
        with warnings.catch_warnings(action="ignore", category=OutsideWarning):  # said already
            truth = Probe.of(surrogate.domain, at)(truth)
    if places is not None and as_table:
        known = {} if truth is None else _by_name(surrogate.layout, truth)
        found = _compared(surrogate.layout, prediction, known | _columns(places))
        return _positions(places) | _columns(places) | found
    found = {} if at is None else {"points": at}
    found["prediction"] = prediction
    if truth is not None:
        found["error"] = prediction - truth
    return found


def _compared(layout: Layout, prediction: np.ndarray, known: Named) -> Named:
    """What is predicted by name; the truth and the error where the truth is known."""
    found: Named = {}
    for name, values in _by_name(layout, prediction).items():
        found[f"{name}_predicted"] = values
        if name in known:
            found |= {name: known[name], f"{name}_error": values - known[name]}
    return found


def _by_name(layout: Layout, targets: np.ndarray) -> Named:
    """Targets ``(*steps, points, channels)`` one by one; ``u_t3`` is u at the fourth moment."""
    found: Named = {}
    for number, channel in enumerate(layout.targets):
        values = targets[..., number]
        moments = {f"_t{k}": values[k] for k in range(len(layout.times))} or {"": values}
        found |= {channel.name + end: moment for end, moment in moments.items()}
    return found


def _columns(case: Case) -> Named:
    """All that a file says about its points, channel by channel."""
    fields = case.fields.items()
    return {name: c for key, values in fields for name, c in split_channels(key, values).items()}


def _positions(places: Case) -> Named:
    return dict(zip(AXES, places.domain.points.T, strict=False))


def _looked_at(probe: Probe, columns: Named) -> Named:
    return {name: probe(column[:, None])[:, 0] for name, column in columns.items()}


def _check_inputs(inputs: np.ndarray) -> None:
    """A single NaN would be one everywhere: attention is global."""
    if inputs.dtype.kind not in _REAL:
        raise DataError(f"The inputs must be real numbers: got an array of {inputs.dtype}.")
    bad = np.argwhere(~np.isfinite(inputs))
    if len(bad):
        raise DataError(
            f"The inputs must be finite: got {len(bad)} of {inputs.size} that are not (first: "
            f"{inputs[tuple(bad[0])]} at {bad[0].tolist()})."
        )


def _check_truth(truth: np.ndarray, shape: tuple[int, ...]) -> None:
    if truth.dtype.kind not in _REAL or truth.shape != shape:
        raise DataError(
            f"The targets must be real numbers of shape {shape}: got {truth.dtype} of shape "
            f"{truth.shape}."
        )


def _check_output(output: Path, read: list[Path]) -> None:
    """Say what cannot be written before the work, not after it."""
    source, *at = read
    is_mesh = source.suffix.lower() in MESHES
    known = POINTS if at else (".npz", *WRITABLE) if is_mesh else (".npz",)
    if output.suffix.lower() not in known:
        where = f"at the points of {at[0].name}" if at else f"for {source.name}"
        raise DataError(
            f"Predictions {where} are written as {', '.join(known)}: got {output.name!r}."
        )
    if not output.parent.is_dir():
        raise DataError(f"The folder {output.parent} does not exist. Make it first.")
    if output.exists() and any(output.samefile(file) for file in read):
        raise DataError(f"{output} would overwrite what is read. Name another.")


def _write(output: Path, found: Named, mesh: Mesh | None) -> None:
    """Onto a mesh, or at the points that are among the columns found."""
    kind = output.suffix.lower()
    if kind == ".npz":
        # Given a name, numpy would add an extension.
        with replacing(output) as unfinished, open(unfinished, "wb") as file:
            np.savez(file, **found)  # type: ignore[arg-type]
    elif kind == ".csv":
        with replacing(output) as unfinished, open(unfinished, "w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(found)
            # as few digits as tell a number from all others of its precision
            rows.writerows(map(str, row) for row in zip(*found.values(), strict=True))
    elif mesh is not None:
        check_writable(output, mesh, found)
        write_mesh(output, mesh, found)
    else:
        positions = np.stack([found[axis] for axis in AXES if axis in found], axis=1)
        fields = {name: values for name, values in found.items() if name not in AXES}
        write_points(output, positions, fields)
