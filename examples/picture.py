"""Pictures for the examples: fields on a mesh or on a grid, side by side."""

from collections.abc import Mapping
from pathlib import Path

import matplotlib.figure
import matplotlib.tri
import numpy as np

from supra import Mesh


def fields_on_mesh(mesh: Mesh, columns: Mapping[str, np.ndarray], path: Path) -> None:
    """One picture per field; those named solved and predicted share their colours."""
    corners = matplotlib.tri.Triangulation(*mesh.points.T, mesh.cells)
    alike = [columns[name] for name in ("solved", "predicted") if name in columns]
    figure = matplotlib.figure.Figure(figsize=(3.4 * len(columns), 3), layout="constrained")
    for axes, (name, values) in zip(
        np.atleast_1d(figure.subplots(1, len(columns))), columns.items(), strict=True
    ):
        shared = name in ("solved", "predicted") and len(alike) == 2
        ends = {"vmin": np.min(alike), "vmax": np.max(alike)} if shared else {}
        drawn = axes.tripcolor(corners, np.ravel(values), shading="gouraud", **ends)
        figure.colorbar(drawn, ax=axes, shrink=0.8)
        axes.set_title(name)
        axes.set_aspect("equal")
        axes.set_axis_off()
    _save(figure, path)


def fields_on_grid(rows: Mapping[str, np.ndarray], path: Path) -> None:
    """Rows of pictures of shape (count, height, width), all with the same colours."""
    ends = {
        "vmin": min(map(np.min, rows.values())),
        "vmax": max(map(np.max, rows.values())),
        "cmap": "RdBu_r",
    }
    count = max(map(len, rows.values()))
    figure = matplotlib.figure.Figure(figsize=(1.8 * count, 2 * len(rows)), layout="constrained")
    axes = figure.subplots(len(rows), count, squeeze=False)
    for line, (name, fields) in zip(axes, rows.items(), strict=True):
        for number, place in enumerate(line):
            place.set_xticks([])
            place.set_yticks([])
            place.imshow(fields[number].T, origin="lower", **ends)
        line[0].set_ylabel(name)
    _save(figure, path)


def _save(figure: matplotlib.figure.Figure, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    print(f"picture: {path}")
