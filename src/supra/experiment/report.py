"""The report of a run: one page that needs nothing besides itself."""

from pathlib import Path

from supra.data.replacement import Replacement
from supra.experiment import report_sections
from supra.experiment.report_headline import headline, subtitle, title
from supra.experiment.report_html import page, section
from supra.experiment.report_plots import styled
from supra.experiment.report_study import Report, Study, study_run
from supra.experiment.run import load_config
from supra.train import TrainError

PAGE = "report.html"
_SECTIONS = {
    "errors": ("Errors", report_sections.errors),
    "learning": ("Learning", report_sections.learning),
    "cases": ("Test cases", report_sections.cases),
    "spectrum": ("Error by frequency", report_sections.spectrum),
    "basis": ("Basis functions", report_sections.basis),
    "attention": ("Attention", report_sections.attention),
    "configuration": ("Configuration", report_sections.configuration),
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
    place = Replacement(path)
    study = study_run(folder, report)
    report("drawing", 3, 4)
    try:
        place.unfinished.write_text(render(study), "utf-8")
        place.take_place()
    finally:
        place.discard()
    return path


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
