"""Files that hold a run: written whole or not at all, read without running any code in them."""

import warnings
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from supra.data.replacement import replacing
from supra.train.errors import TrainError

FORMAT = "supra 1"


def save_checkpoint(path: Path, state: dict[str, Any]) -> None:
    """Write tensors, numbers, texts and containers of them, atomically."""
    with replacing(path) as unfinished:
        torch.save({"format": FORMAT, **state}, unfinished)


def load_checkpoint(path: Path, device: torch.device | str = "cpu") -> dict[str, Any]:
    """Read what `save_checkpoint` wrote; anything else is refused."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about pickles of others, which are refused anyway
            state = torch.load(path, map_location=device, weights_only=True)
    except FileNotFoundError:
        raise TrainError(f"There is no file {path}.") from None
    except Exception as error:  # whatever a file that is no checkpoint makes the reader raise
        reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise TrainError(f"{path} cannot be read as a checkpoint: {reason}") from error
    if not isinstance(state, dict) or state.get("format") != FORMAT:
        found = state.get("format") if isinstance(state, dict) else type(state).__name__
        raise TrainError(f"{path} is not a checkpoint of this version ({FORMAT!r}): {found!r}.")
    return state


def restore_weights(module: nn.Module, weights: dict[str, Tensor], path: Path) -> None:
    """Give a network the weights of a file; they may be of a version that built another one."""
    try:
        module.load_state_dict(weights)
    except RuntimeError as error:
        _, *differences = str(error).splitlines()
        first = differences[0].strip() if differences else str(error)
        raise TrainError(
            f"The weights in {path} do not fit the network that this version builds from its "
            f"configuration; was it written by another version? {first}"
        ) from error
