"""Figure 3: two half-spaces in the plane, and which of them the oracle answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import stopwise as sw
from stopwise.core.arrays import Floats
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

TITLE = "Figure 3: the any half-space problem"
DEFAULT = FULL = 0  # nothing is random
FAMILY = sw.Gaussian()
EDGES = (-2.0, 1.0)
DRAWN: tuple[Answer, ...] = tuple(answer for answer, _ in printed.CONES)


def normals() -> Floats:
    """Of the two drawn lines, as the paper scales them: entries of at least 0 that sum to 1."""
    found = []
    for (x0, y0), (x1, y1) in printed.PLANES:
        normal = np.abs([y1 - y0, x0 - x1])
        found.append(normal / normal.sum())
    return np.array(found)


class Measured(NamedTuple):
    """The map, and the oracle at the two points."""

    regions: Regions
    truth: Answers
    estimate: Answers
    value: float  # D at the truth


def measure(coarse: int = 24, doublings: int = 3) -> Measured:
    """Oracle answers on a grid and at the two points."""
    problem = sw.AnyHalfSpace(normals())
    regions = map_regions(
        lambda x, y: sw.oracle(problem, [x, y], family=FAMILY).answers, *EDGES, coarse, doublings
    )
    truth = sw.oracle(problem, printed.TRUTH, family=FAMILY)
    return Measured(
        regions,
        truth.answers,
        sw.oracle(problem, printed.ESTIMATE, family=FAMILY).answers,
        truth.value,
    )


class Info(NamedTuple):
    """What is drawn right, and how much of it is drawn."""

    inside: float  # share of the cones' points that have the cone's answer
    covered: float  # share of the points with these answers that the cones cover


def info(measured: Measured) -> Info:
    """The paper's cones against the map."""
    regions = measured.regions
    x, y = np.meshgrid(regions.x, regions.y)
    right = cones = answered = 0
    for answer, polygon in printed.CONES:
        drawn, true = printed.inside(polygon, x, y), regions.holds((answer,))
        right += int(np.sum(drawn & true))
        cones += int(np.sum(drawn))
        answered += int(np.sum(true))
    return Info(right / cones, right / answered)


def first_is_best(share: float, mean: float) -> bool:
    """Whether u_1 = (a, 1 - a) is the oracle's plane exactly where mu_1 > mu_2, around (mean, mean)."""
    problem = sw.AnyHalfSpace([[share, 1.0 - share], [1.0 - share, share]])
    chosen = []
    for shift in (0.01, -0.01):
        (answer,) = sw.oracle(problem, [mean + shift, mean - shift], family=FAMILY).answers
        pair: Any = answer
        chosen.append(pair[0])
    return chosen == [0, 1]


def claims(measured: Measured, shown: Info) -> list[Claim]:
    """The picture and the text around it."""
    cases = ((0.2, -1.0), (0.2, 1.0), (2 / 3, -1.0))
    holds = [first_is_best(*case) for case in cases]
    words = [
        f"{'holds' if good else 'fails'} at a = {share:.3g}, μ₀ = {mean:g}"
        for (share, mean), good in zip(cases, holds, strict=True)
    ]
    return [
        Claim(
            "oracle answers in the two cones",
            "{u₁} left of the diagonal, {u₂} right of it",
            f"the same at {100 * shown.inside:.1f} % of the points",
            shown.inside == 1.0,
        ),
        Claim(
            "oracle answers at μ, on the diagonal",
            "both",
            _listed(measured.truth),
            set(measured.truth) == set(DRAWN),
        ),
        Claim(
            "oracle answer at the estimate",
            "{u₂}",
            _listed(measured.estimate),
            measured.estimate == (DRAWN[1],),
        ),
        Claim(
            "the two answers' regions end at the planes",
            "drawn so",
            f"the cones are {100 * shown.covered:.0f} % of them: they go on to the other diagonal",
            shown.covered > 0.995,
        ),
        Claim(
            "value of an answer",
            "(μ·u)², here 1",
            f"{measured.value:.4g}, with the appendix's factor 1/2",
            abs(measured.value - 1.0) < 1e-9,
        ),
        Claim("w* = {u₁} if and only if μ₁ > μ₂", "for any a and μ₀", "; ".join(words), all(holds)),
    ]


def _listed(answers: Answers) -> str:
    pairs: Any = answers
    return ", ".join(f"u{'₁₂'[plane]}" for plane, _ in pairs)


def _name(answers: Answers) -> str:
    pairs: Any = answers
    return "\n".join(f"(u{'₁₂'[plane]}, {'+' if side > 0 else '-'})" for plane, side in pairs)


@look.looked
def draw(measured: Measured) -> Figure:
    """The regions, the two planes, the diagonal and the two points."""
    figure, axes = look.canvas(6.2, 6.0)
    order: tuple[Answer, ...] = ((0, -1), (1, -1), (0, 1), (1, 1))
    shades = dict(zip(order, SHADES, strict=True))
    draw_regions(axes, measured.regions, shades, _name, EDGES)
    spots = ((0.62, -1.24, "u₁·μ = 0", -63.4), (-1.45, 0.725, "u₂·μ = 0", -26.6))
    box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.85}
    for normal, (x, y, text, angle) in zip(normals(), spots, strict=True):
        ends = np.array(EDGES) * 2.0
        axes.plot(ends, -normal[0] * ends / normal[1], color=look.INK, linewidth=2.0)
        axes.text(x, y, text, rotation=angle, ha="center", va="center", fontsize=9, bbox=box)
    axes.plot(EDGES, EDGES, color=look.INK, linestyle=look.DASHES[3], linewidth=1.4)
    points = (((0.0, 0.0), "(0, 0)"), (printed.TRUTH, "μ"), (printed.ESTIMATE, "μ̂ₜ"))
    for point, text in points:
        axes.plot(*point, "o", color=look.INK, markersize=6, zorder=6)
        shift = {"xytext": (7, 7), "textcoords": "offset points", "fontsize": 11, "zorder": 7}
        axes.annotate(text, point, bbox=box, **shift)
    axes.set(xlabel="μ₁", ylabel="μ₂", xticks=range(-2, 2), yticks=range(-2, 2))
    axes.set_title("Any half-space: the oracle's answers")
    return figure


def make(setting: Order) -> Made:
    """Compute, compare and draw."""
    measured = measure()
    shown = info(measured)
    parameters = {
        "problem": repr(sw.AnyHalfSpace(normals())),
        "family": repr(FAMILY),
        "truth": list(printed.TRUTH),
        "estimate": list(printed.ESTIMATE),
    }
    numbers = [
        Number("share of the cones that is right", shown.inside),
        Number("share of the answers' regions that is drawn", shown.covered),
        Number("D at the truth", measured.value),
    ]
    notes = ["The normals are read off the drawn lines: u₁ = (2/3, 1/3) and u₂ = (1/3, 2/3)."]
    tables = {"figure3": columns(measured.regions)}
    found = claims(measured, shown)
    return Made(parameters, numbers, found, notes, tables, draw(measured))
