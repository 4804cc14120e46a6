"""Values that a mesh file keeps per cell, brought to the points."""

import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import meshio
import numpy as np
from jaxtyping import Float

from supra.data.errors import DataError
from supra.domain import Mesh
from supra.domain.cell_block import CellBlock
from supra.domain.files import GROUP

PerSimplex = Float[np.ndarray, "simplices channels"]


def read_cell_fields(path: Path, mesh: Mesh) -> dict[str, np.ndarray]:
    """Fields per cell of the file that ``mesh`` was read from, averaged to its points.

    The value at a point is the mean over the cells around it, weighted by their measure.
    """
    content = _read(path)
    blocks = [CellBlock.from_cells(block.type, block.data, {}) for block in content.cells]
    own = [number for number, block in enumerate(blocks) if block.dimension == mesh.dimension]

    def per_simplex(parts: list[np.ndarray]) -> PerSimplex:
        each = [_repeated(parts[number], len(blocks[number].simplices)) for number in own]
        return np.concatenate(each).astype(np.float64)

    return {
        name: point_means(mesh, per_simplex(parts), path)
        for name, parts in content.cell_data.items()
        if not name.startswith((GROUP, "gmsh:", "medit:", "cell_tags"))
    }


def _repeated(values: np.ndarray, simplices: int) -> np.ndarray:
    """A cell's value for each simplex it was cut into: all cells of a kind give equally many."""
    values = np.asarray(values).reshape(len(values), -1)
    return np.repeat(values, simplices // max(len(values), 1), axis=0)


def point_means(mesh: Mesh, values: PerSimplex, path: Path) -> Float[np.ndarray, "points channels"]:
    """Means over the cells around each point, weighted by their measure."""
    unused = np.flatnonzero(~mesh.used_points)
    if unused.size:
        raise DataError(
            f"{str(path)!r} has values per cell, and {unused.size} point(s) in no cell (first: "
            f"{unused[0]}), which get none. Remove these points."
        )
    corners = mesh.cells.shape[1]

    def summed(per_cell: np.ndarray) -> np.ndarray:
        return np.bincount(mesh.cells.ravel(), np.repeat(per_cell, corners), len(mesh.points))

    shares = [summed(mesh.cell_measures * channel) for channel in values.T]
    return np.stack(shares, axis=1) / summed(mesh.cell_measures)[:, None]


def _read(path: Path) -> meshio.Mesh:
    """A file that was read before: only what meshio says of it is kept quiet."""
    read: Callable[[Path], meshio.Mesh] = meshio.read
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read(path)
