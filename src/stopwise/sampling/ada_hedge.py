"""AdaHedge against best response (Degenne, Koolen & Menard 2019, Section 3.1)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from stopwise.core.arrays import Floats, Rng, largest
from stopwise.core.data import Data, State
from stopwise.core.functions import jitable
from stopwise.families.family import Family
from stopwise.problems.instance import Instance, Question
from stopwise.problems.problem import Refutation, refutation
from stopwise.sampling.games import Learner, best_response

ROOM = 4_000_000  # numbers that the learners may take: with more answers one learner serves all


class AdaHedge(Learner):
    """A learner for each answer proposes weights, and gains what the closest model concedes.

    The gains are optimistic: the most that they are at a mean within N d(mu-hat, .) <= log t.
    """

    title = "a learner against the closest model"
    reason = (
        "AdaHedge pursues the answer that the means favour at the moment, and learns which arms tell it "
        "best from its closest alternative."
    )

    def init(self, question: Question) -> Learners:
        arms, answers = question.problem.arms, question.problem.answer_count()
        rows = answers if 0 < answers * arms <= ROOM else 1
        step, means = np.zeros((2, arms))
        return Learners(np.zeros((rows, arms)), np.zeros(rows), step, means, refutation(arms))

    def target(self, instance: Instance, state: State, rounds: int, rng: Rng) -> None:
        learners: Learners = state.strategy_state
        (problem, family, data, cache), weights = instance, state.plan.weights
        problem.leading_answer(family, data, cache, state.plan.pursued)
        who = state.plan.pursued[0] if learners.gaps.size > 1 else 0
        hedge(learners.gains[who], learners.gaps[who], weights)
        best_response(instance, state.plan, learners.means, learners.found)
        fitted = Data(data.counts, learners.means)
        optimistic_gains(family, fitted, math.log(rounds), learners.found.model, learners.step)
        learners.gaps[who] += learn(learners.gains[who], learners.gaps[who], weights, learners.step)


class Learners(NamedTuple):
    """Of each answer, or of all: the arms' gains so far, and the sum of the mixability gaps."""

    gains: Floats
    gaps: Floats
    step: Floats  # the last gains
    means: Floats
    found: Refutation


@jitable
def hedge(gains: Floats, gap: float, weights: Floats) -> None:
    """w_k in proportion to exp(eta G_k), eta = log K/gap: the leaders alone while there is no gap."""
    top, whole = largest(gains), 0.0
    eta = math.log(gains.size) / gap if gap > 0.0 else math.inf
    for k in range(gains.size):
        weights[k] = 1.0 if gains[k] == top else math.exp(eta * (gains[k] - top))
        whole += weights[k]
    for k in range(gains.size):
        weights[k] /= whole


@jitable
def learn(gains: Floats, gap: float, weights: Floats, step: Floats) -> float:
    """Enter one round's gains; returns its mixability gap (de Rooij et al. 2014, equation 5)."""
    before, most, mean = largest(gains), largest(step), 0.0
    for k in range(gains.size):
        mean += weights[k] * step[k]
        gains[k] += step[k]
    if gap == 0.0 or gains.size == 1:
        return max(largest(gains) - before - mean, 0.0)
    eta, mixed = math.log(gains.size) / gap, 0.0
    for k in range(gains.size):
        mixed += weights[k] * math.exp(eta * (step[k] - most))
    return max(most + math.log(mixed) / eta - mean, 0.0)


@jitable
def optimistic_gains(family: Family, data: Data, level: float, model: Floats, out: Floats) -> None:
    """The most of d(xi, lambda_k) over xi with N d(mu-hat, xi) <= level, and level/N at least.

    An arm that the model leaves alone gains level/N, as does one for which the most is infinite.
    """
    counts, means = data
    for k in range(out.size):
        out[k] = share = level / counts[k]
        if model[k] != means[k]:
            out[k] = max(share, _most_gain(family.of_arm(k), means[k], share, model[k]))


@jitable
def _most_gain(family: Family, mean: float, share: float, lam: float) -> float:
    """The larger d(xi, lambda) at the two ends; 0 if both are infinite.

    If lambda is not between them, the end that is further away has more: d grows with the distance.
    """
    far = _gain(family, mean, share, lam < mean, lam)
    if far > 0.0 and family.divergence(mean, lam) >= share:
        return far
    return max(far, _gain(family, mean, share, lam >= mean, lam))


@jitable
def _gain(family: Family, mean: float, share: float, up: bool, lam: float) -> float:
    """d(xi, lambda) at the upper or lower end; 0 if that is infinite."""
    end = family.upper(mean, share) if up else family.lower(mean, share)
    found = family.divergence(end, lam) if math.isfinite(end) else math.inf
    return found if found < math.inf else 0.0
