"""Laplacian eigenfunctions of six domains: what the Fourier basis becomes elsewhere.

Usage: python examples/bases.py [folder for the pictures]
"""

import sys
from pathlib import Path

import numpy as np

from supra import LaplacianBasis
from supra.domain.shapes import SHAPES
from supra.experiment.plots import plot_bases, plot_modes

# Exact first eigenvalues that are not zero, where a formula gives them.
EXACT = {"disk": 1.8411837813406593**2, "sphere": 2.0, "cube": np.pi**2}
DOMAINS = {
    "disk": 48,
    "l-shape": 96,
    "perforated-plate": 64,
    "sphere": 32,
    "torus": 24,
    "cube": 16,
}


def main(folder: Path, modes: int = 64) -> dict[str, LaplacianBasis]:
    """Compute and draw the modes of each domain."""
    bases = {}
    print(f"{'domain':18}{'nodes':>7}{'λ₂':>10}{'exact':>10}{'residual':>10}")
    for name, resolution in DOMAINS.items():
        basis = LaplacianBasis.from_mesh(SHAPES[name](resolution=resolution), modes)
        plot_modes(basis, folder / f"{name}.png")
        exact = f"{EXACT[name]:10.5f}" if name in EXACT else " " * 10
        counts = f"{len(basis.values):7}{basis.eigenvalues[1]:10.5f}"
        print(f"{name:18}{counts}{exact}{basis.residuals.max():10.0e}")
        bases[name] = basis
    plot_bases(list(bases.values()), folder / "bases.png")
    return bases


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
