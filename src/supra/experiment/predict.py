"""Predictions from file to file."""

from pathlib import Path

import numpy as np

from supra.data import DataError
from supra.data.cases.case_file import MESHES, Case, read_case
from supra.data.replacement import replacing
from supra.domain import Mesh
from supra.domain.files import WRITABLE, check_writable, write_mesh
from supra.experiment.surrogate import Surrogate

Named = dict[str, np.ndarray]


def predict_file(surrogate: Surrogate, source: Path, output: Path) -> Named:
    """Read the given functions, predict, and write what was predicted.

    A mesh file, a CSV table or an ``.npz`` with ``points`` is one case on its own domain, its
    fields named as the input channels; an ``.npz`` with ``inputs`` alone holds fields ``(points,
    channels)``, of one sample or several, on the domain of the training samples. Where the truth
    is among the fields, the error is written too.
    """
    if not source.exists():
        raise DataError(f"There is no file {source}.")
    _check_output(output, source)
    if _holds_inputs(source):
        with np.load(source) as arrays:
            inputs, truth = arrays["inputs"], arrays.get("targets")
        found = {"prediction": surrogate.predict(inputs)}
        if truth is not None:
            found["error"] = found["prediction"] - truth
        _write(output, found, None)
        return found
    wanted = [channel.name for channel in surrogate.layout.inputs]
    case = read_case([source], wanted)
    found = _predicted(surrogate, case, wanted)
    _write(output, found, case.domain if isinstance(case.domain, Mesh) else None)
    return found


def _predicted(surrogate: Surrogate, case: Case, wanted: list[str]) -> Named:
    columns = case.channels(wanted)
    inputs = np.stack([columns[name] for name in wanted], axis=1)
    prediction = surrogate.predict(inputs, case.domain)
    found: Named = dict(columns)
    times = surrogate.layout.times
    for number, channel in enumerate(surrogate.layout.targets):
        values = prediction[..., number]
        moments = {f"_t{k}": values[k] for k in range(len(times))} if times else {"": values}
        for end, moment in moments.items():
            found[f"{channel.name}{end}_predicted"] = moment
            if channel.name + end in case.fields:
                truth = case.fields[channel.name + end][:, 0]
                found[f"{channel.name}{end}"] = truth
                found[f"{channel.name}{end}_error"] = moment - truth
    return found


def _holds_inputs(source: Path) -> bool:
    if source.suffix.lower() != ".npz":
        return False
    try:
        with np.load(source, allow_pickle=False) as arrays:
            return "inputs" in arrays.files and "points" not in arrays.files
    except Exception as error:  # a damaged archive raises anything
        raise DataError(f"{source} cannot be read: {error}") from None


def _check_output(output: Path, source: Path) -> None:
    """Say what cannot be written before the work, not after it."""
    is_mesh = source.suffix.lower() in MESHES
    known = [".npz", *WRITABLE] if is_mesh else [".npz"]
    if output.suffix.lower() not in known:
        raise DataError(
            f"Predictions for {source.name} are written as {', '.join(known)}: got {output.name!r}."
        )
    if not output.parent.is_dir():
        raise DataError(f"The folder {output.parent} does not exist. Make it first.")
    if output.exists() and output.samefile(source):
        raise DataError(f"{output} would overwrite what is read. Name another.")


def _write(output: Path, found: Named, mesh: Mesh | None) -> None:
    if output.suffix.lower() == ".npz":
        # Given a name, numpy would add an extension.
        with replacing(output) as unfinished, open(unfinished, "wb") as file:
            np.savez(file, **found)  # type: ignore[arg-type]
        return
    assert mesh is not None
    check_writable(output, mesh, found)
    write_mesh(output, mesh, found)
