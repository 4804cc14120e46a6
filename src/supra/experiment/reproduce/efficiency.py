"""The paper's efficiency table: what one step costs, all systems in the same turns."""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from supra.data.replacement import replacing
from supra.experiment.benchmark import Setting
from supra.experiment.efficiency import Cost
from supra.experiment.reproduce.draw_efficiency import draw_efficiency

# (hidden, side): system -> weights in thousands, MB, seconds forward and backward on an RTX 3060.
_PAPER: dict[tuple[int, int], dict[str, tuple[int, int, float, float]]] = {
    (64, 64): {
        "Transolver": (712, 483, 0.017, 0.040), "LNO": (334, 231, 0.009, 0.019),
        "SUPRA N=128": (635, 173, 0.007, 0.016), "SUPRA N=256": (2200, 191, 0.008, 0.017),
    },
    (64, 128): {
        "Transolver": (712, 1822, 0.063, 0.148), "LNO": (334, 741, 0.029, 0.058),
        "SUPRA N=128": (635, 635, 0.013, 0.034), "SUPRA N=256": (2200, 658, 0.016, 0.042),
    },
    (256, 64): {
        "Transolver": (11000, 1469, 0.062, 0.169), "LNO": (5000, 683, 0.017, 0.040),
        "SUPRA N=128": (2100, 662, 0.015, 0.040), "SUPRA N=256": (3700, 708, 0.019, 0.047),
    },
    (256, 128): {
        "Transolver": (11000, 5647, 0.236, 0.677), "LNO": (5000, 2141, 0.051, 0.121),
        "SUPRA N=128": (2100, 2430, 0.053, 0.133), "SUPRA N=256": (3700, 2479, 0.071, 0.177),
    },
}  # fmt: skip


def write_efficiency(found: Mapping[Setting, Sequence[Cost]], folder: Path) -> list[Path]:
    """``efficiency.md``, ``.csv``, ``.json`` and a picture."""
    folder.mkdir(parents=True, exist_ok=True)
    records = [_record(s, cost, costs) for s, costs in found.items() for cost in costs]
    texts = {
        "md": "\n".join(_markdown(found)) + "\n",
        "csv": _csv(records),
        "json": json.dumps(records, indent=1) + "\n",
    }
    paths = []
    for suffix, text in texts.items():
        path = folder / f"efficiency.{suffix}"
        with replacing(path) as unfinished:
            unfinished.write_text(text)
        paths.append(path)
    picture = folder / "efficiency.png"
    draw_efficiency(records, picture)
    return [*paths, picture]


def _record(setting: Setting, cost: Cost, costs: Sequence[Cost]) -> dict[str, Any]:
    paper = _PAPER.get((setting.width, setting.side), {}).get(cost.subject.name)
    names = ("paper_weights_thousands", "paper_mb", "paper_forward_s", "paper_backward_s")
    return {
        "hidden": setting.width,
        "side": setting.side,
        "system": cost.subject.name,
        "weights": cost.subject.weights,
        "forward_ms": round(1e3 * cost.forward, 1),
        "backward_ms": round(1e3 * cost.backward, 1),
        "step_ms": round(1e3 * cost.step, 1),
        "step_to_supra": round(cost.step / _supra(costs).step, 3),
        "kept_mib": round(cost.kept, 1),
        "peak_mib": round(cost.peak, 1),
        **dict(zip(names, paper or (None,) * 4, strict=True)),
    }


def _supra(costs: Sequence[Cost]) -> Cost:
    return next(cost for cost in costs if cost.subject.name == "SUPRA N=128")


def _markdown(found: Mapping[Setting, Sequence[Cost]]) -> Iterator[str]:
    yield "# What a step costs"
    yield ""
    yield (
        "Eight layers, batch 4, medians of interleaved rounds; in brackets the paper's numbers, on "
        "an RTX 3060. `step ÷ SUPRA` is the time of a training step relative to SUPRA with N=128. "
        "SUPRA has the paper's blocks but for the row that says otherwise."
    )
    for setting, costs in found.items():
        yield from ("", f"## {setting.width} hidden, {setting.side}² grid", "")
        yield "| system | weights | kept MiB | forward ms | backward ms | step ms | step ÷ SUPRA |"
        yield "|---|---|---|---|---|---|---|"
        for cost in costs:
            yield _line(setting, cost, _supra(costs))


def _line(setting: Setting, cost: Cost, supra: Cost) -> str:
    paper = _PAPER.get((setting.width, setting.side), {}).get(cost.subject.name)
    shown = ["", "", "", ""]
    if paper is not None:
        thousands, megabytes, forward, backward = paper
        shown = [f" ({thousands} K)", f" ({megabytes})", f" ({1e3 * forward:.0f})",
                 f" ({1e3 * backward:.0f})"]  # fmt: skip
    values = (
        cost.subject.name,
        f"{cost.subject.weights:,}{shown[0]}",
        f"{cost.kept:.0f}{shown[1]}",
        f"{1e3 * cost.forward:.0f}{shown[2]}",
        f"{1e3 * cost.backward:.0f}{shown[3]}",
        f"{1e3 * cost.step:.0f}",
        f"{cost.step / supra.step:.2f}",
    )
    return "| " + " | ".join(values) + " |"


def _csv(records: list[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()
