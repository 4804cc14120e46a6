"""Mesh files, through meshio: msh, vtu, vtk, xdmf, stl, obj, ply and what else it reads.

Whatever is wrong with a file, the error is a `MeshError` that names it.
"""

import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import quote, unquote
from uuid import uuid4

import meshio
import numpy as np
from jaxtyping import Bool, Float, Shaped

from supra.domain import simplex
from supra.domain.cell_block import CellBlock, mesh_from_blocks
from supra.domain.errors import MeshError
from supra.domain.memory import at_most
from supra.domain.mesh import Mesh
from supra.domain.obj import read_obj

# meshio's readers of these never return when the file is cut short.
ENDLESS = {".dat", ".mdpa", ".off", ".tec", ".wkt"}
READABLE = sorted(e for e in meshio.extension_to_filetypes if e not in ENDLESS and e[1:].isalnum())
# How meshio is asked to write each format. XDMF holds its numbers itself, in one file.
WRITABLE: dict[str, dict[str, Any]] = {
    ".msh": {"file_format": "gmsh22"},
    ".obj": {"file_format": "obj"},
    ".ply": {"file_format": "ply"},
    ".stl": {"file_format": "stl", "binary": True},
    ".vtk": {"file_format": "vtk"},
    ".vtu": {"file_format": "vtu"},
    ".xdmf": {"file_format": "xdmf", "data_format": "XML"},
}
SURFACE_ONLY = (".obj", ".ply", ".stl")
# Channels that a field may have in each format; any number in those not named.
CHANNELS: dict[str, tuple[int, ...]] = {
    ".msh": (1, 3, 9),
    ".obj": (),
    ".ply": (1,),
    ".stl": (),
    ".vtk": (1, 3, 9),
    ".xdmf": (1, 2, 3, 6, 9),
}
# What reading a file may take, far more than any sound file needs.
MEMORY = 2**30
MEMORY_PER_BYTE = 200
KINDS = {1: "vertex", 2: "line", 3: "triangle", 4: "tetra"}
GROUP = "group:"  # prefix of the cell data that mark the members of a region or boundary

_ALONE = Lock()

Fields = dict[str, Shaped[np.ndarray, "points *channels"]]


def read_mesh(path: str | Path) -> Mesh:
    """Read a mesh: simplices of the highest dimension, regions and boundaries by name.

    Quadrilaterals, hexahedra, wedges and pyramids are split, curved cells reduced to their
    corners; a flat mesh stored with three coordinates comes back with two.
    """
    return read_fields(path)[0]


def read_fields(path: str | Path) -> tuple[Mesh, Fields]:
    """Read a mesh and the values stored at its points by name, shape ``(points, …)``."""
    path = Path(path)
    _check_readable(path)
    points, blocks, fields = _read_obj(path) if path.suffix.lower() == ".obj" else _read(path)
    mesh, kept = mesh_from_blocks(points, blocks, path.name)
    return mesh, {name: values[kept] for name, values in fields.items()}


def write_mesh(
    path: str | Path, mesh: Mesh, point_data: Mapping[str, np.ndarray] | None = None
) -> None:
    """Write a mesh and values at its points; the file appears whole or not at all.

    Regions and boundaries are kept in msh (as physical groups), vtu, vtk and xdmf files.
    """
    path, extension = Path(path), Path(path).suffix.lower()
    fields = {name: _storable(values) for name, values in (point_data or {}).items()}
    check_writable(path, mesh, fields)
    _write(path, lambda: _for_meshio(mesh, fields, extension))


def write_points(
    path: str | Path,
    points: Float[np.ndarray, "points dimensions"],
    point_data: Mapping[str, np.ndarray],
) -> None:
    """Write points without cells, and values there, as a ``.vtu`` file of vertices."""
    path = Path(path)
    if path.suffix.lower() != ".vtu":
        raise MeshError(f"Points without cells are written as .vtu: got {str(path)!r}.")
    for name in point_data:
        _check_name(name, ".vtu")
    fields = {name: _storable(values) for name, values in point_data.items()}
    vertices = [(KINDS[1], np.arange(len(points))[:, None])]
    _write(path, lambda: meshio.Mesh(_in_space(points), vertices, fields))


# ---- reading --------------------------------------------------------------------------------


def _check_readable(path: Path) -> None:
    if path.is_dir():
        raise MeshError(f"A mesh file is needed: {str(path)!r} is a folder. Name a file in it.")
    if not path.exists():
        raise MeshError(f"A mesh file is needed: {str(path)!r} does not exist. Check the path.")
    if path.suffix.lower() not in READABLE:
        raise MeshError(
            f"The format of a mesh file is known by its extension: {str(path)!r} has "
            f"{path.suffix!r}. Known are {' '.join(READABLE)}."
        )
    if path.stat().st_size == 0:
        raise MeshError(f"Mesh file {str(path)!r} is empty (0 bytes). Was its writing interrupted?")


