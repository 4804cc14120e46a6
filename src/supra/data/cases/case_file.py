"""One solved case from a file of the user's: a domain and the named fields on it."""

import csv
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from jaxtyping import Float

from supra.data.cases.cell_field import read_cell_fields
from supra.data.errors import DataError
from supra.data.store.format import first_line
from supra.domain import Domain, Mesh, PointSet
from supra.domain.files import READABLE, read_fields

MESHES = tuple(READABLE)
SUFFIXES = (".csv", ".npz", *MESHES)
AXES = ("x", "y", "z")

Columns = dict[str, Float[np.ndarray, "..."]]


@dataclass(frozen=True, eq=False)
class Case:
    """What one file holds.

    Attributes:
        name: of the file.
        domain: a mesh, or points where the file has no cells.
        fields: values at the points by name, ``(points, channels)`` each.
    """

    name: str
    domain: Domain
    fields: Mapping[str, Float[np.ndarray, "points _"]]

    def channels(self, wanted: Sequence[str]) -> Columns:
        """The channels of the fields named, one by one: ``u`` of three becomes u_x, u_y, u_z.

        A single channel can be named itself, such as ``u_x``.
        """
        flat = {name: split_channels(name, values) for name, values in self.fields.items()}
        every = {name: column for columns in flat.values() for name, column in columns.items()}
        found: Columns = {}
        for name in wanted:
            if name not in flat and name not in every:
                self._missing(name)
            found |= flat[name] if name in flat else {name: every[name]}
        for name, column in found.items():
            self._check_finite(name, column)
        return found

    def _missing(self, name: str) -> None:
        has = ", ".join(map(repr, self.fields)) or "none"
        raise DataError(f"{self.name!r} has no field {name!r}: its fields are {has}.")

    def _check_finite(self, name: str, column: np.ndarray) -> None:
        bad = np.flatnonzero(~np.isfinite(column))
        if bad.size:
            raise DataError(
                f"{self.name!r} has {bad.size} of {column.size} values of {name!r} that are not "
                f"finite (first: {column[bad[0]]} at point {bad[0]}). Mend it or leave it out."
            )


def split_channels(name: str, values: Float[np.ndarray, "points channels"]) -> Columns:
    """Columns of a field: named by axis up to three, by number beyond."""
    count = values.shape[1]
    ends = AXES[:count] if count <= len(AXES) else map(str, range(count))
    names = [name] if count == 1 else [f"{name}_{end}" for end in ends]
    return dict(zip(names, values.T, strict=True))


def read_case(files: Sequence[Path], wanted: Sequence[str]) -> Case:
    """A case from its file, or from a mesh and an ``.npz`` of fields on it.

    Fields per cell are brought to the points only if one that is ``wanted`` is among them.
    """
    path, *others = files
    if path.suffix.lower() not in SUFFIXES:
        raise DataError(
            f"The format of a case is known by its extension: {str(path)!r} has {path.suffix!r}. "
            f"Known are {' '.join(SUFFIXES)}."
        )
    try:
        domain, fields = _READERS.get(path.suffix.lower(), _read_mesh)(path, wanted)
        for other in others:
            fields |= _arrays(other, len(domain.points))
    except (TypeError, ValueError) as error:  # what numpy and the domains make of bad arrays
        message = str(error)
        raise DataError(message if str(path) in message else f"{str(path)!r}: {message}") from None
    return Case(str(path), domain, fields)


def _read_mesh(path: Path, wanted: Sequence[str]) -> tuple[Domain, Columns]:
    mesh, found = read_fields(path)
    fields = {name: _flat(name, values, path) for name, values in found.items()}
    if not _has_all(fields, wanted):
        # Files with both kinds mean the one at the points: the other is often derived from it.
        fields = read_cell_fields(path, mesh) | fields
    return mesh, {name: _in_plane(values, mesh) for name, values in fields.items()}


def _has_all(fields: Columns, wanted: Iterable[str]) -> bool:
    channels = {name for field, values in fields.items() for name in split_channels(field, values)}
    return set(wanted) <= channels | set(fields)


def _in_plane(values: np.ndarray, mesh: Mesh) -> np.ndarray:
    """Vectors on a flat mesh without the zero that formats with three coordinates add."""
    is_padded = mesh.points.shape[1] == 2 and values.shape[1] == 3 and not values[:, 2].any()
    return values[:, :2] if is_padded else values


