"""Progress of long work: a bar on a terminal, one plain line per stage elsewhere."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from supra.basis.eigen import Report


@contextmanager
def progress(title: str, console: Console) -> Iterator[Report]:
    """Yield a function to call with (stage, steps done, steps in all)."""
    if not console.is_terminal:
        yield _plain(title, console)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as bar:
        task = bar.add_task(escape(title), total=None)

        def report(stage: str, done: int, total: int) -> None:
            bar.update(task, description=escape(f"{title}: {stage}"), completed=done, total=total)

        yield report


def _plain(title: str, console: Console) -> Report:
    seen: set[str] = set()

    def report(stage: str, done: int, total: int) -> None:
        if stage not in seen:
            seen.add(stage)
            console.print(f"{title}: {stage}", highlight=False, markup=False)

    return report
