"""The paper's efficiency table, and the same on irregular meshes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log

import torch
from rich.console import Console
from rich.table import Table
from torch import nn

from supra.baselines import FNO, GNOT, LNO, GalerkinTransformer, Transolver
from supra.basis import ChebyshevBasis, LaplacianBasis, SeparableBasis
from supra.basis.sampled import Sampled
from supra.domain import Grid, Mesh, shapes
from supra.experiment.efficiency import Cost, Subject, costs
from supra.model import SupraOperator

BATCH, DEPTH = 4, 8
AXIS_MODES = {128: (16, 8), 256: (16, 16)}
COLUMNS = ("model", "weights", "forward", "backward", "step", "inference", "of GEMM rate",
           "kept MiB", "peak MiB")  # fmt: skip


@dataclass(frozen=True)
class Setting:
    """Width of the networks and side of the square grid."""

    width: int
    side: int


SETTINGS = tuple(Setting(width, side) for width in (64, 256) for side in (64, 128))
Competitor = Callable[[Setting], Subject]


def on_basis(name: str, basis: Sampled, width: int, **options: object) -> Subject:
    """The paper's block on a basis, eight layers, one input function and two coordinates."""
    model = SupraOperator.of_paper(3, 1, basis.modes, width=width, depth=DEPTH, **options)
    return Subject(name, model, (torch.randn(BATCH, basis.points, 3), basis))


def grid_basis(side: int, modes: int) -> SeparableBasis:
    sampled = ChebyshevBasis(AXIS_MODES[modes]).sample(Grid((side, side)))
    assert isinstance(sampled, SeparableBasis)
    return sampled


def grid_subjects(setting: Setting) -> list[Subject]:
    width, small, large = setting.width, *(grid_basis(setting.side, n) for n in (128, 256))
    return [
        on_basis("SUPRA N=128", small, width),
        on_basis("SUPRA N=256", large, width),
        on_basis("SUPRA N=256, dense", large.dense(), width),
        on_basis("SUPRA N=256, checkpointing", large, width, checkpointing=True),
    ]


def baseline_subjects(setting: Setting) -> list[Subject]:
    """The other systems with the same width and depth, their published options otherwise."""
    basis = grid_basis(setting.side, 128)  # they ask for the grid only
    kinds: dict[str, Callable[..., nn.Module]] = {
        "Galerkin Transformer": GalerkinTransformer,
        "GNOT": GNOT,
        "Transolver": Transolver,
        "LNO": LNO,
        "FNO 12×12": FNO,
    }
    if setting.width > 64:
        del kinds["GNOT"]  # its experts would keep some 20 GB for the backward pass
    arguments = (torch.randn(BATCH, basis.points, 3), basis)
    size = {"width": setting.width, "depth": DEPTH}
    return [Subject(name, make(3, 1, **size), arguments) for name, make in kinds.items()]


def light_subject(setting: Setting) -> Subject:
    """A SUPRA of the same width with less to do at each point: light blocks, and fewer."""
    basis, depth = grid_basis(setting.side, 256), 6
    model = SupraOperator(
        3, 1, basis.modes, width=setting.width, depth=depth, rank=64, light=True, local=True
    )
    inputs = torch.randn(BATCH, basis.points, 3)
    return Subject(f"SUPRA N=256, {depth} light blocks", model, (inputs, basis))


def efficiency(
    console: Console,
    settings: Sequence[Setting] = SETTINGS,
    competitors: Sequence[Competitor] = (),
    rounds: int | None = None,
) -> dict[Setting, list[Cost]]:
    """Print a table per setting; all systems are measured in the same turns."""
    found = {}
    for setting in settings:
        subjects = [
            *grid_subjects(setting),
            light_subject(setting),
            *baseline_subjects(setting),
            *(make(setting) for make in competitors),
        ]
        title = f"{setting.width} functions, {setting.side}² grid"
        usual = 7 if setting.width == 64 else 3
        found[setting] = _measure(console, title, subjects, rounds or usual)
    return found


def irregular(console: Console, width: int = 64) -> None:
    """The same on Laplacian eigenfunctions of a glued C-grid and of a large mesh."""
    for mesh in (c_grid_mesh(), shapes.perforated_plate(resolution=222)):
        subjects = [
            on_basis(f"SUPRA N={modes}", LaplacianBasis.from_mesh(mesh, modes).sample(), width)
            for modes in (128, 256)
        ]
        title = f"{width} functions, {len(mesh.points)} nodes of {mesh.name}"
        _measure(console, title, subjects, rounds=3)


def growth(console: Console, width: int = 64) -> None:
    """How the cost of a step grows with the number of points."""
    sides = (64, 128, 256)
    subjects = [on_basis(f"{n}²", grid_basis(n, 256), width) for n in sides]
    found = _measure(console, f"{width} functions, N=256, growing grids", subjects, rounds=3)
    exponent = log(found[-1].step / found[0].step) / log(sides[-1] ** 2 / sides[0] ** 2)
    console.print(f"a training step grows as points^{exponent:.2f}", highlight=False)


def c_grid_mesh(along: int = 221, outwards: int = 51) -> Mesh:
    """A C-grid around a slender body, glued along its wake, with the nodes of the airfoil data."""
    points = shapes.c_grid_points(along, outwards)
    return Mesh.from_structured(points, name="a glued C-grid").welded()


def _measure(console: Console, title: str, subjects: Sequence[Subject], rounds: int) -> list[Cost]:
    console.print(f"measuring {title} …", style="dim", highlight=False)
    found = costs(subjects, rounds)
    console.print(_table(title, found))
    return found


def _table(title: str, measured: Sequence[Cost]) -> Table:
    table = Table(title=f"{title}; depth {DEPTH}, batch {BATCH}; milliseconds, medians")
    for column in COLUMNS:
        table.add_column(column, justify="right")
    for cost in measured:
        table.add_row(*_row(cost))
    return table


def _row(cost: Cost) -> tuple[str, ...]:
    times = (cost.forward, cost.backward, cost.step, cost.inference)
    return (
        cost.subject.name,
        f"{cost.subject.weights / 1e6:.2f} M",
        *(f"{1e3 * seconds:.0f}" for seconds in times),
        f"{100 * cost.gemm_fraction:.0f} %",
        f"{cost.kept:.0f}",
        f"{cost.peak:.0f}",
    )
