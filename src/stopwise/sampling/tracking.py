"""Trackers turn a sequence of target weights into arms (Garivier & Kaufmann 2016, Section 3.1).

C-tracking follows the *sum* of the targets, each projected on the weights of at least epsilon_t:
its proportions converge to the hull of what it tracks. D-tracking follows the *current* target
and explores arms that lag behind sqrt(t) - K/2: with targets that keep jumping it may leave that hull.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from stopwise.core.arrays import Floats, smallest
from stopwise.core.errors import BadArgument, MissingVerb
from stopwise.core.options import Option
from stopwise.core.values import Empty, Value
from stopwise.core.verbs import jitable, verb

TRACKING = Option({"enum": ["C", "D"]}, "C: the sum of the targets; D: the current target")


@verb(inline=True)
def follow(tracker: Any, target: Floats, counts: Floats, totals: Floats, rounds: int) -> int:
    """The next arm, given counts N_t after ``rounds`` samples.

    ``totals`` is the tracker's memory: K + 1 numbers, zeros at first but for each arm's first sample.
    """
    raise MissingVerb("follow", tracker)


@verb
def recount(tracker: Any, target: Floats, counts: Floats, totals: Floats) -> None:
    """Samples were lost, or came unasked: bring the tracker's memory up to what was taken."""


class CTracking(Empty, Value):
    """Cumulative tracking: the floor of its projection explores every arm often enough."""

    __slots__ = ()


class DTracking(Empty, Value):
    """Direct tracking, without exploration of its own."""

    __slots__ = ()


class _Explored(NamedTuple):
    tracker: Any


class Explored(_Explored, Value):
    """Any tracker with forced exploration: first an arm with N_k <= sqrt(t) - K/2, if there is one."""

    __slots__ = ()


def tracker(tracking: Any) -> Any:
    """ "C": cumulative tracking; "D": direct tracking with forced exploration; or a tracker's value."""
    if isinstance(tracking, str) and tracking in ("C", "D"):
        return CTracking() if tracking == "C" else Explored(DTracking())
    if isinstance(tracking, tuple):
        return tracking
    raise BadArgument("tracking", tracking, '"C", "D" or a tracker')


@jitable(inline=True)
def water_level(target: Floats, floor: float, start: float) -> float:
    """The c with sum_k max(target_k - c, 0) + floor = 1, for a floor of at most 1/K; from a guess.

    These are the closest weights in sup norm with every w_k >= floor: arms below the floor are raised
    to it, and the mass comes from the others in equal parts, as far as each can give. Any unequal
    cut would have a larger part.
    """
    level, goal = max(start, floor), 1.0 - target.size * floor
    for _ in range(target.size + 1):  # Newton on a convex piecewise linear function: K pieces
        above, richer = excess(target, level)
        if richer == 0:
            level = floor
        elif abs(above - goal) <= 1e-14:
            break
        else:
            level += (above - goal) / richer
    return level


@jitable(inline=True)
def excess(target: Floats, level: float) -> tuple[float, int]:
    """sum_k max(target_k - level, 0) and how many arms are above; four sums at a time, for speed."""
    a = b = c = d = 0.0
    count, k = 0, 0
    while k + 3 < target.size:
        a += max(target[k] - level, 0.0)
        b += max(target[k + 1] - level, 0.0)
        c += max(target[k + 2] - level, 0.0)
        d += max(target[k + 3] - level, 0.0)
        k += 4
    while k < target.size:
        a += max(target[k] - level, 0.0)
        k += 1
    for j in range(target.size):
        count += target[j] > level
    return a + b + c + d, count


@follow.register(CTracking)
def _follow_sum(
    tracker: CTracking, target: Floats, counts: Floats, totals: Floats, rounds: int
) -> int:
    arms = counts.size
    floor = 0.5 / math.sqrt(arms * arms + rounds)  # epsilon_t of the tracking lemma
    if smallest(target) >= floor:  # the target is its own projection
        return _add_and_choose(target, 0.0, 0.0, counts, totals)
    level = totals[arms] = water_level(target, floor, totals[arms])
    return _add_and_choose(target, level, floor, counts, totals)


@jitable(inline=True)
def _add_and_choose(
    target: Floats, level: float, floor: float, counts: Floats, totals: Floats
) -> int:
    """Add what is above the level, and the floor; the first of the arms that are furthest behind."""
    best, arm = -math.inf, 0
    for k in range(counts.size):
        totals[k] += max(target[k] - level, 0.0) + floor
        behind = totals[k] - counts[k]
        if behind > best:
            best, arm = behind, k
    return arm


@recount.register(CTracking)
def _recount_sum(tracker: CTracking, target: Floats, counts: Floats, totals: Floats) -> None:
    """The targets must sum to the number of samples.

    Were they ahead after losses, an arm with a small weight would not be asked for until its own
    total is as far ahead as the others': if losses go on, never. Lost samples leave the proportions
    of the targets as they are; unasked ones count as rounds with the present target.
    """
    taken, wanted = 0.0, 0.0
    for k in range(counts.size):
        taken += counts[k]
        wanted += totals[k]
    if abs(taken - wanted) < 0.5:
        return
    for k in range(counts.size):
        if taken < wanted:
            totals[k] *= taken / wanted
        else:
            totals[k] += (taken - wanted) * target[k]


@recount.register(Explored)
def _recount_both(tracker: Explored, target: Floats, counts: Floats, totals: Floats) -> None:
    recount(tracker.tracker, target, counts, totals)


@follow.register(DTracking)
def _follow_target(
    tracker: DTracking, target: Floats, counts: Floats, totals: Floats, rounds: int
) -> int:
    best, arm = -math.inf, 0
    for k in range(counts.size):
        behind = rounds * target[k] - counts[k]
        if behind > best:
            best, arm = behind, k
    return arm


@follow.register(Explored)
def _explore_first(
    tracker: Explored, target: Floats, counts: Floats, totals: Floats, rounds: int
) -> int:
    arm = follow(tracker.tracker, target, counts, totals, rounds)
    least = 0
    for k in range(counts.size):
        if counts[k] < counts[least]:
            least = k
    if counts[least] <= math.sqrt(rounds) - 0.5 * counts.size:
        return least
    return arm
