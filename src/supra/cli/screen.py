"""What the commands print, and how."""

from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.table import Table

console = Console()
errors = Console(stderr=True)

# What an error advises in Python, and the option that does it here.
OPTIONS = {
    "mesh.without_unused_points()": "--clean",
    "mesh.without_degenerate_cells()": "--clean",
    "mesh.without_duplicate_cells()": "--clean",
    "mesh.welded()": "--weld",
    "boundary='neumann'": "--boundary neumann",
}


def table(title: str, columns: tuple[str, ...]) -> Table:
    table = Table(title=escape(title), title_justify="left", box=SIMPLE, pad_edge=False)
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number == 0 else "right", no_wrap=True)
    return table


def say(kind: str, message: object, style: str) -> None:
    """One line on the error output, with the command line's own words for the way out."""
    text = f"{kind}: {message}"
    for python, option in OPTIONS.items():
        text = text.replace(python, option)
    errors.print(text, style=style, highlight=False, soft_wrap=True, markup=False)


def show_warning(message: Warning | str, *_: object, **__: object) -> None:
    say("warning", message, "yellow")
