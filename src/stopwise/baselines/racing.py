"""Races: every arm that is left gets one sample a round, and whoever is beaten is out.

Who takes part stands in the run's plan for everybody to see: the arms with weight (all of them, if none
has any). A round is over when each of these has a sample since the last one was; then others are
compared with the best. The stopping rule takes an arm for beaten, for good, when at the end of a round
the best of those that take part beats it. If the best arm was beaten, then by some arm with a smaller
mean: for a proven test that has probability at most delta, whoever takes part and whenever it is looked
at (docs/bounds.md).
"""

from __future__ import annotations

import math
from typing import ClassVar, NamedTuple

import numpy as np

from stopwise.baselines.radius import (
    LEVEL_STEP,
    RADIUS,
    Ends,
    HoeffdingRadius,
    Radius,
    WithRadius,
    check_radius,
    radius_named,
)
from stopwise.core.arrays import Floats, Ints, Rng, argmin, fill, total
from stopwise.core.checks import choice
from stopwise.core.data import Data, State
from stopwise.core.errors import MissingMethod, NotDefined
from stopwise.core.functions import jitable
from stopwise.core.options import Option
from stopwise.core.values import Value
from stopwise.families.family import Family
from stopwise.problems.instance import Instance, Question
from stopwise.problems.problem import Problem
from stopwise.problems.question_kind import best_arm
from stopwise.stopping.rule import StoppingRule

RACES = ("kl", "chernoff", "elimination")
RACE = Option(
    {"enum": list(RACES)},
    "What beats an arm: that of KLRacing, ChernoffRacing, SuccessiveElimination",
)


class Elimination(Value):
    """What beats an arm in a race; at the end of a round ``every`` arm is looked at, or the worst."""

    radius: Radius
    every: bool

    def beaten_by(self, family: Family, data: Data, best: int, other: int, ends: Ends) -> float:
        """By how much the best beats another arm: a base of the radius. Below that of ``ends`` or less."""
        raise MissingMethod("beaten_by", self)


class Bounds(Elimination):
    """Beaten is whose interval lies beyond that of the best."""

    def beaten_by(self, family: Family, data: Data, best: int, other: int, ends: Ends) -> float:
        side, least, t = ends
        if least > -math.inf:  # one inversion and one divergence settle most cases
            end = self.radius.bound(family, data, best, Ends(-side, least, t))
            behind = side * (end - data.means[other]) > 0.0
            if not behind or self.radius.against(family, data, other, end, t) < least:
                return -math.inf
        return self.radius.apart(family, data, best, other, 0.0, ends)


class Ratio(Elimination):
    """Beaten is who can be level with the best only at a large likelihood ratio (Chernoff)."""

    def beaten_by(self, family: Family, data: Data, best: int, other: int, ends: Ends) -> float:
        if ends.side * data.means[best] <= ends.side * data.means[other]:
            return -math.inf
        first, second = (best, other) if ends.side > 0.0 else (other, best)
        return self.radius.pair_against(family, data, first, second, ends.rounds)


def race_named(race: str, radius: Radius | str) -> Elimination:
    """What beats an arm in a race of this name; successive elimination has a radius of its own."""
    name = choice("race", race, RACES, f"one of {', '.join(map(repr, RACES))}")
    if name == "elimination":
        return Bounds(HoeffdingRadius(), True)
    return (Bounds if name == "kl" else Ratio)(radius_named(radius), False)


REASON = (
    "In a race every arm that is left gets one sample a round; an arm that is clearly behind the best "
    "one is out. Shares show who is left."
)


