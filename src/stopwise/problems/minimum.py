"""Is the smallest mean below a threshold, up to epsilon?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from stopwise.arrays import smallest
from stopwise.checks import Floats, finite, not_negative, whole
from stopwise.families.base import interval, lower, upper
from stopwise.problems import base
from stopwise.problems.base import Code
from stopwise.shapes.bound import (
    divergence_from,
    project_bound,
    total_divergence,
    weighted_divergence,
)
from stopwise.values import value
from stopwise.verbs import jitable


class _MinimumThreshold(NamedTuple):
    arms: int
    threshold: float
    epsilon: float


@value
class MinimumThreshold(_MinimumThreshold):
    """Is the smallest mean "low" (at most threshold + epsilon) or "high" (at least - epsilon)?

    Both answers are correct in between.
    """

    __slots__ = ()

    def __new__(cls, arms: int, threshold: float, epsilon: float = 0.0) -> MinimumThreshold:
        return super().__new__(
            cls,
            whole("arms", arms, least=1),
            finite("threshold", threshold),
            not_negative("epsilon", epsilon),
        )


LOW, HIGH = 0, 1


@base.arm_count.register(MinimumThreshold)
def _arm_count(problem: MinimumThreshold) -> int:
    return problem.arms


@base.answers.register(MinimumThreshold)
def _answers(problem: MinimumThreshold) -> Iterator[str]:
    return iter(("low", "high"))


@base.correct_answers.register(MinimumThreshold)
def _correct_answers(problem: MinimumThreshold, means: Floats) -> Iterator[str]:
    least = means.min()
    if least <= problem.threshold + problem.epsilon:
        yield "low"
    if least >= problem.threshold - problem.epsilon:
        yield "high"


@base.cell_count.register(MinimumThreshold)
def _cell_count(problem: MinimumThreshold, code: Code) -> int:
    return 1 if code[0] == LOW else problem.arms


@base.project.register(MinimumThreshold)
def _project(
    problem: MinimumThreshold,
    family: Any,
    weights: Floats,
    means: Floats,
    code: Code,
    cell: int,
    closest: Floats,
) -> float:
    if code[0] == HIGH:
        limit = problem.threshold - problem.epsilon
        return project_bound(family, weights, means, cell, -1.0, limit, closest)
    for k in range(means.size):
        closest[k] = max(means[k], problem.threshold + problem.epsilon)
    return total_divergence(family, weights, means, closest)


base.add_hessian.register(MinimumThreshold, base.no_hessian)


@base.check.register(MinimumThreshold)
def _check(problem: MinimumThreshold, family: Any) -> None:
    base.inside("threshold - epsilon", problem.threshold - problem.epsilon, problem, family)
    base.inside("threshold + epsilon", problem.threshold + problem.epsilon, problem, family)


@base.rank.register(MinimumThreshold)
def _rank(problem: MinimumThreshold) -> int:
    return problem.arms


@base.events.register(MinimumThreshold)
def _events(problem: MinimumThreshold) -> int:
    # "low" is wrong for one reason (all arms are high); "high" is proven wrong by any one low arm
    return 1


@jitable
def prefers_low(problem: MinimumThreshold, family: Any, means: Floats) -> float:
    """D(mu, not low) - D(mu, not high), by the appendix's two closed forms."""
    least, total = smallest(means), 0.0
    top, bottom = problem.threshold + problem.epsilon, problem.threshold - problem.epsilon
    low = divergence_from(family, least, top) if least < top else 0.0
    if least <= bottom:
        return low
    for k in range(means.size):
        total += 1.0 / divergence_from(family, means[k], bottom)
    return low - 1.0 / total if total > 0.0 else -math.inf


@base.reach.register(MinimumThreshold)
def _reach(
    problem: MinimumThreshold,
    family: Any,
    counts: Floats,
    means: Floats,
    code: Code,
    level: float,
    point: Floats,
) -> float:
    if problem.epsilon == 0.0:
        cheapest, least = 0, math.inf
        for k in range(problem.arms):
            value = weighted_divergence(family, counts[k], means[k], problem.threshold)
            if means[k] < problem.threshold:
                value = 0.0
            if value < least:
                cheapest, least = k, value
            point[k] = means[k] if code[0] == LOW else max(means[k], problem.threshold)
        if code[0] == LOW:  # one arm at or below the threshold is enough
            point[cheapest] = min(means[cheapest], problem.threshold)
        return total_divergence(family, counts, means, point)
    point[0] = math.nan
    # prefers_low falls in every mean, so over the box around the region its extremes are at corners
    corner = means.copy()
    low, high = interval(family)
    for k in range(problem.arms):
        if counts[k] > 0.0 and code[0] == LOW:
            corner[k] = lower(family, means[k], level / counts[k])
        elif counts[k] > 0.0:
            corner[k] = upper(family, means[k], level / counts[k])
        else:
            corner[k] = low if code[0] == LOW else high
    if code[0] == LOW:
        limit = problem.threshold - problem.epsilon
        return (
            0.0
            if smallest(corner) <= limit or prefers_low(problem, family, corner) >= 0.0
            else np.inf
        )
    limit = problem.threshold + problem.epsilon
    return (
        0.0 if smallest(corner) >= limit or prefers_low(problem, family, corner) <= 0.0 else np.inf
    )


@base.answer_count.register(MinimumThreshold)
def _answer_count(problem: MinimumThreshold) -> int:
    return 2
