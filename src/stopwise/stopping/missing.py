"""Wealth where values are missing: each counts as the worst that it could be.

Wealth rises in every value of an arm that is claimed to be larger, and falls in every value of one that
is claimed to be smaller. So the wealth with each missing value at the end of the range that speaks most
against the claim is at most the wealth with the value that nobody knows yet. Proof: docs/missing.md.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from stopwise.cells.shape import ANY, GAP, SIDE, Shape
from stopwise.core.arrays import Floats, assign, copied
from stopwise.core.data import Data, State
from stopwise.core.verbs import jitable, verb
from stopwise.families.verbs import add_at_end, restore_end, seen, space
from stopwise.problems.rounds import judged
from stopwise.problems.verbs import Code, shape
from stopwise.stopping.bets import simple_wealth
from stopwise.stopping.intervals import Intervals, mean_intervals
from stopwise.stopping.purse import KEEPS, Purse


class WorstCase(NamedTuple):
    """What Wealth keeps, and how many values of each arm are missing."""

    purse: Any
    missing: Floats


@judged.register(WorstCase)
def _judged(
    judge: WorstCase, problem: Any, family: Any, data: Data, code: Code, cell: int, enough: float
) -> float:
    what = shape(problem, code, cell)
    if not _concerned(judge, what):
        return judged(judge.purse, problem, family, data, code, cell, enough)
    if what.kind == ANY or judge.purse.marks[KEEPS] == 0:
        return 0.0
    value = worst_wealth(judge.purse, family, data, judge.missing, what, enough)
    return value if not value <= 0.0 else 0.0  # evidence is not negative


@jitable
def _concerned(judge: WorstCase, what: Shape) -> bool:
    """Whether a value is missing of an arm that the cell constrains.

    In parts of a product arms have other numbers: there every missing value concerns every cell.
    """
    apart = judge.purse.marks[KEEPS] == 0 or what.kind == ANY
    for k in range(judge.missing.size):
        if judge.missing[k] > 0.0 and (apart or _constrains(what, k)):
            return True
    return False


@verb
def worst_wealth(
    purse: Any, family: Any, data: Data, missing: Floats, what: Shape, enough: float
) -> float:
    """The log wealth against a simple cell, with missing values at their worst.

    By default, and where nothing bounds a missing value, 0: the t wealth is not monotone in a value.
    """
    return 0.0


@worst_wealth.register(Purse)
def _worst_wealth(
    purse: Any, family: Any, data: Data, missing: Floats, what: Shape, enough: float
) -> float:
    if purse.gaps.size == 0 or not _bounded(family, missing, what):
        return 0.0
    filled = Data(purse.counts, purse.closest)
    assign(filled.counts, data.counts)
    assign(filled.means, data.means)
    for k in range(missing.size):
        if missing[k] > 0.0 and _constrains(what, k):
            total = data.counts[k] * data.means[k] + missing[k] * _worst(family, what, k)
            filled.counts[k] = data.counts[k] + missing[k]
            filled.means[k] = total / filled.counts[k]
            purse.lost[k] = add_at_end(family, k, missing[k], _worst_is_high(what, k))
    purse.marks[KEEPS] = 0  # nothing of this is remembered
    value = simple_wealth(family, filled, what, purse, enough)
    purse.marks[KEEPS] = 1
    for k in range(missing.size):
        if missing[k] > 0.0 and _constrains(what, k):
            restore_end(family, k, _worst_is_high(what, k), purse.lost[k])
    return value


@jitable
def _bounded(family: Any, missing: Floats, what: Shape) -> bool:
    """Whether every missing value has a worst one."""
    for k in range(missing.size):
        if missing[k] > 0.0 and _constrains(what, k) and math.isinf(_worst(family, what, k)):
            return False
    return True


@jitable
def _constrains(what: Shape, arm: int) -> bool:
    return what.kind == SIDE or arm == what.arm or arm == what.other


@jitable
def _worst(family: Any, what: Shape, arm: int) -> float:
    low, high = space(family)
    return float(high) if _worst_is_high(what, arm) else float(low)


@jitable
def _worst_is_high(what: Shape, arm: int) -> bool:
    """Whether the claim, that the cell is wrong, is that the arm's mean is small."""
    if what.kind == GAP:  # the cell: the other arm's mean is at least as large
        return arm == what.other
    return what.side > 0.0  # the cell: means of at least the limit


def worst_intervals(
    family: Any, state: State, missing: Floats, delta: float, room: int = 0
) -> Intervals:
    """Intervals of the means, whatever the missing values are: from all low, to all high.

    ``family`` is the one that the samples are from. The interval's lower end is where W+ + W- reaches
    2/a. With all missing values low W+ is at most what it is, and W- at most 1 below the mean: so there
    the sum has to reach 2/a + 1 (docs/missing.md).
    """
    found = mean_intervals(seen(family, state.record), state, delta, room)
    if not missing.any():
        return found
    events = max(missing.size, room)
    careful = events / (events / delta + 0.5)
    ends = space(seen(family, state.record))
    low, high = (_filled(family, state, missing, end, careful, room) for end in ends)
    return Intervals(np.minimum(found.low, low.low), np.maximum(found.high, high.high))


def _filled(
    family: Any, state: State, missing: Floats, end: float, delta: float, room: int
) -> Intervals:
    """Intervals with the missing values at one end; the whole space where that is infinite."""
    whole = copied(state)
    view, gone = seen(family, whole.record), missing > 0.0
    low, high = space(view)
    if math.isfinite(end):
        for k in np.flatnonzero(gone):
            add_at_end(view, int(k), missing[k], end == high)
        whole.data.means[:] = whole.data.counts * whole.data.means + missing * end
        whole.data.counts[:] += missing
        whole.data.means[:] /= np.maximum(whole.data.counts, 1.0)
    found = mean_intervals(view, whole, delta, room)
    if math.isfinite(end):
        return found
    return Intervals(np.where(gone, low, found.low), np.where(gone, high, found.high))
