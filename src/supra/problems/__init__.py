"""Solvers that make the benchmark data."""

from supra.problems.errors import ProblemError
from supra.problems.problem import Problem, Solution, Split

__all__ = ["Problem", "ProblemError", "Solution", "Split"]
