"""Solvers that make the benchmark data."""

from supra.problems.airfoil import Airfoil
from supra.problems.ball import Ball
from supra.problems.darcy import Darcy, solve_darcy
from supra.problems.elasticity import Elasticity
from supra.problems.errors import ProblemError
from supra.problems.navier_stokes import NavierStokes
from supra.problems.perforated import PerforatedPlate
from supra.problems.pipe import Pipe
from supra.problems.plasticity import Plasticity
from supra.problems.plate_points import PlatePoints
from supra.problems.problem import Problem, Solution, Split
from supra.problems.random_field import RandomField
from supra.problems.surface import Surface

__all__ = [
    "Airfoil",
    "Ball",
    "Darcy",
    "Elasticity",
    "NavierStokes",
    "PerforatedPlate",
    "Pipe",
    "Plasticity",
    "PlatePoints",
    "Problem",
    "ProblemError",
    "RandomField",
    "Solution",
    "Split",
    "Surface",
    "solve_darcy",
]
