"""Trackers turn a sequence of target weights into arms (Garivier & Kaufmann 2016, Section 3.1).

C-tracking follows the *sum* of the targets, each projected on the weights of at least epsilon_t:
its proportions converge to the hull of what it tracks. D-tracking follows the *current* target
and explores arms that lag behind sqrt(t) - K/2: with targets that keep jumping it may leave that hull.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from stopwise.checks import Floats
from stopwise.errors import MissingVerb
from stopwise.values import value
from stopwise.verbs import jitable, verb


@verb
def follow(tracker: Any, target: Floats, counts: Floats, totals: Floats, rounds: int) -> int:
    """The next arm, given counts N_t after ``rounds`` samples; ``totals`` is the tracker's memory."""
    raise MissingVerb("follow", tracker)


@value
class CTracking(NamedTuple):
    """Cumulative tracking: the floor of its projection explores every arm often enough."""


@value
class DTracking(NamedTuple):
    """Direct tracking, without exploration of its own."""


@value
class Explored(NamedTuple):
    """Any tracker with forced exploration: first an arm with N_k <= sqrt(t) - K/2, if there is one."""

    tracker: Any


@jitable
def floor_weights(target: Floats, floor: float, out: Floats) -> None:
    """The closest weights in sup norm with every w_k >= floor (floor <= 1/K).

    Arms below the floor are raised to it. The mass comes from the others in equal parts c, as
    far as each can give: w_k = max(target_k - c, floor). Any unequal cut would have a larger part.
    """
    lacking = 0.0
    for k in range(target.size):
        lacking += max(floor - target[k], 0.0)
    cut = 0.0
    for _ in range(target.size):  # each pass drops arms that cannot give their part: at most K
        given, givers = 0.0, 0
        for k in range(target.size):
            room = target[k] - floor
            if room > cut:
                givers += 1
            elif room > 0.0:
                given += room
        new = (lacking - given) / givers if givers > 0 else cut
        if new <= cut:
            break
        cut = new
    for k in range(target.size):
        out[k] = max(target[k] - cut, floor)


@jitable
def most_behind(totals: Floats, counts: Floats) -> int:
    """argmax_k totals_k - N_k, the first of equals."""
    best, arm = -math.inf, 0
    for k in range(counts.size):
        behind = totals[k] - counts[k]
        if behind > best:
            best, arm = behind, k
    return arm


@follow.register(CTracking)
def _follow_sum(
    tracker: CTracking, target: Floats, counts: Floats, totals: Floats, rounds: int
) -> int:
    arms = counts.size
    floor = 0.5 / math.sqrt(arms * arms + rounds)  # epsilon_t of the tracking lemma
    share = target.copy()
    floor_weights(target, floor, share)
    for k in range(arms):
        totals[k] += share[k]
    return most_behind(totals, counts)


@follow.register(DTracking)
def _follow_target(
    tracker: DTracking, target: Floats, counts: Floats, totals: Floats, rounds: int
) -> int:
    for k in range(counts.size):
        totals[k] = rounds * target[k]
    return most_behind(totals, counts)


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
