"""lil'UCB (Jamieson, Malloy, Nowak & Bubeck 2014, Figure 1, Theorem 2 and Section 4)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from stopwise.cells.radius import (
    AGAIN,
    check_proxy,
    proxy,
)
from stopwise.core.arrays import Floats, Rng, fill, largest, total
from stopwise.core.checks import truth
from stopwise.core.data import State
from stopwise.core.options import Option
from stopwise.core.verbs import jitable
from stopwise.families.verbs import of_arm
from stopwise.problems.asked import best_arm
from stopwise.sampling.verbs import Direct, Question, bind, notes, pick

HEURISTIC = Option(
    {"type": "boolean"},
    "The paper's constants for experiments, which prove nothing, or those it proves",
)


class _LilUCB(NamedTuple):
    heuristic: bool


class LilUCB(_LilUCB, Direct):
    """The arm with the largest bound of the law of the iterated logarithm, for sub-Gaussian samples.

    Its stopping rule is ``MostSampled`` with the same constants.
    """

    __slots__ = ()
    title = "the arm with the largest bound; stop when one has most samples"
    reason = (
        "lil'UCB samples the arm with the largest upper confidence bound, again and again: in the end "
        "nearly all samples go to the best one."
    )
    options = {"heuristic": HEURISTIC}
    looks_at_delta = True

    def __new__(cls, heuristic: bool = False) -> LilUCB:
        return super().__new__(cls, truth("heuristic", heuristic))


class _Iterated(NamedTuple):
    epsilon: float
    factor: float  # (1 + beta)(1 + sqrt epsilon) sqrt(2 (1 + epsilon))
    delta: float  # the one inside the logarithm
    side: float
    most: float  # lambda of the stopping rule


class Iterated(_Iterated, Direct, listed=False):
    """lil'UCB once the question is known."""

    __slots__ = ()
    looks_at_delta = True


@bind.register(LilUCB)
def _bind(strategy: LilUCB, question: Question) -> Iterated:
    asked = best_arm(strategy, question.problem)
    check_proxy(strategy, question.family)
    arms = question.problem.arms
    if strategy.heuristic:  # Section 4: epsilon = 0, beta = 1/2, delta = nu/5
        return Iterated(
            0.0, 1.5 * math.sqrt(2.0), question.delta / 5.0, asked.side, 1.0 + 10.0 / arms
        )
    eps, beta = 0.01, 1.0
    # Theorem 2: wrong with probability at most 4 sqrt(c d) + 4 c d, which is nu for this d
    c = (2.0 + eps) / eps * (1.0 / math.log(1.0 + eps)) ** (1.0 + eps)
    inner = (math.sqrt(1.0 + question.delta) - 1.0) ** 2 / (4.0 * c)
    factor = (1.0 + beta) * (1.0 + math.sqrt(eps)) * math.sqrt(2.0 * (1.0 + eps))
    return Iterated(eps, factor, inner, asked.side, 9.0)


@notes.register(Iterated)
def _notes(strategy: Iterated, problem: Any) -> Floats:
    return np.zeros((3, problem.arms))  # numbers of samples, widths; and the growth of log(1/delta)


@pick.register(Iterated)
def _pick(
    strategy: Iterated, problem: Any, family: Any, state: State, rounds: int, rng: Rng
) -> int:
    """An arm's width depends on its number of samples alone: the last one is kept.

    Where one arm has most samples and the stopping rule wants more, it goes on as if for delta/10.
    """
    known, best, found = state.pursuit.notes, -math.inf, 0
    most = largest(state.data.counts)
    if most >= 1.0 + strategy.most * (total(state.data.counts) - most):
        known[2, 0] += AGAIN
        fill(known[0], 0.0)
    for k in range(state.taken.size):
        if known[0, k] != state.taken[k]:
            known[0, k] = state.taken[k]
            known[1, k] = _width(strategy, proxy(of_arm(family, k)), state.taken[k], known[2, 0])
        index = strategy.side * state.data.means[k] + known[1, k]
        if index > best:
            best, found = index, k
    return found


@jitable
def _width(strategy: Iterated, spread: float, count: float, more: float) -> float:
    """Infinite where the logarithm is not positive: a first sample says nothing when epsilon = 0."""
    inner = math.log((1.0 + strategy.epsilon) * count) / strategy.delta
    if inner <= 1.0:
        return math.inf
    return strategy.factor * math.sqrt(spread * (math.log(inner) + more) / count)
