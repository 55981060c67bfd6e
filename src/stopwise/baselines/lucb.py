"""KL-LUCB and UGapE, and the stopping rule of both: intervals that are apart.

KL-LUCB: Kaufmann & Kalyanakrishnan 2013, Section 3; one arm to find. UGapE, fixed confidence: Gabillon,
Ghavamzadeh & Lazaric 2012, Figure 1, with bounds from d. B_k = max over j != k of U_j, less L_k; J =
argmin B; u = argmax over j != J of U_j; sampled is that of J and u with the wider interval, which at equal
radius is the one with fewer samples (and is so in the experiments of Garivier & Kaufmann 2016).
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
)
from stopwise.core.arrays import Floats, Ints, Rng, argbest, fill
from stopwise.core.data import Data, State
from stopwise.core.functions import jitable
from stopwise.families.family import Family
from stopwise.problems.instance import Instance, Question
from stopwise.problems.problem import Code, Problem
from stopwise.problems.question_kind import best_arm


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
        first = argbest(data.means, side)
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


class UGAPE(WithRadius):
    """The arm with the smallest possible gap to the best, or its strongest rival.

    Its stopping rule is ``BoundsApart`` with the same radius.
    """

    title = "the arm that can be the least behind, or its strongest rival"
    reason = (
        "UGapE samples the arm that, by the confidence bounds, can be the least behind the best one, "
        "or the strongest rival of that arm: the one of the two with fewer samples."
    )

    def init(self, question: Question) -> Gaps:
        asked = best_arm(self, question.problem)
        check_radius(self, self.radius, question.family)
        base = self.radius.base(question.problem.arms, question.delta)
        near, far, counts, means = np.zeros((4, question.problem.arms))
        return Gaps(asked.side, base, np.zeros(1), near, far, counts, means, np.full(3, -1))

    def next_arm(self, instance: Instance, state: State, rounds: int, rng: Rng) -> int:
        """B_k is U_first - L_k but for k = first, where it is U_second - L_first.

        Where the least B is below 0 and the stopping rule wants more, it goes on as if for delta/10.
        """
        own: Gaps = state.strategy_state
        near, far, guess = own.near, own.far, own.guess
        data = Data(state.taken, instance.data.means)  # samples in flight narrow the bounds
        if self.radius.timeless():
            _look_up(self.radius, instance.family, data, own)
        else:
            _search(self.radius, instance.family, data, 1.0 * rounds, own)
        first, second, surest = guess[FIRST], guess[SECOND], guess[SUREST]
        behind, others = near[second] - far[first], near[first] - far[surest]
        leads = behind < others or (behind == others and first < surest)
        arm, rival = (first, second) if leads else (surest, first)
        if min(behind, others) < 0.0:
            own.more[0] += LEVEL_STEP
            fill(own.counts, 0.0)  # all bounds are others now
        return int(arm if data.counts[arm] < data.counts[rival] else rival)


class Gaps(NamedTuple):
    """The question's side, the base of the bounds, and what is known of each arm's.

    Times the side: the bounds towards the best and away from it; then the data that they are of.
    ``guess``: the arms with the largest bounds and with the surest one, the last time.
    """

    side: float
    base: float
    more: Floats  # by what the base has grown
    near: Floats
    far: Floats
    counts: Floats
    means: Floats
    guess: Ints


FIRST, SECOND, SUREST = range(3)


@jitable
def _look_up(radius: Radius, family: Family, data: Data, own: Gaps) -> None:
    """Only an arm with another sample has other bounds."""
    side, base, more, near, far, counts, means, guess = own
    above, below = Ends(side, base + more[0], 1.0), Ends(-side, base + more[0], 1.0)
    for k in range(near.size):
        if counts[k] != data.counts[k] or means[k] != data.means[k]:
            counts[k], means[k] = data.counts[k], data.means[k]
            near[k] = side * radius.bound(family, data, k, above)
            far[k] = side * radius.bound(family, data, k, below)
    guess[FIRST] = _largest(near, -1)
    guess[SECOND] = _largest(near, guess[FIRST])
    guess[SUREST] = _largest(far, guess[FIRST])


@jitable
def _largest(values: Floats, but: int) -> int:
    """Where the largest value is, the first of equals, without one of them."""
    found = -1
    for k in range(values.size):
        if k != but and (found < 0 or values[k] > values[found]):
            found = k
    return found


@jitable
def _search(radius: Radius, family: Family, data: Data, rounds: float, own: Gaps) -> None:
    """All bounds grow with time: those that matter are found, and only these are computed."""
    side, base, more, near, far, _, _, guess = own
    above, below = Ends(side, base + more[0], rounds), Ends(-side, base + more[0], rounds)
    first, end = radius.best_bound(family, data, above, -1, guess[FIRST], 1.0)
    guess[FIRST], near[first] = first, side * end
    far[first] = side * radius.bound(family, data, first, below)
    second, end = radius.best_bound(family, data, above, first, guess[SECOND], 1.0)
    guess[SECOND], near[second] = second, side * end
    surest, end = radius.best_bound(family, data, above, first, guess[SUREST], -1.0)
    guess[SUREST], far[surest] = surest, side * end


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
        top = means[argbest(means, own.side)]
        found = -math.inf
        for arm in range(means.size):
            if own.side * means[arm] + own.epsilon >= own.side * top:
                value = _evidence_of(self.radius, instance, own, arm, ends)
                if not value <= found:
                    found, state.report.answer[0] = value, arm
        return state.report.write(found, 0.0)

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
