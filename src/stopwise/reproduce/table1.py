"""Table 1: five problems with two arms; correct answers above, oracle answers below, as computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import stopwise as sw
from stopwise.problems.problem import Answer
from stopwise.reproduce import printed
from stopwise.reproduce.common import Claim, Made, Number, Order
from stopwise.reproduce.regions import (
    SHADES,
    Answers,
    Regions,
    columns,
    draw_regions,
    map_regions,
)
from stopwise.studies import look

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "Table 1: correct and oracle answers of two arms"
DEFAULT = FULL = 0  # nothing is random
KINDS = ("correct", "oracle")
GAMMA, EPSILON = printed.GAMMA, printed.EPSILON
PRECISION = 1e-6  # coordinates are printed to half of this


def _plain(answers: Answers) -> str:
    return ", ".join(str(each + 1) if isinstance(each, int) else str(each) for each in answers)


def _arms(answers: Answers) -> str:
    (arms,) = answers
    listed: Any = arms
    return "{" + ", ".join(str(arm + 1) for arm in listed) + "}" if listed else "∅"


def _signs(answers: Answers) -> str:
    pairs: Any = answers
    return "\n".join(f"{arm + 1} {side}" for arm, side in pairs)


class Row(NamedTuple):
    """One problem of the table; what the paper draws in its two diagrams need not be one problem."""

    title: str
    correct: Any
    oracle: Any
    names: Callable[[Answers], str]


_MINIMUM = sw.MinimumThreshold(2, GAMMA, EPSILON)
_DRAWN_MINIMUM = sw.MinimumThreshold(2, GAMMA, printed.BOUNDARY_EPSILON)
_BEST, _EACH = sw.BestArm(2, EPSILON), sw.Thresholding(2, GAMMA)
_LOW, _SIGN = sw.AnyLowArm(2, GAMMA), sw.AnySign(2, GAMMA)
ROWS: dict[str, Row] = {
    "best arm": Row("ε-best arm", _BEST, _BEST, _plain),
    "thresholding": Row("Thresholding", _EACH, _EACH, _arms),
    "minimum threshold": Row("ε minimum threshold", _MINIMUM, _DRAWN_MINIMUM, _plain),
    "any low arm": Row("Any low arm", _LOW, _LOW, _plain),
    "any sign": Row("Any sign", _SIGN, _SIGN, _signs),
}


class Diagram(NamedTuple):
    """One of the ten: the map, and how much of it is as printed with mu_1 to the right, or upwards."""

    key: str
    kind: str
    regions: Regions
    right: float
    upwards: float

    @property
    def agreement(self) -> float:
        """With whichever axes fit better."""
        return max(self.right, self.upwards)

    @property
    def axes(self) -> str:
        """Which axes fit."""
        if abs(self.right - self.upwards) < 0.01:
            return "either axes"
        return "μ₁ to the right" if self.right > self.upwards else "μ₁ upwards"


def measure(coarse: int = 24, doublings: int = 3) -> list[Diagram]:
    """All ten diagrams on a grid."""
    found = []
    for key, row in ROWS.items():
        for kind in KINDS:
            regions = map_regions(_which(row, kind), 0.0, 1.0, coarse, doublings)
            right, upwards = agreements(key, kind, regions)
            found.append(Diagram(key, kind, regions, right, upwards))
    return found


def _which(row: Row, kind: str) -> Callable[[float, float], Answers]:
    if kind == "correct":
        return lambda x, y: sw.correct_answers(row.correct, [x, y])
    return lambda x, y: sw.oracle(row.oracle, [x, y], family=sw.Gaussian()).answers


def agreements(key: str, kind: str, regions: Regions) -> tuple[float, float]:
    """The share of grid points where the paper's polygons give the same set, for either axes."""
    answers = tuple(sw.answers(ROWS[key].correct))
    sets = np.array([_code(each, answers) for each in regions.sets])
    computed = sets[regions.places]
    x, y = np.meshgrid(regions.x, regions.y)
    drawing = printed.DRAWINGS[key][kind]

    def share(across: Any, up: Any) -> float:
        drawn: NDArray[np.int64] = np.zeros(across.shape, dtype=np.int64)
        for answer, polygon in drawing:
            drawn += printed.inside(polygon, across, up) * _code((answer,), answers)
        return float(np.mean(drawn == computed))

    return share(x, y), share(y, x)


def _code(chosen: Answers, answers: tuple[Answer, ...]) -> int:
    return sum(2 ** answers.index(each) for each in chosen)


def boundary_deviation(epsilon: float) -> float:
    """How far the printed boundary points lie from where both answers cost the same, at most."""
    from scipy.optimize import brentq

    problem = sw.MinimumThreshold(2, GAMMA, epsilon)

    def lead(shift: float, x: float, y: float) -> float:
        values = sw.oracle(problem, [x + shift, y + shift], family=sw.Gaussian()).by_answer
        return values["low"].value - values["high"].value

    shifts = [brentq(lead, -0.05, 0.05, args=point, xtol=1e-12) for point in printed.BOUNDARY]
    return max(abs(shift) for shift in shifts)


