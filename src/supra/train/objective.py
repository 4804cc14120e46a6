"""What one step of training minimises."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from supra.data import Batch
from supra.train.loss import Loss
from supra.train.predictor import Predictor


class Objective(nn.Module):
    """The loss of a batch as a module, so that several processes can share its gradient."""

    def __init__(self, predictor: Predictor, loss: Loss, noise: float = 0.0) -> None:
        super().__init__()
        self.predictor, self.loss, self.noise = predictor, loss, noise

    def forward(self, batch: Batch) -> Float[Tensor, ""]:
        """The sum of the samples' losses."""
        steps = batch.targets.shape[1] if batch.targets.ndim == 4 else 0
        inputs = self._disturbed(batch.inputs) if self.noise else batch.inputs
        if steps:
            prediction = self.predictor.rollout(inputs, batch.basis, steps)
        else:
            prediction = self.predictor(inputs, batch.basis)
        # Errors are summed in full precision, whatever the products were done in.
        return self.loss(prediction.to(batch.targets.dtype), batch).sum()

    def _disturbed(self, inputs: Tensor) -> Tensor:
        """Past states with noise, so that the network learns to correct its own errors."""
        past = len(self.predictor.layout.inputs) if self.predictor.layout.history else 0
        spread = (self.noise * self.predictor.input_scale).expand(inputs.shape[1:])
        noise = torch.randn_like(inputs[..., :past]) * spread[:, :past]
        return torch.cat([inputs[..., :past] + noise, inputs[..., past:]], dim=2)
