"""The game behind every question: weights against models. What strategies that play it share.

D(mu, not i) = max over weights w of min over models lambda of sum_k w_k d(mu_k, lambda_k). A learner
proposes weights, the other side answers with the closest model, and each arm's gain is what it tells
the two apart (Degenne, Koolen & Menard 2019). The arms follow the sum of the weights.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from stopwise.core.arrays import Floats
from stopwise.core.data import Data, State
from stopwise.core.verbs import jitable
from stopwise.families.verbs import divergence, of_arm
from stopwise.problems.rounds import Refutation, fitted, refute
from stopwise.sampling.tracking import CTracking, follow

BY_THE_MEANS = (
    "the means favoured it once every arm had a sample",
    "the means came to favour it over “{before}”",
)


class WithTracker(NamedTuple):
    """The fields of a strategy that has nothing but its tracker."""

    tracker: Any


class SumTracking(CTracking):
    """C-tracking as it is: the learner explores, so that no floor is needed."""

    __slots__ = ()


@follow.register(SumTracking)
def _follow(
    tracker: SumTracking, target: Floats, counts: Floats, totals: Floats, rounds: int
) -> int:
    best, arm = -math.inf, 0
    for k in range(counts.size):
        totals[k] += target[k]
        behind = totals[k] - counts[k]
        if behind > best:
            best, arm = behind, k
    return arm


@jitable
def best_response(
    problem: Any, family: Any, state: State, means: Floats, found: Refutation
) -> None:
    """The estimated means, and the closest model that refutes the pursued answer, at the weights."""
    fitted(problem, family, state.data, means)
    data = Data(state.pursuit.weights, means)
    refute(problem, family, data, state.sketch, state.pursuit.code, 0.0, found)


@jitable
def gains(family: Any, means: Floats, model: Floats, out: Floats) -> None:
    """d(mu_k, lambda_k) of each arm: the gradient of D in the weights."""
    for k in range(out.size):
        out[k] = 0.0
        if model[k] != means[k]:
            out[k] = divergence(of_arm(family, k), means[k], model[k])
