"""Figure 4: where the pulling proportions of plain Track-and-Stop end up, against the arcsine law."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import stopwise as sw
from stopwise.core.arrays import Floats
from stopwise.engine.design import Setting
from stopwise.reproduce.common import Claim, Made, Number, Order, share_of, simulated
from stopwise.reproduce.tiny import stylized_at
from stopwise.studies import look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "Figure 4: pulling proportions of Track-and-Stop"
DEFAULT = FULL = 10_000
SHARE, LAST = 0.2, 10_000
MEANS = (-1.0, -0.1, 0.0)  # the paper's mu_0 is not given; the first one is drawn
INTERVAL = (1.01 * SHARE, (1.0 - SHARE) / 1.01)
WIDTH = 0.006  # of the bars: 100 of them
PRINTED_HEIGHT = 15.0
NEVER = 1e6  # log 1/delta: no run stops


def times(last: int = LAST) -> tuple[int, ...]:
    """Four looks in each factor of ten."""
    looks = np.unique(np.geomspace(10.0, last, 4 * round(math.log10(last / 10.0)) + 1).round())
    return tuple(int(each) for each in looks)


Shares = dict[tuple[float, int], Floats]  # at (mu_0, t): N_{t,1}/t of each run


def measure(setting: Order, last: int = LAST) -> Shares:
    """The same runs up to each time: a longer run begins as the shorter one."""
    problem = sw.AnyHalfSpace([[SHARE, 1.0 - SHARE], [1.0 - SHARE, SHARE]])
    rule, (delta,) = stylized_at([NEVER])
    asked = Setting(problem, sw.Gaussian(), sw.TrackAndStop("C"), rule)
    found: Shares = {}
    for mean in MEANS:
        for rounds in times(last):
            key = f"mean {mean:g}, round {rounds}"
            runs = simulated(setting, key, asked, [mean, mean], delta, rounds)
            found[mean, rounds] = runs.counts[:, 0] / rounds
    return found


def arcsine_density(share: Floats) -> Floats:
    """Of the arcsine law, stretched from (0, 1) to (a, 1 - a)."""
    place = (share - SHARE) / (1.0 - 2.0 * SHARE)
    return 1.0 / (np.pi * np.sqrt(place * (1.0 - place)) * (1.0 - 2.0 * SHARE))


def arcsine_below(share: Floats) -> Floats:
    """The law's probability of a share of at most this."""
    place = np.clip((share - SHARE) / (1.0 - 2.0 * SHARE), 0.0, 1.0)
    return 2.0 / np.pi * np.arcsin(np.sqrt(place))


class Info(NamedTuple):
    """What the picture shows, and how the last proportions differ from the arcsine law."""

    shares: Floats  # of all runs, at the last time, for the first mu_0
    last: int
    heights: tuple[float, float]  # of the extreme bars
    fitting: float  # the width at which they are as high as printed; nan: none
    looks: tuple[int, ...]
    masses: dict[float, list[Number]]  # of the interval at these times, for each mu_0
    arcsine: float  # the law's mass of the interval
    distance: float  # Kolmogorov's, to the law
    chance: float  # of one as large, were the law right


def info(measured: Shares) -> Info:
    """Bars, masses and the distance to the law."""
    from scipy.special import kolmogorov

    looks = tuple(sorted({rounds for _, rounds in measured}))
    shares = np.sort(measured[MEANS[0], looks[-1]])
    masses = {mean: [_mass(mean, t, measured[mean, t]) for t in looks] for mean in MEANS}
    steps, below = np.arange(shares.size + 1) / shares.size, arcsine_below(shares)
    distance = float(max(np.max(steps[1:] - below), np.max(below - steps[:-1])))
    low, high = arcsine_below(np.array(INTERVAL))
    return Info(
        shares,
        looks[-1],
        extreme_bars(shares, WIDTH),
        fitting_width(shares, PRINTED_HEIGHT),
        looks,
        masses,
        float(high - low),
        distance,
        float(kolmogorov(math.sqrt(shares.size) * distance)),
    )


def _mass(mean: float, rounds: int, shares: Floats) -> Number:
    inside = (shares > INTERVAL[0]) & (shares < INTERVAL[1])
    return share_of(f"mass at mu_0 = {mean:g}, t = {rounds}", inside)


def extreme_bars(shares: Floats, width: float) -> tuple[float, float]:
    """Heights of the bars from a and to 1 - a; the whole histogram has area 1."""
    left, right = np.mean(shares <= SHARE + width), np.mean(shares >= 1.0 - SHARE - width)
    return float(left) / width, float(right) / width


def fitting_width(shares: Floats, height: float) -> float:
    """The widest bars whose extreme ones are this high on average."""
    for width in np.arange(0.05, 0.0009, -0.0001):
        if sum(extreme_bars(shares, float(width))) >= 2.0 * height:
            return float(width)
    return math.nan