def _check_ply_header(path: Path) -> None:
    """meshio's reader looks for the end of the header for ever."""
    if not re.search(rb"^\s*end_header\s*$", path.read_bytes(), re.MULTILINE):
        raise MeshError("its header has no end. Is it complete?")


def _read_obj(path: Path) -> tuple[np.ndarray, list[CellBlock], Fields]:
    with _reading(path):
        points, triangles = read_obj(path)
    return points, [CellBlock.from_cells("triangle", triangles, {})], {}


def _read(path: Path) -> tuple[np.ndarray, list[CellBlock], Fields]:
    with _reading(path):
        if path.suffix.lower() == ".ply":
            _check_ply_header(path)
        with at_most(MEMORY + MEMORY_PER_BYTE * path.stat().st_size):
            content = meshio.read(path)
        points = np.asarray(content.points, dtype=np.float64)
        blocks = [
            CellBlock.from_cells(block.type, _signed(block.data), _groups(content, number))
            for number, block in enumerate(content.cells)
        ]
        fields = {
            name: np.asarray(values, dtype=values.dtype.newbyteorder("="))
            for name, values in content.point_data.items()
            if not name.startswith("gmsh:")
        }
    return points, blocks, fields


def _signed(indices: Any) -> np.ndarray:
    indices = np.asarray(indices)
    return indices.astype(np.int64) if np.issubdtype(indices.dtype, np.integer) else indices


def _groups(content: meshio.Mesh, number: int) -> dict[str, Bool[np.ndarray, " cells"]]:
    """Named groups of the cells of one block, however the file's format expresses them."""
    count, dimension = len(content.cells[number].data), content.cells[number].dim
    groups: dict[str, np.ndarray] = {}
    names = {(int(dim), int(tag)): name for name, (tag, dim) in content.field_data.items()}
    for tag in np.unique(content.cell_data.get("gmsh:physical", {number: []})[number]):
        if tag != 0:  # gmsh's zero means no group
            members = content.cell_data["gmsh:physical"][number] == tag
            groups[names.get((dimension, int(tag)), str(tag))] = members
    for name, members in content.cell_sets.items():
        if members[number] is not None and not name.startswith("gmsh:"):
            groups[name] = np.isin(np.arange(count), np.asarray(members[number], dtype=np.int64))
    for key, marks in content.cell_data.items():
        if key.startswith(GROUP):
            groups[unquote(key.removeprefix(GROUP))] = np.asarray(marks[number]).ravel() != 0
    return groups


# ---- writing --------------------------------------------------------------------------------


def _write(path: Path, content: Callable[[], meshio.Mesh]) -> None:
    """Into a hidden file first, which then takes the name."""
    unfinished = path.with_name(f".{path.stem}-{uuid4().hex}{path.suffix}")
    try:
        with _mesh_errors(f"{str(path)!r} cannot be written", "Is there another format for it?"):
            meshio.write(unfinished, content(), **WRITABLE[path.suffix.lower()])
            os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def _in_space(points: np.ndarray) -> Float[np.ndarray, "points 3"]:
    """With the zeros that formats of three coordinates want."""
    return np.pad(points, ((0, 0), (0, 3 - points.shape[1])))


def check_writable(path: Path, mesh: Mesh, fields: Mapping[str, np.ndarray]) -> None:
    """Raise a `MeshError` if `write_mesh` would: for those who ask before long work."""
    if path.suffix.lower() not in WRITABLE:
        raise MeshError(
            f"The format of a mesh file is known by its extension: {str(path)!r} has "
            f"{path.suffix!r}. Meshes are written as {' '.join(WRITABLE)}."
        )
    if not path.parent.is_dir():
        raise MeshError(f"The folder {str(path.parent)!r} does not exist. Make it first.")
    extension = path.suffix.lower()
    if extension in SURFACE_ONLY and mesh.dimension != 2:
        raise MeshError(f"{extension} files hold triangles only: got {mesh!r}. Use .vtu.")
    if extension == ".xdmf" and mesh.dimension == 1 and mesh.boundaries:
        raise MeshError(f".xdmf files hold no boundaries of segments: got {mesh!r}. Use .vtu.")
    for name, values in fields.items():
        _check_field(name, values, extension, mesh)


