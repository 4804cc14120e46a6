"""Solvers that make the benchmark data."""

from supra.problems.airfoil import Airfoil
from supra.problems.darcy import Darcy, solve_darcy
from supra.problems.elasticity import Elasticity
from supra.problems.errors import ProblemError
from supra.problems.navier_stokes import NavierStokes
from supra.problems.perforated import PerforatedPlate
from supra.problems.pipe import Pipe
from supra.problems.plasticity import Plasticity
from supra.problems.problem import Problem, Solution, Split
from supra.problems.random_field import RandomField

__all__ = [
    "Airfoil",
    "Darcy",
    "Elasticity",
    "NavierStokes",
    "PerforatedPlate",
    "Pipe",
    "Plasticity",
    "Problem",
    "ProblemError",
    "RandomField",
    "Solution",
    "Split",
    "solve_darcy",
]
