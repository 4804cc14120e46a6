"""A surrogate's prediction for one sample of its data."""

import numpy as np
import torch
from jaxtyping import Float

from supra.data import Sample
from supra.experiment.surrogate import Surrogate


def predict_sample(
    surrogate: Surrogate, sample: Sample
) -> Float[np.ndarray, "*steps points targets"]:
    """Of the shape of the sample's targets."""
    device = next(surrogate.predictor.parameters()).device
    batch = surrogate.collate([sample]).to(device)
    with torch.inference_mode():
        return surrogate.predictor.predict(batch.inputs, batch.basis)[0].cpu().numpy()