class Race(WithRadius, listed=False):
    """What races share; ``race`` says what beats an arm."""

    race: ClassVar[str]
    reason = REASON

    def init(self, question: Question) -> RaceState:
        test = race_named(self.race, self.radius)
        check_radius(self, self.radius, question.family)
        asked, arms = best_arm(self, question.problem), question.problem.arms
        if asked.epsilon > 0.0:  # who is out may have been beaten by one who is out later
            raise NotDefined(
                f"strategy: {self!r} with epsilon={asked.epsilon:g}; allowed: epsilon=0. In a race the "
                "epsilons of several comparisons add up. KLLUCB() and UGAPE() have an epsilon."
            )
        turn, over, more = np.full(1, -1), np.zeros(1), np.zeros(1)
        base = test.radius.base(arms, question.delta)
        return RaceState(test, asked.side, base, more, np.zeros(arms), turn, over)

    def update(
        self, instance: Instance, state: State, arm: int, sample: float, before: float
    ) -> None:
        own: RaceState = state.strategy_state
        own.fresh[arm] = 1.0
        if round_over(own.fresh, state.plan.weights):
            own.over[0] = 1.0

    def target(self, instance: Instance, state: State, rounds: int, rng: Rng) -> None:
        """Only now, when the stopping rule has seen who took part in the round."""
        own: RaceState = state.strategy_state
        left = state.plan.weights
        if total(left) == 0.0:
            fill(left, 1.0 / left.size)
        if own.over[0] > 0.0:
            own.over[0] = 0.0
            _compare(instance, own, left)

    def next_arm(self, instance: Instance, state: State, rounds: int, rng: Rng) -> int:
        """The next one that is left."""
        own: RaceState = state.strategy_state
        left, turn = state.plan.weights, own.turn
        arm = turn[0]
        while True:
            arm = arm + 1 if arm + 1 < left.size else 0
            if left[arm] > 0.0:
                break
        turn[0] = arm
        return int(arm)


class KLRacing(Race):
    """Out is the worst when its bound is beyond the best one's (Kaufmann & Kalyanakrishnan 2013).

    Its stopping rule is ``LastLeft("kl")`` with the same radius.
    """

    title = "a race: out is whose confidence interval lies below the best one's"
    race = "kl"


class ChernoffRacing(Race):
    """Out is the worst when W(best, worst) is above the level (Garivier & Kaufmann 2016, Section 6).

    Its stopping rule is ``LastLeft("chernoff")`` with the same radius.
    """

    title = "a race: out is who is behind by the likelihood ratio"
    race = "chernoff"


class SuccessiveElimination(Race):
    """Out are all that are two radii behind: sqrt(2 s^2 log(4 K n^2/delta)/n) (Even-Dar et al. 2006).

    Its stopping rule is ``LastLeft("elimination")``. For s^2-sub-Gaussian samples.
    """

    title = "a race: out are all that are two radii behind"
    race = "elimination"
    options = {}

    def __init__(self) -> None:
        self.radius = HoeffdingRadius()

    def __repr__(self) -> str:
        return "SuccessiveElimination()"

    def identity(self) -> tuple[str, tuple[()]]:
        return type(self).__name__, ()


class RaceState(NamedTuple):
    """What beats an arm, the question's side, the base with its growth; and where the race is."""

    test: Elimination
    side: float
    base: float
    more: Floats
    fresh: Floats  # who has a sample in this round
    turn: Ints  # whose turn it was
    over: Floats  # whether a round is over


@jitable
def _compare(instance: Instance, own: RaceState, left: Floats) -> None:
    """At the end of a round: who is beaten is out. When one is left, all race again at delta/10."""
    data, test = instance.data, own.test
    best, worst = first_and_last(data.means, left, own.side)
    ends = Ends(own.side, own.base + own.more[0], total(data.counts))
    count = 0
    for k in range(left.size):
        looked = k != best and left[k] > 0.0 and (k == worst or test.every)
        if looked and test.beaten_by(instance.family, data, best, k, ends) >= ends.base:
            left[k] = 0.0
        count += 1 if left[k] > 0.0 else 0
    if count == 1:
        own.more[0] += LEVEL_STEP
        count = left.size
        fill(left, 1.0)
    for k in range(left.size):
        left[k] = 1.0 / count if left[k] > 0.0 else 0.0


