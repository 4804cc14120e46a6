"""Pieces of a page: tables, pictures, sections."""

from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from string import Template

from supra.experiment.report.plots import Picture

_TEMPLATE = "page.html"
_WIDE = 600  # pixels above which a picture is scrolled on a small screen


def section(name: str, title: str, *parts: str) -> str:
    return f'<section id="{name}">\n<h2>{escape(title)}</h2>\n{"".join(parts)}</section>\n'


def paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>\n"


def note(text: str) -> str:
    return f'<p class="note">{escape(text)}</p>\n'


def heading(text: str, detail: str = "") -> str:
    small = f" <small>{escape(detail)}</small>" if detail else ""
    return f"<h3>{escape(text)}{small}</h3>\n"


def card(title: str, value: str, detail: str) -> str:
    """A number of the headline."""
    parts = (("dt", title), ("dd", value), ("dd", detail))
    inside = "".join(f"<{tag}>{escape(text)}</{tag}>" for tag, text in parts)
    return f"<dl>{inside}</dl>\n"


def cards(*made: str) -> str:
    return f'<div class="cards">\n{"".join(made)}</div>\n'


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], kind: str = "numbers") -> str:
    """The first cell of a row names it; ``kind`` is what the others hold, numbers or words."""
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    body = "".join(_row(row) for row in rows)
    return (
        f'<div class="scroll"><table class="{kind}">\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}</tbody>\n</table></div>\n"
    )


def _row(cells: Sequence[str]) -> str:
    first, *others = (escape(cell) for cell in cells)
    rest = "".join(f"<td>{cell}</td>" for cell in others)
    return f'<tr><th scope="row">{first}</th>{rest}</tr>\n'


def figure(picture: Picture, caption: str = "") -> str:
    """A picture inside the page itself."""
    data = b64encode(picture.png).decode("ascii")
    size = "wide" if picture.width > _WIDE else "small"
    image = (
        f'<img class="{picture.kind} {size}" width="{picture.width}" '
        f'alt="{escape(picture.alt)}" src="data:image/png;base64,{data}">'
    )
    below = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return f'<figure><div class="scroll">{image}</div>{below}</figure>\n'


def beside(*parts: str) -> str:
    """Side by side where there is room."""
    columns = "".join(f"<div>{part}</div>\n" for part in parts)
    return f'<div class="beside">\n{columns}</div>\n'


def details(title: str, text: str) -> str:
    """A text that is shown when asked for."""
    return f"<details><summary>{escape(title)}</summary>\n<pre>{escape(text)}</pre>\n</details>\n"


def page(title: str, subtitle: str, sections: dict[str, str], body: str) -> str:
    """The whole page; ``sections`` are the names and titles that its menu leads to."""
    links = " ".join(f'<a href="#{name}">{escape(text)}</a>' for name, text in sections.items())
    template = Template((files(__package__) / _TEMPLATE).read_text("utf-8"))
    return template.substitute(
        title=escape(title), subtitle=escape(subtitle), menu=links, body=body
    )
