"""One item: its results are entered pair by pair, arms are put out, and it may be decided.

Equations: docs/paired.md. Everything runs compiled and in plain Python with the same digits.
"""

from __future__ import annotations

import math

from stopwise.core.arrays import Floats, Ints
from stopwise.core.verbs import jitable
from stopwise.paired.comparison import IN, Comparison, State
from stopwise.paired.differences import Stream, bet_on, evidence

NOBODY = -1


@jitable
def absorb(what: Comparison, state: State, row: Floats) -> bool:
    """Enter the next item, nan for an arm without a result; whether it is decided now."""
    state.items[0] += 1
    for i in range(what.arms):
        if state.out[i] == IN and not math.isnan(row[i]):
            state.used[i] += 1
            for j in range(what.arms):
                if j != i and state.out[j] == IN and not math.isnan(row[j]):
                    _enter(what, state, i, j, row[i] - row[j])
    _put_out(what, state)
    return decided(what, state)


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
    for m in range(what.margins.size):
        now = Stream(state.bets[m, i, j], count + 1.0, mean, squares)
        found = evidence(what.kind, now, what.margins[m], what.pool)
        state.evidence[m, i, j] = found
        if found >= what.level and state.items[0] >= what.minimum:
            state.passed[m, i, j] = 1


@jitable
def _put_out(what: Comparison, state: State) -> None:
    """Arms that are proven to be worse than one that is in; the clearest first, one always stays."""
    while True:
        best, by, worse = -math.inf, NOBODY, NOBODY
        for i in range(what.arms):
            for j in range(what.arms):
                both = i != j and state.out[i] == IN and state.out[j] == IN
                if both and state.passed[0, i, j] and state.evidence[0, i, j] > best:
                    best, by, worse = state.evidence[0, i, j], i, j
        if worse == NOBODY:
            return
        state.out[worse], state.out_by[worse] = state.items[0], by


@jitable
def decided(what: Comparison, state: State) -> bool:
    """Whether there is an answer."""
    if what.pool > 0 and state.items[0] >= what.pool:
        return True
    if not what.ties:
        return leader(what, state)[1]
    last, all_near = what.margins.size - 1, True
    for i in range(what.arms):
        for j in range(what.arms):
            if i != j and state.out[i] == IN and state.out[j] == IN:
                all_near = all_near and state.passed[last, i, j] == 1
    return all_near


@jitable
def leader(what: Comparison, state: State) -> tuple[int, bool]:
    """The arm that the others in come least close to beating by epsilon, and whether none can.

    At the end of a pool, and where evidence is equal: the one with the larger differences.
    """
    last, best, found, proven = what.margins.size - 1, -math.inf, NOBODY, False
    highest = -math.inf
    ended = what.pool > 0 and state.items[0] >= what.pool
    for i in range(what.arms):
        if state.out[i] == IN:
            sure, least, ahead = True, math.inf, math.inf
            for j in range(what.arms):
                if i != j and state.out[j] == IN:
                    sure = sure and state.passed[last, i, j] == 1
                    least = min(least, state.evidence[last, i, j])
                    ahead = min(ahead, state.means[i, j])
            if ended:  # all means are known
                least, sure = 0.0, True
            better = sure if sure != proven else (least, ahead) > (best, highest)
            if found == NOBODY or better:
                best, highest, found, proven = least, ahead, i, sure
    return found, proven


@jitable
def everyone(what: Comparison, state: State, asked: Ints) -> None:
    """All arms that are in get the next item."""
    for k in range(what.arms):
        asked[k] = 1 if state.out[k] == IN else 0


@jitable
def duel(what: Comparison, state: State, asked: Ints) -> None:
    """The leader and the arm that it has least evidence against; not for pools: docs/paired.md."""
    first = leader(what, state)[0]
    rival, least, last = NOBODY, math.inf, what.margins.size - 1
    for k in range(what.arms):
        asked[k] = 0
        if k != first and state.out[k] == IN and state.evidence[last, first, k] < least:
            rival, least = k, state.evidence[last, first, k]
    asked[first] = 1
    if rival != NOBODY:
        asked[rival] = 1
