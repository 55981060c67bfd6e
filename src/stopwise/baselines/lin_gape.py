"""LinGapE (Xu, Honda & Sugiyama 2018, Algorithm 1), with the confidence ellipsoid of docs/linear.md.

i is best at theta-hat; j may be the furthest above it, the argmax of the fitted gap and its width;
sampled is the arm that makes the ellipsoid the narrowest along y = x_i - x_j: of the paper's two choices
the greedy one, which needs no linear programme and is what the authors' own code takes.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from stopwise.baselines.radius import LEVEL_STEP, Ellipsoid, Radius, WithRadius
from stopwise.cells.least_squares import dot, estimate, information, inverted, squared
from stopwise.core.arrays import Floats, Rng
from stopwise.core.data import State
from stopwise.core.functions import jitable
from stopwise.families.family import Family
from stopwise.problems.instance import Instance, Question
from stopwise.problems.problem import Code, Problem
from stopwise.problems.question_kind import linear_arms
from stopwise.stopping.rule import StoppingRule


class LinGapE(WithRadius):
    """The best fit against the arm that may be the furthest above it: what narrows their gap the most.

    Its stopping rule is ``ClearGaps()``; with the radius "stylized" ``Stylized()``.
    """

    title = "the arm that tells the best fit from its strongest rival"
    reason = (
        "LinGapE compares the arm that is best by the fit with the one that may be the furthest above "
        "it, and samples the arm from which the most is learned about their difference."
    )

    def init(self, question: Question) -> Fitting:
        """One theta is true, so that one ellipsoid holds it: no union over the arms."""
        asked = linear_arms(self, question.problem)
        return Fitting(asked.side, asked.features, -math.log(question.delta), np.zeros(1))

    def next_arm(self, instance: Instance, state: State, rounds: int, rng: Rng) -> int:
        return _narrowing_sample(self.radius, instance, state, 1.0 * rounds)


class Fitting(NamedTuple):
    """The question's side and features, and the base of the ellipsoid with its growth."""

    side: float
    features: Floats
    base: float
    more: Floats


@jitable(allocates=True)
def _narrowing_sample(radius: Radius, instance: Instance, state: State, t: float) -> int:
    """Where all gaps are clear and the stopping rule wants more, it goes on as if for delta/10."""
    own: Fitting = state.strategy_state
    family, features = instance.family, own.features
    shape = information(features, family, state.taken)  # samples in flight narrow the ellipsoid
    ends = radius.ellipsoid(features, family, shape, t)
    shape_of_data = information(features, family, state.data.counts)
    theta = own.side * estimate(features, family, state.data, shape_of_data)
    best, rival, above = _rivals(features, theta, ends, own.base + own.more[0])
    if above < 0.0:
        own.more[0] += LEVEL_STEP
    return _narrowing(features, family, inverted(shape), features[best] - features[rival])


@jitable(allocates=True)
def _rivals(
    features: Floats, theta: Floats, ends: Ellipsoid, base: float
) -> tuple[int, int, float]:
    """The arm that is best at theta; the one that may be the furthest above it; and by how much."""
    best, rival, above = 0, 0, -math.inf
    for k in range(1, len(features)):
        if dot(features[k], theta) > dot(features[best], theta):
            best = k
    for k in range(len(features)):
        if k != best:
            y = features[best] - features[k]
            width = math.sqrt(2.0 * max(base + ends.growth, 0.0) * squared(ends.spread, y))
            if width - dot(y, theta) > above:
                rival, above = k, width - dot(y, theta)
    return best, rival, above


@jitable(allocates=True)
def _narrowing(features: Floats, family: Family, inverse: Floats, y: Floats) -> int:
    """The arm with the least y^T (V + x x^T/s^2)^-1 y = y^T V^-1 y - (x V^-1 y)^2/(s^2 + x V^-1 x)."""
    toward, most, arm = np.zeros(y.size), -math.inf, 0
    for r in range(y.size):
        toward[r] = dot(inverse[r], y)
    for k in range(len(features)):
        along = dot(features[k], toward)
        noise = family.of_arm(k).variance_at(0.0) + squared(inverse, features[k])
        if along * along > most * noise:
            most, arm = along * along / noise, k
    return arm


class ClearGaps(StoppingRule):
    """Stop when the best fit's gap to every other arm is wider than its confidence interval.

    Linear arms. The evidence is the largest log(1/delta) at which that is so: docs/linear.md.
    """

    title = "linear arms: all gaps clear of the confidence ellipsoid; proven"

    def level(self, problem: Problem, family: Family, delta: float) -> float:
        linear_arms(self, problem)
        return -math.log(delta)

    def proven(self, problem: Problem, family: Family) -> bool:
        return True

    def margin(self, instance: Instance, state: State, rounds: int, enough: float) -> float:
        """D is at least the evidence: below the level it settles the matter."""
        problem, family, data, cache = instance
        least = max(enough, 0.0)
        found = problem.best_evidence(family, data, cache, least, state.report.answer)
        if found >= least:
            found = _clear(instance, state.report.answer)
        return state.report.write(found, 0.0)

    def evidence(self, instance: Instance, state: State, code: Code) -> float:
        return max(0.0, float(_clear(instance, np.asarray(code))))


@jitable
def _clear(instance: Instance, code: Code) -> float:
    """The least over the rivals of gap^2/(2 width) - growth: equation (1), prior of one sample."""
    problem, family, data, _ = instance
    found = math.inf
    for cell in range(problem.cell_count(code)):
        found = min(found, problem.cell(code, cell).mixed_evidence(family, data, 1.0))
    return found
