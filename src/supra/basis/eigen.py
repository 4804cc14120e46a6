"""Lowest eigenpairs of K φ = λ M φ with a diagonal M: direct, by Lanczos, or by LOBPCG."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import gamma, log2, pi
from typing import Literal

import numpy as np
from jaxtyping import Float
from scipy import linalg, sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, SuperLU, lobpcg, spilu, splu
from threadpoolctl import threadpool_limits

from supra.basis.canonical import clusters
from supra.basis.errors import BasisError, BasisWarning
from supra.basis.lanczos import block_lanczos
from supra.basis.ordering import nested_dissection
from supra.domain.choice import check_choice

Method = Literal["auto", "dense", "shift-invert", "lobpcg"]
Report = Callable[[str, int, int], None]

_SPARE = 4  # eigenpairs beyond the wanted ones, to see whether the last wanted is repeated
_DENSE_SIZE = 600  # up to here LAPACK is fastest
_ROWS = 4096  # rows of the eigenvectors worked on at a time
_LARGEST_FILL = 3e8  # entries of the factors that we dare to ask memory for: some 7 GB
_UNEVEN = (
    "The spectrum of this mesh {}: some of its cells are many orders of magnitude thinner or "
    "smaller than others. Look at mesh.cell_measures and make it anew."
)


@dataclass(frozen=True)
class Eigenproblem:
    """``K φ = λ M φ`` on ``n`` unknowns.

    Attributes:
        stiffness: K, symmetric and positive semi-definite.
        mass: diagonal of M.
        points: position of each unknown (for the elimination order).
        dimension: of the domain's cells (for the growth of the spectrum).
    """

    stiffness: sparse.csr_array
    mass: Float[np.ndarray, " n"]
    points: Float[np.ndarray, "n dimensions"]
    dimension: int


@dataclass(frozen=True)
class Eigenpairs:
    """Eigenvalues ascending, vectors with ``φᵀ M φ = 1``, and how they were found.

    ``residuals`` are the norms of ``M^-½ (K φ − λ M φ)``.
    """

    values: Float[np.ndarray, " modes"]
    vectors: Float[np.ndarray, "n modes"]
    residuals: Float[np.ndarray, " modes"]
    method: str


def lowest_eigenspaces(
    problem: Eigenproblem, modes: int, method: Method = "auto", report: Report | None = None
) -> Eigenpairs:
    """The ``modes`` lowest eigenpairs and some more: the last wanted eigenvalue in all its copies.

    Which vectors of a repeated eigenvalue come first is left to round-off; only with all of them
    can a definite choice be made.
    """
    size, spare = len(problem.mass), _SPARE
    _check_count(modes, size)
    while True:
        pairs = lowest_eigenpairs(problem, min(size, modes + spare), method, report)
        last_complete = clusters(pairs.values)[-1][0]
        if last_complete >= modes or len(pairs.values) == size:
            return pairs
        spare *= 4


def lowest_eigenpairs(
    problem: Eigenproblem, modes: int, method: Method = "auto", report: Report | None = None
) -> Eigenpairs:
    """The ``modes`` lowest eigenpairs.

    ``"auto"`` takes LAPACK for small problems, shift-invert Lanczos in general, and falls back to
    preconditioned LOBPCG where a factorisation is too large or fails. Parts that are not connected
    are solved one by one: equal parts have eigenvalues repeated more often than a block iteration
    can be trusted to find.
    """
    _check_count(modes, len(problem.mass))
    # One thread: the many small products inside gain nothing from more, and lose much where the
    # threads of numpy's and scipy's BLAS wait for each other. It also makes results independent
    # of the machine's cores.
    with threadpool_limits(1, user_api="blas"):
        return _lowest(problem, modes, method, report)


def _lowest(problem: Eigenproblem, modes: int, method: Method, report: Report | None) -> Eigenpairs:
    count, label = connected_components(problem.stiffness, directed=False)
    if count == 1:
        return _lowest_of_connected(problem, modes, method, report)
    parts = [np.flatnonzero(label == part) for part in range(count)]
    solved = [
        _lowest_of_connected(_part(problem, nodes), min(modes, len(nodes)), method, report)
        for nodes in parts
    ]
    return _merged(parts, solved, modes)


def _check_count(modes: int, size: int) -> None:
    if size == 0:
        raise BasisError("Every node is held at zero: no mode is left. Use a finer mesh.")
    if not 1 <= modes <= size:
        raise BasisError(
            f"`modes` must be between 1 and the number of free nodes, {size}: got {modes}. "
            f"Use fewer modes or a finer mesh."
        )


def _part(problem: Eigenproblem, nodes: np.ndarray) -> Eigenproblem:
    stiffness = problem.stiffness[nodes][:, nodes]
    return Eigenproblem(stiffness, problem.mass[nodes], problem.points[nodes], problem.dimension)


def _merged(parts: list[np.ndarray], solved: list[Eigenpairs], modes: int) -> Eigenpairs:
    values = np.concatenate([pairs.values for pairs in solved])
    order = np.argsort(values, kind="stable")[:modes]
    owner = np.repeat(np.arange(len(parts)), [len(pairs.values) for pairs in solved])[order]
    vectors = np.zeros((sum(map(len, parts)), len(order)))
    for part, (nodes, pairs) in enumerate(zip(parts, solved, strict=True)):
        mine = np.flatnonzero(owner == part)
        vectors[np.ix_(nodes, mine)] = pairs.vectors[:, : len(mine)]
    residuals = np.concatenate([pairs.residuals for pairs in solved])[order]
    method = " and ".join(sorted({pairs.method for pairs in solved}))
    return Eigenpairs(values[order], vectors, residuals, method)


def _lowest_of_connected(
    problem: Eigenproblem, modes: int, method: Method, report: Report | None
) -> Eigenpairs:
    scale = 1 / np.sqrt(problem.mass)
    matrix = sparse.csr_array(problem.stiffness.multiply(scale[:, None]).multiply(scale))
    if not np.isfinite(matrix.data).all():
        raise BasisError(_UNEVEN.format("overflows"))
    chosen = _chosen(method, len(scale), modes, problem.dimension)
    if chosen == "dense":
        vectors = linalg.eigh(matrix.toarray(), subset_by_index=(0, modes - 1))[1]
    elif chosen == "shift-invert":
        try:
            vectors = _shift_invert(matrix, problem, modes, report)
        except (MemoryError, RuntimeError, ArithmeticError) as error:
            if method != "auto":
                raise BasisError(f"Shift-invert Lanczos failed: {error}") from error
            warnings.warn(
                f"Shift-invert Lanczos failed ({error}); falling back to LOBPCG.",
                BasisWarning,
                stacklevel=4,
            )
            chosen, vectors = "lobpcg", _lobpcg(matrix, modes, report)
    else:
        vectors = _lobpcg(matrix, modes, report)
    pairs = _finished(matrix, scale, vectors, chosen)
    zeros = 1 if _is_free(problem.stiffness) else 0
    pairs.values[:zeros] = 0.0  # the constant; round-off would leave some 1e-12, of any sign
    noise = pairs.residuals[zeros:] if chosen == "dense" else 0
    if not (pairs.values[zeros:] > noise).all():
        raise BasisError(_UNEVEN.format("is lost in round-off"))
    return pairs


def _is_free(stiffness: sparse.csr_array) -> bool:
    """Whether constants are in the kernel: no node next to these is held at zero."""
    return bool((np.abs(stiffness.sum(axis=1)) <= 1e-9 * stiffness.diagonal()).all())


def _chosen(method: Method, size: int, modes: int, dimension: int) -> str:
    check_choice("method", method, Method, BasisError)
    if method == "dense" or size <= max(_DENSE_SIZE, 4 * modes):
        return "dense"
    if method == "auto":
        fill = 8 * size ** (4 / 3) if dimension == 3 else 3 * size * log2(size)
        return "lobpcg" if fill > _LARGEST_FILL else "shift-invert"
    return method


def _finished(
    matrix: sparse.csr_array, scale: np.ndarray, vectors: np.ndarray, method: str
) -> Eigenpairs:
    """Rayleigh–Ritz on orthonormal vectors: eigenvalues accurate to the square of their error."""
    vectors = np.ascontiguousarray(vectors)
    image = matrix @ vectors
    values, rotation = linalg.eigh(vectors.T @ image)
    square = np.zeros(len(values))
    # By rows and in place: a temporary array of this size costs more than the arithmetic.
    for start in range(0, len(vectors), _ROWS):
        rows = slice(start, start + _ROWS)
        turned = vectors[rows] @ rotation
        square += ((image[rows] @ rotation - turned * values) ** 2).sum(axis=0)
        vectors[rows] = turned * scale[rows, None]
    return Eigenpairs(np.maximum(values, 0), vectors, np.sqrt(square), method)


# ---- shift-invert Lanczos ---------------------------------------------------------------------


def _shift_invert(
    matrix: sparse.csr_array, problem: Eigenproblem, modes: int, report: Report | None
) -> np.ndarray:
    """Lanczos on (A − σ)⁻¹ with the shift inside of the wanted part of the spectrum.

    With σ near the middle of the wanted eigenvalues these become the two ends of the spectrum of
    the inverse, and fewer vectors do than with σ below all of them. The signs of the pivots count
    the eigenvalues below σ (Sylvester), so none can be missed there.
    """
    order = nested_dissection(matrix, problem.points)
    matrix = matrix[order][:, order].tocsc()
    factors, below = _factorised_inside(matrix, problem, modes, report)
    step = None if report is None else partial(report, "modes")
    _, vectors = block_lanczos(factors.solve, len(order), below, modes - below, report=step)
    restored = np.empty_like(vectors)
    restored[order] = vectors
    return restored


def _factorised_inside(
    matrix: sparse.csc_array, problem: Eigenproblem, modes: int, report: Report | None
) -> tuple[SuperLU, int]:
    """Factors at a shift with some, but not all, wanted eigenvalues below it, and how many."""
    target = 0.45 * modes
    shift = _weyl_eigenvalue(target, problem)
    for attempt in range(3):
        if report is not None:
            report("factorisation", attempt, 3)
        factors = _factorised(matrix, shift)
        below = int((factors.U.diagonal() < 0).sum())
        if 0.1 * modes <= below <= 0.8 * modes and _solves(matrix, shift, factors):
            return factors, below
        shift *= (target / max(below, 0.02 * modes)) ** (2 / problem.dimension)
    shift = -_weyl_eigenvalue(1, problem)  # below all eigenvalues: positive definite, always works
    return _factorised(matrix, shift), 0


def _weyl_eigenvalue(count: float, problem: Eigenproblem) -> float:
    """Weyl's law: about ``count`` eigenvalues of −Δ lie below this number."""
    dimension = problem.dimension
    ball = pi ** (dimension / 2) / gamma(dimension / 2 + 1)
    return float((2 * pi) ** 2 * (count / (ball * problem.mass.sum())) ** (2 / dimension))


