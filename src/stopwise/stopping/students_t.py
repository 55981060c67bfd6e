"""Wealth where variances are unknown: bets on each arm's own t statistics.

A bet on one arm is a martingale only to somebody who sees that arm's samples up to their scale. So each
arm is bounded over its whole stack of samples: A = sup_n W(n) has P(A >= a) <= 1/a, arms are
independent, and P(A_1 ... A_m >= e^x) <= e^-x sum_{l<m} x^l/l!. The evidence is minus the logarithm of
such a bound, so that the level is that of all wealth. As A >= 1, less than 1 counts as 1. Proofs:
docs/thresholds.md.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from stopwise.cells.bound import Bound, Side
from stopwise.cells.gap import Gap, meeting_point
from stopwise.core.arrays import Floats
from stopwise.core.data import Data
from stopwise.core.errors import NotDefined
from stopwise.core.functions import jitable, variant
from stopwise.core.values import overrides
from stopwise.families.family import Family, Logarithmic
from stopwise.families.students_t import t_bet
from stopwise.problems.problem import Code, Problem
from stopwise.stopping.wealth_state import (
    ARM,
    OTHER,
    OTHER_C,
    SIDE,
    C,
    WealthState,
    bet_state,
    check_wealth,
    log_add,
    log_mixed,
    wealth_state,
)

SLACK = 0.005  # by what the least log wealth of a pair may be underestimated
DEEPEST = 48  # how often an interval is halved for it


class SpreadState(WealthState):
    """Bets of several sizes on the t statistics of each arm."""

    ends: Floats  # right ends of the intervals that are still to be bounded: scratch

    def bound_evidence(self, family: Family, data: Data, cell: Bound, enough: float) -> float:
        self.weak.forget()
        self.weak.remember(Gap(cell.arm, cell.arm, 0.0), -cell.side, cell.limit)
        return _arm_wealth(family, data, cell.arm, -cell.side, cell.limit, self)[0]

    def side_evidence(self, family: Family, data: Data, cell: Side, enough: float) -> float:
        """All arms on one side: the richest of K, or all of them together, each at half the error rate."""
        self.weak.forget()
        most, total, size = 0.0, 0.0, data.means.size
        for k in range(size):
            made = _arm_wealth(family, data, k, -cell.side, cell.limit, self)[0]
            most, total = max(most, made), total + made
        if size == 1:
            return most
        return max(max(most - math.log(size), bounded(total, size)) - math.log(2.0), 0.0)

    def pair_evidence(self, family: Family, data: Data, cell: Gap, enough: float) -> float:
        """The evidence against a pair, underestimated by at most SLACK; below ``enough`` a bound will do.

        f(c) may have two minima. But tau is concave in c, and so is every tangent of f in the two tau: on
        an interval it is least at an end. So a few tangents bound f everywhere between the means.
        """
        pair = _pair(family, data, cell)
        if not pair.left < pair.right or pair.spread <= 0.0 or pair.other_spread <= 0.0:
            return 0.0
        c = meeting_point(family, data, cell.arm, cell.other, cell.margin)
        line, slope = _pair_at(pair, c, self)
        self.weak.remember(cell, 1.0, c)
        if bounded(line.value, 2) < enough:
            return bounded(line.value, 2)
        c, line = _lowest(pair, c, line, slope, self)
        self.weak.remember(cell, 1.0, c)
        if bounded(line.value, 2) < enough:
            return bounded(line.value, 2)
        near, far = _covered(pair, line, c, pair.left), _covered(pair, line, c, pair.right)
        least = min(line.value - SLACK, _cover(pair, pair.left, near, line.value, self))
        least = min(least, _cover(pair, far, pair.right, line.value, self))
        return bounded(least, 2)

    def weak_bound(self, family: Family, data: Data, code: Code) -> float:
        """The weak cell's evidence at the same c is at least its evidence."""
        if not self.weak.refutes(code):
            return math.inf
        marks, known, _ = self.weak
        arm, other, side = marks[ARM], marks[OTHER], known[SIDE]
        made = _arm_wealth(family, data, arm, side, known[C], self)[0]
        if other == arm:
            return made + 1e-9
        made += _arm_wealth(family, data, other, -side, known[OTHER_C], self)[0]
        return bounded(made, 2) + 1e-9


