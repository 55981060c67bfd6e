"""Mirror ascent on D (Menard 2019), without the true value in its rate."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from stopwise.core.arrays import Floats, Rng, assign, largest
from stopwise.core.data import State
from stopwise.core.functions import jitable
from stopwise.problems.instance import Instance, Question
from stopwise.problems.problem import Refutation, refutation
from stopwise.sampling.games import Learner, best_response, gains


class LazyMirrorAscent(Learner):
    """Exponential weights that climb D(w, mu-hat) by its gradient, mixed with uniform ones.

    After t steps the rate is sqrt(log K/t)/S and 1/(4 sqrt t) of the weight is uniform. S, the scale of
    the gradient, is the mean of D at the weights so far, where published comparisons take the true D.
    """

    title = "a gradient step towards the oracle weights in each round"
    reason = (
        "Mirror ascent pursues the answer that the means favour at the moment, and moves the shares of "
        "the arms in each round to where its evidence grows faster."
    )

    def init(self, question: Question) -> Slope:
        arms = question.problem.arms
        step, means = np.zeros((2, arms))
        return Slope(np.full(arms, 1.0 / arms), step, means, np.zeros(2), refutation(arms))

    def target(self, instance: Instance, state: State, rounds: int, rng: Rng) -> None:
        slope: Slope = state.strategy_state
        problem, family, data, cache = instance
        problem.leading_answer(family, data, cache, state.plan.pursued)
        assign(state.plan.weights, slope.weights)
        best_response(instance, state.plan, slope.means, slope.found)
        gains(family, slope.means, slope.found.model, slope.step)
        climb(slope)


class Slope(NamedTuple):
    """The weights of the next round, its gradient, and how far the ascent has come."""

    weights: Floats
    step: Floats
    means: Floats
    past: Floats  # steps, and the sum of D at their weights
    found: Refutation


@jitable
def climb(slope: Slope) -> None:
    """One step; none where the gradient is 0 or not finite."""
    weights, step, _, past, _ = slope
    arms, most, value = weights.size, largest(step), 0.0
    for k in range(arms):
        value += weights[k] * step[k]
    past[0] += 1.0
    if not 0.0 < value < math.inf or most == math.inf:
        return
    past[1] += value
    rate = math.sqrt(math.log(arms) / past[0]) * past[0] / past[1]
    whole = 0.0
    for k in range(arms):
        weights[k] *= math.exp(rate * (step[k] - most))
        whole += weights[k]
    mixed = 0.25 / math.sqrt(past[0])
    for k in range(arms):
        weights[k] = (1.0 - mixed) * weights[k] / whole + mixed / arms
