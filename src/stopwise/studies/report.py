"""A study as one HTML page: tables and plots, nothing loaded from elsewhere."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from stopwise import __version__
from stopwise.core.arrays import Floats
from stopwise.core.tables import html_table
from stopwise.engine.truth import known_family
from stopwise.oracles.lower_bound import proven_bound
from stopwise.oracles.quantities import oracle
from stopwise.studies.html import captioned, document, settings_table
from stopwise.studies.look import bar_style, looked, marker_style, series_style
from stopwise.studies.results import Results
from stopwise.studies.spec import Instance
from stopwise.studies.study_results import StudyResults

MOST = 9  # instances that are drawn; tables show all


@dataclass(frozen=True)
class Series:
    """What is drawn of one strategy and stopping rule on one instance."""

    label: str
    times: Floats  # sorted, at the smallest delta; undecided runs at infinity
    logs: Floats  # log 1/delta
    means: Floats
    errors: Floats  # standard errors
    proportions: Floats  # mean share of each arm, at the smallest delta


@dataclass(frozen=True)
class Panel:
    """What is drawn of one instance."""

    name: str
    delta: float
    bounds: dict[float, float]  # on the mean number of samples, for each delta
    weights: tuple[Floats, ...]  # of the oracle answers
    series: tuple[Series, ...]


def panels(results: StudyResults) -> list[Panel]:
    """What the pictures show, one entry for each instance."""
    return [_panel(results, instance) for instance in results.spec.instances[:MOST]]


def _panel(results: StudyResults, instance: Instance) -> Panel:
    family = known_family(results.spec.family, instance.laws)
    costs = results.spec.costs  # with them the weights to compare with are the cheapest
    truth = oracle(instance.problem, instance.means, family=family, costs=costs)
    several = len(results.spec.stopping) > 1
    series = tuple(
        _series(f"{case.strategy[0]}, {case.stopping[0]}" if several else case.strategy[0], found)
        for case, found in results
        if case.instance is instance
    )
    bounds = {
        delta: proven_bound(instance.problem, family, truth.means, delta)
        for delta in sorted(results.spec.deltas)
    }
    return Panel(instance.name, min(bounds), bounds, tuple(truth.weights), series)


def _series(label: str, results: Results) -> Series:
    shape = (len(results), len(results.deltas))
    place = int(np.argmin(results.deltas))
    times = results.stopping_times.reshape(shape)
    counts = results.counts.reshape(*shape, -1)[:, place]
    rows = sorted(results.summary(), key=lambda row: -row.delta)
    last = times[:, place]
    return Series(
        label,
        np.sort(np.where(last > 0, last, np.inf).astype(float)),
        np.array([math.log(1.0 / row.delta) for row in rows]),
        np.array([row.mean for row in rows]),
        np.array([row.standard_error for row in rows]),
        (counts / counts.sum(axis=1, keepdims=True)).mean(axis=0),
    )


def page(results: StudyResults, about: Mapping[str, Any]) -> str:
    """The whole page."""
    shown = panels(results)
    note = ""
    if len(results.spec.instances) > MOST:
        note = f'<p class="note">The pictures show the first {MOST} instances; the tables all.</p>'
    figures = [
        (
            _figure(shown, 2.8, "share of runs", _draw_distributions),
            f"Share of runs that have stopped, at delta = {shown[0].delta:.3g}. Dotted: the lower bound "
            "on the mean, for every method and proven at this delta.",
        ),
        (
            _figure(shown, 2.8, "mean samples", _draw_growth),
            "Mean number of samples against log 1/delta, with two standard errors. Dotted: the "
            "lower bound, proven at each delta; an optimal strategy becomes parallel to it.",
        ),
        (
            _figure(shown, 2.6, "share of samples", _draw_proportions),
            "Mean share of samples of each arm when the run stops. Black marks: oracle weights (one "
            "shape for each oracle answer).",
        ),
    ]
    pictures = "".join(captioned(figure, caption) for figure, caption in figures)
    body = f"""<p class="note">stopwise {__version__}, spec {results.key}</p>
<h2>Results</h2><div class="scroll">{html_table(*results.table())}</div>
<p class="note">{_words(results)}</p>{note}
<h2>Pictures</h2>{pictures}
<h2>What was simulated</h2>{settings_table(about)}"""
    return document(results.spec.name, body)


def _words(results: StudyResults) -> str:
    """How to read the table."""
    proven = {case.stopping[0]: found.proven for case, found in results}
    sure = [name for name, good in proven.items() if good]
    unsure = [name for name, good in proven.items() if not good]
    words = "The mean counts undecided runs at the round limit. "
    if sure:
        words += f"Proven delta-correct: {', '.join(sure)}. "
    if unsure:
        words += f"Not proven: {', '.join(unsure)}. "
    return escape(words)


@looked
def _figure(
    shown: list[Panel], height: float, label: str, draw: Callable[[Any, Panel], None]
) -> Any:
    """The panels as ``draw`` draws them, at most three a row, with one legend."""
    from matplotlib.figure import Figure

    columns = min(3, len(shown))
    rows = -(-len(shown) // columns)
    figure = Figure(figsize=(4.2 * columns + 1.0, height * rows + 0.9), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False).reshape(-1)
    for empty in grid[len(shown) :]:
        empty.remove()
    for axes, panel in zip(grid, shown, strict=False):
        draw(axes, panel)
        axes.set_title(panel.name)
    grid[0].set_ylabel(label)
    handles, labels = grid[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(4, max(1, len(labels))))
    return figure


def _draw_distributions(axes: Any, panel: Panel) -> None:
    bound = panel.bounds[panel.delta]
    for place, each in enumerate(panel.series):
        runs = each.times.size
        shares = np.arange(1, runs + 1) / runs
        ended = np.isfinite(each.times)
        axes.step(each.times[ended], shares[ended], where="post", label=each.label,
                  **series_style(place))  # fmt: skip
    if 0.0 < bound < math.inf:
        axes.axvline(bound, color="0.35", linestyle=":", label="lower bound")
    axes.set(xscale="log", xlabel="samples", ylim=(0, 1.02))


def _draw_growth(axes: Any, panel: Panel) -> None:
    for place, each in enumerate(panel.series):
        axes.errorbar(each.logs, each.means, yerr=2 * each.errors, capsize=2, label=each.label,
                      **marker_style(place))  # fmt: skip
    bounds = {0.5: 0.0, **dict(sorted(panel.bounds.items(), reverse=True))}
    if max(bounds.values()) < math.inf:
        logs = [math.log(1.0 / delta) for delta in bounds if delta <= 0.5]
        proven = [bound for delta, bound in bounds.items() if delta <= 0.5]
        axes.plot(logs, proven, color="0.35", linestyle=":", label="lower bound")
    axes.set_xlabel("log 1/delta")
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)


def _draw_proportions(axes: Any, panel: Panel) -> None:
    arms, count = np.arange(panel.series[0].proportions.size), len(panel.series)
    width = 0.8 / count
    for place, each in enumerate(panel.series):
        middle = arms + (place - (count - 1) / 2) * width
        axes.bar(middle, each.proportions, width, label=each.label, **bar_style(place))
    for place, weights in enumerate(panel.weights[:4]):
        axes.plot(arms, weights, linestyle="none", marker="D^sv"[place], color="black",
                  markersize=5, label="oracle weights" if place == 0 else None)  # fmt: skip
    axes.set(xlabel="arm", xticks=arms if arms.size <= 12 else [])
