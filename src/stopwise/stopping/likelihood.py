"""Thresholds: stop with answer i once D(N, mu-hat, not i) >= level(delta) + growth(data).

A threshold splits into a level, which depends on delta and the problem's rank and union bound, and a
growth, which depends on the data: a common part in t and one part for each arm, of which the ``rank``
largest count (a wrong answer is to blame on a cell that constrains at most that many arms). A threshold
has a ``level``, and one or both of ``common_growth`` and ``arm_growth``.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from stopwise.core.arrays import Floats, total
from stopwise.core.data import State
from stopwise.core.functions import inline, jitable
from stopwise.families.family import Family
from stopwise.problems.instance import Instance, Question
from stopwise.problems.problem import Code
from stopwise.stopping.rule import StoppingRule


class Threshold(StoppingRule, listed=False):
    """A stopping rule that compares D(N, mu-hat, not i) with a threshold."""

    def init(self, question: Question) -> Growths:
        problem = question.problem
        return Growths(np.zeros(problem.arms), int(problem.rank()), np.zeros(1))

    def update(self, instance: Instance, state: State, arm: int, sample: float) -> None:
        own: Growths = state.rule_state
        count, mean = state.data.counts[arm], state.data.means[arm]
        own.arms[arm] = self.arm_growth(instance.family.of_arm(arm), count, mean)

    def margin(self, instance: Instance, state: State, rounds: int, enough: float) -> float:
        """The common growth never falls: where D is less than with its last value, no stop yet."""
        own: Growths = state.rule_state
        problem, family, data, cache = instance
        least = max(enough + own.known[0], 0.0)
        found = problem.best_evidence(family, data, cache, least, state.report.answer)
        if not found >= least:
            return found - own.known[0]
        own.known[0] = self.common_growth(1.0 * rounds)
        return state.report.write(found, own.known[0] + largest_sum(own.arms, own.rank))

    def evidence(self, instance: Instance, state: State, code: Code) -> float:
        problem, family, data, _ = instance
        return float(problem.transport_cost(family, data, code, np.zeros(problem.arms)))

    @inline
    def common_growth(self, rounds: float) -> float:
        """The part that grows with the number of rounds; it must never fall."""
        return 0.0

    @inline
    def arm_growth(self, family: Family, count: float, mean: float) -> float:
        """An arm's own part, not negative, given its number of samples (at least 1) and their mean."""
        return 0.0


class Growths(NamedTuple):
    """Each arm's part of the growth, how many of them count, and a common part that is surely asked."""

    arms: Floats
    rank: int
    known: Floats


@jitable
def largest_sum(values: Floats, count: int) -> float:
    """The sum of the ``count`` largest values."""
    if count >= values.size:
        return total(values)
    found, above, taken = 0.0, math.inf, 0
    while taken < count:  # the next smaller value, as often as it occurs
        top, ties = -math.inf, 0
        for k in range(values.size):
            if values[k] < above:
                if values[k] > top:
                    top, ties = values[k], 1
                elif values[k] == top:
                    ties += 1
        if ties == 0:
            return math.inf  # some are infinite
        ties = min(ties, count - taken)
        found += ties * top
        taken += ties
        above = top
    return found
