"""What is trained for each table of the paper."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import isqrt

from supra.experiment.config import BasisConfig, Experiment, FourierConfig
from supra.experiment.errors import ConfigError
from supra.experiment.preset import SUPRA, Scale
from supra.experiment.reproduce import paper
from supra.experiment.reproduce.budget import budgeted, with_samples
from supra.experiment.reproduce.cell import Cell, changes_to
from supra.experiment.reproduce.recipe import Recipe, with_shared_recipe
from supra.experiment.reproduce.table import Entry, train_error

SYSTEMS = ("galerkin", "gnot", "transolver", "lno", "fno", SUPRA)
_NEED_GRIDS = ("fno",)
_SIZES = ("small", "medium", "large")
_FAITHFUL = "supra-paper"  # the paper's findings are about the paper's block
_PLATES = "plates"  # the problem with a geometry per sample
WHOLE = "the preset"


@dataclass(frozen=True)
class Wanted:
    """Which part of a table, how large and how often; trained how, how long and on how much."""

    scale: Scale = "small"
    seeds: int = 1
    problems: Sequence[str] = ()
    systems: Sequence[str] = ()
    recipe: Recipe = "published"
    samples: int | None = None
    long: bool = False

    def keeps(self, problem: str) -> bool:
        return not self.problems or problem in self.problems

    def cells(
        self, problem: str, system: str, *changes: str, ablation: bool = False
    ) -> tuple[Cell, ...]:
        first = Cell(problem, self.scale, system, changes)
        if not self.long:
            first = budgeted(first, ablation)
        if self.samples is not None:
            first = with_samples(first, self.samples)
        if self.recipe == "shared":
            first = with_shared_recipe(first)
        return tuple(replace(first, seed=seed) for seed in range(self.seeds))

    def subjects(self, usual: Sequence[str]) -> Sequence[str]:
        return self.systems or usual


def accuracy(wanted: Wanted) -> Iterator[Entry]:
    """The paper's problems, and plates of different topology, where a grid cannot be had."""
    for problem, system in _product(wanted, (*paper.PROBLEMS, _PLATES), SYSTEMS):
        if problem == _PLATES and system in _NEED_GRIDS:
            continue
        number = paper.ACCURACY.get(problem, {}).get(system)
        yield Entry(problem, system, wanted.cells(problem, system), number)


def basis_number(wanted: Wanted) -> Iterator[Entry]:
    for (problem, family), numbers in paper.BASIS_NUMBER.items():
        for system in _subjects(wanted, problem):
            for size, (count, number) in zip(
                ("few", "medium", "many"), numbers.items(), strict=True
            ):
                changes = _basis(wanted, family, count, problem, system)
                cells = wanted.cells(problem, system, *changes, ablation=True)
                yield Entry(f"{problem}, {family}{_of(system)}", size, cells, number)


def basis_choice(wanted: Wanted) -> Iterator[Entry]:
    families = ("fourier", "chebyshev", "cosine", "complete fourier", "laplacian", "pod")
    for problem, numbers in paper.BASIS_CHOICE.items():
        for system in _subjects(wanted, problem):
            for family in families:
                changes = _basis(wanted, family, 144, problem, system)
                cells = wanted.cells(problem, system, *changes, ablation=True)
                yield Entry(problem + _of(system), family, cells, numbers.get(family))


def airfoil_basis(wanted: Wanted) -> Iterator[Entry]:
    for system in _subjects(wanted, "airfoil"):
        for family, (train, test) in paper.AIRFOIL_BASIS.items():
            count = 128 if family == "laplacian" else 144
            changes = _basis(wanted, family, count, "airfoil", system)
            cells = wanted.cells("airfoil", system, *changes, ablation=True)
            yield Entry("train" + _of(system), family, cells, train, value=train_error)
            yield Entry("test" + _of(system), family, cells, test)


def normalization(wanted: Wanted) -> Iterator[Entry]:
    for problem, numbers in paper.NORMALIZATION.items():
        for system in _subjects(wanted, problem):
            for norm, number in numbers.items():
                cells = wanted.cells(problem, system, f"model.norm={norm}", ablation=True)
                yield Entry(problem + _of(system), norm, cells, number)


def model_size(wanted: Wanted) -> Iterator[Entry]:
    parts = (("layers", "model.depth", paper.LAYERS, 2), ("width", "model.width", paper.WIDTHS, 4))
    for part, name, numbers, less in parts:
        for problem, sizes in numbers.items():
            for system in _subjects(wanted, problem):
                for word, (size, number) in zip(_SIZES, sizes.items(), strict=True):
                    smaller = size if wanted.scale == "paper" else size // less
                    cells = wanted.cells(problem, system, f"{name}={smaller}", ablation=True)
                    yield Entry(f"{problem}, {part}{_of(system)}", word, cells, number)


def geometry(wanted: Wanted) -> Iterator[Entry]:
    """Every sample has its own mesh and topology: ways to a basis, and networks without one."""
    if not wanted.keeps(_PLATES):
        return
    for system in wanted.subjects((SUPRA, "transolver", "gnot")):
        if system not in (SUPRA, _FAITHFUL):
            yield Entry(system, "error", wanted.cells(_PLATES, system))
            continue
        suffix = "" if system == SUPRA else f" ({system})"
        for way, changes in _ways(wanted.scale, system).items():
            yield Entry(way + suffix, "error", wanted.cells(_PLATES, system, *changes))


