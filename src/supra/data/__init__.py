"""Data sets: what is read, split, normalised and batched."""

from supra.data.augment import Augmentation, symmetries
from supra.data.batch import Batch, Collate, in_order, loader
from supra.data.dataset import Channel, Dataset, Layout, Reader, Sample, Splits
from supra.data.errors import DataError
from supra.data.normalize import Normalizer
from supra.data.public import load_dataset
from supra.data.public_write import write_public
from supra.data.stepwise import stepwise
from supra.data.store import StoreWriter
from supra.data.store_reader import open_dataset, open_store

__all__ = [
    "Augmentation",
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
    "StoreWriter",
    "in_order",
    "load_dataset",
    "loader",
    "open_dataset",
    "open_store",
    "stepwise",
    "symmetries",
    "write_public",
]
