"""Data sets: what is read, split, normalised and batched."""

from supra.data.batch import Batch, Collate, in_order, loader
from supra.data.dataset import Channel, Dataset, Layout, Reader, Sample, Splits
from supra.data.errors import DataError
from supra.data.normalize import Normalizer
from supra.data.stepwise import stepwise

__all__ = [
    "Batch",
    "Channel",
    "Collate",
    "DataError",
    "Dataset",
    "Layout",
    "Normalizer",
    "Reader",
    "Sample",
    "Splits",
    "in_order",
    "loader",
    "stepwise",
]
