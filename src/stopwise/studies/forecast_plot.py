"""A forecast as a picture: how likely the experiment is over after N samples, and samples by arm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from stopwise.core.arrays import Floats
from stopwise.studies.amounts import TARGET, amount, spelled
from stopwise.studies.look import COLOURS, INK, MARKERS, style

ARMS = 16  # with more, those that are sampled most
PALE = "#9a9a9a"


@dataclass(frozen=True, eq=False)
class Curve:
    """One strategy: after ``samples[j]`` samples a share ``over[j]`` of the runs had their answer.

    Undecided runs leave it below 1, flat up to ``max_rounds``.
    """

    name: str
    label: str
    samples: Floats
    over: Floats
    target: float | None  # samples that are enough with probability 80 %; None if not known
    arm_means: Floats
    arm_highs: Floats


@dataclass(frozen=True, eq=False)
class Picture:
    """All that the figure shows."""

    title: str
    subtitle: str
    curves: tuple[Curve, ...]
    lower_bounds: Floats  # least, median and most over the instances
    bound_label: str
    arms: tuple[str, ...]
    oracle_arms: Floats  # the lower bound, divided among the arms by the oracle
    limits: tuple[float, float]  # of the samples' axis
    log_scale: bool


def picture(forecast: Any) -> Picture:
    """What to draw of a Forecast."""
    bounds = np.array([each.lower_bound for each in forecast.instances])
    ideal = np.mean([e.lower_bound * e.oracle.weights[0] for e in forecast.instances], axis=0)
    sampled = max((each.arm_means for each in forecast.strategies.values()), key=np.max)
    chosen = np.sort(np.argsort(-sampled, kind="stable")[:ARMS])
    curves = tuple(_curve(forecast, name, chosen) for name in forecast.strategies)
    middle = float(np.median(bounds))
    low = min([middle, *(float(np.quantile(curve.samples, 0.02)) for curve in curves)])
    high = max([middle, *(float(curve.samples[-1]) for curve in curves)])
    log_scale = high > 30.0 * low
    word = "proven" if forecast.proven else "not proven"
    where = f",\nmedian of {bounds.size} draws" if bounds.size > 1 else ""
    return Picture(
        "How many samples will it take?",
        f"{forecast.problem!r}, {forecast.family!r}, delta = {forecast.delta:g}, "
        f"{type(forecast.stopping).__name__} ({word} delta-correct)",
        curves,
        np.array([bounds.min(), middle, bounds.max()]),
        f"lower bound{where} {amount(middle)}",
        tuple(f"arm {k}: {spelled(forecast.guesses[k])}" for k in chosen),
        ideal[chosen],
        (low / 1.6 if log_scale else 0.0, high * 1.03),
        log_scale,
    )


def _curve(forecast: Any, name: str, chosen: Any) -> Curve:
    found = forecast[name]
    decided = found.times[: found.runs - found.undecided]
    label = f"{name}: {found.at_most(TARGET)}"
    if found.cost is not None and not found.censored(TARGET):
        label += f" (cost {amount(found.cost.quantiles[TARGET])})"
    over = np.arange(1, decided.size + 1) / found.runs
    if found.undecided:
        decided = np.append(decided, forecast.max_rounds)
        over = np.append(over, over[-1] if over.size else 0.0)
        label += f", {found.undecided / found.runs:.0%} undecided"
    return Curve(
        name,
        label,
        decided,
        over,
        None if found.censored(TARGET) else found.samples.quantiles[TARGET],
        found.arm_means[chosen],
        found.arm_highs[chosen],
    )


def draw(info: Picture) -> Any:
    """The figure."""
    import matplotlib.pyplot as plt

    height = float(np.clip(2.4 + 0.11 * len(info.arms) * (len(info.curves) + 1), 5.2, 9.0))
    with style():
        figure, (left, right) = plt.subplots(
            1, 2, figsize=(11, height), width_ratios=(1.5, 1), dpi=150, layout="constrained"
        )
        layout: Any = figure.get_layout_engine()
        layout.set(rect=(0, 0, 1, 1 - 0.62 / height), wspace=0.06)
        figure.text(0.012, 1 - 0.14 / height, info.title, fontsize=15, weight="bold", va="top")
        figure.text(0.012, 1 - 0.43 / height, info.subtitle, fontsize=9, color="#666666", va="top")
        _draw_curves(left, info)
        _draw_arms(right, info)
        figure.legend(
            loc="outside lower left",
            title=f"Samples that are enough in {TARGET:.0%} of all experiments",
            alignment="left",
            ncols=min(len(info.curves), 3),
        )
    plt.close(figure)  # it belongs to the caller; a notebook shows it once
    return figure


def _draw_curves(axes: Any, info: Picture) -> None:
    from matplotlib.ticker import NullFormatter, PercentFormatter

    least, middle, most = info.lower_bounds
    if most > least:
        axes.axvspan(least, most, color=PALE, alpha=0.15, linewidth=0)
    axes.axvline(middle, color=INK, linestyle=(0, (1, 1.5)), linewidth=1.4)
    axes.axhline(TARGET, color=PALE, linewidth=0.8)
    for place, curve in enumerate(info.curves):
        colour, marker = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
        look = {"color": colour, "markersize": 7, "markeredgecolor": "white", "zorder": 4}
        samples = [0.0, *curve.samples, info.limits[1]]
        over = [0.0, *curve.over, curve.over[-1]]
        axes.step(samples, over, where="post", color=colour, linewidth=2)
        at = ([], []) if curve.target is None else ([curve.target], [TARGET])
        axes.plot(*at, marker, **look)
        axes.plot([], [], f"-{marker}", linewidth=2, label=curve.label, **look)
    if info.log_scale:
        axes.set_xscale("log")
        axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlim(*info.limits)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_ylim(0.0, 1.02)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.annotate(
        info.bound_label,
        (middle, 0.76),
        xytext=(4, 0),
        textcoords="offset points",
        xycoords=axes.get_xaxis_transform(),
        rotation=90,
        va="top",
        fontsize=9,
    )
    grey = "\ngrey: the lower bounds of all draws" if most > least else ""
    axes.set_xlabel(f"samples, of all arms together{grey}")
    axes.set_title("How likely the experiment is over by then")


def _draw_arms(axes: Any, info: Picture) -> None:
    size = len(info.curves)
    places = np.arange(len(info.arms))
    thick = 0.78 / size
    for place, curve in enumerate(info.curves):
        offset = (place - 0.5 * (size - 1)) * thick
        axes.barh(
            places + offset,
            curve.arm_means,
            height=0.86 * thick,
            color=COLOURS[place % len(COLOURS)],
            xerr=[np.zeros(places.size), np.maximum(curve.arm_highs - curve.arm_means, 0.0)],
            error_kw={"ecolor": PALE, "elinewidth": 1.2, "capsize": 2.5},
        )
    axes.vlines(info.oracle_arms, places - 0.45, places + 0.45, color=INK, linewidth=2)
    axes.set_yticks(places, info.arms)
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)
    axes.locator_params(axis="x", nbins=5)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel("samples: mean, and whisker to 95 %\nblack line: the lower bound's share")
    axes.set_title("Samples of each arm")
