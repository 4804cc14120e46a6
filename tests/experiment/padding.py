"""What `Collate` pads must not be seen in a prediction."""

import torch

from supra.data import Sample
from supra.experiment.surrogate import Surrogate


def assert_padding_changes_nothing(surrogate: Surrogate, samples: list[Sample], tol: float) -> None:
    batch = surrogate.collate(samples)
    with torch.no_grad():
        together = surrogate.predictor(batch.inputs, batch.basis)
        for row, sample in zip(together, samples, strict=True):
            alone = surrogate.collate([sample])
            expected = surrogate.predictor(alone.inputs, alone.basis)[0]
            found = row[: len(sample.inputs)]
            assert (found - expected).abs().max() < tol * expected.abs().max()