def _check_field(name: str, values: np.ndarray, extension: str, mesh: Mesh) -> None:
    if values.ndim not in (1, 2) or len(values) != len(mesh.points):
        raise MeshError(
            f"A field needs the shape (points,) or (points, channels): {name!r} has {values.shape} "
            f"on {mesh!r}."
        )
    _check_name(name, extension)
    channels = 1 if values.ndim == 1 else values.shape[1]
    allowed = CHANNELS.get(extension, (channels,))
    if channels not in allowed:
        raise MeshError(
            f"{extension} files hold fields of {' or '.join(map(str, allowed)) or 'no'} "
            f"channel(s): {name!r} has {channels}. Use .vtu."
        )


def _check_name(name: str, extension: str) -> None:
    forbidden = r"[<>&\"\s]" if extension in (".ply", ".vtk") else r"[<>&\"\r\n]"
    if not name or re.search(forbidden, name):
        raise MeshError(
            f"Names in {extension} files have letters, digits, and no space, quote or markup: got "
            f"{name!r}. Rename it (or use .vtu, which allows spaces)."
        )


def _storable(values: Any) -> np.ndarray:
    """Values in a form that every format keeps exactly; a single channel has no axis."""
    values = np.asarray(values)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.dtype == bool:
        return values.astype(np.int32)
    return values.astype(np.float64) if values.dtype.kind == "f" else values


def _for_meshio(mesh: Mesh, fields: Fields, extension: str) -> meshio.Mesh:
    facets, of_boundary = _numbered_facets(mesh)
    blocks = [mesh.cells]
    if len(facets) and extension not in SURFACE_ONLY:
        blocks.append(facets)
    content = meshio.Mesh(_in_space(mesh.points), [(KINDS[b.shape[1]], b) for b in blocks], fields)
    members = [mesh.regions, of_boundary][: len(blocks)]
    if extension == ".msh":
        _number_groups(content, members)
    elif extension not in SURFACE_ONLY:
        _mark_groups(content, members)
    return content


def _numbered_facets(mesh: Mesh) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """All facets of named boundaries, once each, and their numbers by the boundary's name."""
    named = [np.sort(np.reshape(f, (-1, mesh.dimension)), axis=1) for f in mesh.boundaries.values()]
    if not named:
        return np.empty((0, mesh.dimension), dtype=np.int64), {}
    facets, numbers, _ = simplex.unique_rows(np.concatenate(named))
    parts = np.split(numbers, np.cumsum([len(part) for part in named])[:-1])
    return facets, dict(zip(mesh.boundaries, parts, strict=True))


def _mark_groups(content: meshio.Mesh, members: list[Mapping[str, np.ndarray]]) -> None:
    """One array of cell data per group: 1 for its members, 0 for the others."""
    for name in {name: None for block in members for name in block}:
        marks = [np.zeros(len(block.data), dtype=np.int32) for block in content.cells]
        for block, mark in zip(members, marks, strict=True):
            mark[block.get(name, np.empty(0, dtype=np.int64))] = 1
        content.cell_data[GROUP + quote(name, safe="")] = marks


def _number_groups(content: meshio.Mesh, members: list[Mapping[str, np.ndarray]]) -> None:
    """Gmsh's physical groups: every cell has the number of its group, 0 for none."""
    tags = [np.zeros(len(block.data), dtype=np.int32) for block in content.cells]
    for block, tag, groups in zip(content.cells, tags, members, strict=True):
        for name, cells in groups.items():
            _check_name(name, ".msh")
            if name in content.field_data or tag[cells].any():
                raise MeshError(
                    f"a .msh file needs groups of different names without common cells, "
                    f"and {name!r} is not one. Use .vtu."
                )
            number = len(content.field_data) + 1
            content.field_data[name] = np.array([number, block.dim])
            tag[cells] = number
    content.cell_data["gmsh:physical"] = tags


@contextmanager
def _mesh_errors(what: str, way_out: str) -> Iterator[None]:
    """Turn whatever meshio does about bad data (it may even exit) into a quiet `MeshError`."""
    said = StringIO()
    try:
        # What is redirected and limited here belongs to the whole process: one thread at a time.
        with _ALONE, redirect_stdout(said), redirect_stderr(said), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except MeshError as error:
        raise MeshError(f"{what}: {error}") from None
    except (Exception, SystemExit) as error:
        reason = said.getvalue() if isinstance(error, SystemExit) else str(error)
        first_line = next(iter(reason.strip().splitlines()), type(error).__name__)
        raise MeshError(f"{what}: {first_line.rstrip('.')}. {way_out}") from error


def _reading(path: Path) -> Any:
    kind = path.suffix.lower()
    return _mesh_errors(
        f"Mesh file {str(path)!r} cannot be read as {kind}",
        f"Is it complete, and is it a {kind} file?",
    )
