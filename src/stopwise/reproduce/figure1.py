"""Figure 1: the two regions of Sticky Track-and-Stop, at three moments of a real run."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import stopwise as sw
from stopwise.core.arrays import Floats
from stopwise.engine.region import region_level
from stopwise.problems.problem import Answer
from stopwise.reproduce.common import Claim, Made, Number, Order
from stopwise.reproduce.regions import SHADES, Answers, Regions, draw_regions, map_regions
from stopwise.sampling.sticky import STEPS
from stopwise.studies import look
from stopwise.studies.simulation import Run, RunTrace

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "Figure 1: the two ideas of Sticky Track-and-Stop"
DEFAULT = FULL = 0  # one run
GAMMA = 0.45
PROBLEM, FAMILY = sw.AnyLowArm(2, GAMMA), sw.Gaussian()
# Both means are above gamma, so that both arms are sampled and no region is a long strip; the correct
# answer comes last in the order, so that another one is pursued at first.
MEANS, LOG, ORDER = (0.6, 0.63), 60.0, (0, 1, "none")
EDGES = (0.0, 1.0)
CORNERS: dict[Answers, tuple[float, float]] = {  # where names do not touch the regions' edges
    (0,): (0.04, 0.96),
    ("none",): (0.92, 0.96),
    (1,): (0.96, 0.04),
    (0, 1): (0.055, 0.04),
}
CHECKS = 400  # rounds at which the pursued answer is compared with the reachable ones


class Measured(NamedTuple):
    """The run, and the maps behind it."""

    run: Run
    trace: RunTrace
    correct: Regions
    oracle: Regions


def measure(setting: Order, coarse: int = 24, doublings: int = 3) -> Measured:
    """One run with its trace; both maps."""
    strategy = sw.StickyTrackAndStop("C", order=ORDER)
    run = sw.run(
        PROBLEM,
        MEANS,
        family=FAMILY,
        strategy=strategy,
        stopping=sw.Stylized(),
        delta=math.exp(-LOG),
        seed=setting.seed,
        trace=True,
    )
    assert run.trace is not None
    correct = map_regions(
        lambda x, y: sw.correct_answers(PROBLEM, [x, y]), *EDGES, coarse, doublings
    )
    oracle = map_regions(
        lambda x, y: sw.oracle(PROBLEM, [x, y], family=FAMILY).answers, *EDGES, coarse, doublings
    )
    return Measured(run, run.trace, correct, oracle)


class Moment(NamedTuple):
    """The data after so many rounds, the levels of both regions, and what is in reach of C_t."""

    rounds: int
    counts: Floats
    estimate: Floats
    stopping: float  # level of D_t
    sampling: float  # level of C_t
    reachable: Answers
    pursued: Answer

    def radii(self, level: float) -> Floats:
        """Half the axes of {mu' : D(N, mu-hat, mu') <= level}, an ellipse for Gaussian arms."""
        return np.sqrt(2.0 * FAMILY.variance * level / self.counts)


def moment(trace: RunTrace, rounds: int) -> Moment:
    """What the strategy knows after so many rounds."""
    arms, samples = trace.arms[:rounds], trace.samples[:rounds]
    counts = np.array([np.sum(arms == k) for k in range(2)], dtype=float)
    estimate = np.array([samples[arms == k].mean() for k in range(2)])
    log_f = region_level(sw.Stylized(), 2, FAMILY)
    level = log_f(2.0 ** (math.ceil(STEPS * math.log2(rounds)) / STEPS))  # as the strategy rounds t
    reachable = sw.reachable_answers(PROBLEM, estimate, family=FAMILY, counts=counts, level=level)
    in_order = tuple(sorted(reachable, key=ORDER.index))
    pursued = trace.pursued[min(rounds, len(trace) - 1)]  # entry t was chosen after t rounds
    return Moment(
        rounds, counts, estimate, float(trace.level[rounds - 1]), level, in_order, pursued
    )


def info(measured: Measured) -> tuple[Moment, ...]:
    """Three moments: an earlier answer is in reach; no longer; and the last one, when the run stops."""
    trace, last = measured.trace, len(measured.trace)
    others = [t for t in range(2, last) if trace.pursued[t] != trace.pursued[-1]]
    turn = others[-1] if others else last // 2
    early = max(turn // 2, 3)
    return tuple(moment(trace, rounds) for rounds in (early, (3 * turn + last) // 4, last))


def disagreements(trace: RunTrace) -> tuple[int, int]:
    """Rounds at which the pursued answer is not the first in reach, and how many were looked at."""
    places = np.unique(np.linspace(3, len(trace) - 1, CHECKS).astype(int))
    found = [moment(trace, int(rounds)) for rounds in places]
    return sum(each.pursued != each.reachable[0] for each in found), len(found)


def excludes(at: Moment) -> tuple[Answer, ...]:
    """The answers whose alternative D_t excludes: with one of them the run may stop."""
    evidence = sw.evidence(PROBLEM, at.estimate, family=FAMILY, counts=at.counts)
    return tuple(answer for answer, value in evidence.items() if value >= at.stopping)


def claims(measured: Measured, moments: tuple[Moment, ...], wrong: int, looked: int) -> list[Claim]:
    """What the figure says of the two regions."""
    first, middle, last = moments
    crossing = math.exp(LOG / 5.0)
    return [
        Claim(
            "stop when D_t excludes an alternative",
            "the alternative to any answer",
            f"round {last.rounds:,}: D_t excludes the alternative to {_name(excludes(last))}; "
            f"round {middle.rounds:,}: to {_name(excludes(middle)) or 'no answer'}",
            measured.run.answer in excludes(last) and not excludes(middle),
        ),
        Claim(
            "pursue the first answer in reach of C_t",
            "the first in a fixed order, there none < 1 < 2",
            f"{looked - wrong} of {looked} rounds, order {_name(ORDER, ' < ')}; "
            f"in reach first {_name(first.reachable)}, then {_name(middle.reachable)}",
            wrong == 0,
        ),
        Claim(
            "C_t is the smaller region",
            "aggressive C_t, conservative D_t",
            f"levels {last.sampling:.1f} and {last.stopping:.1f} at the stop",
            all(each.sampling < each.stopping for each in moments),
        ),
        Claim(
            "C_t is the smaller region at every δ",
            "not said",
            f"only while t < δ^(-1/5): here {crossing:,.0f}, but 2 rounds at δ = 0.05",
            None,
        ),
    ]


def _name(answers: Answers, between: str = ", ") -> str:
    return between.join("none" if each == "none" else str(int(str(each)) + 1) for each in answers)


@look.looked
def draw(measured: Measured, moments: tuple[Moment, ...]) -> Figure:
    """A column for each moment: D_t over the correct answers, C_t over the oracle answers."""
    figure, grid = look.canvas(11.4, 7.9, 2, len(moments), sharex=True, sharey=True)
    for column, at in enumerate(moments):
        top, bottom = grid[0][column], grid[1][column]
        answers = excludes(at)
        verdict = f"stop, answer {_name(answers)}" if answers else "go on"
        top.set_title(f"After {at.rounds:,} rounds\nD$_t$: {verdict}", fontsize=10.5)
        reach = f"in reach: {_name(at.reachable)}; pursued: {_name((at.pursued,))}"
        bottom.set_title(f"C$_t$: {reach}", fontsize=10.5)
        _draw_panel(top, measured.correct, at, at.stopping, look.DASHES[0], "D$_t$")
        _draw_panel(bottom, measured.oracle, at, at.sampling, look.DASHES[1], "C$_t$")
        bottom.set_xlabel("μ₁")
    grid[0][0].set_ylabel("correct answers\n\nμ₂")
    grid[1][0].set_ylabel("oracle answers\n\nμ₂")
    return figure


def _draw_panel(
    axes: Axes, regions: Regions, at: Moment, level: float, dashes: Any, name: str
) -> None:
    shades = dict(zip((0, 1, "none"), SHADES, strict=False))
    draw_regions(axes, regions, shades, _name, EDGES, CORNERS)
    angle = np.linspace(0.0, 2.0 * np.pi, 241)
    width, height = at.radii(level)
    x, y = at.estimate
    for colour, thickness in (("white", 4.0), (look.INK, 2.0)):
        axes.plot(
            x + width * np.cos(angle),
            y + height * np.sin(angle),
            color=colour,
            linestyle="-" if colour == "white" else dashes,
            linewidth=thickness,
            zorder=6,
        )
    axes.plot(x, y, "o", color=look.INK, markersize=6, markeredgecolor="white", zorder=7)
    axes.annotate("μ̂", (x, y), xytext=(6, -13), textcoords="offset points", zorder=7)
    axes.set(xticks=[0, GAMMA, 1], yticks=[0, GAMMA, 1])
    axes.set_xticklabels(["0", f"\N{GREEK SMALL LETTER GAMMA} = {GAMMA:g}", "1"])
    axes.set_yticklabels(["0", f"{GAMMA:g}", "1"])


def make(setting: Order) -> Made:
    """Run, compare and draw."""
    measured = measure(setting)
    moments = info(measured)
    wrong, looked = disagreements(measured.trace)
    parameters = {
        "problem": repr(PROBLEM),
        "means": list(MEANS),
        "family": repr(FAMILY),
        "delta": f"e^-{LOG:g}",
        "stopping": repr(sw.Stylized()),
        "strategy": repr(measured.run.strategy),
        "moments": [each.rounds for each in moments],
    }
    numbers = [
        Number("stopping time", measured.run.stopping_time),
        Number("rounds looked at", looked),
        Number("rounds that pursue another answer than the first in reach", wrong),
    ]
    notes = [
        "Arms are numbered from 1, as in the paper.",
        "δ = e^-60, so that C_t is the smaller region, as drawn: log f(t) = β(t, t^-5) is below "
        "β(t, δ) only while t < δ^(-1/5).",
    ]
    trace = measured.trace
    table = {
        "round": np.arange(1, len(trace) + 1),
        "arm": trace.arms + 1,
        "sample": trace.samples,
        "pursued": [_name((answer,)) for answer in trace.pursued],
        "evidence": trace.evidence,
        "level": trace.level,
    }
    found = claims(measured, moments, wrong, looked)
    return Made(parameters, numbers, found, notes, {"run": table}, draw(measured, moments))
