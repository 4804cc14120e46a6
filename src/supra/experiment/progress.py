"""Progress of long work: a bar on a terminal, plain lines elsewhere."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from supra.basis.eigen import Report

_PAUSE = 20.0  # seconds between plain lines of one stage of work


@contextmanager
def progress(
    title: str, console: Console, quiet: bool = False, stopped: str = "stopped"
) -> Iterator[Report]:
    """Yield a function to call with (stage, steps done, steps in all).

    Args:
        title: what is going on.
        console: where to show it.
        quiet: show nothing.
        stopped: what to say when the user stops it.
    """
    try:
        with _shown(title, console, quiet) as report:
            yield report
    except KeyboardInterrupt:
        console.print(f"{title}: {stopped}", highlight=False, markup=False)
        raise


@contextmanager
def _shown(title: str, console: Console, quiet: bool) -> Iterator[Report]:
    if quiet:
        yield lambda *_: None
        return
    if not console.is_terminal:
        yield _plain(title, console)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    times = (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    with Progress(*columns, *times, console=console, transient=True) as bar:
        task = bar.add_task(escape(title), total=None)

        def report(stage: str, done: int, total: int) -> None:
            bar.update(task, description=escape(f"{title}: {stage}"), completed=done, total=total)

        yield report


def _plain(title: str, console: Console) -> Report:
    """A line when another kind of work begins, and one now and then while it lasts."""
    last, when = "", time.monotonic()

    def report(stage: str, done: int, total: int) -> None:
        nonlocal last, when
        kind = stage.partition(" ")[0]
        if kind != last or time.monotonic() - when > _PAUSE:
            console.print(f"{title}: {stage} ({done}/{total})", highlight=False, markup=False)
            last, when = kind, time.monotonic()

    return report
