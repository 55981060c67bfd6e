"""Figure 5: D-tracking against C-tracking and fixed weights, where the oracle weights are not unique."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import stopwise as sw
from stopwise.core.arrays import Floats
from stopwise.engine.design import Setting
from stopwise.oracles.values import Oracle
from stopwise.reproduce.common import (
    Claim,
    Made,
    Number,
    Order,
    draw_times,
    mean_of,
    scaled,
    simulated,
)
from stopwise.reproduce.tiny import stylized_at
from stopwise.studies import look
from stopwise.studies.results import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "Figure 5: failure of D-tracking"
DEFAULT = FULL = 10_000
SHARE, MEAN, FAMILY = 0.1, 0.2, sw.Gaussian(0.25)
MEANS = (-MEAN, -MEAN, -MEAN)
LOGS = (60.0, 600.0, 6000.0)  # log 1/delta; the first one is the paper's
BOTH, EITHER = "both", "either"  # "is mu.u_m >= 0 for both m?"; "for any m?", as the paper has it
D, C, FIXED = "D-tracking", "C-tracking", "fixed weights"

# of log 1/delta: every how many repetitions are run, by default and in full. A round of ``either``
# needs the generic solver, which takes ten times as long.
Thinning = Mapping[float, tuple[int, int]]
THINNING: dict[str, Thinning] = {
    BOTH: {60.0: (1, 1), 600.0: (10, 1), 6000.0: (50, 1)},
    EITHER: {60.0: (20, 1), 600.0: (400, 10)},
}


def problem(reading: str) -> sw.Product:
    """The sign of mu_1, and the second query, whose alternative is an intersection or a union."""
    normals = np.array([[SHARE, 1.0 - SHARE], [1.0 - SHARE, SHARE]])
    second = sw.AllHalfSpaces(normals if reading == BOTH else -normals)
    return sw.Product([(sw.AnySign(1), [0]), (second, [1, 2])])


def strategies(oracle: Oracle) -> dict[str, Any]:
    """Both trackers, and the first of the oracle weights, as the paper fixes them."""
    fixed = sw.FixedWeights(oracle.vertices[0][0])
    return {D: sw.TrackAndStop("D"), C: sw.TrackAndStop("C"), FIXED: fixed}


class Case(NamedTuple):
    """One reading, strategy and delta."""

    reading: str
    strategy: str
    log: float


class Measured(NamedTuple):
    """Runs of every case, and the oracle of each reading."""

    runs: dict[Case, Results]
    oracles: dict[str, Oracle]


def measure(setting: Order, thinning: Mapping[str, Thinning] | None = None) -> Measured:
    """All cases; a smaller delta gets fewer runs."""
    rule, deltas = stylized_at(LOGS)
    runs: dict[Case, Results] = {}
    oracles = {
        reading: sw.oracle(problem(reading), MEANS, family=FAMILY) for reading in (BOTH, EITHER)
    }
    for reading, logs in (thinning or THINNING).items():
        for name, strategy in strategies(oracles[reading]).items():
            asked = Setting(problem(reading), FAMILY, strategy, rule)
            for log, every in logs.items():
                fewer = max(setting.repetitions // every[setting.full], 2)
                key, delta = f"{reading}, {name}, {log:g}", deltas[LOGS.index(log)]
                runs[Case(reading, name, log)] = simulated(
                    setting._replace(repetitions=fewer), key, asked, MEANS, delta, 10_000_000
                )
    return Measured(runs, oracles)


class Info(NamedTuple):
    """What the picture shows."""

    times: dict[str, NDArray[np.int64]]  # of each strategy, at the paper's delta
    ratios: dict[Case, Number]  # mean stopping times over T* log 1/delta
    lower: float  # T* log 1/delta at the paper's delta


def info(measured: Measured) -> Info:
    """Histograms at the paper's delta, ratios at all."""
    ratios = {
        case: scaled(
            f"ratio of {case.strategy} at e^-{case.log:g} ({case.reading})",
            mean_of("", runs.stopping_times),
            1.0 / (measured.oracles[case.reading].time * case.log),
        )
        for case, runs in measured.runs.items()
    }
    times = {
        case.strategy: runs.stopping_times
        for case, runs in measured.runs.items()
        if (case.reading, case.log) == (BOTH, LOGS[0])
    }
    return Info(times, ratios, measured.oracles[BOTH].time * LOGS[0])