def ingredients(wanted: Wanted) -> Iterator[Entry]:
    """Of the problems whose preset has light blocks at this scale, trained as for `accuracy`.

    What a preset does not have is not taken away, and what it has is not added.
    """
    if wanted.systems:
        raise ConfigError("The table ingredients is about our own network: leave out --models.")
    for problem in filter(wanted.keeps, (*paper.PROBLEMS, _PLATES)):
        preset = Cell(problem, wanted.scale).experiment
        if not getattr(preset.model, "light", False):
            continue
        for row, changes in _without(preset).items():
            if row == WHOLE or Cell(problem, wanted.scale, changes=changes).experiment != preset:
                yield Entry(row, problem, wanted.cells(problem, SUPRA, *changes))


TABLES: dict[str, tuple[str, Callable[[Wanted], Iterator[Entry]]]] = {
    "accuracy": ("Errors of all systems on all problems", accuracy),
    "basis-number": ("Number of basis functions", basis_number),
    "basis-choice": ("Choice of the basis, 144 functions", basis_choice),
    "airfoil-basis": ("Airfoil: eigenfunctions of the mesh or Fourier on the grid", airfoil_basis),
    "normalization": ("Normalisation", normalization),
    "model-size": ("Layers and hidden functions", model_size),
    "ingredients": ("The presets, one part taken away or replaced", ingredients),
    "geometry": ("Plates with one to five holes, a mesh each", geometry),
}


def _without(preset: Experiment) -> dict[str, tuple[str, ...]]:
    """What the presets are made of, one part taken away or replaced each time."""
    attention = "model.attention=self-biased"
    return {
        WHOLE: (),
        "no attention": ("model.attention=none",),
        "attention, too": (attention,),
        "the paper's attention, too": ("model.attention=paper",),
        "attention, not mixing": (attention, "model.mixing=false"),
        "interpolated matrices": ("model.smooth=true",),
        "a matrix for every wave": ("model.smooth=false",),
        "no products": ("model.products=false",),
        "no local branch": ("model.local=false",),
        **_without_waves(preset.basis),
        "full blocks": ("model.light=false", "model.mixing=false", attention, "model.norm=layer",
                        "model.gain=3"),
        "AdamW, not Muon": ("train.optimizer=adamw",),
        "no H1 loss": ("train.loss.h1=0",),
        "no symmetries": ("train.symmetry=none",),
    }  # fmt: skip


def _without_waves(basis: BasisConfig) -> dict[str, tuple[str, ...]]:
    if not isinstance(basis, FourierConfig):
        return {}
    sides = [2 * count + 1 for count in basis.modes]  # a cosine and a sine of each, and 1
    return {
        "modes, not waves": ("basis.kind=cosine", f"basis.modes={sides}"),
        "waves of the domain's length": ("basis.period=1",),
    }


def _product(
    wanted: Wanted, problems: Iterable[str], systems: Sequence[str]
) -> Iterator[tuple[str, str]]:
    for problem in filter(wanted.keeps, problems):
        for system in wanted.subjects(systems):
            yield problem, system


def _subjects(wanted: Wanted, problem: str) -> Sequence[str]:
    return wanted.subjects((_FAITHFUL,)) if wanted.keeps(problem) else ()


def _of(system: str) -> str:
    return "" if system == _FAITHFUL else f" ({system})"


def _ways(scale: Scale, system: str) -> dict[str, tuple[str, ...]]:
    """Where the basis of a sample comes from, as many functions each way."""
    waves = Cell(_PLATES, scale).experiment.basis
    assert isinstance(waves, FourierConfig)
    side = 2 * waves.modes[0] + 1  # a cosine and a sine of every frequency, and 1
    heads = (f"model.heads={side}",) if system == _FAITHFUL else ()
    eigen = ("basis.kind=laplacian", f"basis.modes={side**2}", *heads)
    own = (*eigen, "basis.geometry=own")
    box = (f"basis.modes=[{side}, {side}]", *heads)
    return {
        "(a) reference": (*eigen, "basis.geometry=reference"),
        "(b) own, unaligned": (*own, "basis.align=none"),
        "(b) own, signs": (*own, "basis.align=signs"),
        "(b) own, clusters": (*own, "basis.align=clusters"),
        "(b) own, span": (*own, "basis.align=span"),
        "(c) cosine": ("basis.kind=cosine", *box),
        "(c) chebyshev": ("basis.kind=chebyshev", *box),
        "(c) waves": (*changes_to("basis", waves.model_dump()), *heads),
    }


def _basis(wanted: Wanted, family: str, count: int, problem: str, system: str) -> tuple[str, ...]:
    """Changes that make it ``count`` functions of a family, all of them in attention."""
    count = count if wanted.scale != "smoke" else 16
    side = isqrt(count)
    match family:
        case "fourier":
            modes, heads = f"[{side // 2}, {side // 2}]", side
            special: tuple[str, ...] = ("basis.constant=false", "basis.period=1")
        case "chebyshev" | "cosine":
            modes, heads, special = f"[{side}, {side}]", side, ()
        case "complete fourier":  # 2n + 1 functions per axis: the next smaller number
            half = (side - 1) // 2
            modes, heads = f"[{half}, {half}]", 2 * half + 1
            special = ("basis.constant=true", "basis.period=1")
        case _:
            modes, heads, special = str(count), 8, ()
            if family == "laplacian" and problem == "airfoil":  # every sample has its own grid
                special = ("basis.geometry=mean",)
    kind = family.split()[-1]
    attention = ("model.rank=null", f"model.heads={heads}") if system == _FAITHFUL else ()
    return f"basis.kind={kind}", f"basis.modes={modes}", *special, *attention
