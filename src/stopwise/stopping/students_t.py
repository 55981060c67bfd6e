"""Wealth where variances are unknown: bets on each arm's own t statistics.

A bet on one arm is a martingale only to somebody who sees that arm's samples up to their scale. So each
arm is bounded over its whole stack of samples: A = sup_n W(n) has P(A >= a) <= 1/a, arms are
independent, and P(A_1 ... A_m >= e^x) <= e^-x sum_{l<m} x^l/l!. The evidence is minus the logarithm of
such a bound, so that the level is that of all wealth. As A >= 1, less than 1 counts as 1. Proofs:
docs/thresholds.md.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from stopwise.cells.gap import meeting_point
from stopwise.cells.shape import BOUND, GAP, SIDE, Shape
from stopwise.core.arrays import Floats, Ints
from stopwise.core.data import Data
from stopwise.core.errors import NotDefined
from stopwise.core.verbs import jitable, registered
from stopwise.families.students_t import t_bet
from stopwise.families.verbs import Logarithmic, note, of_arm, variance
from stopwise.problems.rounds import judged
from stopwise.problems.verbs import Code, shape, simple
from stopwise.stopping.bets import log_add
from stopwise.stopping.purse import (
    ARM,
    KEEPS,
    MADE,
    NOBODY,
    OTHER,
    check_wealth,
    is_of,
    new_purse,
    place_of,
    purse,
    recall,
    remember,
    still_weak,
)

SLACK = 0.005  # by what the least log wealth of a pair may be underestimated
DEEPEST = 48  # how often an interval is halved for it


class SpreadPurse(NamedTuple):
    """The gaps and their weights, a cell that is known to be weak, and room for one cell."""

    gaps: Floats
    weights: Floats
    bets: Floats  # gap x (log wealth, slope)
    marks: Ints  # as in purse.py
    weak: Floats  # of the weak cell: its kind, its side, and the c at which it was seen to be weak
    answer: Ints  # in whose alternative it is
    ends: Floats  # right ends of the intervals that are still to be bounded
    pairs: Floats  # as in purse.py


KIND, SIDE_OF, PLACE, MARGIN = range(4)


@check_wealth.register(Logarithmic)
def _check(family: Any, problem: Any) -> None:
    if not registered(note, type(family)):
        raise NotDefined(
            f"Wealth with {family!r}: these are somebody's estimates, for oracles. A run makes its own: "
            "family=Gaussian(variance=None), and deviations=[...] for what samples are drawn with."
        )
    if not simple(problem):
        raise NotDefined(
            f"Wealth with {family!r} for {problem!r}: unknown variances are solved for questions whose "
            "cells bound one arm, compare two, or have all arms on one side: BestArm, TopArms, "
            "BetterThan, AnyBetterThan, Thresholding, AnyLowArm, AnySign, MinimumThreshold and products "
            "of them. Give the variances for others."
        )


@purse.register(Logarithmic)
def _spread_purse(family: Any, problem: Any) -> SpreadPurse:
    common = new_purse(problem, family)
    size = common.gaps.size
    room = np.zeros((size, 2)), common.marks, np.zeros(4), common.answer, np.zeros(DEEPEST + 2)
    return SpreadPurse(common.gaps, common.weights, *room, common.pairs)


@judged.register(SpreadPurse)
def _judged(
    purse: SpreadPurse, problem: Any, family: Any, data: Data, code: Code, cell: int, enough: float
) -> float:
    what = shape(problem, code, cell)
    purse.marks[ARM] = NOBODY
    if what.kind == GAP:
        if recall(purse, data, what, enough):
            return float(purse.pairs[place_of(purse, what), MADE])
        return remember(purse, what, enough, _pair_evidence(family, data, what, purse, enough))
    if what.kind == SIDE:
        return _side_evidence(family, data, what, purse)
    _keep(what, what.limit, purse)
    return _arm_wealth(family, data, what.arm, -what.side, what.limit, purse)[0]


@jitable
def _keep(what: Shape, c: float, purse: SpreadPurse) -> None:
    """Where a cell is weak: looked at first in the rounds to come."""
    if purse.marks[KEEPS] != 0:
        purse.marks[ARM], purse.marks[OTHER] = what.arm, what.other
        purse.weak[KIND], purse.weak[SIDE_OF] = what.kind, what.side
        purse.weak[PLACE], purse.weak[MARGIN] = c, what.limit


@still_weak.register(SpreadPurse)
def _still_weak(purse: SpreadPurse, family: Any, data: Data, code: Code) -> float:
    """The weak cell's evidence at the same c is at least its evidence."""
    if not is_of(purse, code):
        return math.inf
    arm, other, weak = purse.marks[ARM], purse.marks[OTHER], purse.weak
    if weak[KIND] == BOUND:
        return _arm_wealth(family, data, arm, -weak[SIDE_OF], weak[PLACE], purse)[0] + 1e-9
    made = _arm_wealth(family, data, arm, 1.0, weak[PLACE], purse)[0]
    made += _arm_wealth(family, data, other, -1.0, weak[PLACE] + weak[MARGIN], purse)[0]
    return bounded(made, 2) + 1e-9


