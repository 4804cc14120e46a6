"""Block Lanczos with full reorthogonalisation and thick restarts."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float
from scipy import linalg

_BLOCK = 8  # vectors per step: enough for matrix products, few enough to waste little
_CHECK_EVERY = 2  # blocks between two looks at the convergence


def block_lanczos(
    apply: Callable[[np.ndarray], np.ndarray],
    size: int,
    most_negative: int,
    most_positive: int,
    *,
    tolerance: float = 1e-10,
    report: Callable[[int, int], None] | None = None,
) -> tuple[Float[np.ndarray, " wanted"], Float[np.ndarray, "size wanted"]]:
    """Outermost eigenpairs of a symmetric operator, from both ends of its spectrum.

    A block of vectors rather than one finds repeated eigenvalues reliably and works by matrix
    products. The start is fixed, so the same operator gives the same result.

    Args:
        apply: the operator on an array of shape ``(size, block)``, Fortran-ordered.
        size: number of rows.
        most_negative: how many eigenvalues from the lower end.
        most_positive: how many from the upper end.
        tolerance: residual of an eigenpair relative to its eigenvalue.
        report: called with the numbers of converged and wanted pairs.

    Raises:
        ArithmeticError: not converged after many restarts.
    """
    wanted = most_negative + most_positive
    limit = min(size - _BLOCK, 3 * wanted + 10 * _BLOCK)
    space = _KrylovSpace(apply, size, limit)
    found, found_at = np.full(wanted, np.inf), 0
    for _ in range(100 * limit):
        space.extend()
        full = space.dimension + _BLOCK > limit
        if not full and (space.dimension < 1.8 * wanted or space.steps % _CHECK_EVERY):
            continue
        ritz, rotation = linalg.eigh(space.projected(), driver="evd")
        ends = np.r_[0:most_negative, space.dimension - most_positive : space.dimension]
        error = space.residuals(rotation[:, ends])
        converged = int((error <= tolerance * np.abs(ritz[ends])).sum())
        if report is not None:
            report(converged, wanted)
        if converged == wanted:
            # A Krylov space that is exhausted may lack copies of a repeated eigenvalue: then two
            # fresh starts must have changed nothing.
            if not np.allclose(found, ritz[ends], rtol=1e-8, atol=0):
                found, found_at = ritz[ends], space.fresh_starts
            if space.fresh_starts == 0 or space.fresh_starts >= found_at + 2:
                return ritz[ends], space.purified(ritz[ends], rotation[:, ends])
        if full:
            spare = (space.dimension - wanted) // 3
            keep = np.argsort(-np.abs(ritz), kind="stable")[: wanted + spare]
            keep = np.union1d(keep, ends)
            space.restart(ritz[keep], rotation[:, keep])
    raise ArithmeticError(f"Lanczos found {converged} of {wanted} eigenpairs and gave up.")


class _KrylovSpace:
    """Orthonormal vectors V, the operator projected on them, and the next block of vectors.

    Everything large stays in one Fortran-ordered array and is updated in place: fresh temporary
    arrays of this size cost more in page faults than the arithmetic done on them.
    """

    def __init__(self, apply: Callable[[np.ndarray], np.ndarray], size: int, limit: int) -> None:
        self.apply = apply
        self.vectors = np.empty((size, limit + _BLOCK), order="F")
        start = np.random.default_rng(0).standard_normal((size, _BLOCK))
        self.vectors[:, :_BLOCK] = linalg.qr(start, mode="economic")[0]
        self.matrix = np.zeros((limit + _BLOCK, limit + _BLOCK))
        self.dimension = self.steps = self.restarted_at = self.fresh_starts = 0
        self.coupling = np.zeros((_BLOCK, _BLOCK))
        self.norm = 0.0  # of the operator, as far as seen

    def extend(self) -> None:
        """Apply the operator to the newest block and orthonormalise the result."""
        old, new = self.dimension, self.dimension + _BLOCK
        newest = self.vectors[:, old:new]
        result = np.asfortranarray(self.apply(newest))
        self.norm = max(self.norm, float(np.linalg.norm(result)))
        # Lanczos: the newest block couples with the one before it only (with all after a restart)
        before = 0 if old == self.restarted_at else old - _BLOCK
        if old:
            known = self.matrix[before:old, old:new]
            result = _subtract(result, self.vectors[:, before:old], known)
        diagonal = newest.T @ result
        result = _subtract(result, newest, diagonal)
        self.matrix[old:new, old:new] = (diagonal + diagonal.T) / 2
        everything = self.vectors[:, :new]
        result = _subtract(result, everything, everything.T @ result)
        result, self.coupling, is_fresh = _orthonormal(result, everything, 1e-13 * self.norm)
        self.fresh_starts += is_fresh
        self.vectors[:, new : new + _BLOCK] = result
        self.matrix[new : new + _BLOCK, old:new] = self.coupling
        self.matrix[old:new, new : new + _BLOCK] = self.coupling.T
        self.dimension, self.steps = new, self.steps + 1

    def projected(self) -> np.ndarray:
        return self.matrix[: self.dimension, : self.dimension]

    def residuals(self, rotation: np.ndarray) -> np.ndarray:
        """Norms of A x − θ x for the Ritz vectors x = V·rotation, without forming them."""
        norms: np.ndarray = np.linalg.norm(self.coupling @ rotation[-_BLOCK:], axis=0)
        return norms

    def combined(self, rotation: np.ndarray) -> np.ndarray:
        return self.vectors[:, : self.dimension] @ rotation

    def purified(self, ritz: np.ndarray, rotation: np.ndarray) -> np.ndarray:
        """Ritz vectors after one more application of the operator, which costs nothing.

        A x = θ x + (newest block) (coupling · rotation), so x + … / θ is A x up to scale. Where A
        is an inverse this removes the traces of high frequency that its residual hardly sees.
        """
        change = self.coupling @ rotation[-_BLOCK:]
        change = np.divide(change, ritz, out=np.zeros_like(change), where=ritz != 0)
        return self.vectors[:, : self.dimension + _BLOCK] @ np.vstack([rotation, change])

    def restart(self, ritz: np.ndarray, rotation: np.ndarray) -> None:
        """Keep some Ritz vectors and the newest block, and go on from there."""
        keep, last = len(ritz), self.dimension
        newest = self.vectors[:, last : last + _BLOCK].copy()
        self.vectors[:, :keep] = self.combined(rotation)
        self.vectors[:, keep : keep + _BLOCK] = newest
        arrow = self.coupling @ rotation[-_BLOCK:]
        self.matrix[:] = 0
        self.matrix[np.arange(keep), np.arange(keep)] = ritz
        self.matrix[keep : keep + _BLOCK, :keep] = arrow
        self.matrix[:keep, keep : keep + _BLOCK] = arrow.T
        self.dimension = self.restarted_at = keep


def _subtract(block: np.ndarray, vectors: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """``block -= vectors @ factors`` in place."""
    factors = np.asfortranarray(factors)
    result: np.ndarray = linalg.blas.dgemm(-1.0, vectors, factors, 1.0, block, overwrite_c=1)
    return result


def _orthonormal(
    block: np.ndarray, others: np.ndarray, negligible: float
) -> tuple[np.ndarray, np.ndarray, bool]:
    """QR factors of a block that is orthogonal to ``others``; Cholesky, twice for accuracy.

    The last value says whether directions shorter than ``negligible`` were replaced by new ones.
    """
    try:
        upper = linalg.cholesky(block.T @ block)
        pivots = np.diag(upper)
        if pivots.min() <= max(1e-6 * pivots.max(), negligible):
            raise linalg.LinAlgError
    except linalg.LinAlgError:
        return _replenished(block, others, negligible)
    block = linalg.blas.dtrsm(1.0, upper, block, side=1, overwrite_b=1)
    again = linalg.cholesky(block.T @ block)
    return linalg.blas.dtrsm(1.0, again, block, side=1, overwrite_b=1), again @ upper, False


def _replenished(
    block: np.ndarray, others: np.ndarray, negligible: float
) -> tuple[np.ndarray, np.ndarray, bool]:
    """The same for a block that has lost rank: an invariant subspace is (nearly) exhausted."""
    new, upper, _ = linalg.qr(block, mode="economic", pivoting=True)
    lost = np.abs(np.diag(upper)) <= negligible
    random = np.random.default_rng(others.shape[1])
    new[:, lost] = random.standard_normal((len(new), int(lost.sum())))
    for _ in range(2):
        new = linalg.qr(new - others @ (others.T @ new), mode="economic")[0]
    coupling = new.T @ block
    coupling[lost] = 0
    return np.asfortranarray(new), coupling, bool(lost.any())
