"""The unknowns of a flow on a structured grid: their numbers, and in which order to eliminate."""

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import sparse
from scipy.sparse.linalg import SuperLU, splu

from supra.problems.errors import ProblemError

CENTRE = np.array([4, 13, 19, 20])  # an element's own: u at its centre, the slopes of p
SKELETON = np.setdiff1d(np.arange(21), CENTRE)  # shared with neighbours, and the mean of p
PIVOT = 1e-6  # exchange rows in an emergency only: it costs up to 25 times the time and memory


@dataclass(frozen=True, eq=False)
class Unknowns:
    """How the unknowns are numbered: the nodes' u_x, their u_y, then three pressures per element.

    Attributes:
        cells: the 21 unknowns of each element: u_x and u_y at its nine nodes, and p.
        held: which unknowns are given: both velocities at the inlet and on the walls.
        order: those left when the elements' own are eliminated, as `dissection` orders them.
    """

    cells: Int[np.ndarray, "elements 21"]
    held: Bool[np.ndarray, " unknowns"]
    order: Int[np.ndarray, " skeleton"]

    @property
    def nodes(self) -> Int[np.ndarray, "elements 9"]:
        """The nodes of each element, row by row."""
        return self.cells[:, :9]

    def gather(self, parts: Float[np.ndarray, "elements 21"]) -> Float[np.ndarray, " unknowns"]:
        """Sum of what the elements have for each unknown; nothing for the held ones."""
        total = np.bincount(self.cells.ravel(), parts.ravel(), len(self.held))
        return np.where(self.held, 0, total)

    def factor(self, matrices: Float[np.ndarray, "elements 17 17"]) -> SuperLU:
        """Factors of the matrix between the unknowns of `order`.

        Raises:
            ProblemError: the matrix is singular.
        """
        kept, (places, rows, starts) = self._kept, self._pattern
        values = np.bincount(places, matrices.ravel()[kept])
        matrix = sparse.csc_array((values, rows, starts), shape=(len(self.order),) * 2)
        try:
            return splu(matrix, "NATURAL", PIVOT, options={"SymmetricMode": True})
        except RuntimeError as error:
            raise ProblemError(f"The linearised flow has no unique solution: {error}.") from error

    @cached_property
    def _kept(self) -> np.ndarray:
        """Which entries of the elements' matrices are in no held row or column."""
        free = ~self.held[self.cells[:, SKELETON]]
        return np.flatnonzero(free[:, :, None] & free[:, None, :])

    @cached_property
    def _pattern(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Which non-zero each kept entry adds to, the non-zeros' rows, the columns' starts."""
        size = len(self.order)
        number = np.zeros(len(self.held), dtype=np.int64)
        number[self.order] = np.arange(size)
        cells = number[self.cells[:, SKELETON]]
        entries = (cells[:, :, None] + cells[:, None, :] * size).ravel()[self._kept]
        nonzeros, places = np.unique(entries, return_inverse=True)
        columns, rows = np.divmod(nonzeros, size)
        starts = np.searchsorted(columns, np.arange(size + 1))
        return places, rows.astype(np.int32), starts.astype(np.int32)


@cache
def unknowns_of(along: int, across: int) -> Unknowns:
    """The numbering on a grid of so many nodes; the same for all shapes of the channel."""
    number = np.arange(along * across).reshape(along, across)
    windows = np.lib.stride_tricks.sliding_window_view(number, (3, 3))
    nodes = windows[::2, ::2].reshape(-1, 9)
    pressures = 2 * number.size + np.arange(3 * len(nodes)).reshape(-1, 3)
    held = np.zeros((2, along, across), dtype=bool)
    held[:, 0] = held[:, :, [0, -1]] = True
    return Unknowns(
        cells=np.concatenate([nodes, nodes + number.size, pressures], axis=1),
        held=np.concatenate([held.ravel(), np.zeros(pressures.size, dtype=bool)]),
        order=dissection(number, pressures[:, 0].reshape(along // 2, across // 2)),
    )


def dissection(
    nodes: Int[np.ndarray, "along across"], pressures: Int[np.ndarray, "x y"]
) -> Int[np.ndarray, " skeleton"]:
    """Nested dissection of the velocities on the elements' sides and their mean pressures.

    A rectangle of elements is cut in half along a grid line; the unknowns inside the halves come
    first, each by the same rule, then the velocities on the line. With no flow through the outer
    sides, the pressures inside are determined up to a constant. So one pressure of each rectangle
    waits: after the line's velocities only the difference of the halves' is fixed, and one of the
    two follows them. In this order no pivot of a slow flow is zero, and a factorisation hardly
    ever has to depart from it.
    """
    size = nodes.size
    found: list[np.ndarray] = []

    def dissect(i: int, i_end: int, j: int, j_end: int) -> int:
        """Order what is inside; the pressure that waits is returned."""
        if i_end - i == j_end - j == 1:
            return int(pressures[i, j])
        if i_end - i >= j_end - j:
            cut = (i + i_end) // 2
            waiting = dissect(i, cut, j, j_end), dissect(cut, i_end, j, j_end)
            line = nodes[2 * cut, 2 * j + 1 : 2 * j_end]
        else:
            cut = (j + j_end) // 2
            waiting = dissect(i, i_end, j, cut), dissect(i, i_end, cut, j_end)
            line = nodes[2 * i + 1 : 2 * i_end, 2 * cut]
        found.extend([line, line + size, np.array(waiting[:1])])
        return waiting[1]

    last = dissect(0, pressures.shape[0], 0, pressures.shape[1])
    outlet = nodes[-1, 1:-1]
    return np.concatenate([*found, outlet, outlet + size, [last]])
