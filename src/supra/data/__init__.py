"""Data sets: what is read, split, normalised and batched."""

from supra.data.augment import Augmentation, Symmetry, symmetries
from supra.data.batch import Batch, Collate, in_order, loader
from supra.data.dataset import Channel, Dataset, Layout, Reader, Sample, Splits
from supra.data.errors import DataError
from supra.data.normalize import Normalizer
from supra.data.public.load import load_dataset
from supra.data.public.write import write_public
from supra.data.stepwise import changes, moments, stepwise
from supra.data.store.reader import open_dataset, open_store
from supra.data.store.writer import StoreWriter

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
    "Symmetry",
    "changes",
    "in_order",
    "load_dataset",
    "loader",
    "moments",
    "open_dataset",
    "open_store",
    "stepwise",
    "symmetries",
    "write_public",
]
