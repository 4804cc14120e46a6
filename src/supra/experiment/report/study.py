"""What a report says about a run: read from its folder, or computed on its test set."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from supra.basis.eigen import Report
from supra.data import Sample, Splits
from supra.experiment.build import build_data
from supra.experiment.config import Experiment
from supra.experiment.report.attention import Matrix, attention_matrices
from supra.experiment.report.spectrum import Ladder, Spectrum, SpectrumSum
from supra.experiment.report.speed import Speed, measure_speed
from supra.experiment.report.trivial import mean_targets, trivial_guesses
from supra.experiment.run import RESULT, load_config
from supra.experiment.surrogate import Surrogate
from supra.train import Evaluation, History, TrainError, predictions

MEDIAN = "median"


@dataclass(frozen=True, eq=False)
class Case:
    """One test sample with its prediction.

    Attributes:
        title: why it is shown.
        number: in the test set, from 0.
        error: relative L2.
        sample: inputs, truth and domain.
        prediction: of the shape of the truth.
    """

    title: str
    number: int
    error: float
    sample: Sample
    prediction: np.ndarray


@dataclass(frozen=True, eq=False)
class Study:
    """All that a report shows.

    Attributes:
        folder: of the run.
        experiment: its values.
        result: what the run wrote in the end.
        history: its epochs.
        surrogate: its best weights.
        data: its samples.
        evaluation: errors of all test samples.
        trivial: mean test errors of predictors that learned nothing, by name.
        spectrum: sizes by frequency.
        cases: best, median and worst test sample.
        attention: matrices of the layers for the median sample.
        speed: of surrogate and solver.
    """

    folder: Path
    experiment: Experiment
    result: dict[str, Any]
    history: History
    surrogate: Surrogate
    data: Splits
    evaluation: Evaluation
    trivial: dict[str, float]
    spectrum: Spectrum
    cases: list[Case]
    attention: list[Matrix]
    speed: Speed


def study_run(folder: Path, report: Report = lambda *_: None) -> Study:
    """Read a finished run and look at its surrogate on the test set."""
    experiment, result, history = load_config(folder), load_result(folder), History.read(folder)
    surrogate = Surrogate.load(folder, "cuda" if torch.cuda.is_available() else "cpu")
    surrogate = replace(surrogate, seen=None)  # its own test set needs no warning
    report("reading the data", 0, 4)
    data = build_data(experiment)
    report("predicting the test set", 1, 4)
    evaluation = surrogate.evaluate(data.test, experiment.train.batch_size)
    spectrum, trivial = _compare(surrogate, data)
    cases = _cases(surrogate, data, evaluation.l2)
    report("timing surrogate and solver", 2, 4)
    return Study(
        folder=folder,
        experiment=experiment,
        result=result,
        history=history,
        surrogate=surrogate,
        data=data,
        evaluation=evaluation,
        trivial=trivial,
        spectrum=spectrum,
        cases=cases,
        attention=attention_matrices(surrogate, typical(cases).sample),
        speed=measure_speed(surrogate, data.test, experiment.data),
    )


def typical(cases: list[Case]) -> Case:
    """The median one."""
    return next(case for case in cases if MEDIAN in case.title)


def load_result(folder: Path) -> dict[str, Any]:
    """The ``result.json`` of a finished run."""
    path = folder / RESULT
    try:
        result = json.loads(path.read_text())
    except FileNotFoundError:
        raise TrainError(
            f"The run in {folder} has no result yet: {path} is missing. Finish it by supra train "
            f"… --resume."
        ) from None
    except ValueError as error:
        raise TrainError(f"{path} cannot be read: {error}") from None
    if not isinstance(result, dict) or "test" not in result:
        raise TrainError(f"{path} holds no errors on a test set: it is not a run's result.")
    return result


def _compare(surrogate: Surrogate, data: Splits) -> tuple[Spectrum, dict[str, float]]:
    """Sizes by frequency and errors of trivial predictors, in one pass over the test set."""
    mean = mean_targets(data.train, data.test)
    spectrum = SpectrumSum(Ladder.of(surrogate.subspace))
    totals: dict[str, float] = {}
    size = surrogate.experiment.train.batch_size
    for prediction, batch in predictions(surrogate.predictor, data.test, surrogate.collate, size):
        spectrum.add(prediction, batch.targets, batch.basis)
        for name, errors in trivial_guesses(batch, surrogate.layout, mean):
            totals[name] = totals.get(name, 0.0) + float(errors.sum())
    return spectrum.result(), {name: sum_ / len(data.test) for name, sum_ in totals.items()}


def _cases(surrogate: Surrogate, data: Splits, errors: np.ndarray) -> list[Case]:
    """The best, median and worst sample; one that is two of them is shown once."""
    order = np.argsort(errors)
    wanted = {"best": order[0], MEDIAN: order[(len(order) - 1) // 2], "worst": order[-1]}
    titles: dict[int, str] = {}
    for title, number in wanted.items():
        before = titles.get(int(number))
        titles[int(number)] = title if before is None else f"{before}, {title}"
    cases = []
    for number, title in titles.items():
        sample = data.test[number]
        prediction = surrogate.predict(sample.inputs, sample.domain)
        cases.append(Case(title, number, float(errors[number]), sample, prediction))
    return cases
