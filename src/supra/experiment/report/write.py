"""Puts the page together and into its file."""

from pathlib import Path

from supra.data.replacement import replacing
from supra.experiment.report import sections
from supra.experiment.report.headline import headline, subtitle, title
from supra.experiment.report.markup import page, section
from supra.experiment.report.plots import styled
from supra.experiment.report.study import Report, Study, study_run
from supra.experiment.run import load_config
from supra.train import TrainError

PAGE = "report.html"
_SECTIONS = {
    "errors": ("Errors", sections.errors),
    "learning": ("Learning", sections.learning),
    "cases": ("Test cases", sections.cases),
    "spectrum": ("Error by frequency", sections.spectrum),
    "basis": ("Basis functions", sections.basis),
    "attention": ("Attention", sections.attention),
    "configuration": ("Configuration", sections.configuration),
}


def write_report(
    folder: str | Path, out: str | Path | None = None, report: Report = lambda *_: None
) -> Path:
    """Write the page of a finished run, whole or not at all.

    Args:
        folder: of the run.
        out: the page; ``report.html`` in the folder by default.
        report: told about the progress.

    Returns:
        Where the page is.

    Raises:
        TrainError: the folder holds no finished run.
    """
    folder = Path(folder)
    path = folder / PAGE if out is None else Path(out)
    load_config(folder)  # no run: say so before anything else
    if path.is_dir():
        raise TrainError(f"{path} is a folder: name the page, e.g. {path / PAGE}.")
    study = study_run(folder, report)
    report("drawing", 3, 4)
    write_page(study, path)
    return path


def write_page(study: Study, path: Path) -> None:
    """Write the page of a run that has been looked at."""
    with replacing(path) as unfinished:
        unfinished.write_text(render(study), "utf-8")


def render(study: Study) -> str:
    """The page as text."""
    bodies = {}
    with styled():
        for name, (_, write) in _SECTIONS.items():
            if body := write(study):
                bodies[name] = body
    titles = {name: _SECTIONS[name][0] for name in bodies}
    body = "".join(section(name, titles[name], text) for name, text in bodies.items())
    return page(title(study), subtitle(study), titles, headline(study) + body)
