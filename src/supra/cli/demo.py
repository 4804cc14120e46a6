"""``supra demo``: the main job on embedded defaults."""

from pathlib import Path
from typing import Annotated

import typer

from supra.basis.eigen import Report
from supra.cli.screen import console, errors, table
from supra.experiment.demo import show_bases
from supra.experiment.progress import progress


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the pictures.")] = Path("demo"),
    modes: Annotated[int, typer.Option(min=2, help="How many eigenfunctions per domain.")] = 64,
) -> None:
    """Compute and draw the Laplacian eigenfunctions of six domains.

    Example: supra demo --out demo
    """
    columns = ("domain", "nodes", "λ₂", "exact", "residual", "ΦᵀWΦ−I", "seconds")
    shown = table(f"{modes} Laplacian eigenfunctions", columns)
    with progress("demo", errors) as report:

        def named(name: str) -> Report:
            return lambda stage, done, total: report(f"{name}, {stage}", done, total)

        for outcome in show_bases(out, modes, named):
            found = outcome.basis
            shown.add_row(
                outcome.name,
                str(len(found.values)),
                f"{found.eigenvalues[1]:.5f}",
                "" if outcome.exact is None else f"{outcome.exact:.5f}",
                f"{found.residuals.max():.0e}",
                f"{found.orthonormality:.0e}",
                f"{outcome.seconds:.2f}",
            )
    console.print(shown)
    console.print(
        f"Look at {out / 'bases.png'} and at one picture per domain beside it.", markup=False
    )
