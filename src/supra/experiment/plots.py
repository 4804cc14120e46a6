"""Pictures of bases."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib.figure
import numpy as np
from matplotlib.axes import Axes

from supra.basis import LaplacianBasis
from supra.domain import DomainError, Mesh
from supra.experiment.draw import Picture, draw_function

_COLUMNS = 6
_PANEL = 2.0  # width of one drawing in inches


def check_picture_path(path: Path) -> None:
    """Raise a `DomainError` if no picture can be written there."""
    known = matplotlib.figure.Figure().canvas.get_supported_filetypes()
    if path.suffix.lower().lstrip(".") not in known:
        raise DomainError(
            f"A picture's format is known by its extension: {str(path)!r} has {path.suffix!r}. "
            f"Known are {' '.join(sorted(known))}."
        )
    if not path.parent.is_dir():
        raise DomainError(f"The folder {str(path.parent)!r} does not exist. Make it first.")


def plot_modes(basis: LaplacianBasis, path: str | Path, most: int = 24) -> None:
    """A gallery of a basis's first functions, each with its eigenvalue."""
    shown = min(most, basis.modes)
    rows = -(-shown // _COLUMNS)
    picture = Picture.of(basis.domain)
    height = rows * (_PANEL * _height_to_width(basis, picture) + 0.3) + 0.4
    figure = matplotlib.figure.Figure(figsize=(_PANEL * _COLUMNS, height), layout="constrained")
    panels = list(figure.subplots(rows, _COLUMNS, squeeze=False).flat)
    _draw_modes(panels, basis, range(shown), picture)
    figure.suptitle(f"{_title(basis)}: {shown} of {basis.modes} Laplacian eigenfunctions")
    _save(figure, path)


def plot_bases(bases: Sequence[LaplacianBasis], path: str | Path) -> None:
    """One row of functions per domain: what the modes of different domains have in common."""
    figure = matplotlib.figure.Figure(
        figsize=(_PANEL * _COLUMNS, (_PANEL + 0.15) * len(bases)), layout="constrained"
    )
    panels = figure.subplots(len(bases), _COLUMNS, squeeze=False)
    for row, basis in zip(panels, bases, strict=True):
        spread = np.unique(np.geomspace(2, basis.modes, _COLUMNS).astype(int)) - 1
        _draw_modes(row, basis, spread.tolist(), Picture.of(basis.domain))
        row[0].text(
            -0.05,
            0.5,
            _title(basis),
            rotation=90,
            ha="right",
            va="center",
            transform=row[0].transAxes,
        )
    _save(figure, path)


def _draw_modes(
    panels: Sequence[Axes], basis: LaplacianBasis, modes: Sequence[int], picture: Picture | None
) -> None:
    for panel in panels:
        panel.set_axis_off()
    for panel, mode in zip(panels, modes, strict=False):
        draw_function(panel, basis.domain, basis.values[:, mode], picture)
        panel.set_title(rf"$\lambda_{{{mode + 1}}}$ = {basis.eigenvalues[mode]:.4g}", fontsize=9)


def _height_to_width(basis: LaplacianBasis, picture: Picture | None) -> float:
    """Proportions of the drawn domain, within reason."""
    points = basis.domain.points if picture is None else picture.points
    if points.shape[1] != 2:
        return 1.0
    width, height = np.ptp(points, axis=0)
    return float(np.clip(height / max(width, 1e-9), 0.15, 2.0))


def _title(basis: LaplacianBasis) -> str:
    return basis.domain.name if isinstance(basis.domain, Mesh) else "points"


def _save(figure: matplotlib.figure.Figure, path: str | Path) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
