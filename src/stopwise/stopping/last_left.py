"""One left: the stopping rule of races.

An arm is beaten, for good, when at the end of a round the best of those that take part beats it. The
evidence for the arm that is left is the least by which the others were beaten. If the best arm was
beaten, then by some arm with a smaller mean: for a proven test that has probability at most
delta, whoever takes part and whenever it is looked at (docs/bounds.md).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from stopwise.cells.race import (
    RACE,
    Bounds,
    beaten_by,
    first_and_last,
    race_named,
    round_over,
)
from stopwise.cells.radius import (
    RADIUS,
    Hoeffding,
    base,
    check_proxy,
    check_radius,
    is_proven,
)
from stopwise.core.arrays import Floats
from stopwise.core.data import State
from stopwise.core.errors import NotDefined
from stopwise.core.values import StoppingRule
from stopwise.core.verbs import jitable
from stopwise.families.verbs import first_samples
from stopwise.problems.asked import best_arm
from stopwise.stopping.verbs import level, proven, tally, update, weigh, weighed


class _LastLeft(NamedTuple):
    test: Any


class LastLeft(_LastLeft, StoppingRule):
    """Stop when every arm but one has been beaten in a race."""

    __slots__ = ()
    title = "one arm is left in a race"
    options = {"race": RACE, "radius": RADIUS}

    def __new__(cls, race: str = "chernoff", radius: Any = "mixture") -> LastLeft:
        return super().__new__(cls, race_named(race, radius))

    @property
    def race(self) -> str:
        """What beats an arm, by its name."""
        if isinstance(self.test.radius, Hoeffding):
            return "elimination"
        return "kl" if isinstance(self.test, Bounds) else "chernoff"

    @property
    def radius(self) -> str:
        """The radius, by its name; elimination has its own."""
        return "mixture" if self.race == "elimination" else type(self.test.radius).__name__.lower()

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.race, self.radius

    def __repr__(self) -> str:
        return f"LastLeft({self.race!r}, {self.radius!r})"


@level.register(LastLeft)
def _level(rule: LastLeft, problem: Any, family: Any, delta: float) -> float:
    if best_arm(rule, problem).epsilon > 0.0:
        raise NotDefined(
            f"stopping: {rule!r} with epsilon > 0; allowed: epsilon=0. In a race the epsilons of "
            "several comparisons add up. BoundsApart() has an epsilon."
        )
    if isinstance(rule.test.radius, Hoeffding):
        check_proxy(rule, family)
    check_radius(rule, rule.test.radius, family)
    return float(base(rule.test.radius, problem.arms, delta))


proven.register(LastLeft)(lambda rule, problem, family: is_proven(rule.test.radius))


class Beaten(NamedTuple):
    """The side of the question, who has a sample in this round, and by how much each was beaten."""

    side: float
    fresh: Floats
    by: Floats


@tally.register(LastLeft)
def _tally(rule: LastLeft, problem: Any, family: Any) -> Beaten:
    side = best_arm(rule, problem).side
    return Beaten(side, np.zeros(problem.arms), np.full(problem.arms, -math.inf))


@update.register(LastLeft)
def _update(
    rule: LastLeft, problem: Any, family: Any, state: State, arm: int, sample: float
) -> None:
    state.tally.fresh[arm] = 1.0


@weigh.register(LastLeft)
def _weigh(
    rule: LastLeft, problem: Any, family: Any, state: State, rounds: int, least: float
) -> float:
    """All but the least beaten arm have to be beaten; a first sample each is no race yet."""
    by, taking_part = state.tally.by, state.pursuit.weights
    over = round_over(state.tally.fresh, taking_part)
    if over and rounds > first_samples(family) * by.size:
        _look(rule, family, state, 1.0 * rounds, least)
    least_beaten = 0
    for k in range(1, by.size):
        if by[k] < by[least_beaten]:
            least_beaten = k
    found = math.inf
    for k in range(by.size):
        if k != least_beaten:
            found = min(found, by[k])
    state.answer[0] = least_beaten
    return weighed(state, max(found, -1e9), 0.0)


@jitable
def _look(rule: LastLeft, family: Any, state: State, t: float, least: float) -> None:
    side, _, by = state.tally
    weights, means = state.pursuit.weights, state.data.means
    best, worst = first_and_last(means, weights, side)
    for k in range(means.size):
        taking = weights[k] > 0.0 or weights[best] == 0.0
        if k != best and taking and (k == worst or rule.test.every):
            value = beaten_by(rule.test, family, state.data, best, k, side, t, least)
            by[k] = max(by[k], value)
