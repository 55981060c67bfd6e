"""LinGapE (Xu, Honda & Sugiyama 2018, Algorithm 1), with the confidence ellipsoid of docs/linear.md.

i is best at theta-hat; j may be the furthest above it, the argmax of the fitted gap and its width;
sampled is the arm that makes the ellipsoid the narrowest along y = x_i - x_j: of the paper's two choices
the greedy one, which needs no linear programme and is what the authors' own code takes.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from stopwise.cells.least_squares import (
    Ellipsoid,
    dot,
    ellipsoid,
    estimate,
    information,
    inverted,
    squared,
)
from stopwise.cells.radius import AGAIN
from stopwise.core.arrays import Floats, Rng
from stopwise.core.data import State
from stopwise.core.verbs import jitable
from stopwise.families.verbs import of_arm, variance
from stopwise.problems.asked import linear_arms
from stopwise.sampling.verbs import Direct, Question, bind, notes, pick
from stopwise.sampling.with_radius import WithRadius


class LinGapE(WithRadius):
    """The best fit against the arm that may be the furthest above it: what narrows their gap the most.

    Its stopping rule is ``ClearGaps()``; with the radius "stylized" ``Stylized()``.
    """

    __slots__ = ()
    title = "the arm that tells the best fit from its strongest rival"
    reason = (
        "LinGapE compares the arm that is best by the fit with the one that may be the furthest above "
        "it, and samples the arm from which the most is learned about their difference."
    )


class _Fitting(NamedTuple):
    radius: Any
    base: float
    side: float
    features: Floats


class Fitting(_Fitting, Direct, listed=False):
    """LinGapE once the question is known."""

    __slots__ = ()
    looks_at_delta = True


@bind.register(LinGapE)
def _bind(strategy: LinGapE, question: Question) -> Fitting:
    """One theta is true, so that one ellipsoid holds it: no union over the arms."""
    asked = linear_arms(strategy, question.problem)
    return Fitting(strategy.radius, -math.log(question.delta), asked.side, asked.features)


@notes.register(Fitting)
def _notes(strategy: Fitting, problem: Any) -> Floats:
    """By what the base has grown."""
    return np.zeros(1)


@pick.register(Fitting)
def _pick(strategy: Fitting, problem: Any, family: Any, state: State, rounds: int, rng: Rng) -> int:
    return _narrowing_sample(strategy, family, state, 1.0 * rounds)


@jitable(allocates=True)
def _narrowing_sample(strategy: Fitting, family: Any, state: State, t: float) -> int:
    """Where all gaps are clear and the stopping rule wants more, it goes on as if for delta/10."""
    features, more = strategy.features, state.pursuit.notes
    shape = information(features, family, state.taken)  # samples in flight narrow the ellipsoid
    ends = ellipsoid(strategy.radius, features, family, shape, t)
    own = information(features, family, state.data.counts)
    theta = strategy.side * estimate(features, family, state.data, own)
    best, rival, above = _rivals(features, theta, ends, strategy.base + more[0])
    if above < 0.0:
        more[0] += AGAIN
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
def _narrowing(features: Floats, family: Any, inverse: Floats, y: Floats) -> int:
    """The arm with the least y^T (V + x x^T/s^2)^-1 y = y^T V^-1 y - (x V^-1 y)^2/(s^2 + x V^-1 x)."""
    toward, most, arm = np.zeros(y.size), -math.inf, 0
    for r in range(y.size):
        toward[r] = dot(inverse[r], y)
    for k in range(len(features)):
        along = dot(features[k], toward)
        noise = variance(of_arm(family, k), 0.0) + squared(inverse, features[k])
        if along * along > most * noise:
            most, arm = along * along / noise, k
    return arm