@variant(check_wealth, Logarithmic)
def _check(family: Family, problem: Problem) -> None:
    if not overrides(family, "update_stats"):
        raise NotDefined(
            f"Wealth with {family!r}: these are somebody's estimates, for oracles. A run makes its own: "
            "family=Gaussian(variance=None), and deviations=[...] for what samples are drawn with."
        )
    if not problem.pairwise_cells():
        raise NotDefined(
            f"Wealth with {family!r} for {problem!r}: unknown variances are solved for questions whose "
            "cells bound one arm, compare two, or have all arms on one side: BestArm, TopArms, "
            "BetterThan, AnyBetterThan, Thresholding, AnyLowArm, AnySign, MinimumThreshold and products "
            "of them. Give the variances for others."
        )


@variant(wealth_state, Logarithmic)
def _spread_state(family: Family, problem: Problem) -> SpreadState:
    common = bet_state(family, problem)[: len(WealthState._fields)]
    return SpreadState._make((*common, np.zeros(DEEPEST + 2)))


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
    family: Family, data: Data, arm: int, side: float, c: float, state: SpreadState
) -> tuple[float, float]:
    """log max(1, W(c)), betting that the arm is above (+1) or below c; and its slope in |mean - c|/s."""
    spread = family.of_arm(arm).variance_at(data.means[arm])
    off = side * (data.means[arm] - c)
    if spread <= 0.0 or off <= 0.0:  # no spread, no bet; on the other side W <= 1
        return 0.0, 0.0
    return _mixed(data.counts[arm], off / math.sqrt(spread), state)


@jitable
def _mixed(count: float, ratio: float, state: SpreadState) -> tuple[float, float]:
    """log max(1, sum_q a_q W(ratio; g_q)) and its slope."""
    count, ratio = float(count), float(ratio)  # plain numbers are quicker
    for q in range(state.sizes.size):
        state.above[q, 0], state.above[q, 1] = t_bet(count, ratio, float(state.sizes[q]))
    value, slope = log_mixed(state.weights, state.above)
    return (value, slope) if value > 0.0 else (0.0, 0.0)


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
def _pair(family: Family, data: Data, cell: Gap) -> Pair:
    arm, other, margin = cell
    mu, other_mu = data.means[arm], data.means[other]
    own, rival = family.of_arm(arm).variance_at(mu), family.of_arm(other).variance_at(other_mu)
    counts, spreads = (data.counts[arm], data.counts[other]), (math.sqrt(own), math.sqrt(rival))
    return Pair(counts[0], counts[1], spreads[0], spreads[1], other_mu - margin, mu)


@jitable
def _pair_at(pair: Pair, c: float, state: SpreadState) -> tuple[Tangent, float]:
    """f(c) = log W+ of one arm at c plus log W- of the other at c + margin; and its slope in c."""
    r, other_r = (pair.right - c) / pair.spread, (c - pair.left) / pair.other_spread
    above, steep = _mixed(pair.samples, r, state)
    below, other_steep = _mixed(pair.other_samples, other_r, state)
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
def _lowest(
    pair: Pair, c: float, line: Tangent, slope: float, state: SpreadState
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
        line, slope = _pair_at(pair, c, state)
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
def _cover(pair: Pair, start: float, last: float, best: float, state: SpreadState) -> float:
    """A lower bound on f in an interval, at most SLACK below the lesser of its least and ``best``."""
    ends, waiting, least = state.ends, 1, best
    ends[0] = last
    for _ in range(2000):
        if waiting == 0:
            return least
        end = ends[waiting - 1]
        middle = 0.5 * (start + end)
        if not start < middle < end:
            waiting -= 1
            continue
        line = _pair_at(pair, middle, state)[0]
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
