"""Training, evaluation and use of a surrogate."""

from supra.train.errors import TrainError
from supra.train.evaluate import Evaluation, evaluate, predictions
from supra.train.history import METRICS, History
from supra.train.loop import BEST, LATEST, Job, fit
from supra.train.loss import Loss, relative_h1, relative_l2
from supra.train.predictor import Predictor
from supra.train.settings import LossSettings, Settings, TrainSettings
from supra.train.symmetrized import Symmetrized
from supra.train.world import World, joined_world

__all__ = [
    "BEST",
    "LATEST",
    "METRICS",
    "Evaluation",
    "History",
    "Job",
    "Loss",
    "LossSettings",
    "Predictor",
    "Settings",
    "Symmetrized",
    "TrainError",
    "TrainSettings",
    "World",
    "evaluate",
    "fit",
    "joined_world",
    "predictions",
    "relative_h1",
    "relative_l2",
]
