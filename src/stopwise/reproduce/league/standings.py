"""What the league shows: rows with ranks, ratios to the best, and profiles. Nothing is drawn here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stopwise.core.arrays import Floats
from stopwise.core.tables import plain, text_table
from stopwise.oracles.quantities import lower_bound, oracle
from stopwise.reproduce.league.entries import Entry, LeagueInstance
from stopwise.studies.results import Results, Row

OWN = "own rule"


@dataclass(frozen=True)
class Line:
    """One strategy and stopping rule on one instance, at one delta."""

    instance: LeagueInstance
    strategy: str
    stopping: str
    column: str  # the rule, or that it is the strategy's own: ranks compare within it
    proven: bool
    summary: Row
    nanoseconds: float  # a round
    ratio: float  # to the fewest samples on this instance, with this rule and delta
    rank: int

    def table_row(self) -> list[str]:
        """As text."""
        row = self.summary
        low, high = row.error_interval
        return [
            str(self.rank),
            self.strategy,
            self.stopping,
            f"{row.delta:g}",
            f"{row.mean:,.0f} ± {row.standard_error:,.0f}",
            f"{self.ratio:.2f}",
            f"{row.error_rate:.3g} ({low:.2g} to {high:.2g})",
            str(row.undecided) if row.undecided else "",
            f"{self.nanoseconds:,.0f}",
        ]


HEADER = [
    *("rank", "strategy", "stopping", "delta", "samples", "times the fewest", "error rate (95 %)"),
    *("undecided", "ns a round"),
]


@dataclass(frozen=True)
class Standings:
    """Every line, and for each instance its lower bounds by delta."""

    lines: tuple[Line, ...]
    deltas: tuple[float, ...]
    times: dict[str, float]  # T* of each instance
    bounds: dict[
        tuple[str, float], float
    ]  # samples that every delta-correct method needs, by delta

    @property
    def instances(self) -> list[LeagueInstance]:
        """In order."""
        return list({line.instance.name: line.instance for line in self.lines}.values())

    @property
    def groups(self) -> list[str]:
        """In order."""
        return list(dict.fromkeys(each.group for each in self.instances))

    @property
    def columns(self) -> list[str]:
        """The stopping rules, in order."""
        return list(dict.fromkeys(line.column for line in self.lines))

    @property
    def strategies(self) -> list[str]:
        """In order."""
        return list(dict.fromkeys(line.strategy for line in self.lines))

    def of(self, instance: str) -> list[Line]:
        """One instance's lines, by rule, delta and rank."""
        order = {name: place for place, name in enumerate(self.columns)}
        mine = [line for line in self.lines if line.instance.name == instance]
        return sorted(mine, key=lambda line: (order[line.column], -line.summary.delta, line.rank))

    def ratios(self, group: str, column: str, delta: float) -> dict[str, list[float]]:
        """Each strategy's ratios to the fewest samples on the group's instances; nan: not entered."""
        names = [each.name for each in self.instances if each.group == group]
        found: dict[str, list[float]] = {}
        for line in self.lines:
            mine = (line.column, line.summary.delta) == (column, delta)
            if mine and line.instance.group == group:
                row = found.setdefault(line.strategy, [math.nan] * len(names))
                row[names.index(line.instance.name)] = line.ratio
        return dict(sorted(found.items(), key=lambda item: overall(item[1])))

    def summary(
        self, group: str, column: str, delta: float
    ) -> tuple[list[str], list[list[Line | None]], list[float]]:
        """Strategies, best first; for each a line for every instance, and its mean ratio to the best."""
        names = [each.name for each in self.instances if each.group == group]
        table = {
            (line.strategy, line.instance.name): line
            for line in self.lines
            if (line.column, line.summary.delta) == (column, delta)
        }
        ratios = self.ratios(group, column, delta)
        rows = [[table.get((strategy, name)) for name in names] for strategy in ratios]
        return list(ratios), rows, [overall(each) for each in ratios.values()]

    def to_dict(self) -> list[dict[str, Any]]:
        """Plain Python values, a row a line."""
        return [
            plain(
                {
                    **vars(line),
                    **vars(line.summary),
                    "instance": line.instance.name,
                    "summary": None,
                }
            )
            for line in self.lines
        ]

    def __repr__(self) -> str:
        return text_table(HEADER, [line.table_row() for line in self.lines])


def overall(ratios: Sequence[float]) -> float:
    """The geometric mean of a strategy's ratios; where it did not enter everything, it comes last."""
    values = np.array(ratios)
    if np.isnan(values).any():
        return math.inf
    return float(np.exp(np.log(values).mean()))


def profile(ratios: Sequence[float], factors: Floats) -> Floats:
    """The share of instances on which a strategy is within each factor of the best."""
    values = np.where(np.isnan(ratios), np.inf, ratios)
    return np.array([(values <= factor).mean() for factor in factors])


def standings(
    found: Sequence[tuple[Entry, list[tuple[Results, float]]]], deltas: tuple[float, ...]
) -> Standings:
    """Rows of all entries, ranked by their mean on each instance, with each rule and delta."""
    rows = [
        (entry, results.proven, row, pace)
        for entry, parts in found
        for results, pace in parts
        for row in results.summary()
    ]
    table: dict[Any, list[float]] = {}
    for entry, _, row, _ in rows:
        table.setdefault(_place(entry, row), []).append(row.mean)
    lines = [
        Line(
            entry.instance,
            entry.strategy[0],
            entry.stopping[0],
            _place(entry, row)[1],
            proven,
            row,
            pace,
            row.mean / min(table[_place(entry, row)]),
            1 + sum(mean < row.mean for mean in table[_place(entry, row)]),
        )
        for entry, proven, row, pace in rows
    ]
    unique = {entry.instance.name: entry.instance for entry, _ in found}
    times = {
        name: oracle(each.problem, each.means, family=each.family).time
        for name, each in unique.items()
    }
    bounds = {
        (name, delta): lower_bound(each.problem, each.means, family=each.family, delta=delta)
        for name, each in unique.items()
        for delta in deltas
    }
    return Standings(tuple(lines), deltas, times, bounds)


def _place(entry: Entry, row: Row) -> tuple[str, str, float]:
    return entry.instance.name, OWN if entry.own else entry.stopping[0], row.delta
