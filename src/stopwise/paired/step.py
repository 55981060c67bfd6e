"""One item: its results are entered pair by pair, arms are settled, and it may be decided.

Equations: docs/paired.md. Everything runs compiled and in plain Python with the same digits.
"""

from __future__ import annotations

import math

from stopwise.core.arrays import Floats, Ints
from stopwise.core.verbs import jitable
from stopwise.paired.comparison import NOBODY, Comparison, State
from stopwise.paired.differences import Stream, bet_on, ends, evidence, undo_bet
from stopwise.paired.settle import decided, is_open, leader, settle


@jitable
def absorb(what: Comparison, state: State, row: Floats) -> bool:
    """Enter the next item, nan for an arm without a result; whether it is decided now."""
    enter(what, state, row)
    settle(what, state)
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
def absorb_missing(
    what: Comparison, state: State, row: Floats, gone: Ints, low: float, high: float
) -> bool:
    """Enter the next item, on which results that are ``gone`` count as the worst that they could be.

    For a pair's claim, that i is better, that is the ``low`` end for i and the ``high`` one for j.
    """
    for i in range(what.arms):
        for j in range(what.arms):
            if _concerns(what, state, gone, i, j):
                state.missing[i, j] += 1.0
                _bet_worst(what, state, i, j, worst_difference(row[i], row[j], low, high), 1)
                _weigh(what, state, i, j)
    return absorb(what, state, row)


@jitable
def find(
    what: Comparison,
    state: State,
    row: Floats,
    gone: Ints,
    arm: int,
    value: float,
    ends: tuple[float, float],
) -> bool:
    """A missing result of an item that counts has come; whether it is decided now."""
    low, high = ends
    before = row[arm]  # nan
    for i in range(what.arms):
        for j in range(what.arms):
            if (i == arm or j == arm) and _concerns(what, state, gone, i, j):
                _bet_worst(what, state, i, j, worst_difference(row[i], row[j], low, high), -1)
                row[arm] = value
                x = worst_difference(row[i], row[j], low, high)
                both = not (math.isnan(row[i]) or math.isnan(row[j]))
                row[arm] = before
                if both:
                    state.missing[i, j] -= 1.0
                    _enter(what, state, i, j, x)
                else:
                    _bet_worst(what, state, i, j, x, 1)
                    _weigh(what, state, i, j)
    row[arm] = value
    gone[arm] = 0
    if is_open(state, arm):
        state.used[arm] += 1
        state.totals[arm] += value
    settle(what, state)
    return decided(what, state)


@jitable
def leave_out(
    what: Comparison, state: State, row: Floats, gone: Ints, ends: tuple[float, float]
) -> None:
    """Results that are gone do not count as the worst any more: the item is left out of their pairs."""
    low, high = ends
    for i in range(what.arms):
        for j in range(what.arms):
            if _concerns(what, state, gone, i, j):
                state.missing[i, j] -= 1.0
                _bet_worst(what, state, i, j, worst_difference(row[i], row[j], low, high), -1)
                _weigh(what, state, i, j)


@jitable
def worst_difference(first: float, second: float, low: float, high: float) -> float:
    """The least that first - second can be, where nan is not known."""
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
            bet_on(what.kind, stream, x, what.margins[m], 0)
        else:
            undo_bet(what.kind, stream, x, what.margins[m])


@jitable
def _compared(what: Comparison, i: int, j: int) -> bool:
    """Whether a pair matters: all do, or those with the control."""
    return i != j and (what.control == NOBODY or what.control == i or what.control == j)


@jitable
def _enter(what: Comparison, state: State, i: int, j: int, x: float) -> None:
    """One more difference of a pair: its bets and moments (Welford's update), then its evidence."""
    count, mean, squares = state.counts[i, j], state.means[i, j], state.squares[i, j]
    for m in range(what.margins.size):
        before = Stream(state.bets[m, i, j], count, mean, squares)
        bet_on(what.kind, before, x, what.margins[m], what.pool)
    off = x - mean
    mean += off / (count + 1.0)
    squares += off * (x - mean)
    state.counts[i, j], state.means[i, j], state.squares[i, j] = count + 1.0, mean, squares
    state.equal[i, j] += x == 0.0
    _weigh(what, state, i, j)


@jitable
def _weigh(what: Comparison, state: State, i: int, j: int) -> None:
    """The evidence of a pair; none while a result is missing that nothing bounds."""
    known = state.missing[i, j] == 0.0 or not math.isinf(ends(what.kind, 1)[0])
    count, mean, squares = state.counts[i, j], state.means[i, j], state.squares[i, j]
    for m in range(what.margins.size):
        now = Stream(state.bets[m, i, j], count, mean, squares)
        found = evidence(what.kind, now, what.margins[m], what.pool) if known else 0.0
        state.evidence[m, i, j] = found
        if found >= what.level and state.items[0] >= what.minimum:
            state.passed[m, i, j] = 1


@jitable
def everyone(what: Comparison, state: State, asked: Ints) -> None:
    """All arms that are in get the next item."""
    for k in range(what.arms):
        asked[k] = 1 if is_open(state, k) else 0


@jitable
def duel(what: Comparison, state: State, asked: Ints) -> None:
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