def _read_npz(path: Path, wanted: Sequence[str]) -> tuple[Domain, Columns]:
    arrays = read_arrays(path)
    if "points" not in arrays:
        raise DataError(
            f"{str(path)!r} needs an array 'points' of shape (points, dimensions): it has "
            f"{', '.join(map(repr, arrays)) or 'none'}. Or put a mesh of the same name beside it."
        )
    points, cells = arrays.pop("points"), arrays.pop("cells", None)
    domain = PointSet(points) if cells is None else Mesh(points, cells, name=path.name)
    fields = {name: _at_points(name, a, len(points), path) for name, a in arrays.items()}
    return domain, fields


def _arrays(path: Path, points: int) -> Columns:
    """Fields of an ``.npz`` on the points of a mesh that another file holds."""
    return {name: _at_points(name, a, points, path) for name, a in read_arrays(path).items()}


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """All arrays of an ``.npz`` by name."""
    try:
        with np.load(path, allow_pickle=False) as content:
            return {name: content[name] for name in content.files}
    except Exception as error:  # a damaged archive raises anything, even NotImplementedError
        raise DataError(
            f"{str(path)!r} cannot be read as .npz: {first_line(error)}. Is it complete?"
        ) from error


def _at_points(name: str, values: np.ndarray, points: int, path: Path) -> np.ndarray:
    if values.ndim == 0 and values.dtype.kind in "fiub":  # a number is a constant function
        return np.full((points, 1), float(values))
    if values.ndim == 0 or len(values) != points:
        raise DataError(
            f"{str(path)!r} has the array {name!r} of shape {values.shape}, and {points} points. A "
            f"field has shape (points,) or (points, channels)."
        )
    return _flat(name, values, path)


def _flat(name: str, values: np.ndarray, path: Path) -> np.ndarray:
    """Values as (points, channels) of real numbers."""
    if values.dtype.kind not in "fiub":
        raise DataError(
            f"{str(path)!r} has the field {name!r} of {values.dtype}: real numbers only."
        )
    return values.reshape(len(values), -1).astype(np.float64)


def _read_csv(path: Path, wanted: Sequence[str]) -> tuple[Domain, Columns]:
    columns = _table(path)
    axes = [axis for axis in AXES if axis in columns]
    if "x" not in axes:
        raise DataError(
            f"{str(path)!r} needs columns x, y and perhaps z in its first line, separated by "
            f"commas: it has {', '.join(map(repr, columns))}."
        )
    points = np.stack([columns.pop(axis) for axis in axes], axis=1)
    return PointSet(points), {name: column[:, None] for name, column in columns.items()}


def _table(path: Path) -> Columns:
    """The columns of a table by the names in its first line, which may begin with #."""
    header: list[str] = []
    try:
        with path.open(newline="", encoding="utf-8-sig") as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an empty table is reported below
            header = [name.strip(" #") for name in next(csv.reader(file), [])]
            rows = np.loadtxt(file, delimiter=",", ndmin=2)
        if len(set(header)) < len(header):
            raise ValueError(f"two columns have one name among {', '.join(map(repr, header))}")
        if not rows.size or rows.shape[1] != len(header):
            raise ValueError(f"{len(header)} names in the first line, and no numbers below it")
    except (OSError, ValueError, csv.Error) as error:  # ValueError is also what bad text gives
        said = _wrong_line(path, len(header)) if header else None
        raise DataError(
            f"{str(path)!r} cannot be read as a table: {said or first_line(error)}. It needs one "
            f"line of names, then lines of as many numbers, separated by commas."
        ) from error
    return dict(zip(header, rows.T, strict=True))


def _wrong_line(path: Path, names: int) -> str | None:
    """Which line below the names is wrong: numpy counts rows, now from 0, now from 1."""
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        for number, line in enumerate(islice(file, 1, None), 2):
            values = line.partition("#")[0].strip().split(",")
            if values == [""]:
                continue
            if len(values) != names:
                return f"{names} names in the first line, {len(values)} values in line {number}"
            for value in values:
                if not _is_number(value):
                    return f"{value.strip()!r} in line {number} is not a number"
    return None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


_READERS: dict[str, Callable[[Path, Sequence[str]], tuple[Domain, Columns]]] = {
    ".npz": _read_npz,
    ".csv": _read_csv,
}
