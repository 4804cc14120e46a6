"""Cutting a domain makes functions jump; Laplacian eigenfunctions of the glued mesh do not.

A C-shaped grid is wrapped around a body and meets itself along the wake: node (i, 0) and node
(n - i, 0) are the same point of the plane, far apart in the computational square. Fourier functions
of that square take two different values there. So do eigenfunctions of the mesh as long as it is
left cut. Welding the mesh along the wake repairs it.

    python examples/discontinuity.py [FOLDER FOR THE PICTURE]
"""

import sys
from pathlib import Path

import matplotlib.figure
import numpy as np

from supra import FourierBasis, Grid, LaplacianBasis, Mesh
from supra.domain.shapes import c_grid_points

NODES = (161, 41)  # along the C, and outwards
MODES = 100


def jump(values: np.ndarray) -> np.ndarray:
    """Root mean square jump of each function across the wake, relative to its size."""
    functions = values.reshape(*NODES, -1)
    wake = np.abs(np.linspace(-1.6, 1.6, NODES[0])) > 1
    gap = functions[:, 0] - functions[::-1, 0]
    return np.sqrt((gap[wake] ** 2).mean(axis=0) / (functions**2).mean(axis=(0, 1)))


def bases(points: np.ndarray) -> dict[str, np.ndarray]:
    """Values (nodes, modes) of three bases at the nodes of the C-grid."""
    cut = Mesh.from_structured(points, name="C-grid")
    glued = cut.welded()
    fourier = FourierBasis((5, 5)).sample(Grid(NODES)).dense().values.numpy()
    return {
        "Fourier on the grid": fourier,
        "Laplacian, mesh left cut": LaplacianBasis.from_mesh(cut, MODES).values,
        "Laplacian, mesh glued": LaplacianBasis.from_mesh(glued, MODES).values[glued.node_map],
    }


def draw(points: np.ndarray, values: dict[str, np.ndarray], path: Path) -> None:
    figure = matplotlib.figure.Figure(figsize=(12, 7.5), layout="constrained")
    panels = figure.subplots(2, 3, height_ratios=[2, 1])
    flat = points.reshape(-1, 2)
    cells = Mesh.from_structured(points).cells
    for column, (name, functions) in zip(panels.T, values.items(), strict=True):
        shown = functions[:, np.argmax(jump(functions)[:20] > 0.5) or 11]
        limit = np.abs(shown).max()
        for axes, window in zip(column, [None, (0.9, 2.0, -0.35, 0.35)], strict=True):
            axes.tripcolor(
                *flat.T, cells, shown, shading="gouraud", cmap="RdBu_r", vmin=-limit, vmax=limit
            )
            axes.plot([1, 2.56], [0, 0], "k--", lw=0.6)
            axes.set_aspect("equal")
            axes.set_axis_off()
            if window:
                axes.axis(window)
        column[1].set_title("the wake, enlarged", fontsize=9)
        column[0].set_title(f"{name}\nlargest jump over {MODES} modes: {jump(functions).max():.2g}")
    figure.savefig(path, dpi=110)


def main(folder: Path) -> dict[str, float]:
    points = c_grid_points(*NODES)
    values = bases(points)
    print(f"{'basis':28s} {'jump, mean':>12s} {'jump, largest':>14s}")
    for name, functions in values.items():
        jumps = jump(functions)
        print(f"{name:28s} {jumps.mean():12.2e} {jumps.max():14.2e}")
    folder.mkdir(parents=True, exist_ok=True)
    draw(points, values, folder / "discontinuity.png")
    print(f"picture: {folder / 'discontinuity.png'}")
    return {name: float(jump(functions).max()) for name, functions in values.items()}


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("demo"))