@jitable
def round_over(fresh: Floats, weights: Floats) -> bool:
    """Whether each arm that takes part has a sample in this round; if so the next one begins."""
    everybody = total(weights) == 0.0
    for k in range(fresh.size):
        if fresh[k] == 0.0 and (everybody or weights[k] > 0.0):
            return False
    fill(fresh, 0.0)
    return True


@jitable
def first_and_last(means: Floats, weights: Floats, side: float) -> tuple[int, int]:
    """The best and the worst of those that take part, the first of equals."""
    best = worst = -1
    everybody = total(weights) == 0.0
    for k in range(means.size):
        if everybody or weights[k] > 0.0:
            if best < 0 or side * means[k] > side * means[best]:
                best = k
            if worst < 0 or side * means[k] < side * means[worst]:
                worst = k
    return best, worst


class LastLeft(StoppingRule):
    """Stop when every arm but one has been beaten in a race.

    The evidence for the arm that is left is the least by which the others were beaten.
    """

    test: Elimination
    title = "one arm is left in a race"
    options = {"race": RACE, "radius": RADIUS}

    def __init__(self, race: str = "chernoff", radius: Radius | str = "mixture") -> None:
        self.test = race_named(race, radius)

    @property
    def race(self) -> str:
        """What beats an arm, by its name."""
        if isinstance(self.test.radius, HoeffdingRadius):
            return "elimination"
        return "kl" if isinstance(self.test, Bounds) else "chernoff"

    @property
    def radius(self) -> str:
        """The radius, by its name; elimination has its own."""
        return "mixture" if self.race == "elimination" else self.test.radius.name

    def __repr__(self) -> str:
        return f"LastLeft({self.race!r}, {self.radius!r})"

    def level(self, problem: Problem, family: Family, delta: float) -> float:
        if best_arm(self, problem).epsilon > 0.0:
            raise NotDefined(
                f"stopping: {self!r} with epsilon > 0; allowed: epsilon=0. In a race the epsilons of "
                "several comparisons add up. BoundsApart() has an epsilon."
            )
        check_radius(self, self.test.radius, family)
        return float(self.test.radius.base(problem.arms, delta))

    def proven(self, problem: Problem, family: Family) -> bool:
        return self.test.radius.is_proven

    def init(self, question: Question) -> Beaten:
        side, arms = best_arm(self, question.problem).side, question.problem.arms
        return Beaten(side, np.zeros(arms), np.full(arms, -math.inf))

    def update(self, instance: Instance, state: State, arm: int, sample: float) -> None:
        own: Beaten = state.rule_state
        own.fresh[arm] = 1.0

    def margin(self, instance: Instance, state: State, rounds: int, enough: float) -> float:
        """All but the least beaten arm have to be beaten; a first sample each is no race yet."""
        own: Beaten = state.rule_state
        by, taking_part = own.by, state.plan.weights
        over = round_over(own.fresh, taking_part)
        if over and rounds > instance.family.first_samples() * by.size:
            _look(self.test, instance, own, taking_part, Ends(own.side, enough, 1.0 * rounds))
        least_beaten, found = argmin(by), math.inf
        for k in range(by.size):
            if k != least_beaten:
                found = min(found, by[k])
        state.report.answer[0] = least_beaten
        return state.report.write(max(found, -1e9), 0.0)


class Beaten(NamedTuple):
    """The side of the question, who has a sample in this round, and by how much each was beaten."""

    side: float
    fresh: Floats
    by: Floats


@jitable
def _look(test: Elimination, instance: Instance, own: Beaten, weights: Floats, ends: Ends) -> None:
    data = instance.data
    best, worst = first_and_last(data.means, weights, own.side)
    for k in range(weights.size):
        taking = weights[k] > 0.0 or weights[best] == 0.0
        if k != best and taking and (k == worst or test.every):
            own.by[k] = max(own.by[k], test.beaten_by(instance.family, data, best, k, ends))