def _factorised(matrix: sparse.csc_array, shift: float) -> SuperLU:
    shifted = matrix - shift * sparse.eye_array(matrix.shape[0], format="csc")
    return splu(
        sparse.csc_matrix(shifted),
        permc_spec="NATURAL",
        diag_pivot_thresh=0.0,  # keep the pivots on the diagonal: symmetric, and their signs count
        options={"SymmetricMode": True},
    )


def _solves(matrix: sparse.csc_array, shift: float, factors: SuperLU) -> bool:
    """Whether elimination without row exchanges was stable at this (indefinite) shift."""
    right = np.random.default_rng(1).standard_normal(matrix.shape[0])
    solution = factors.solve(right)
    error = matrix @ solution - shift * solution - right
    size = abs(shift) * np.linalg.norm(solution) + np.linalg.norm(right)
    return bool(np.linalg.norm(error) < 1e-9 * size)


# ---- LOBPCG -----------------------------------------------------------------------------------


def _lobpcg(matrix: sparse.csr_array, modes: int, report: Report | None) -> np.ndarray:
    """Preconditioned block iteration: needs little memory, whatever the dimension."""
    if report is not None:
        report("preconditioner", 0, 1)
    size = matrix.shape[0]
    rough = float(matrix.diagonal().mean()) * (modes / size) ** 0.67
    shifted = sparse.csr_matrix(matrix + 0.1 * rough * sparse.eye_array(size))
    guard = max(4, modes // 8)
    start = np.random.default_rng(0).standard_normal((size, modes + guard))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values, vectors = lobpcg(
            matrix, start, M=_preconditioner(shifted), largest=False, tol=1e-8 * rough, maxiter=200
        )
    order = np.argsort(values)[:modes]
    vectors = linalg.qr(vectors[:, order], mode="economic")[0]
    error = np.linalg.norm(matrix @ vectors - vectors * values[order], axis=0).max()
    if not error < 1e-4 * max(values[order].max(), rough):
        raise BasisError(
            f"LOBPCG did not converge (residual {error:.1e}). Use fewer modes, or install the "
            f"extra 'large' (pip install 'supra-operator[large]') for a better preconditioner."
        )
    return vectors


def _preconditioner(matrix: sparse.csr_matrix) -> LinearOperator:
    try:
        import pyamg
    except ImportError:
        incomplete = spilu(sparse.csc_matrix(matrix), drop_tol=1e-3, fill_factor=6)
        return LinearOperator(matrix.shape, incomplete.solve, matmat=incomplete.solve)
    return pyamg.smoothed_aggregation_solver(matrix).aspreconditioner(cycle="V")