@jitable
def bounded(x: float, arms: int) -> float:
    """x - log sum_{l < arms} x^l/l!: minus the log of the bound on P(A_1 ... A_m >= e^x)."""
    if x <= 0.0:
        return 0.0
    total, term = 0.0, 0.0  # logarithms
    for place in range(1, arms):
        term += math.log(x / place)
        total = log_add(total, term)
    return max(x - total, 0.0)


# --------------------------------------------------------------------------------------- one arm


@jitable
def _arm_wealth(
    family: Any, data: Data, arm: int, side: float, c: float, purse: SpreadPurse
) -> tuple[float, float]:
    """log max(1, W(c)), betting that the arm is above (+1) or below c; and its slope in |mean - c|/s."""
    spread = variance(of_arm(family, arm), data.means[arm])
    off = side * (data.means[arm] - c)
    if spread <= 0.0 or off <= 0.0:  # no spread, no bet; on the other side W <= 1
        return 0.0, 0.0
    return _mixed(data.counts[arm], off / math.sqrt(spread), purse)


@jitable
def _mixed(count: float, ratio: float, purse: SpreadPurse) -> tuple[float, float]:
    """log max(1, sum_q a_q W(ratio; g_q)) and its slope."""
    top, count, ratio = -math.inf, float(count), float(ratio)  # plain numbers are quicker
    for q in range(purse.gaps.size):
        value, steep = t_bet(count, ratio, float(purse.gaps[q]))
        purse.bets[q, 0], purse.bets[q, 1] = value, steep
        top = max(top, value)
    made, slope = 0.0, 0.0
    for q in range(purse.gaps.size):
        share = float(purse.weights[q]) * math.exp(float(purse.bets[q, 0]) - top)
        made += share
        slope += share * float(purse.bets[q, 1])
    value = top + math.log(made)
    return (value, slope / made) if value > 0.0 else (0.0, 0.0)


@jitable
def _side_evidence(family: Any, data: Data, what: Shape, purse: SpreadPurse) -> float:
    """All arms on one side: the richest of K, or all of them together, each at half the error rate."""
    most, total, size = 0.0, 0.0, data.means.size
    for k in range(size):
        made = _arm_wealth(family, data, k, -what.side, what.limit, purse)[0]
        most, total = max(most, made), total + made
    if size == 1:
        return most
    return max(max(most - math.log(size), bounded(total, size)) - math.log(2.0), 0.0)


# -------------------------------------------------------------------------------------- two arms


class Pair(NamedTuple):
    """Two arms that are compared: their data, and where they may meet."""

    samples: float
    other_samples: float
    spread: float  # standard deviations
    other_spread: float
    left: float  # the other's mean less the margin
    right: float  # the arm's mean


class Tangent(NamedTuple):
    """f at a point, and its slopes in each arm's tau = r/sqrt(1 + r^2), r = |mean - c|/s."""

    value: float
    slope: float
    other_slope: float
    tau: float
    other_tau: float


@jitable
def _pair(family: Any, data: Data, arm: int, other: int, margin: float) -> Pair:
    mu, other_mu = data.means[arm], data.means[other]
    own, rival = variance(of_arm(family, arm), mu), variance(of_arm(family, other), other_mu)
    counts, spreads = (data.counts[arm], data.counts[other]), (math.sqrt(own), math.sqrt(rival))
    return Pair(counts[0], counts[1], spreads[0], spreads[1], other_mu - margin, mu)


