"""One item: its results are entered pair by pair, arms are settled, and it may be decided.

Equations: docs/paired.md. Everything runs compiled and in plain Python with the same digits.
"""

from __future__ import annotations

import math

from stopwise.core.arrays import Floats, Ints
from stopwise.core.verbs import jitable
from stopwise.paired.comparison import NOBODY, Comparison, State
from stopwise.paired.differences import Stream, bet_on, evidence
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
    for m in range(what.margins.size):
        now = Stream(state.bets[m, i, j], count + 1.0, mean, squares)
        found = evidence(what.kind, now, what.margins[m], what.pool)
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