def first_shares(measured: Measured) -> dict[str, Number]:
    """The first arm's share at the smallest delta: 1/2 in all oracle weights."""
    log = max(case.log for case in measured.runs if case.reading == BOTH)
    found = {}
    for name in (D, C, FIXED):
        counts: Floats = measured.runs[Case(BOTH, name, log)].counts
        label = f"share of arm 1, {name} at e^-{log:g}"
        found[name] = mean_of(label, counts[:, 0] / counts.sum(axis=1))
    return found


def slower(measured: Measured, log: float) -> Number:
    """D-tracking's ratio less that of fixed weights, run by run: they have the same seeds."""
    one, other = (measured.runs[Case(BOTH, name, log)].stopping_times for name in (D, FIXED))
    name = f"ratio of D-tracking less that of fixed weights at e^-{log:g}"
    return scaled(name, mean_of("", one - other), 1.0 / (measured.oracles[BOTH].time * log))


def claims(measured: Measured, shown: Info) -> list[Claim]:
    """The appendix's formulas and its experiment."""
    found = _formulas(measured)
    for log in THINNING[BOTH]:
        if Case(BOTH, D, log) in measured.runs:
            gap = slower(measured, log)
            ratios = [shown.ratios.get(Case(BOTH, name, log)) for name in (D, C, FIXED)]
            found.append(
                Claim(
                    f"D-tracking is slower, δ = e^-{log:g}",
                    "than fixed weights (Figure 5)" if log == LOGS[0] else "asymptotically",
                    f"D {ratios[0]}, C {ratios[1]}, fixed {ratios[2]} times T* log 1/δ; "
                    f"D less fixed {gap}",
                    gap.value > 3.0 * (gap.standard_error or 0.0),
                )
            )
    share = first_shares(measured)
    return [
        *found,
        Claim(
            "D-tracking leaves the oracle weights' hull",
            "arm 1 gets less than 1/2",
            f"D {share[D]}, C {share[C]}",
            share[D].value + 3.0 * (share[D].standard_error or 0.0) < share[C].value < 0.51,
        ),
        _union_claim(shown),
    ]


def _formulas(measured: Measured) -> list[Claim]:
    half = 0.5 * MEAN**2 / FAMILY.variance
    found = []
    for reading, words in ((BOTH, "if both are meant"), (EITHER, "as written: any m")):
        oracle = measured.oracles[reading]
        second = 1.0 / (oracle.time - 1.0 / half)  # 1/D adds up over the two queries
        weights = " or ".join(str(np.round(each, 3).tolist()) for each in oracle.vertices[0])
        found.append(
            Claim(
                f"D for the second query, {words}",
                f"max of two terms, {half:.4g}",
                f"{second:.4g}; T* = {oracle.time:.4g}, weights {weights}",
                abs(second - half) < 1e-6,
            )
        )
    return found


def _union_claim(shown: Info) -> Claim:
    log = max((case.log for case in shown.ratios if case.reading == EITHER), default=LOGS[0])
    ratios = [shown.ratios.get(Case(EITHER, name, log)) for name in (D, C, FIXED)]
    text = f"at e^-{log:g}: D {ratios[0]}, C {ratios[1]}, fixed {ratios[2]}"
    return Claim("read as written the weights are unique", "—", text, None)


@look.looked
def draw(shown: Info) -> Figure:
    """Stopping times at the paper's delta, and ratios to the lower bound as delta falls."""
    figure, (left, middle, right) = look.canvas(13.4, 4.3, 1, 3, width_ratios=(1.3, 1.0, 1.0))
    _draw_times(left, shown)
    titles = {BOTH: "Both μ·u ≥ 0?", EITHER: "Any μ·u ≥ 0? (as written)"}
    ends = [_ends(each) for each in shown.ratios.values()]
    limits = (min(0.98, *(low for low, _ in ends)) - 0.01, max(high for _, high in ends) + 0.01)
    for axes, reading in ((middle, BOTH), (right, EITHER)):
        _draw_ratios(axes, shown, reading)
        axes.set_title(titles[reading])
        axes.set(xlim=(40.0, 9000.0), ylim=limits)
    return figure


