"""``supra basis``: the eigenfunctions of a mesh."""

import time
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.table import Table

from supra.basis import LaplacianBasis
from supra.basis.eigen import Method
from supra.cli.screen import console, errors, table
from supra.domain import Mesh, MeshError
from supra.domain.files import check_writable, write_mesh
from supra.domain.shapes import SHAPES
from supra.experiment.plots import check_picture_path, plot_modes
from supra.experiment.progress import progress


def basis(
    source: Annotated[
        str, typer.Argument(metavar="FILE|SHAPE", help=f"A mesh file, or: {', '.join(SHAPES)}.")
    ],
    modes: Annotated[int, typer.Option(help="How many eigenfunctions.")] = 64,
    boundary: Annotated[
        Literal["neumann", "dirichlet"], typer.Option(help="Free boundary, or held at zero.")
    ] = "neumann",
    resolution: Annotated[
        int | None, typer.Option(help="Cells per unit length of a shape.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the modes to this PNG or PDF.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write mesh and modes to this file (vtu, vtk, xdmf, …).")
    ] = None,
    weld: Annotated[bool, typer.Option("--weld", help="Merge coincident nodes first.")] = False,
    clean: Annotated[
        bool, typer.Option("--clean", help="Remove unused points, zero and duplicate cells first.")
    ] = False,
    method: Annotated[Method, typer.Option(help="How to solve.")] = "auto",
    cache: Annotated[bool, typer.Option(help="Keep the result, and use a kept one.")] = True,
) -> None:
    """Laplacian eigenfunctions of a mesh.

    Example: supra basis wing.vtu --modes 64 --plot modes.png --out modes.vtu
    """
    mesh = _prepared(_mesh(source, resolution), weld, clean)
    _check_outputs(source, mesh, plot, out)
    start = time.perf_counter()
    with progress(mesh.name, errors) as report:
        result = LaplacianBasis.from_mesh(
            mesh, modes, boundary, method=method, cache=cache, report=report
        )
    console.print(_summary(mesh, result, time.perf_counter() - start))
    if plot is not None:
        plot_modes(result, plot)
        console.print(f"picture: {plot}", highlight=False, markup=False, soft_wrap=True)
    if out is not None:
        write_mesh(out, mesh, {f"mode_{k:03d}": u for k, u in enumerate(result.values.T, 1)})
        console.print(f"modes: {out}", highlight=False, markup=False, soft_wrap=True)


def _check_outputs(source: str, mesh: Mesh, plot: Path | None, out: Path | None) -> None:
    """Say what cannot be written before the long work, not after it."""
    if plot is not None:
        check_picture_path(plot)
    if out is not None:
        if out.exists() and Path(source).exists() and out.samefile(source):
            raise MeshError(f"`--out {out}` would overwrite the mesh that is read. Name another.")
        check_writable(out, mesh, {"mode_001": mesh.points[:, 0]})


def _mesh(source: str, resolution: int | None) -> Mesh:
    if source in SHAPES:
        return SHAPES[source]() if resolution is None else SHAPES[source](resolution=resolution)
    if not Path(source).suffix and not Path(source).exists():
        raise MeshError(
            f"{source!r} is neither a file nor a shape. Shapes are: {', '.join(SHAPES)}."
        )
    if resolution is not None:
        raise MeshError(f"`--resolution` is for shapes; {source!r} is a file.")
    return Mesh.from_file(source)


def _prepared(mesh: Mesh, weld: bool, clean: bool) -> Mesh:
    if weld:
        mesh = mesh.welded()
    if clean:
        mesh = mesh.without_degenerate_cells().without_duplicate_cells().without_unused_points()
    return mesh


def _summary(mesh: Mesh, result: LaplacianBasis, seconds: float) -> Table:
    summary = table(mesh.name, ("quantity", "value"))
    low, high = result.eigenvalues[0], result.eigenvalues[-1]
    for name, value in (
        ("nodes", f"{len(mesh.points)}"),
        ("cells", f"{len(mesh.cells)}"),
        ("components", f"{mesh.component_count}"),
        ("Euler characteristic", f"{mesh.euler_characteristic}"),
        ("length, area or volume", f"{mesh.measure:.6g}"),
        ("modes", f"{result.modes}"),
        ("eigenvalues", f"{low:.6g} … {high:.6g}"),
        ("largest residual", f"{result.residuals.max():.1e}"),
        ("orthonormality", f"{result.orthonormality:.1e}"),
        ("method", result.method + ", from cache" * result.from_cache),
        ("seconds", f"{seconds:.2f}"),
    ):
        summary.add_row(name, value)
    return summary
