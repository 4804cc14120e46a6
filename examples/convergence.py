"""Attention in a growing subspace converges to attention on the function space itself.

The functions, the exact attention and the one in a subspace are in
`supra.experiment.reproduce.convergence`; `supra reproduce convergence` is the same as a command.

    python examples/convergence.py [FOLDER FOR THE PICTURE]
"""

import sys
from pathlib import Path

from supra.experiment.reproduce.convergence import draw, errors


def main(folder: Path) -> None:
    found = errors()
    for kind, curves in found.items():
        for name, curve in curves.items():
            print(f"{kind:24s} {name:10s}", *(f"{error:8.1e}" for error in curve))
    folder.mkdir(parents=True, exist_ok=True)
    draw(found, folder / "convergence.png")
    print(f"picture: {folder / 'convergence.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("demo"))
