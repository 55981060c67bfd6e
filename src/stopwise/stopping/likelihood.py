"""Thresholds: stop with answer i once D(N, mu-hat, not i) >= level(delta) + growth(data).

A threshold splits into a level, which depends on delta and the problem's rank and union bound, and a
growth, which depends on the data: a common part in t and one part for each arm, of which the ``rank``
largest count (a wrong answer is to blame on a cell that constrains at most that many arms). A threshold
registers ``level``, and what it has of ``common_growth`` and ``arm_growth``.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from stopwise.core.arrays import Floats, total
from stopwise.core.data import State
from stopwise.core.values import StoppingRule
from stopwise.core.verbs import jitable, verb
from stopwise.families.verbs import of_arm
from stopwise.problems.rounds import best_evidence
from stopwise.problems.verbs import Code, cost, rank
from stopwise.stopping import verbs


class Threshold(StoppingRule, listed=False):
    """A stopping rule that compares D(N, mu-hat, not i) with a threshold."""

    __slots__ = ()


@verb(inline=True)
def common_growth(rule: Any, rounds: float) -> float:
    """The part that grows with the number of rounds; it must never fall."""
    return 0.0


@verb(inline=True)
def arm_growth(rule: Any, family: Any, count: float, mean: float) -> float:
    """An arm's own part, not negative, given its number of samples (at least 1) and their mean."""
    return 0.0


class Growths(NamedTuple):
    """Each arm's part of the growth, how many of them count, and a common part that is surely asked."""

    arms: Floats
    rank: int
    known: Floats


@verbs.tally.register(Threshold)
def _tally(rule: Any, problem: Any, family: Any) -> Growths:
    return Growths(np.zeros(problem.arms), int(rank(problem)), np.zeros(1))


@verbs.update.register(Threshold)
def _update(rule: Any, problem: Any, family: Any, state: State, arm: int, sample: float) -> None:
    count, mean = state.data.counts[arm], state.data.means[arm]
    state.tally.arms[arm] = arm_growth(rule, of_arm(family, arm), count, mean)


@verbs.weigh.register(Threshold)
def _weigh(rule: Any, problem: Any, family: Any, state: State, rounds: int, least: float) -> float:
    """The common growth never falls: where D is less than with its last value, no stop yet."""
    known = state.tally.known
    enough = max(least + known[0], 0.0)
    found = best_evidence(problem, family, state.data, state.sketch, enough, state.answer)
    if not found >= enough:
        return found - known[0]
    known[0] = common_growth(rule, 1.0 * rounds)
    return verbs.weighed(state, found, known[0] + largest_sum(state.tally.arms, state.tally.rank))


@verbs.evidence.register(Threshold)
def _evidence(rule: Any, problem: Any, family: Any, state: State, code: Code) -> float:
    return float(cost(problem, family, state.data, code, np.zeros(problem.arms)))


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
