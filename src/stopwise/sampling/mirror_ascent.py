"""Mirror ascent on D (Menard 2019), without the true value in its rate."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from stopwise.core.arrays import Floats, Rng, assign, largest
from stopwise.core.data import State
from stopwise.core.values import Strategy
from stopwise.core.verbs import jitable
from stopwise.problems.rounds import Refutation, front_runner, refutation
from stopwise.sampling.games import BY_THE_MEANS, SumTracking, WithTracker, best_response, gains
from stopwise.sampling.verbs import aim, notes


class LazyMirrorAscent(WithTracker, Strategy):
    """Exponential weights that climb D(w, mu-hat) by its gradient, mixed with uniform ones.

    After t steps the rate is sqrt(log K/t)/S and 1/(4 sqrt t) of the weight is uniform. S, the scale of
    the gradient, is the mean of D at the weights so far, where published comparisons take the true D.
    """

    __slots__ = ()
    title = "a gradient step towards the oracle weights in each round"
    reason = (
        "Mirror ascent pursues the answer that the means favour at the moment, and moves the shares of "
        "the arms in each round to where its evidence grows faster."
    )
    because = BY_THE_MEANS

    def __new__(cls) -> LazyMirrorAscent:
        return super().__new__(cls, SumTracking())

    def __getnewargs__(self) -> tuple[Any, ...]:
        return ()


class Slope(NamedTuple):
    """The weights of the next round, its gradient, and how far the ascent has come."""

    weights: Floats
    step: Floats
    means: Floats
    past: Floats  # steps, and the sum of D at their weights
    found: Refutation


@notes.register(LazyMirrorAscent)
def _notes(strategy: LazyMirrorAscent, problem: Any) -> Slope:
    arms = problem.arms
    step, means = np.zeros((2, arms))
    return Slope(np.full(arms, 1.0 / arms), step, means, np.zeros(2), refutation(arms))


@aim.register(LazyMirrorAscent)
def _aim(
    strategy: LazyMirrorAscent, problem: Any, family: Any, state: State, rounds: int, rng: Rng
) -> None:
    slope = state.pursuit.notes
    front_runner(problem, family, state.data, state.sketch, state.pursuit.code)
    assign(state.pursuit.weights, slope.weights)
    best_response(problem, family, state, slope.means, slope.found)
    gains(family, slope.means, slope.found.model, slope.step)
    climb(slope)


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
