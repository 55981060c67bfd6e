"""Where D does not screen: the wealth of a weak cell, kept up to date sample by sample.

log M(c) at any one c is at least the minimum. So the c at which a cell was last found weak is watched:
one more sample multiplies each bet at c by a known factor, and as long as log M(c) is below the level
nothing else needs to be computed. This changes no result.
"""

from __future__ import annotations

import math
from typing import Any

from stopwise.cells.gap import meeting_point
from stopwise.cells.shape import GAP, Shape
from stopwise.core.arrays import Floats
from stopwise.core.data import Data
from stopwise.core.verbs import jitable
from stopwise.families.verbs import factor, of_arm, space
from stopwise.problems.verbs import Code
from stopwise.stopping.bets import BOTH, log_mixed
from stopwise.stopping.purse import (
    ARM,
    KEEPS,
    NOBODY,
    OTHER,
    OTHER_PLACE,
    PLACE,
    SIDE_UP,
    SimpleWatchedPurse,
    WatchedPurse,
    enter,
    is_of,
    keep,
    start,
    still_weak,
)

OURS = (WatchedPurse, SimpleWatchedPurse)


def _keep(purse: Any, data: Data, what: Shape, value: float, c: float, other_c: float) -> None:
    """The bets' log wealth at c, as they have just been computed."""
    if purse.marks[KEEPS] == 0:
        return
    purse.marks[ARM], purse.marks[OTHER] = what.arm, what.other
    purse.weak[PLACE], purse.weak[OTHER_PLACE] = c, other_c
    purse.weak[SIDE_UP] = 1.0 if what.kind == GAP or what.side < 0.0 else -1.0
    for q in range(purse.gaps.size):
        purse.watched[q, 0], purse.watched[q, 1] = purse.above[q, 0], purse.below[q, 0]


def _enter(purse: Any, family: Any, arm: int, sample: float) -> None:
    if purse.marks[ARM] == NOBODY:
        return
    side = purse.weak[SIDE_UP]
    if arm == purse.marks[ARM]:
        own, c = of_arm(family, arm), purse.weak[PLACE]
        for q in range(purse.gaps.size):
            purse.watched[q, 0] += factor(own, side, sample, c, purse.gaps[q])
    elif arm == purse.marks[OTHER]:
        own, c = of_arm(family, arm), purse.weak[OTHER_PLACE]
        for q in range(purse.gaps.size):
            purse.watched[q, 1] += factor(own, -side, sample, c, purse.gaps[q])


def _still_weak(purse: Any, family: Any, data: Data, code: Code) -> float:
    """log M(c) at the watched c, infinite if that is not of this answer's alternative."""
    if not is_of(purse, code):
        return math.inf
    table = purse.watched
    top, own = _largest(table, 0), _largest(table, 1)
    if purse.marks[OTHER] == purse.marks[ARM]:
        return log_mixed(table, top, purse)
    return _mixed_pair(table, max(top, 0.0), max(own, 0.0), purse)


@jitable
def _largest(table: Floats, column: int) -> float:
    found = -math.inf
    for q in range(table.shape[0]):
        found = max(found, table[q, column])
    return found


@jitable
def _mixed_pair(table: Floats, top: float, own: float, purse: Any) -> float:
    """``log_pair`` from what the bets have made."""
    pair = one = x = y = 0.0
    idle, other_idle = math.exp(-top), math.exp(-own)
    for q in range(purse.gaps.size):
        a, b = math.exp(table[q, 0] - top), math.exp(table[q, 1] - own)
        one += purse.weights[q] * (a * other_idle + b * idle)
        a, b = purse.roots[q] * a, purse.roots[q] * b
        pair += a * (b + y) + x * b
        x, y = purse.alike * (x + a), purse.alike * (y + b)
    return top + own + math.log(BOTH * pair + 0.5 * (1.0 - BOTH) * one)


def _start(purse: Any, family: Any, data: Data, what: Shape) -> float:
    """The meeting point of arms with estimated variances, which may lie outside the interval."""
    low, high = space(family)
    c = meeting_point(family, data, what.arm, what.other, what.limit)
    edge = 1e-9 * (high - low - what.limit)
    return min(max(c, low + edge), high - what.limit - edge)


for _kind in OURS:
    keep.register(_kind)(_keep)
    enter.register(_kind)(_enter)
    still_weak.register(_kind)(_still_weak)
    start.register(_kind)(_start)