@jitable
def _pair_at(pair: Pair, c: float, purse: SpreadPurse) -> tuple[Tangent, float]:
    """f(c) = log W+ of one arm at c plus log W- of the other at c + margin; and its slope in c."""
    r, other_r = (pair.right - c) / pair.spread, (c - pair.left) / pair.other_spread
    above, steep = _mixed(pair.samples, r, purse)
    below, other_steep = _mixed(pair.other_samples, other_r, purse)
    root, other_root = math.sqrt(1.0 + r * r), math.sqrt(1.0 + other_r * other_r)
    found = Tangent(
        above + below,
        steep * root * root * root,
        other_steep * other_root * other_root * other_root,
        r / root,
        other_r / other_root,
    )
    return found, other_steep / pair.other_spread - steep / pair.spread


@jitable
def _bound(pair: Pair, line: Tangent, c: float) -> float:
    """The tangent at another c: f is convex in both tau, so that this is at most f(c)."""
    r, other_r = (pair.right - c) / pair.spread, (c - pair.left) / pair.other_spread
    found = line.value + line.slope * (r / math.sqrt(1.0 + r * r) - line.tau)
    return found + line.other_slope * (
        other_r / math.sqrt(1.0 + other_r * other_r) - line.other_tau
    )


@jitable
def _pair_evidence(
    family: Any, data: Data, what: Shape, purse: SpreadPurse, enough: float
) -> float:
    """The evidence against a pair, underestimated by at most SLACK; below ``enough`` a bound will do.

    f(c) may have two minima. But tau is concave in c, and so is every tangent of f in the two tau: on an
    interval it is least at an end. So a few tangents bound f everywhere between the means.
    """
    _, arm, other, _, margin = what
    pair = _pair(family, data, arm, other, margin)
    if not pair.left < pair.right or pair.spread <= 0.0 or pair.other_spread <= 0.0:
        return 0.0
    c = meeting_point(family, data, arm, other, margin)
    line, slope = _pair_at(pair, c, purse)
    _keep(what, c, purse)
    if bounded(line.value, 2) < enough:
        return bounded(line.value, 2)
    c, line = _lowest(pair, c, line, slope, purse)
    _keep(what, c, purse)
    if bounded(line.value, 2) < enough:
        return bounded(line.value, 2)
    near, far = _covered(pair, line, c, pair.left), _covered(pair, line, c, pair.right)
    least = min(line.value - SLACK, _cover(pair, pair.left, near, line.value, purse))
    least = min(least, _cover(pair, far, pair.right, line.value, purse))
    return bounded(least, 2)


@jitable
def _lowest(
    pair: Pair, c: float, line: Tangent, slope: float, purse: SpreadPurse
) -> tuple[float, Tangent]:
    """A point where f is nearly stationary, by secants within a bracket; the lowest that was seen."""
    left, right, place, found = pair.left, pair.right, c, line
    bend = pair.samples / (pair.spread * pair.spread)
    bend += pair.other_samples / (pair.other_spread * pair.other_spread)
    for _ in range(12):
        if 4.0 * abs(slope) * (pair.right - pair.left) <= SLACK:
            break
        if slope < 0.0:
            left = c
        else:
            right = c
        new = c - slope / bend
        if not left < new < right:
            new = 0.5 * (left + right)
        before, at, c = slope, c, new
        line, slope = _pair_at(pair, c, purse)
        secant = (slope - before) / (c - at) if c != at else 0.0
        if secant > 0.0:
            bend = secant
        if line.value < found.value:
            place, found = c, line
    return place, found


@jitable
def _covered(pair: Pair, line: Tangent, c: float, end: float) -> float:
    """How far from c towards an end the tangent at c shows that f is hardly less than there."""
    if _bound(pair, line, end) >= line.value - SLACK:
        return end
    for _ in range(40):
        middle = 0.5 * (c + end)
        if _bound(pair, line, middle) >= line.value - SLACK:
            c = middle
        else:
            end = middle
    return c


@jitable
def _cover(pair: Pair, start: float, last: float, best: float, purse: SpreadPurse) -> float:
    """A lower bound on f in an interval, at most SLACK below the lesser of its least and ``best``."""
    ends, waiting, least = purse.ends, 1, best
    ends[0] = last
    for _ in range(2000):
        if waiting == 0:
            return least
        end = ends[waiting - 1]
        middle = 0.5 * (start + end)
        if not start < middle < end:
            waiting -= 1
            continue
        line = _pair_at(pair, middle, purse)[0]
        best = min(best, line.value)
        lower = min(_bound(pair, line, start), _bound(pair, line, end))
        if lower >= best - SLACK:
            least, start = min(least, lower), end
            waiting -= 1
        elif waiting <= DEEPEST:
            ends[waiting] = middle
            waiting += 1
        else:
            break
    return 0.0
