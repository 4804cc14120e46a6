"""Eigen-solve: ours, a plain scipy call, and lapy, side by side.

python benchmarks/eigen.py              # all sizes, some 20 minutes
python benchmarks/eigen.py --quick      # the smallest sizes, about a minute
"""

import argparse
import os
import warnings

os.environ["SUPRA_CACHE"] = "off"

import numpy as np
from lapy import Solver, TetMesh, TriaMesh
from rich.console import Console
from rich.table import Table
from scipy import sparse
from scipy.sparse.linalg import eigsh

from measure import interleaved
from supra import LaplacianBasis, Mesh
from supra.basis.fem import stiffness_matrix
from supra.domain import shapes

MODES = 128
CASES = {  # name: (shape, resolution, rounds); node counts follow
    "plate 10k": (shapes.perforated_plate, 96, 3),
    "plate 100k": (shapes.perforated_plate, 310, 3),
    "square 300k": (shapes.square, 547, 1),
    "cube 10k": (shapes.cube, 21, 3),
    "cube 50k": (shapes.cube, 36, 1),
}


def ours(mesh: Mesh, modes: int) -> np.ndarray:
    return LaplacianBasis.from_mesh(mesh, modes, cache=False).eigenvalues


def plain_scipy(mesh: Mesh, modes: int) -> np.ndarray:
    stiffness = stiffness_matrix(mesh)
    mass = sparse.diags_array(mesh.node_measures, format="csc")
    return np.sort(eigsh(sparse.csc_array(stiffness), modes, mass, sigma=-0.01)[0])


def with_lapy(mesh: Mesh, modes: int) -> np.ndarray:
    points = np.pad(mesh.points, ((0, 0), (0, 3 - mesh.points.shape[1])))
    geometry = (TriaMesh if mesh.dimension == 2 else TetMesh)(points, mesh.cells)
    return np.sort(Solver(geometry, lump=True).eigs(modes)[0])


SOLVERS = {"ours": ours, "scipy": plain_scipy, "lapy": with_lapy}


def difference(one: np.ndarray, other: np.ndarray) -> float:
    """Largest relative difference of eigenvalues, the zero one left out."""
    return float(np.abs(one[1:] / other[1:] - 1).max())


def compare(console: Console, quick: bool) -> None:
    table = Table(title=f"assembly and eigen-solve, {MODES} modes (medians, interleaved)")
    for column in ("mesh", "nodes", "solver", "seconds", "ours ÷ it", "MiB", "differs by"):
        table.add_column(column, justify="right")
    nodes, seconds = [], []
    for name, (shape, resolution, rounds) in CASES.items():
        if quick and not name.endswith(" 10k"):
            continue
        mesh = shape(resolution=resolution)
        calls = {key: (lambda f=f, m=mesh: f(m, MODES)) for key, f in SOLVERS.items()}
        costs = interleaved(calls, rounds)
        reference = costs["ours"]
        for key, cost in costs.items():
            ratio = reference.seconds / cost.seconds
            error = difference(reference.result, cost.result)
            row = (key, f"{cost.seconds:.2f}", f"{ratio:.2f}", f"{cost.memory:.0f}", f"{error:.0e}")
            table.add_row(name, str(len(mesh.points)), *row)
            console.print(name, *row, style="dim")
        if mesh.dimension == 2:
            nodes.append(len(mesh.points))
            seconds.append(reference.seconds)
    console.print(table)
    if len(nodes) > 1:
        slope = np.polyfit(np.log(nodes), np.log(seconds), 1)[0]
        console.print(f"our cost on plane meshes grows as nodes^{slope:.2f}")


def growth_with_modes(console: Console, quick: bool) -> None:
    mesh = shapes.perforated_plate(resolution=96 if quick else 170)
    table = Table(title=f"cost against the number of modes, {len(mesh.points)} nodes")
    for column in ("modes", "seconds", "MiB"):
        table.add_column(column, justify="right")
    counts = (32, 64, 128, 256)
    calls = {str(k): (lambda k=k: ours(mesh, k)) for k in counts}
    costs = interleaved(calls, 3)
    for key, cost in costs.items():
        table.add_row(key, f"{cost.seconds:.2f}", f"{cost.memory:.0f}")
    console.print(table)
    slope = np.polyfit(np.log(counts), np.log([c.seconds for c in costs.values()]), 1)[0]
    console.print(f"our cost grows as modes^{slope:.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only the smallest sizes")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    output = Console(width=110)
    compare(output, arguments.quick)
    growth_with_modes(output, arguments.quick)