def _ends(ratio: Number) -> tuple[float, float]:
    error = 2.0 * (ratio.standard_error or 0.0)
    return ratio.value - error, ratio.value + error


def _draw_times(axes: Axes, shown: Info) -> None:
    everything = np.concatenate(list(shown.times.values()))
    low, high = (float(np.quantile(everything, q)) for q in (0.0005, 0.9995))
    times = {name: shown.times[name] for name in (D, FIXED, C)}
    tallest = draw_times(axes, times, np.linspace(low, high, 61), shown.lower, 1.1)
    axes.set(ylim=(0.0, 1.65 * tallest))
    axes.set_title(f"δ = e⁻⁶⁰, {shown.times[D].size:,} runs of each")
    axes.legend(loc="upper right")


def _draw_ratios(axes: Axes, shown: Info, reading: str) -> None:
    for place, name in ((0, D), (2, C), (1, FIXED)):
        found = {c.log: each for c, each in shown.ratios.items() if c[:2] == (reading, name)}
        values = [each.value for each in found.values()]
        errors = [2.0 * (each.standard_error or 0.0) for each in found.values()]
        apart = np.array(list(found)) * (1.0 + 0.06 * (place - 1))  # so that bars do not overlap
        style = {**look.marker_style(place), "capsize": 2.5}
        axes.errorbar(apart, values, errors, label=name, **style)
    axes.axhline(1.0, color=look.INK, linestyle=look.DASHES[3], linewidth=1.4)
    axes.set(xscale="log", xlabel="log 1/δ", ylabel="mean τ / (T* log 1/δ)")
    axes.set_xticks(LOGS, [f"{log:,.0f}" for log in LOGS])
    axes.minorticks_off()
    axes.legend(loc="upper right")


def make(setting: Order) -> Made:
    """Measure, compare and draw."""
    measured = measure(setting)
    shown = info(measured)
    parameters = {
        "problems": {reading: repr(problem(reading)) for reading in (BOTH, EITHER)},
        "means": list(MEANS),
        "family": repr(FAMILY),
        "stopping": repr(sw.Stylized()),
        "log 1/delta": list(LOGS),
        "repetitions": {
            f"{case.reading}, {case.strategy}, e^-{case.log:g}": len(runs)
            for case, runs in measured.runs.items()
        },
    }
    numbers = [
        *shown.ratios.values(),
        *(slower(measured, log) for log in LOGS if Case(BOTH, D, log) in measured.runs),
        *first_shares(measured).values(),
        *(Number(f"T* ({reading})", each.time) for reading, each in measured.oracles.items()),
    ]
    notes = [
        "The second query as written (is there an m with μ·u_m ≥ 0?) has a union of half-spaces as "
        "its alternative, where the paper's formulas do not hold; they do for an intersection (are "
        "both?), which is drawn on the left.",
        "The defect of D-tracking is asymptotic: it shows as δ falls, not at the figure's own δ.",
        "e^-6000 is no floating-point number: the stopping rule is given its logarithm.",
    ]
    tables = {"figure5": _table(measured)}
    return Made(parameters, numbers, claims(measured, shown), notes, tables, draw(shown))


def _table(measured: Measured) -> dict[str, Any]:
    """A row for each run."""
    sizes = [len(runs) for runs in measured.runs.values()]
    counts = np.concatenate([runs.counts for runs in measured.runs.values()])
    labels = {
        "query": [case.reading for case in measured.runs],
        "strategy": [case.strategy for case in measured.runs],
        "log_inverse_delta": [case.log for case in measured.runs],
    }
    every = measured.runs.values()
    return {
        **{name: np.repeat(np.array(column), sizes) for name, column in labels.items()},
        "repetition": np.concatenate([runs.repetitions for runs in every]),
        "stopping_time": np.concatenate([runs.stopping_times for runs in every]),
        **{f"count_{arm + 1}": counts[:, arm].astype(np.int64) for arm in range(3)},
    }