def claims(diagrams: list[Diagram], deviation: float, other: float) -> list[Claim]:
    """What the table draws and says, against the maps."""
    found = []
    for key, row in ROWS.items():
        pair = [each for each in diagrams if each.key == key]
        measured = "; ".join(f"{d.kind} {100 * d.agreement:.1f} % ({d.axes})" for d in pair)
        good = all(each.agreement > 0.995 for each in pair)
        found.append(Claim(row.title, "two diagrams", f"as drawn: {measured}", good))
    axes = {each.axes for each in diagrams} - {"either axes"}
    signs = {each.axes for each in diagrams if each.key == "any sign"}
    return [
        *found,
        Claim(
            "the ten diagrams share their axes",
            "not said",
            f"{len(axes)} conventions (any sign alone: {len(signs)})",
            len(axes) == 1,
        ),
        Claim(
            "boundary of ε minimum threshold",
            f"{len(printed.BOUNDARY)} points",
            f"off by at most {deviation:.1e} at ε = 1/6",
            deviation <= PRECISION,
        ),
        Claim(
            "both ε minimum diagrams have one ε",
            f"ε = {EPSILON}",
            f"at ε = {EPSILON} the points are off by up to {other:.1e}",
            other <= PRECISION,
        ),
        *(
            Claim(f"caption: {colours}", _listed(said), _listed(single), said == single)
            for colours, said, single in printed.PAIRS
        ),
    ]


def _listed(answers: frozenset[Answer]) -> str:
    pairs: Any = sorted(answers, key=str)
    return " and ".join(f"({arm + 1}, {side})" for arm, side in pairs)


@look.looked
def draw(diagrams: list[Diagram]) -> Figure:
    """Five columns of two diagrams; the printed boundary points lie over theirs."""
    figure, grid = look.canvas(13.0, 5.9, 2, len(ROWS), sharex=True, sharey=True)
    for place, diagram in enumerate(diagrams):
        axes, row = grid[place % 2][place // 2], ROWS[diagram.key]
        answers = tuple(sw.answers(row.correct))
        shades = dict(zip(answers, SHADES, strict=False))
        draw_regions(axes, diagram.regions, shades, row.names, (0.0, 1.0))
        if diagram.kind == "correct":
            axes.set_title(row.title, loc="center")
        else:
            axes.set_xlabel("μ₁")
        if diagram.key == "best arm":
            words = {"correct": "correct answers", "oracle": "oracle answers"}
            axes.set_ylabel(f"{words[diagram.kind]}\n\nμ₂")
        if diagram.key == "minimum threshold":
            shown = EPSILON if diagram.kind == "correct" else printed.BOUNDARY_EPSILON
            axes.text(0.03, 0.04, f"ε = {'0.2' if shown == EPSILON else '1/6'}", fontsize=8.5)
        if diagram.key == "minimum threshold" and diagram.kind == "oracle":
            axes.plot(
                *np.array(printed.BOUNDARY).T,
                "o",
                markersize=3.4,
                markerfacecolor="white",
                markeredgecolor=look.INK,
                markeredgewidth=0.8,
                label="printed points",
                zorder=4,
            )
            axes.legend(loc="lower left", bbox_to_anchor=(0.0, 0.12), handletextpad=0.1)
    for axes in grid.flat:
        axes.set(xticks=[0, GAMMA, 1], yticks=[0, GAMMA, 1])
        axes.set_xticklabels(["0", "\N{GREEK SMALL LETTER GAMMA} = 0.6", "1"])
        axes.set_yticklabels(["0", "0.6", "1"])
    return figure


def make(setting: Order) -> Made:
    """Compute, compare and draw."""
    diagrams = measure()
    deviation, other = (boundary_deviation(e) for e in (printed.BOUNDARY_EPSILON, EPSILON))
    parameters = {
        "problems": {key: [repr(row.correct), repr(row.oracle)] for key, row in ROWS.items()},
        "family": repr(sw.Gaussian()),
        "grid": list(diagrams[0].regions.places.shape),
    }
    numbers = [
        *(Number(f"agreement of {d.key}, {d.kind}", d.agreement) for d in diagrams),
        Number("largest deviation of the printed boundary", deviation),
        Number("the same at epsilon = 0.2", other),
    ]
    notes = [
        "Arms are numbered from 1, as in the paper, and μ₁ is to the right in all ten diagrams.",
        "The paper's colours stand for answers; its polygons were compared with the maps at every "
        "grid point. Both diagrams of any low arm have μ₁ upwards, as has the left one of any sign.",
    ]
    tables = [columns(d.regions, problem=d.key, diagram=d.kind) for d in diagrams]
    joined = {name: np.concatenate([each[name] for each in tables]) for name in tables[0]}
    found = claims(diagrams, deviation, other)
    return Made(parameters, numbers, found, notes, {"table1": joined}, draw(diagrams))
