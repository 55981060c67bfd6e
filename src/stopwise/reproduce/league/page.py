"""The league as one page: who wins where, a picture for each instance, and every number."""

from __future__ import annotations

import math
from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np

from stopwise import __version__
from stopwise.core.tables import html_table
from stopwise.reproduce.league.entries import LeagueInstance
from stopwise.reproduce.league.standings import HEADER, Standings, profile
from stopwise.studies.html import captioned, document, settings_table
from stopwise.studies.look import canvas, looked, marker_style, series_style

SHOWN = 0.05  # the delta of summaries, where there is such a one
ACROSS = 2  # panels side by side
COLOURED = 7  # strategies that a picture tells apart; the others are grey
GREY: dict[str, Any] = {"color": "0.8", "linewidth": 0.9, "zorder": 0}
STYLE = """
td.best { font-weight: 700; }
td.undecided::after { content: " †"; }
td { background: color-mix(in srgb, #0072b2 calc(var(--near, 0) * 40%), transparent); }
"""


def shown_delta(standings: Standings) -> float:
    """The delta of the summaries."""
    return SHOWN if SHOWN in standings.deltas else min(standings.deltas)


def page(standings: Standings, about: Mapping[str, Any]) -> str:
    """The whole page."""
    delta, rule = shown_delta(standings), standings.columns[0]
    first = captioned(
        draw_profiles(standings, rule, delta),
        "Share of the instances on which a strategy needs at most so many times the samples of the "
        f"best one there, with {rule} at delta = {delta:g}. Higher is better; the {COLOURED} best are "
        "coloured.",
    )
    groups = "".join(_group(standings, group, delta) for group in standings.groups)
    instances = "".join(_instance(standings, each) for each in standings.instances)
    body = f"""<p class="note">stopwise {__version__}. Mean samples until the answer is given, smaller is
better; a run that reaches the round limit counts there and is called undecided (†).</p>
{first}{groups}<h2>Instance by instance</h2>{instances}
<h2>What was simulated</h2>{settings_table(about)}"""
    return document("Who needs the fewest samples?", body, STYLE)


def _group(standings: Standings, group: str, delta: float) -> str:
    parts = [f"<h2>{escape(group.capitalize())}</h2>"]
    for column in standings.columns:
        if table := _summary_table(standings, group, column, delta):
            parts.append(f"<h3>{escape(column)}, delta = {delta:g}</h3>{table}")
    return "".join(parts)


