"""Every picture and every number of docs/solvers.md: samples of each solver, and its validation.

    python examples/solvers.py [FOLDER FOR THE PICTURES] [--only darcy pipe …] [--full]

Coarse and quick unless `--full` is given; that takes some minutes and makes the page's own:

    OMP_NUM_THREADS=1 python examples/solvers.py docs/images --full
"""

import argparse
from pathlib import Path

from solver_page import (
    airfoil,
    ball,
    darcy,
    elasticity,
    navier_stokes,
    perforated,
    pipe,
    plasticity,
    plate_points,
    surface,
)
from solver_page.study import Study

PARTS = {
    "darcy": darcy.run,
    "navier_stokes": navier_stokes.run,
    "perforated": perforated.run,
    "plate_points": plate_points.run,
    "surface": surface.run,
    "ball": ball.run,
    "pipe": pipe.run,
    "airfoil": airfoil.run,
    "plasticity": plasticity.run,
    "elasticity": elasticity.run,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path("demo"))
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), metavar="PROBLEM")
    parser.add_argument("--full", action="store_true", help="the page's own resolution")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for name in arguments.only:
        PARTS[name](Study(name, arguments.folder, arguments.full))


if __name__ == "__main__":
    main()
