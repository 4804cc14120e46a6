"""``supra generate`` and ``supra data``: make, look at and import samples."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table

from supra.cli.screen import console, errors, table
from supra.data import DataError, Splits, load_dataset, open_dataset
from supra.data.cases.importer import import_folder
from supra.data.public.checksum import verify
from supra.data.public.load import find_sets
from supra.experiment.build import STORE
from supra.experiment.generate import PROBLEMS, Request, generate, make_problem
from supra.experiment.plots import check_picture_path
from supra.experiment.progress import progress
from supra.experiment.sample_plots import plot_samples

PICTURE = "samples.png"

app = typer.Typer(help="Look at data, import your own.", no_args_is_help=True)


def generate_command(
    problem: Annotated[str, typer.Argument(help=f"One of: {', '.join(PROBLEMS)}.")],
    out: Annotated[Path, typer.Option(help="Folder for the files.")],
    train: Annotated[int, typer.Option(min=1, help="Training samples.")] = 1000,
    test: Annotated[int, typer.Option(min=1, help="Test samples.")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Of the random data.")] = 0,
    workers: Annotated[int, typer.Option(min=1, help="Processes that solve side by side.")] = 2,
    cluster: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Solve on this Dask scheduler instead.")
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            "-s",
            metavar="OPTION=VALUE",
            help="An option of the problem; a wrong name lists them all.",
        ),
    ] = None,
) -> None:
    """Solve random problems and write them as the community's files.

    Stopped at any moment, the same command goes on where it was; the samples do not depend on the
    number of workers.

    Example: supra generate darcy --train 100 --test 20 --out data/darcy -s resolution=85
    """
    request = Request(make_problem(problem, _options(option or [])), train, test, seed)
    stopped = "stopped; the same command goes on"
    with progress("generate", errors, stopped=stopped) as report:
        generate(request, out, workers, cluster, report)
    splits = _open(out)
    plot_samples(splits.train, out / PICTURE)
    console.print(_summary(splits, out))
    console.print(f"picture: {out / PICTURE}", highlight=False, markup=False, soft_wrap=True)


@app.command()
def info(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder or .h5 file of a set.")],
    plot: Annotated[
        Path | None, typer.Option(help="Draw a few samples to this PNG or PDF.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Compare with known sums of the public files.")
    ] = False,
) -> None:
    """What data a folder holds: channels, shapes, ranges, and a picture (DIR/samples.png).

    Example: supra data info data/darcy --plot samples.png
    """
    plot = plot or (folder if folder.is_dir() else folder.parent) / PICTURE
    check_picture_path(plot)
    splits = _open(folder)
    console.print(_summary(splits, folder))
    plot_samples(splits.train, plot)
    console.print(f"picture: {plot}", highlight=False, markup=False, soft_wrap=True)
    if check:
        for file, same in verify(folder).items():
            console.print(f"{file}: {'the public file' if same else 'differs'}", highlight=False)


@app.command("import")
def import_command(
    folder: Annotated[Path, typer.Argument(help="Folder with one file per case.")],
    out: Annotated[Path, typer.Option(help="The data file to write (.h5).")],
    inputs: Annotated[list[str], typer.Option("--input", help="A given field; repeatable.")],
    targets: Annotated[list[str], typer.Option("--target", help="A field to predict; repeatable.")],
    test: Annotated[float, typer.Option(min=0, max=0.9, help="Part of the cases for tests.")] = 0.2,
    seed: Annotated[int, typer.Option(min=0, help="Of the choice of those.")] = 0,
) -> None:
    """Make a data file of your own cases: VTU, VTK, MSH, XDMF, NPZ or CSV files.

    Example: supra data import cases --input load --target temperature --out plates.h5
    """
    with progress("import", errors) as report:

        def track(cases: Sequence[Any]) -> Iterable[Any]:
            for number, case in enumerate(cases):
                report("cases", number, len(cases))
                yield case

        import_folder(folder, out, inputs, targets, test=test, seed=seed, track=track)
    console.print(_summary(open_dataset(out), out))


def _options(given: list[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in given]
    for name, equals, _ in pairs:
        if not equals:
            raise DataError(f"An option is written name=value: got {name!r}.")
    return {name: value for name, _, value in pairs}


def _open(source: Path) -> Splits:
    if source.is_file() or (source / STORE).exists():
        return open_dataset(source if source.is_file() else source / STORE)
    found = find_sets(source)
    if not found:
        raise DataError(
            f"{source} holds no data set: neither {STORE} nor the files of a public set. To make "
            f"some: supra generate darcy --out {source}"
        )
    return load_dataset(found[0], source)


def _summary(splits: Splits, source: Path, most: int = 50) -> Table:
    """Counts, shapes, and the range of each channel over the first samples."""
    train, layout = splits.train, splits.train.layout
    seen = [train[k] for k in range(min(most, len(train)))]
    shown = table(f"{train.name.removesuffix(' train')} in {source}", ("quantity", "value"))
    counts = (len(split) for split in (train, splits.valid, splits.test))
    shown.add_row("samples", "{} train, {} valid, {} test".format(*counts))
    shown.add_row("domain", repr(train.domain) if train.domain is not None else "one per sample")
    points = sorted({len(sample.inputs) for sample in seen})
    shown.add_row("points", f"{points[0]}" if len(points) == 1 else f"{points[0]} … {points[-1]}")
    if layout.times:
        shown.add_row("times", f"{len(layout.times)}: {layout.times[0]:g} … {layout.times[-1]:g}")
    for word, channels, side in (
        ("input", layout.inputs, [sample.inputs for sample in seen]),
        ("target", layout.targets, [sample.targets for sample in seen]),
    ):
        for k, channel in enumerate(channels):
            values = np.concatenate([fields[..., k].ravel() for fields in side])
            shown.add_row(f"{word} {channel}", f"{values.min():.4g} … {values.max():.4g}")
    return shown
