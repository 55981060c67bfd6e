"""KL-LUCB (Kaufmann & Kalyanakrishnan 2013, Section 3; one arm to find), and intervals that are apart.

UGapE (Gabillon et al. 2012) stops by the same rule.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from stopwise.baselines.radius import (
    LEVEL_STEP,
    Ends,
    Radius,
    RadiusRule,
    WithRadius,
    check_radius,
    leader,
)
from stopwise.core.arrays import Floats, Ints, Rng
from stopwise.core.data import Data, State
from stopwise.core.functions import jitable
from stopwise.families.family import Family
from stopwise.problems.asked import best_arm
from stopwise.problems.instance import Instance, Question
from stopwise.problems.problem import Code, Problem
from stopwise.stopping.rule import weighed


class KLLUCB(WithRadius):
    """The arm with the best mean, then the other one whose confidence bound reaches furthest.

    Its stopping rule is ``BoundsApart`` with the same radius.
    """

    title = "the leader, and the arm with the best confidence bound"
    reason = (
        "KL-LUCB samples the arm that leads and the one that may still overtake it, in turns; it does "
        "not pursue an answer beyond that."
    )

    def init(self, question: Question) -> LeaderAndRival:
        asked = best_arm(self, question.problem)
        check_radius(self, self.radius, question.family)
        base = self.radius.base(question.problem.arms, question.delta)
        return LeaderAndRival(asked.side, base, np.zeros(1), np.array([-1, -1]))

    def next_arm(self, instance: Instance, state: State, rounds: int, rng: Rng) -> int:
        """Both arms are chosen from the same data (line 6 of the algorithm).

        Where the bounds are apart and the stopping rule wants more, they go on as if for delta/10.
        """
        own: LeaderAndRival = state.strategy_state
        family, data, side, arms = instance.family, instance.data, own.side, own.arms
        if arms[NEXT] >= 0:
            arm = arms[NEXT]
            arms[NEXT] = -1
            return int(arm)
        first = leader(data.means, side)
        planned = Data(state.taken, data.means)  # samples in flight narrow the bounds
        ends = Ends(side, own.base + own.more[0], 1.0 * rounds)
        rival, _ = self.radius.best_bound(family, planned, ends, first, arms[RIVAL], 1.0)
        end = self.radius.bound(family, data, rival, ends)
        behind = side * (data.means[first] - end) > 0.0
        if behind and self.radius.refutes(family, data, first, end, ends):
            own.more[0] += LEVEL_STEP
        arms[RIVAL] = arms[NEXT] = rival
        return first


class LeaderAndRival(NamedTuple):
    """The question's side, and the base of the bounds with its growth."""

    side: float
    base: float
    more: Floats
    arms: Ints  # who is next after the leader, or -1; and the last rival


NEXT, RIVAL = range(2)


class BoundsApart(RadiusRule):
    """Stop when an arm's lower bound is above all others' upper bounds, up to epsilon.

    The evidence for an arm is the largest base of the radius at which that is so.
    """

    title = "confidence intervals that are apart: the best arm"

    def level(self, problem: Problem, family: Family, delta: float) -> float:
        best_arm(self, problem)
        return super().level(problem, family, delta)

    def init(self, question: Question) -> Overlap:
        arms = question.problem.arms
        asked = best_arm(self, question.problem)
        return Overlap(*asked, (np.arange(arms) + 1) % arms, np.zeros(arms))

    def margin(self, instance: Instance, state: State, rounds: int, enough: float) -> float:
        """Only an arm within epsilon of the best mean can be apart from the best."""
        own: Overlap = state.rule_state
        means, ends = instance.data.means, Ends(own.side, enough, 1.0 * rounds)
        top = means[leader(means, own.side)]
        found = -math.inf
        for arm in range(means.size):
            if own.side * means[arm] + own.epsilon >= own.side * top:
                value = _evidence_of(self.radius, instance, own, arm, ends)
                if not value <= found:
                    found, state.report.answer[0] = value, arm
        return weighed(state, found, 0.0)

    def evidence(self, instance: Instance, state: State, code: Code) -> float:
        own: Overlap = state.rule_state
        ends = Ends(own.side, -math.inf, max(float(state.data.counts.sum()), 1.0))
        found = _evidence_of(self.radius, instance, own, int(code[0]), ends)
        return max(0.0, float(found))


class Overlap(NamedTuple):
    """Side and epsilon of the question; of each arm the rival that last overlapped, and where."""

    side: float
    epsilon: float
    rivals: Ints
    places: Floats


@jitable
def _evidence_of(
    radius: Radius, instance: Instance, overlap: Overlap, arm: int, ends: Ends
) -> float:
    """The least over the rivals; or, where one overlaps at the base, a number below that."""
    _, family, data, _ = instance
    side, margin, rivals, places = overlap
    found = math.inf
    if ends.base > -math.inf:
        below = Ends(-side, ends.base, ends.rounds)
        if _inside(radius, family, data, arm, places[arm], below) and _inside(
            radius, family, data, rivals[arm], places[arm] + side * margin, ends
        ):
            return -math.inf
        places[arm] = radius.bound(family, data, arm, below)
        end = places[arm] + side * margin
        for other in range(data.means.size):
            if other != arm and _inside(radius, family, data, other, end, ends):
                rivals[arm] = other
                places[arm] = 0.75 * places[arm] + 0.25 * data.means[arm]
                return -math.inf
    for other in range(data.means.size):
        if other != arm:
            found = min(found, radius.apart(family, data, arm, other, margin, ends))
    return found


@jitable
def _inside(radius: Radius, family: Family, data: Data, arm: int, q: float, ends: Ends) -> bool:
    """Whether q is not beyond an arm's bound on this side."""
    if ends.side * (data.means[arm] - q) >= 0.0:
        return True
    return not radius.refutes(family, data, arm, q, ends)