def claims(shown: Info, others: dict[float, float]) -> list[Claim]:
    """The caption and Section 6, each against the runs."""
    mass = shown.masses[MEANS[0]][-1]
    left, right = shown.heights
    widths = "; ".join(
        f"μ₀ = {mean:g}: {'at no width' if math.isnan(width) else f'at width {width:.4f}'}"
        for mean, width in others.items()
    )
    return [
        Claim(
            "height of the extreme bars",
            "≈ 15, bin width not said",
            f"{left:.1f} and {right:.1f} with 100 bars, of width {WIDTH}",
            max(abs(left - PRINTED_HEIGHT), abs(right - PRINTED_HEIGHT)) < 1.0,
        ),
        Claim("the same for other μ₀", "μ₀ not said", widths, None),
        Claim(
            "the limit is not the arcsine law",
            "observed, for a ≠ 1/2",
            f"Kolmogorov distance {shown.distance:.3f} (chance {shown.chance:.0e})",
            shown.chance < 1e-6,
        ),
        Claim(
            "it has mass between the extremes",
            "observed, for a in (0, 1)",
            f"{mass} (arcsine law: {shown.arcsine:.3f})",
            mass.value > 0.5,
        ),
    ]


@look.looked
def draw(shown: Info) -> Figure:
    """The histogram with the arcsine density, and the interval's mass over time."""
    figure, (left, right) = look.canvas(11.0, 4.3, 1, 2)
    _draw_histogram(left, shown)
    _draw_courses(right, shown)
    return figure


def _draw_histogram(axes: Axes, shown: Info) -> None:
    bins: Any = np.linspace(SHARE, 1.0 - SHARE, round((1.0 - 2.0 * SHARE) / WIDTH) + 1)
    style = {**look.bar_style(0), "hatch": ""}
    label = f"Track-and-Stop, bars of width {WIDTH}"
    clipped = np.clip(shown.shares, bins[0], bins[-1])  # the first samples let N/t pass a by 1/t
    axes.hist(clipped, bins, density=True, histtype="stepfilled", label=label, **style)
    inner = np.linspace(SHARE + 5e-4, 1.0 - SHARE - 5e-4, 1200)
    axes.plot(inner, arcsine_density(inner), label="arcsine law", **look.series_style(1))
    top = 1.25 * max(shown.heights)
    for height, place, side in zip(
        shown.heights, (bins[0], bins[-1]), ("left", "right"), strict=True
    ):
        axes.annotate(
            f"{height:.1f}",
            (place + (WIDTH if side == "left" else -WIDTH), height),
            xytext=(4 if side == "left" else -4, -3),
            textcoords="offset points",
            ha=side,
            fontsize=9,
        )
    axes.set(xlim=(0.15, 0.85), ylim=(0.0, top), ylabel="density")
    axes.set_xlabel(f"pulling proportion N₁/t after t = {shown.last:,} rounds")
    axes.set_title(f"{shown.shares.size:,} runs, a = 1/5, μ₀ = {MEANS[0]:g}")
    axes.legend(loc="upper center")


def _draw_courses(axes: Axes, shown: Info) -> None:
    for place, (mean, masses) in enumerate(shown.masses.items()):
        values = [each.value for each in masses]
        errors = [2.0 * (each.standard_error or 0.0) for each in masses]
        label = f"μ₀ = {mean:g}"
        axes.errorbar(shown.looks, values, errors, label=label, **look.marker_style(place))
    style = {"color": look.GREY, "linestyle": look.DASHES[3], "linewidth": 1.4}
    axes.axhline(shown.arcsine, label="arcsine law", zorder=1, **style)
    axes.set(xscale="log", ylim=(0.78, 1.01), xlabel="rounds t", ylabel="share of the runs")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.set_title("Runs with N₁/t in (1.01 a, (1 - a)/1.01)")
    axes.legend(loc="lower left")


def make(setting: Order) -> Made:
    """Measure, compare and draw."""
    measured = measure(setting)
    shown = info(measured)
    widths = {mean: fitting_width(measured[mean, shown.last], PRINTED_HEIGHT) for mean in MEANS[1:]}
    parameters = {
        "a": SHARE,
        "means": {"drawn": MEANS[0], "others": list(MEANS[1:])},
        "family": repr(sw.Gaussian()),
        "strategy": repr(sw.TrackAndStop("C")),
        "rounds": shown.last,
        "bin width": WIDTH,
        "interval": list(INTERVAL),
        "repetitions": setting.repetitions,
    }
    numbers = [
        *(mass for masses in shown.masses.values() for mass in masses),
        Number("left extreme bar", shown.heights[0]),
        Number("right extreme bar", shown.heights[1]),
        Number("widest bars whose extreme ones are 15 high", shown.fitting),
        Number("the arcsine law's mass of the interval", shown.arcsine),
        Number("Kolmogorov distance to the arcsine law", shown.distance),
    ]
    notes = [
        "The paper does not give μ₀. Its argument supposes that the signs of both μ̂·u are settled, "
        "so μ₀ = -1 (Figure 3's point) is drawn; at μ₀ = 0 they never settle, and there are no "
        "extreme bars at all.",
        "The height of the extreme bars depends on the bin width, which the paper does not give.",
        "The arcsine law is stretched from (0, 1) to (a, 1 - a), where N₁/t lies.",
    ]
    table = {
        f"share_at_{rounds}_mean_{mean:g}": shares for (mean, rounds), shares in measured.items()
    }
    found = claims(shown, widths)
    return Made(parameters, numbers, found, notes, {"figure4": table}, draw(shown))
