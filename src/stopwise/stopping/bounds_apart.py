"""Confidence intervals apart: KL-LUCB's stopping rule, and UGapE's (Gabillon et al. 2012)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from stopwise.cells.confidence import apart, bound, refuted
from stopwise.cells.radius import (
    RADIUS,
    base,
    check_radius,
    is_proven,
    radius_named,
    spelled,
)
from stopwise.core.arrays import Floats, Ints
from stopwise.core.data import State
from stopwise.core.values import StoppingRule
from stopwise.core.verbs import jitable
from stopwise.problems.asked import best_arm
from stopwise.problems.verbs import Code
from stopwise.stopping.verbs import evidence, level, proven, tally, weigh, weighed


class _BoundsApart(NamedTuple):
    radius: Any


class BoundsApart(_BoundsApart, StoppingRule):
    """Stop when an arm's lower bound is above all others' upper bounds, up to epsilon.

    The evidence for an arm is the largest base of the radius at which that is so.
    """

    __slots__ = ()
    title = "confidence intervals that are apart: the best arm"
    options = {"radius": RADIUS}

    def __new__(cls, radius: Any = "mixture") -> BoundsApart:
        return super().__new__(cls, radius_named(radius))

    def __repr__(self) -> str:
        return f"BoundsApart({spelled(self.radius)!r})"


@level.register(BoundsApart)
def _level(rule: BoundsApart, problem: Any, family: Any, delta: float) -> float:
    best_arm(rule, problem)
    check_radius(rule, rule.radius, family)
    return float(base(rule.radius, problem.arms, delta))


proven.register(BoundsApart)(lambda rule, problem, family: is_proven(rule.radius))


class Overlap(NamedTuple):
    """Side and epsilon of the question; of each arm the rival that last overlapped, and where."""

    side: float
    epsilon: float
    rivals: Ints
    places: Floats


@tally.register(BoundsApart)
def _tally(rule: BoundsApart, problem: Any, family: Any) -> Overlap:
    arms = problem.arms
    return Overlap(*best_arm(rule, problem), (np.arange(arms) + 1) % arms, np.zeros(arms))


@weigh.register(BoundsApart)
def _weigh(
    rule: BoundsApart, problem: Any, family: Any, state: State, rounds: int, least: float
) -> float:
    """Only an arm within epsilon of the best mean can be apart from the best."""
    side, margin, means = state.tally.side, state.tally.epsilon, state.data.means
    top = means[0]
    for k in range(1, means.size):
        if side * means[k] > side * top:
            top = means[k]
    found = -math.inf
    for arm in range(means.size):
        if side * means[arm] + margin >= side * top:
            value = _evidence_of(rule, family, state, arm, 1.0 * rounds, least)
            if not value <= found:
                found, state.answer[0] = value, arm
    return weighed(state, found, 0.0)


@jitable
def _evidence_of(
    rule: BoundsApart, family: Any, state: State, arm: int, t: float, least: float
) -> float:
    """The least over the rivals; or, where one overlaps at base ``least``, a number below that."""
    side, margin, rivals, places = state.tally
    radius, data, found = rule.radius, state.data, math.inf
    if least > -math.inf:
        if _inside(radius, family, data, arm, places[arm], -side, least, t) and _inside(
            radius, family, data, rivals[arm], places[arm] + side * margin, side, least, t
        ):
            return -math.inf
        places[arm] = bound(radius, family, data, arm, -side, least, t)
        end = places[arm] + side * margin
        for other in range(data.means.size):
            if other != arm and _inside(radius, family, data, other, end, side, least, t):
                rivals[arm] = other
                places[arm] = 0.75 * places[arm] + 0.25 * data.means[arm]
                return -math.inf
    for other in range(data.means.size):
        if other != arm:
            found = min(found, apart(radius, family, data, arm, other, side, margin, t))
    return found


@jitable
def _inside(
    radius: Any, family: Any, data: Any, arm: int, q: float, side: float, base: float, t: float
) -> bool:
    """Whether q is not beyond an arm's bound on this side."""
    if side * (data.means[arm] - q) >= 0.0:
        return True
    return not refuted(radius, family, data, arm, q, base, t)


@evidence.register(BoundsApart)
def _evidence(rule: BoundsApart, problem: Any, family: Any, state: State, code: Code) -> float:
    t = max(float(state.data.counts.sum()), 1.0)
    return max(0.0, float(_evidence_of(rule, family, state, int(code[0]), t, -math.inf)))
