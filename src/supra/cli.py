"""The command line: thin, one function per command."""

import io
import sys
import time
import warnings
from pathlib import Path
from typing import Annotated, Literal

import torch
import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.table import Table

import supra
from supra.basis import BasisError, LaplacianBasis
from supra.basis.eigen import Method, Report
from supra.domain import DomainError, Mesh, MeshError
from supra.domain.files import check_writable, write_mesh
from supra.domain.shapes import SHAPES
from supra.experiment.allocator import keep_freed_memory
from supra.experiment.benchmark import SETTINGS, efficiency, growth, irregular
from supra.experiment.demo import show_bases
from supra.experiment.plots import check_picture_path, plot_modes
from supra.experiment.progress import progress

app = typer.Typer(
    help="Neural-operator surrogates for PDEs on general domains.",
    invoke_without_command=True,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
console = Console()
errors = Console(stderr=True)


@app.callback()
def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Neural-operator surrogates for PDEs on general domains."""
    if version:
        console.print(supra.__version__, highlight=False)
        raise typer.Exit


# What an error advises in Python, and the option that does it here.
OPTIONS = {
    "mesh.without_unused_points()": "--clean",
    "mesh.without_degenerate_cells()": "--clean",
    "mesh.without_duplicate_cells()": "--clean",
    "mesh.welded()": "--weld",
    "boundary='neumann'": "--boundary neumann",
}


@app.command()
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
        console.print(f"picture: {plot}", highlight=False, markup=False)
    if out is not None:
        write_mesh(out, mesh, {f"mode_{k:03d}": u for k, u in enumerate(result.values.T, 1)})
        console.print(f"modes: {out}", highlight=False, markup=False)


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the pictures.")] = Path("demo"),
    modes: Annotated[int, typer.Option(min=2, help="How many eigenfunctions per domain.")] = 64,
) -> None:
    """Compute and draw the Laplacian eigenfunctions of six domains.

    Example: supra demo --out demo
    """
    columns = ("domain", "nodes", "λ₂", "exact", "residual", "ΦᵀWΦ−I", "seconds")
    table = _table(f"{modes} Laplacian eigenfunctions", columns)
    with progress("demo", errors) as report:

        def named(name: str) -> Report:
            return lambda stage, done, total: report(f"{name}, {stage}", done, total)

        for outcome in show_bases(out, modes, named):
            found = outcome.basis
            table.add_row(
                outcome.name,
                str(len(found.values)),
                f"{found.eigenvalues[1]:.5f}",
                "" if outcome.exact is None else f"{outcome.exact:.5f}",
                f"{found.residuals.max():.0e}",
                f"{found.orthonormality:.0e}",
                f"{outcome.seconds:.2f}",
            )
    console.print(table)
    console.print(
        f"Look at {out / 'bases.png'} and at one picture per domain beside it.", markup=False
    )


@app.command()
def benchmark(
    table: Annotated[Literal["efficiency"], typer.Argument(help="What to measure.")],
    quick: Annotated[bool, typer.Option("--quick", help="The smallest setting only.")] = False,
) -> None:
    """Measure what the network costs here: time, memory, share of the matrix-product rate.

    Example: supra benchmark efficiency --quick
    """
    torch.manual_seed(0)
    efficiency(console, SETTINGS[:1] if quick else SETTINGS)
    if not quick:
        growth(console)
        irregular(console)


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
    table = _table(mesh.name, ("quantity", "value"))
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
        table.add_row(name, value)
    return table


def _table(title: str, columns: tuple[str, ...]) -> Table:
    table = Table(title=escape(title), title_justify="left", box=SIMPLE, pad_edge=False)
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number == 0 else "right", no_wrap=True)
    return table


def _say(kind: str, message: object, style: str) -> None:
    """One line on the error output, with the command line's own words for the way out."""
    text = f"{kind}: {message}"
    for python, option in OPTIONS.items():
        text = text.replace(python, option)
    errors.print(text, style=style, highlight=False, soft_wrap=True, markup=False)


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    _say("warning", message, "yellow")


def main() -> None:
    """Run the command line; what a user got wrong is one line and exit status 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without λ loses a sign, not the run
    warnings.showwarning = _show_warning
    keep_freed_memory()
    try:
        app()
    except (DomainError, BasisError, OSError) as error:
        _say("error", error, "red")
        sys.exit(2)


if __name__ == "__main__":
    main()
