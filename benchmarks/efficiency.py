"""SUPRA beside neuraloperator's FNO at the paper's settings, on irregular meshes, and growing.

python benchmarks/efficiency.py            # everything, some 10 minutes
python benchmarks/efficiency.py --quick    # 64 hidden functions on a 64² grid
"""

import argparse
import warnings

import torch
from neuralop.models import FNO
from rich.console import Console

from supra.experiment.allocator import keep_freed_memory
from supra.experiment.benchmark import (
    BATCH,
    DEPTH,
    SETTINGS,
    Setting,
    efficiency,
    growth,
    irregular,
)
from supra.experiment.efficiency import Subject


def fno(setting: Setting) -> Subject:
    model = FNO(
        n_modes=(12, 12),
        in_channels=1,
        out_channels=1,
        hidden_channels=setting.width,
        n_layers=DEPTH,
    )
    return Subject("FNO 12×12", model, (torch.randn(BATCH, 1, setting.side, setting.side),))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one setting only")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    keep_freed_memory()
    output = Console(width=120)
    efficiency(output, SETTINGS[:1] if quick else SETTINGS, [fno])
    if not quick:
        growth(output)
        irregular(output)
