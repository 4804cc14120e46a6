"""The report of a run: one page that needs nothing besides itself."""

from supra.experiment.report.study import Study, study_run
from supra.experiment.report.write import PAGE, write_page, write_report

__all__ = ["PAGE", "Study", "study_run", "write_page", "write_report"]
