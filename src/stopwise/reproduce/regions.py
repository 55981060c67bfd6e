"""Maps of two means: which set of answers holds where, computed point by point, and drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stopwise.core.arrays import Floats
from stopwise.problems.problem import Answer
from stopwise.studies import look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Answers = tuple[Answer, ...]
Which = Callable[[float, float], Answers]

COARSE, DOUBLINGS = 24, 3  # squares a side, and how often a square with several sets is halved
SHIFTS = 0.41, 0.53  # of a square: no grid point lies on the lines where sets meet


class Regions(NamedTuple):
    """Sets of answers on a grid: at (x[i], y[j]) it is ``sets[places[j, i]]``."""

    x: Floats
    y: Floats
    sets: tuple[Answers, ...]
    places: NDArray[np.int64]

    def holds(self, answers: Answers) -> NDArray[np.bool_]:
        """Where the set is exactly this one."""
        wanted = frozenset(answers)
        return np.isin(self.places, [k for k, s in enumerate(self.sets) if frozenset(s) == wanted])


def map_regions(
    which: Which,
    low: float,
    high: float,
    coarse: int = COARSE,
    doublings: int = DOUBLINGS,
) -> Regions:
    """Ask ``which`` on a coarse grid, and more finely only in squares whose corners disagree."""
    squares = coarse * 2**doublings
    steps = np.arange(squares + 1)
    x, y = (low + (high - low) * (steps + shift) / (squares + 1) for shift in SHIFTS)
    sets: dict[Answers, int] = {}
    places = np.full((squares + 1, squares + 1), -1)

    def ask(i: int, j: int) -> int:
        if places[j, i] < 0:
            places[j, i] = sets.setdefault(which(float(x[i]), float(y[j])), len(sets))
        return int(places[j, i])

    def fill(i: int, j: int, size: int) -> None:
        corners = {ask(a, b) for a in (i, i + size) for b in (j, j + size)}
        if size == 1:
            return
        if len(corners) == 1:
            block = places[j : j + size + 1, i : i + size + 1]
            block[block < 0] = corners.pop()
            return
        half = size // 2
        for a in (i, i + half):
            for b in (j, j + half):
                fill(a, b, half)

    size = 2**doublings
    for j in range(0, squares, size):
        for i in range(0, squares, size):
            fill(i, j, size)
    return Regions(x, y, tuple(sets), places)


def columns(regions: Regions, **more: Any) -> dict[str, Any]:
    """The map as a table with a row for each grid point."""
    names = np.array([", ".join(map(str, each)) for each in regions.sets])
    x, y = np.meshgrid(regions.x, regions.y)
    size = x.size
    return {
        **{name: np.repeat(value, size) for name, value in more.items()},
        "mu_1": x.ravel(),
        "mu_2": y.ravel(),
        "answers": names[regions.places].ravel(),
    }


# an answer's colour and how much of it; where two hold, the second is hatched over the first
Shade = tuple[str, float]
SHADES: tuple[Shade, ...] = (  # from dark to light in grey: first, fourth, second, third
    (look.BLUE, 0.55),
    (look.VERMILLION, 0.36),
    (look.YELLOW, 0.55),
    (look.GREEN, 0.5),
)


def draw_regions(
    axes: Axes,
    regions: Regions,
    shades: Mapping[Answer, Shade],
    names: Callable[[Answers], str],
    edges: tuple[float, float],
    spots: Mapping[Answers, tuple[float, float]] | None = None,
) -> None:
    """Fill each set's region, outline it, and write its name: at its spot, or where it is widest."""
    x, y = (np.array([edges[0], *axis, edges[1]]) for axis in (regions.x, regions.y))
    box = {"boxstyle": "round,pad=0.2", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
    for place, answers in enumerate(regions.sets):
        inside = np.pad((regions.places == place).astype(float), 1, mode="edge")
        fill: Any = axes.contourf(
            x,
            y,
            inside,
            levels=[0.5, 1.5],
            colors=[look.tint(*shades[answers[0]])],
            hatches=["////" if len(answers) > 1 else ""],
        )
        fill.set_edgecolor(look.tint(*shades[answers[-1]]))
        fill.set_linewidth(0.0)
        axes.contour(x, y, inside, levels=[0.5], colors=[look.INK], linewidths=0.7)
        spot = spots[answers] if spots is not None else _widest(regions, place)
        axes.text(*spot, names(answers), ha="center", va="center", fontsize=8.5, bbox=box, zorder=5)
    axes.set(xlim=edges, ylim=edges, aspect="equal")
    axes.grid(False)
    for spine in axes.spines.values():
        spine.set_visible(True)


def _widest(regions: Regions, place: int) -> tuple[float, float]:
    from scipy.ndimage import distance_transform_edt

    depth = distance_transform_edt(np.pad(regions.places == place, 1))[1:-1, 1:-1]
    deepest = np.argwhere(depth >= 0.98 * depth.max())
    j, i = deepest[len(deepest) // 2]
    return float(regions.x[i]), float(regions.y[j])
