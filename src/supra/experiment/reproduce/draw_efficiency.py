"""What a step costs as a picture: a panel per setting, time and memory of every system."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

Records = Sequence[Mapping[str, Any]]
_MEASURES = {"step_ms": "milliseconds of a training step", "kept_mib": "MiB kept for backward"}


def draw_efficiency(records: Records, path: Path) -> None:
    """Bars of both measures, of the records that ``efficiency.json`` holds."""
    settings = list(dict.fromkeys((record["hidden"], record["side"]) for record in records))
    figure = Figure(figsize=(10, 0.6 + 2.8 * len(settings)), layout="constrained")
    panels = figure.subplots(len(settings), 2, squeeze=False)
    for line, (hidden, side) in zip(panels, settings, strict=True):
        own = [r for r in records if (r["hidden"], r["side"]) == (hidden, side)]
        for axes, (measure, label) in zip(line, _MEASURES.items(), strict=True):
            _bars(axes, own, measure)
            axes.set(xlabel=label, xscale="log", title=f"{hidden} functions, {side}² grid")
            axes.xaxis.set_minor_formatter(NullFormatter())
    figure.savefig(path, dpi=110)


def _bars(axes: Axes, records: Records, measure: str) -> None:
    """SUPRA's own rows in another colour than the others'; numbers beside the bars."""
    names = [record["system"] for record in records]
    colors = ["tab:blue" if name.startswith("SUPRA") else "tab:gray" for name in names]
    bars = axes.barh(names, [record[measure] for record in records], color=colors)
    axes.bar_label(bars, fmt="%.0f", padding=2, fontsize="small")
    axes.margins(x=0.15)
    axes.invert_yaxis()
    axes.tick_params(axis="y", labelsize="small")
    axes.spines[["top", "right"]].set_visible(False)
