"""The game behind every question: weights against models. What strategies that play it share.

D(mu, not i) = max over weights w of min over models lambda of sum_k w_k d(mu_k, lambda_k). A learner
proposes weights, the other side answers with the closest model, and each arm's gain is what it tells
the two apart (Degenne, Koolen & Menard 2019). The arms follow the sum of the weights.
"""

from __future__ import annotations

import math

from stopwise.core.arrays import Floats
from stopwise.core.data import Data, Plan
from stopwise.core.functions import jitable
from stopwise.families.family import Family
from stopwise.problems.instance import Instance
from stopwise.problems.problem import Refutation
from stopwise.sampling.strategy import CTracking, Strategy, Tracker

BY_THE_MEANS = (
    "the means favoured it once every arm had a sample",
    "the means came to favour it over “{before}”",
)


class SumTracking(CTracking):
    """C-tracking as it is: the learner explores, so that no floor is needed."""

    def follow(self, target: Floats, counts: Floats, totals: Floats, rounds: int) -> int:
        best, arm = -math.inf, 0
        for k in range(counts.size):
            totals[k] += target[k]
            behind = totals[k] - counts[k]
            if behind > best:
                best, arm = behind, k
        return arm


class Learner(Strategy, listed=False):
    """Strategies that pursue the leading answer and track the sum of a learner's weights."""

    tracker: Tracker
    because = BY_THE_MEANS

    def __init__(self) -> None:
        self.tracker = SumTracking()


@jitable
def best_response(instance: Instance, plan: Plan, means: Floats, found: Refutation) -> None:
    """The estimated means, and the closest model that refutes the pursued answer, at the weights."""
    problem, family, data, cache = instance
    problem.fitted(family, data, means)
    problem.refute(family, Data(plan.weights, means), cache, plan.pursued, 0.0, found)


@jitable
def gains(family: Family, means: Floats, model: Floats, out: Floats) -> None:
    """d(mu_k, lambda_k) of each arm: the gradient of D in the weights."""
    for k in range(out.size):
        out[k] = 0.0
        if model[k] != means[k]:
            out[k] = family.of_arm(k).divergence(means[k], model[k])
