"""Murphy sampling (Kaufmann, Koolen & Garivier 2018, Section 4): as if some arm were low.

A draw from the posterior, given that some arm is beyond the limit; sampled is its extreme arm. Most
draws meet the condition at once. Else the conditional law is drawn directly: which arms are beyond
the limit, one after the other, given that at least one is; and only if there are several, their means.
The chance of an arm is Phi of the signed root of 2 N d(mean, limit), as ``posterior_draw`` has it
where a family says nothing else: exact for Gaussian arms (flat prior), to first order for others.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from stopwise.cells.bound import arm_cost
from stopwise.core.arrays import Floats, Rng
from stopwise.core.data import Data, State
from stopwise.core.functions import jitable
from stopwise.families.family import Family
from stopwise.problems.instance import Instance, Question
from stopwise.problems.question_kind import some_arm
from stopwise.sampling.strategy import Direct

TRIES = 3  # draws before the conditional law is drawn directly
PATIENCE = 10_000  # draws of one arm until it is beyond the limit: about 1 is expected


class MurphySampling(Direct):
    """The extreme arm of a posterior draw in which some arm is beyond the limit."""

    title = "any arm beyond a limit: as if there were one"
    reason = (
        "Murphy sampling draws means from what the samples say, given that some arm is beyond the "
        "limit, and samples the arm that is furthest beyond it."
    )
    uses_randomness = True

    def init(self, question: Question) -> Beyond:
        asked = some_arm(self, question.problem, also_unnamed=True)
        return Beyond(asked.side, asked.limit, np.zeros(question.problem.arms))

    def next_arm(self, instance: Instance, state: State, rounds: int, rng: Rng) -> int:
        own: Beyond = state.strategy_state
        family, data, side = instance.family, instance.data, own.side
        for _ in range(TRIES):
            best, found = -math.inf, 0
            for k in range(data.means.size):
                drawn = side * family.of_arm(k).posterior_draw(data.counts[k], data.means[k], rng)
                if drawn > best:
                    best, found = drawn, k
            if best >= side * own.limit:
                return found
        return _conditional(own, family, data, rng)


class Beyond(NamedTuple):
    """The side of the limit that is asked for, the limit, and room for each arm's chance to be there."""

    side: float
    limit: float
    chances: Floats


@jitable
def _conditional(asked: Beyond, family: Family, data: Data, rng: Rng) -> int:
    """P(arm k is the first beyond the limit | it is k or a later one) = p_k/(1 - prod of (1 - p_j))."""
    nobody = 0.0  # log of the chance that no arm from here on is beyond the limit
    chances, nearest, least = asked.chances, 0, math.inf
    for k in range(chances.size):
        far = arm_cost(family, data, k, asked.limit)
        chances[k] = 0.5 * math.erfc(math.sqrt(far))
        if asked.side * (data.means[k] - asked.limit) > 0.0:
            chances[k] = min(1.0 - chances[k], 1.0 - 1e-16)
        nobody += math.log1p(-chances[k])
        if far < least:
            nearest, least = k, far
    if nobody > -1e-300:
        return nearest
    found, best, first = -1, -math.inf, -1
    for k in range(chances.size):
        given = chances[k] if first >= 0 else chances[k] / -math.expm1(nobody)
        nobody -= math.log1p(-chances[k])
        if rng.random() < given:
            if first < 0:
                first = k
                continue
            if found < 0:
                found, best = first, _beyond(asked, family, data, first, rng)
            drawn = _beyond(asked, family, data, k, rng)
            if drawn > best:
                found, best = k, drawn
    if found >= 0:
        return found
    return first if first >= 0 else nearest


@jitable
def _beyond(asked: Beyond, family: Family, data: Data, arm: int, rng: Rng) -> float:
    """A draw of one arm's mean beyond the limit, times the side."""
    drawn = 0.0
    for _ in range(PATIENCE):
        mean = family.of_arm(arm).posterior_draw(data.counts[arm], data.means[arm], rng)
        drawn = asked.side * mean
        if drawn >= asked.side * asked.limit:
            break
    return drawn
