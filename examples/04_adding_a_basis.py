"""Adding a basis: any functions on the domain, as a class with one method.

Legendre polynomials on a line. `Basis.sample` makes them orthonormal on the grid's own points and
says so if they were not; the network takes them like any other basis.

    python examples/04_adding_a_basis.py [FOLDER]
"""

import sys
from pathlib import Path

import matplotlib.figure
import numpy as np
import torch
from numpy.polynomial.legendre import legvander

import supra


def legendre(count: int, grid: supra.Grid) -> supra.SampledBasis:
    """The first ``count`` polynomials, orthonormal in the grid's quadrature."""
    weights = grid.weights
    values = legvander(2 * grid.points[:, 0] - 1, count - 1)
    # One QR step in the inner product of the grid takes the quadrature's error away.
    root = np.sqrt(weights)[:, None]
    orthonormal = np.linalg.qr(root * values)[0] / root
    return supra.SampledBasis(
        torch.tensor(orthonormal, dtype=torch.float32), torch.tensor(weights, dtype=torch.float32)
    )


def main(folder: Path) -> float:
    basis = legendre(8, supra.Grid(65))
    network = supra.SupraOperator(1, 1, basis.modes, width=8, depth=2, heads=2)
    prediction = network(torch.randn(3, basis.points, 1), basis)
    defect = float((basis.gram() - torch.eye(8)).abs().max())
    print(f"orthonormal to {defect:.0e}; the network gives {tuple(prediction.shape)}")
    figure = matplotlib.figure.Figure(figsize=(5, 3), layout="constrained")
    axes = figure.add_subplot()
    axes.plot(np.linspace(0, 1, 65), basis.values[:, :5])
    axes.set_title("Legendre polynomials as a basis")
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "adding_a_basis.png", dpi=110)
    print(f"picture: {folder / 'adding_a_basis.png'}")
    return defect


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("demo"))
