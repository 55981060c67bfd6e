"""One item: its results are entered pair by pair, the arms' status is updated, and it may be decided.

Equations: docs/paired.md. Everything runs compiled and in plain Python with the same digits.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from stopwise.core.arrays import Floats, Ints, Rng, moments_with
from stopwise.core.functions import jitable
from stopwise.paired.comparison import NOBODY, Comparison, State
from stopwise.paired.differences import Stream
from stopwise.paired.status import decided, is_open, leader, update_status


class Incomplete(NamedTuple):
    """An item that counts although results are missing."""

    row: Floats  # nan: not known
    gone: Ints  # 1 for each arm whose result is missing


@jitable
def count_item(what: Comparison, state: State, row: Floats) -> bool:
    """Enter the next item, nan for an arm without a result; whether it is decided now."""
    enter(what, state, row)
    update_status(what, state)
    return decided(what, state)


@jitable
def enter(what: Comparison, state: State, row: Floats) -> None:
    """The results of the next item, pair by pair."""
    state.items[0] += 1
    for i in range(what.arms):
        if is_open(state, i) and not math.isnan(row[i]):
            state.used[i] += 1
            state.totals[i] += row[i]
            for j in range(what.arms):
                if _compared(what, i, j) and is_open(state, j) and not math.isnan(row[j]):
                    _enter(what, state, i, j, row[i] - row[j])


@jitable
def count_incomplete(
    what: Comparison, state: State, item: Incomplete, ends: tuple[float, float]
) -> bool:
    """Enter the next item, on which results that are gone count as the worst that they could be.

    For a pair's claim, that i is better, that is the low end for i and the high one for j.
    """
    _bet_on_missing(what, state, item, ends, 1)
    return count_item(what, state, item.row)


@jitable
def leave_out(what: Comparison, state: State, item: Incomplete, ends: tuple[float, float]) -> None:
    """Results that are gone do not count as the worst any more: the item is left out of their pairs."""
    _bet_on_missing(what, state, item, ends, -1)


@jitable
def _bet_on_missing(
    what: Comparison, state: State, item: Incomplete, ends: tuple[float, float], sign: int
) -> None:
    """Bet on every pair of the item that lacks a result, or take that back (``sign`` -1)."""
    row, gone = item
    for i in range(what.arms):
        for j in range(what.arms):
            if _concerns(what, state, gone, i, j):
                state.missing[i, j] += 1.0 * sign
                _bet_worst(what, state, i, j, worst_difference(row[i], row[j], ends), sign)
                _update_evidence(what, state, i, j)


@jitable
def enter_late(
    what: Comparison,
    state: State,
    item: Incomplete,
    arm: int,
    value: float,
    ends: tuple[float, float],
) -> bool:
    """A missing result of an item that counts has come; whether it is decided now."""
    row, gone = item
    before = row[arm]  # nan
    for i in range(what.arms):
        for j in range(what.arms):
            if (i == arm or j == arm) and _concerns(what, state, gone, i, j):
                _bet_worst(what, state, i, j, worst_difference(row[i], row[j], ends), -1)
                row[arm] = value
                x = worst_difference(row[i], row[j], ends)
                both = not (math.isnan(row[i]) or math.isnan(row[j]))
                row[arm] = before
                if both:
                    state.missing[i, j] -= 1.0
                    _enter(what, state, i, j, x)
                else:
                    _bet_worst(what, state, i, j, x, 1)
                    _update_evidence(what, state, i, j)
    row[arm] = value
    gone[arm] = 0
    if is_open(state, arm):
        state.used[arm] += 1
        state.totals[arm] += value
    update_status(what, state)
    return decided(what, state)


@jitable
def worst_difference(first: float, second: float, ends: tuple[float, float]) -> float:
    """The least that first - second can be, where nan is not known, between the ends."""
    low, high = ends
    return (low if math.isnan(first) else first) - (high if math.isnan(second) else second)


@jitable
def _concerns(what: Comparison, state: State, gone: Ints, i: int, j: int) -> bool:
    """Whether a result is gone that has to do with an open pair."""
    lacks = gone[i] == 1 or gone[j] == 1
    return lacks and _compared(what, i, j) and is_open(state, i) and is_open(state, j)


@jitable
def _bet_worst(what: Comparison, state: State, i: int, j: int, x: float, sign: int) -> None:
    """Bet on a difference that is not known, or take that back (``sign`` -1)."""
    if math.isinf(x):
        return  # nothing bounds it: while it is missing there is no evidence
    for m in range(what.margins.size):
        stream = Stream(state.bets[m, i, j], 0.0, 0.0, 0.0)
        if sign > 0:
            what.kind.bet_on(stream, x, what.margins[m], 0)
        else:
            what.kind.undo_bet(stream, x, what.margins[m])


@jitable
def _compared(what: Comparison, i: int, j: int) -> bool:
    """Whether a pair matters: all do, or those with the control."""
    return i != j and (what.control == NOBODY or what.control == i or what.control == j)


@jitable
def _enter(what: Comparison, state: State, i: int, j: int, x: float) -> None:
    """One more difference of a pair: its bets and moments, then its evidence."""
    count, mean, squares = state.counts[i, j], state.means[i, j], state.squares[i, j]
    for m in range(what.margins.size):
        before = Stream(state.bets[m, i, j], count, mean, squares)
        what.kind.bet_on(before, x, what.margins[m], what.pool)
    mean, squares = moments_with(count + 1.0, mean, squares, x)
    state.counts[i, j], state.means[i, j], state.squares[i, j] = count + 1.0, mean, squares
    state.equal[i, j] += x == 0.0
    _update_evidence(what, state, i, j)


@jitable
def _update_evidence(what: Comparison, state: State, i: int, j: int) -> None:
    """The evidence of a pair; none while a result is missing that nothing bounds."""
    known = state.missing[i, j] == 0.0 or not math.isinf(what.kind.ends(1)[0])
    count, mean, squares = state.counts[i, j], state.means[i, j], state.squares[i, j]
    for m in range(what.margins.size):
        now = Stream(state.bets[m, i, j], count, mean, squares)
        found = what.kind.evidence(now, what.margins[m], what.pool) if known else 0.0
        state.evidence[m, i, j] = found
        if found >= what.level and state.items[0] >= what.minimum:
            state.passed[m, i, j] = 1


@jitable
def ask_all(what: Comparison, state: State, asked: Ints) -> None:
    """All arms that are in get the next item."""
    for k in range(what.arms):
        asked[k] = 1 if is_open(state, k) else 0


@jitable
def ask_two(what: Comparison, state: State, asked: Ints) -> None:
    """The leader and the arm that it has least evidence against; not for pools: docs/paired.md."""
    first = leader(what, state)[0]
    rival, least, last = NOBODY, math.inf, what.margins.size - 1
    for k in range(what.arms):
        asked[k] = 0
        if k != first and is_open(state, k) and state.evidence[last, first, k] < least:
            rival, least = k, state.evidence[last, first, k]
    asked[first] = 1
    if rival != NOBODY:
        asked[rival] = 1


class Table(NamedTuple):
    """The items of simulated comparisons, and room for one run."""

    results: Floats  # a row an item, a column an arm
    order: Ints  # the rows; fixed results are shuffled in it
    row: Floats  # the results of one item
    asked: Ints  # 1 for each arm that gets it


def run_items(
    what: Comparison, state: State, table: Table, rng: Rng, duels: bool, max_items: int
) -> bool:
    """One simulated comparison, from its first item to its answer; whether it is decided."""
    size, order, asked = table.results.shape[0], table.order, table.asked
    for _ in range(max_items):
        done = state.items[0]
        place = int(rng.random() * (size - done if what.kind.fixed else size))
        if what.kind.fixed:  # the next of a shuffle
            place += done
            order[done], order[place] = order[place], order[done]
            place = done
        if duels and done > 0:
            ask_two(what, state, asked)
        else:
            ask_all(what, state, asked)
        for k in range(what.arms):
            table.row[k] = table.results[order[place], k] if asked[k] else math.nan
        if count_item(what, state, table.row):
            return True
    return False
