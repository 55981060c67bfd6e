"""lil'UCB (Jamieson, Malloy, Nowak & Bubeck 2014, Figure 1, Theorem 2 and Section 4)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from stopwise.baselines.radius import LEVEL_STEP, check_proxy, proxy
from stopwise.core.arrays import Floats, Rng, argmax, fill, largest, total
from stopwise.core.checks import truth
from stopwise.core.data import State
from stopwise.core.functions import jitable
from stopwise.core.options import Option
from stopwise.families.family import Family
from stopwise.problems.instance import Instance, Question
from stopwise.problems.problem import Problem
from stopwise.problems.question_kind import best_arm
from stopwise.sampling.strategy import Direct
from stopwise.stopping.rule import StoppingRule

HEURISTIC = Option(
    {"type": "boolean"},
    "The paper's constants for experiments, which prove nothing, or those it proves",
)


class LilUCB(Direct):
    """The arm with the largest bound of the law of the iterated logarithm, for sub-Gaussian samples.

    Its stopping rule is ``MostSampled`` with the same constants.
    """

    heuristic: bool
    title = "the arm with the largest bound; stop when one has most samples"
    reason = (
        "lil'UCB samples the arm with the largest upper confidence bound, again and again: in the end "
        "nearly all samples go to the best one."
    )
    options = {"heuristic": HEURISTIC}
    looks_at_delta = True

    def __init__(self, heuristic: bool = False) -> None:
        self.heuristic = truth("heuristic", heuristic)

    def init(self, question: Question) -> Iterated:
        asked, arms = best_arm(self, question.problem), question.problem.arms
        check_proxy(self, question.family)
        most, (counts, widths) = most_factor(self.heuristic, arms), np.zeros((2, arms))
        rest = asked.side, most, counts, widths, np.zeros(1)
        if self.heuristic:  # Section 4: epsilon = 0, beta = 1/2, delta = nu/5
            return Iterated(0.0, 1.5 * math.sqrt(2.0), question.delta / 5.0, *rest)
        eps, beta = 0.01, 1.0
        # Theorem 2: wrong with probability at most 4 sqrt(c d) + 4 c d, which is nu for this d
        c = (2.0 + eps) / eps * (1.0 / math.log(1.0 + eps)) ** (1.0 + eps)
        inner = (math.sqrt(1.0 + question.delta) - 1.0) ** 2 / (4.0 * c)
        factor = (1.0 + beta) * (1.0 + math.sqrt(eps)) * math.sqrt(2.0 * (1.0 + eps))
        return Iterated(eps, factor, inner, *rest)

    def next_arm(self, instance: Instance, state: State, rounds: int, rng: Rng) -> int:
        """An arm's width depends on its number of samples alone: the last one is kept.

        Where one arm has most samples and the stopping rule wants more, it goes on as if for delta/10.
        """
        own: Iterated = state.strategy_state
        data, most = instance.data, largest(instance.data.counts)
        if most >= 1.0 + own.most * (total(data.counts) - most):
            own.more[0] += LEVEL_STEP
            fill(own.counts, 0.0)
        best, found = -math.inf, 0
        for k in range(state.taken.size):
            if own.counts[k] != state.taken[k]:
                own.counts[k] = state.taken[k]
                own.widths[k] = _width(own, proxy(instance.family.of_arm(k)), state.taken[k])
            index = own.side * data.means[k] + own.widths[k]
            if index > best:
                best, found = index, k
        return found


class Iterated(NamedTuple):
    """The constants of the bounds, and each arm's width with the number of samples that it is of."""

    epsilon: float
    factor: float  # (1 + beta)(1 + sqrt epsilon) sqrt(2 (1 + epsilon))
    delta: float  # the one inside the logarithm
    side: float
    most: float  # lambda of the stopping rule
    counts: Floats
    widths: Floats
    more: Floats  # the growth of log(1/delta)


@jitable
def _width(own: Iterated, spread: float, count: float) -> float:
    """Infinite where the logarithm is not positive: a first sample says nothing when epsilon = 0."""
    inner = math.log((1.0 + own.epsilon) * count) / own.delta
    if inner <= 1.0:
        return math.inf
    return own.factor * math.sqrt(spread * (math.log(inner) + own.more[0]) / count)


@jitable
def most_factor(heuristic: bool, arms: int) -> float:
    """lambda: ((2 + beta)/beta)^2 = 9, or for experiments 1 + 10/K."""
    return 1.0 + 10.0 / arms if heuristic else 9.0


class MostSampled(StoppingRule):
    """Stop when N_i >= 1 + lambda times all other samples; for ``LilUCB`` alone.

    lambda is ((2 + beta)/beta)^2 = 9, or for experiments 1 + 10/K. The rule says nothing by itself: the
    proof (their Theorem 2) is about how lil'UCB samples.
    """

    heuristic: bool
    title = "one arm has most of the samples: for LilUCB only"
    options = {
        "heuristic": Option({"type": "boolean"}, "The same as in LilUCB: constants for experiments")
    }

    def __init__(self, heuristic: bool = False) -> None:
        self.heuristic = truth("heuristic", heuristic)

    def level(self, problem: Problem, family: Family, delta: float) -> float:
        """The evidence is N_i/(1 + lambda sum of the others); delta is in how lil'UCB samples."""
        best_arm(self, problem)
        return 1.0

    def margin(self, instance: Instance, state: State, rounds: int, enough: float) -> float:
        counts = instance.data.counts
        arm = argmax(counts)
        others = most_factor(self.heuristic, counts.size) * (total(counts) - counts[arm])
        state.report.answer[0] = arm
        return state.report.write(counts[arm] / (1.0 + others), 0.0)
