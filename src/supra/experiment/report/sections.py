"""The parts of a report's page, in the order in which they are read."""

import numpy as np
import yaml

from supra.experiment.report.cases import MOST_CHANNELS, MOST_STRIPS, draw_case
from supra.experiment.report.markup import (
    beside,
    details,
    figure,
    heading,
    note,
    paragraph,
    table,
)
from supra.experiment.report.number import duration, percent
from supra.experiment.report.plots import (
    draw_attention,
    draw_curves,
    draw_growth,
    draw_histogram,
    draw_spectrum,
)
from supra.experiment.report.scales import draw_basis
from supra.experiment.report.spectrum import ERROR, TRUTH
from supra.experiment.report.study import Study, typical
from supra.train import Evaluation

_BOUNDARY, _LARGEST = "at the boundary", "largest deviation"
_NOTES = {
    _BOUNDARY: "relative to the size of the whole field",
    _LARGEST: "relative to the largest value",
}
_TOLERANCE = 1e-2  # relative difference of errors that other hardware does not explain


def errors(study: Study) -> str:
    """The table of errors, their distribution, their course over time."""
    found, times = study.evaluation, study.data.test.layout.times
    rows = [_spread(name, values) for name, values in _kinds(found)]
    rows += [(f"trivial: {name}", percent(value), "", "") for name, value in study.trivial.items()]
    shown = table(("relative error on the test set", "mean", "median", "worst"), rows)
    explained = [f"{name}: {_NOTES[name]}" for name, _ in _kinds(found) if name in _NOTES]
    shown += note("; ".join(explained) + ".")
    body = _doubt(study) + beside(shown, figure(draw_histogram(found.l2)))
    return body if found.steps is None else body + _growth(found.steps, times)


def _growth(errors: np.ndarray, times: tuple[float, ...]) -> str:
    means = errors.mean(axis=0)
    columns = ("time", *(f"{time:.3g}" for time in times))
    shown = table(columns, [("L2, mean", *map(percent, means))])
    return heading("at each moment") + figure(draw_growth(errors, times)) + shown


def _kinds(found: Evaluation) -> list[tuple[str, np.ndarray]]:
    kinds = {
        "L2": found.l2,
        **{f"L2 of {name}": values for name, values in _channels(found).items()},
        "H1 (gradient)": found.h1,
        _BOUNDARY: found.boundary,
        _LARGEST: found.largest,
    }
    return [(name, values) for name, values in kinds.items() if values is not None]


def _channels(found: Evaluation) -> dict[str, np.ndarray]:
    """Errors of each channel, if there are several."""
    return found.channels if len(found.channels) > 1 else {}


def _spread(name: str, values: np.ndarray) -> tuple[str, ...]:
    return name, percent(values.mean()), percent(float(np.median(values))), percent(values.max())


def _doubt(study: Study) -> str:
    """A warning where the run's own error cannot be found again, e.g. on other data."""
    written, found = study.result["test"]["relative_l2"], float(study.evaluation.l2.mean())
    if abs(written - found) <= _TOLERANCE * written:
        return ""
    return paragraph(
        f"Attention: the run wrote a test error of {percent(written)}; now it is "
        f"{percent(found)}. The data or the weights have changed since."
    )


def learning(study: Study) -> str:
    """Curves of the training."""
    result, layout = study.result, study.data.test.layout
    chosen_by = "validation" if len(study.data.valid) else "training"
    lines = (
        f"{result['epochs']} epochs in {duration(result['training_seconds'])} "
        f"({duration(result['training_cpu_seconds'])} of CPU time); the weights are those of epoch "
        f"{result['best_epoch']}, the best on the {chosen_by} samples."
    )
    if layout.time == "rollout":
        lines += " The training loss is of single steps, the validation error of whole rollouts."
    return paragraph(lines) + figure(draw_curves(study.history))


def cases(study: Study) -> str:
    """Best, median and worst test sample."""
    layout = study.data.test.layout
    drawn = MOST_CHANNELS if layout.time == "steady" else MOST_STRIPS
    parts = [paragraph("Truth and prediction share their colour scale; the error has its own.")]
    if len(layout.targets) > drawn:
        parts.append(paragraph(f"The first {drawn} of {len(layout.targets)} channels are drawn."))
    for case in study.cases:
        detail = f"sample {case.number + 1} of {len(study.data.test)}, error {percent(case.error)}"
        parts.append(heading(case.title, detail))
        parts += [figure(picture) for picture in draw_case(case, layout)]
    return "".join(parts)


def spectrum(study: Study) -> str:
    """Sizes by frequency."""
    found = study.spectrum
    caption = (
        f"Dots: single basis functions, ordered by {found.ladder.name}; lines: means of "
        f"neighbours; relative to the mean square of the truth. The {len(found.ladder.order)} "
        f"functions hold {percent(1 - found.outside[TRUTH])} of the truth's mean square; "
        f"{percent(found.outside[ERROR])} of the error's is outside of what they reach."
    )
    return figure(draw_spectrum(found), caption)


def basis(study: Study) -> str:
    """Some functions of the subspace."""
    domain = typical(study.cases).sample.domain
    sampled, ladder = study.surrogate.subspace(domain), study.spectrum.ladder
    caption = (
        f"Some of the {sampled.modes} functions that span the subspace, by rank and "
        f"{ladder.name}, on the domain of the median test case."
    )
    return figure(draw_basis(sampled, domain, ladder), caption)


def attention(study: Study) -> str:
    """Matrices of the layers; nothing for networks without such layers."""
    if not study.attention:
        return ""
    caption = (
        f"How much each of the {len(study.attention[0])} functions inside the network (row) takes "
        f"of each other (column) in the median test case, and how much of itself on average."
    )
    return figure(draw_attention(study.attention), caption)


def configuration(study: Study) -> str:
    """What to know in order to do it again."""
    result = study.result
    facts = {**result.get("provenance", {}), "seed": result["seed"], "run": study.folder.resolve()}
    rows = [(name, "unknown" if value is None else str(value)) for name, value in facts.items()]
    values = yaml.safe_dump(study.experiment.model_dump(mode="json"), allow_unicode=True)
    times = [
        ("basis and normalisers", duration(result["preparation_seconds"])),
        ("one prediction in the run's own test", duration(result["seconds_per_prediction"])),
        ("batch in the measurement of speed", str(study.speed.batch)),
    ]
    return table(("", ""), [*rows, *times], "words") + details("Configuration (YAML)", values)