def _summary_table(standings: Standings, group: str, column: str, delta: float) -> str:
    """A row a strategy, a column an instance: mean samples, shaded by how near the best they are."""
    names = [each.name for each in standings.instances if each.group == group]
    strategies, table, means = standings.summary(group, column, delta)
    rows = []
    for strategy, lines, mean in zip(strategies, table, means, strict=True):
        row = [_cell(escape(strategy)), _cell(ratio_text(mean))]
        row += [_cell("") if line is None else _shaded(line) for line in lines]
        rows.append(f"<tr>{''.join(row)}</tr>")
    if not rows:
        return ""
    top = "".join(f"<th>{escape(name)}</th>" for name in ("strategy", "times the best", *names))
    return (
        f'<div class="scroll"><table><thead><tr>{top}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def ratio_text(mean: float) -> str:
    """Nothing for a strategy that did not enter every instance of the group."""
    return "" if math.isinf(mean) else f"{mean:.2f}"


def _cell(text: str) -> str:
    return f"<td>{text}</td>"


def _shaded(line: Any) -> str:
    kinds = ["best"] * (line.rank == 1) + ["undecided"] * (line.summary.undecided > 0)
    near = max(0.0, 2.0 - line.ratio)
    return f'<td class="{" ".join(kinds)}" style="--near:{near:.2f}">{line.summary.mean:,.0f}</td>'


def _instance(standings: Standings, instance: LeagueInstance) -> str:
    lines = standings.of(instance.name)
    means = ", ".join(f"{mean:g}" for mean in instance.means[:12])
    more = f" and {len(instance.means) - 12} more" if len(instance.means) > 12 else ""
    one = len(standings.deltas) == 1
    where = f"at delta = {standings.deltas[0]:g}" if one else "against delta"
    caption = (
        f"Mean samples {where}, with two standard errors ({standings.columns[0]}). Dotted: every "
        "delta-correct method needs more, proven at each delta."
    )
    picture = (draw_ranking if one else draw_growth)(standings, instance)
    return f"""<h3 id="{escape(instance.name)}">{escape(instance.name)}</h3>
<p class="note">{escape(repr(instance.problem)[:120])}, {escape(repr(instance.family))},
means {means}{more}. {escape(instance.source)}. T* = {standings.times[instance.name]:.5g}.</p>
{captioned(picture, caption)}
<details><summary>Every number</summary><div class="scroll">
{html_table(HEADER, [line.table_row() for line in lines])}</div></details>"""


@looked
def draw_profiles(standings: Standings, column: str, delta: float) -> Any:
    """A panel for each group of questions that has more than one instance."""
    groups = [
        group
        for group in standings.groups
        if sum(each.group == group for each in standings.instances) > 1
    ] or standings.groups
    columns = min(len(groups), ACROSS)
    rows = math.ceil(len(groups) / columns)
    figure, grid = canvas(4.6 * columns + 0.4, 3.7 * rows + 0.2, rows, columns, squeeze=False)
    for axes in grid.flat[len(groups) :]:
        axes.set_visible(False)
    for axes, group in zip(grid.flat, groups, strict=False):
        ratios = standings.ratios(group, column, delta)
        most = max([1.5, *(each for row in ratios.values() for each in row if each < 6.0)])
        factors = np.geomspace(1.0, 1.05 * most, 400)
        for place, (name, row) in enumerate(ratios.items()):
            look = series_style(standings.strategies.index(name)) if place < COLOURED else GREY
            label = name if place < COLOURED else None
            axes.step(factors, profile(row, factors), where="post", label=label, **look)
        axes.set(title=group, xscale="log", xlabel="times the samples of the best", ylim=(0, 1.03))
        ticks = [each for each in (1, 1.2, 1.5, 2, 3, 4, 5, 6) if each <= factors[-1]]
        axes.set_xticks(ticks, [f"{each:g}" for each in ticks], minor=False)
        axes.set_xticks([], minor=True)
        axes.legend(loc="lower right", fontsize=7.5)
    for axes in grid[:, 0]:
        axes.set_ylabel("share of instances")
    return figure


def _sparse(value: float, place: int | None) -> str:
    """Labels between powers of ten: not all of them."""
    return f"{value:,.0f}" if f"{value:.0e}"[0] in "235" else ""


@looked
def draw_ranking(standings: Standings, instance: LeagueInstance) -> Any:
    """At one delta: a row for each strategy with the first rule, the best one on top."""
    mine = [line for line in standings.of(instance.name) if line.column == standings.columns[0]]
    mine.sort(key=lambda line: -line.summary.mean)
    figure, axes = canvas(7.2, 0.9 + 0.17 * len(mine))
    for place, line in enumerate(mine):
        near = len(mine) - place <= COLOURED
        look = marker_style(standings.strategies.index(line.strategy)) if near else GREY
        bar = 2.0 * line.summary.standard_error
        axes.errorbar(line.summary.mean, place, xerr=bar, capsize=2, **{"marker": "o", **look})
    bound = standings.bounds[instance.name, standings.deltas[0]]
    axes.axvline(bound, color="0.35", linestyle=":")
    axes.set(xlabel="mean samples", xscale="log")
    axes.set_yticks(range(len(mine)), [line.strategy for line in mine], fontsize=7.5)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    low, high = axes.get_xlim()
    axes.xaxis.set_minor_formatter(_sparse if high < 30.0 * low else "")
    return figure


@looked
def draw_growth(standings: Standings, instance: LeagueInstance) -> Any:
    """Samples against delta, a line for each strategy with the first rule."""
    figure, axes = canvas(7.2, 3.4)
    mine = [line for line in standings.of(instance.name) if line.column == standings.columns[0]]
    order = sorted(mine, key=lambda line: (line.summary.delta, line.rank))
    names = list(dict.fromkeys(line.strategy for line in order))
    for place, name in enumerate(names):
        rows = [line.summary for line in mine if line.strategy == name]
        logs = [math.log(1.0 / row.delta) for row in rows]
        bars = [2.0 * row.standard_error for row in rows]
        look = marker_style(standings.strategies.index(name)) if place < COLOURED else GREY
        label = name if place < COLOURED else None
        axes.errorbar(logs, [row.mean for row in rows], yerr=bars, capsize=2, label=label, **look)
    deltas = standings.deltas
    bounds = [standings.bounds[instance.name, delta] for delta in deltas]
    logs = [math.log(1.0 / delta) for delta in deltas]
    axes.plot(logs, bounds, color="0.35", linestyle=":", label="lower bound")
    axes.set(xlabel="delta", ylabel="mean samples", yscale="log")
    axes.set_xticks(logs, [f"{delta:g}" for delta in deltas])
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_minor_formatter(_sparse)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8)
    return figure
