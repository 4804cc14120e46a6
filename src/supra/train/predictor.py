"""A network with its normalisers: physical fields in, physical fields out, over time if need be."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from supra.basis.sampled import Sampled
from supra.data import Layout, Normalizer
from supra.model.chunked import predict_in_chunks


class Predictor(nn.Module):
    """What is trained, saved and used: normalise, apply the network, undo the normalisation.

    Args:
        network: called as ``network(inputs, basis)``.
        layout: what the samples hold.
        inputs: normaliser of the network's inputs: given functions, time, positions.
        targets: normaliser of what it predicts, of one moment.
        change: in a rollout, what it predicts is the change from the last state to the next one.
    """

    input_shift: Tensor
    input_scale: Tensor
    target_shift: Tensor
    target_scale: Tensor

    def __init__(
        self,
        network: nn.Module,
        layout: Layout,
        inputs: Normalizer,
        targets: Normalizer,
        change: bool = False,
    ) -> None:
        super().__init__()
        self.network, self.layout, self.change = network, layout, change
        for side, normalizer in (("input", inputs), ("target", targets)):
            for name, value in normalizer.state().items():
                self.register_buffer(f"{side}_{name}", value)

    def forward(
        self,
        inputs: Float[Tensor, "batch points inputs"],
        basis: Sampled,
        chunk: int | None = None,
    ) -> Float[Tensor, "batch points targets"]:
        """One application of the network, all points at once or ``chunk`` at a time."""
        encoded = (inputs - self.input_shift) / self.input_scale
        if chunk is None:
            found = self.network(encoded, basis)
        else:
            found = predict_in_chunks(self.network, encoded, basis, chunk)
        decoded = found * self.target_scale + self.target_shift
        return self._last_state(inputs) + decoded if self.change else decoded

    def predict(
        self,
        inputs: Float[Tensor, "batch points inputs"],
        basis: Sampled,
        times: Sequence[float] | None = None,
        chunk: int | None = None,
    ) -> Float[Tensor, "batch *steps points targets"]:
        """All that a sample's targets hold: at every time, if there is one.

        Args:
            inputs: as in a `Batch`: given functions, then positions.
            basis: the functions' subspace.
            times: moments wanted, by default those of the data; a rollout counts them only.
            chunk: points at a time, to save memory (see `predict_in_chunks`); all by default.
        """
        times = self.layout.times if times is None else times
        if self.layout.time == "steady":
            return self(inputs, basis, chunk)
        if self.layout.time == "rollout":
            return self.rollout(inputs, basis, len(times), chunk)
        given, positions = inputs.tensor_split([len(self.layout.inputs)], dim=2)
        moments = [
            torch.cat([given, torch.full_like(given[..., :1], time), positions], dim=2)
            for time in times
        ]
        return torch.stack([self(moment, basis, chunk) for moment in moments], dim=1)

    def rollout(
        self,
        inputs: Float[Tensor, "batch points inputs"],
        basis: Sampled,
        steps: int,
        chunk: int | None = None,
    ) -> Float[Tensor, "batch steps points targets"]:
        """Apply the network again and again, each state becoming an input of the next."""
        channels = len(self.layout.targets)
        past, positions = inputs.tensor_split([len(self.layout.inputs)], dim=2)
        states = []
        for _ in range(steps):
            states.append(self(torch.cat([past, positions], dim=2), basis, chunk))
            past = torch.cat([past[..., channels:], states[-1]], dim=2)
        return torch.stack(states, dim=1)

    def _last_state(
        self, inputs: Float[Tensor, "batch points inputs"]
    ) -> Float[Tensor, "batch points targets"]:
        end = len(self.layout.inputs)
        return inputs[..., end - len(self.layout.targets) : end]
