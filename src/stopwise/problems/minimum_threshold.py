"""Is the smallest mean below a threshold, up to epsilon?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from stopwise.cells.bound import arm_cost, divergence_from, project_bound, total_divergence
from stopwise.cells.shape import Shape, bound_shape, side_shape
from stopwise.core.arrays import Floats, smallest
from stopwise.core.checks import arm_count, finite, margin, moderate
from stopwise.core.data import Data
from stopwise.core.options import NOT_NEGATIVE, NUMBER, Option
from stopwise.core.verbs import jitable
from stopwise.families.verbs import arms_alike, interval, lower, of_arm, upper
from stopwise.problems import rounds, verbs
from stopwise.problems.limits import (
    OneThreshold,
    TwoAnswers,
    alone,
    beyond,
    harmonic,
    high_costs,
    inside,
    nearly,
    separate_bound,
)
from stopwise.problems.rounds import Search
from stopwise.problems.verbs import Code


class _MinimumThreshold(NamedTuple):
    arms: int
    threshold: float
    epsilon: float


class MinimumThreshold(_MinimumThreshold, TwoAnswers, OneThreshold):
    """Is the smallest mean "low" (at most threshold + epsilon) or "high" (at least - epsilon)?

    Both answers are correct in between.
    """

    __slots__ = ()
    title = "Is the lowest mean below a threshold?"
    names = ("low", "high")
    options = {
        "threshold": Option(NUMBER, "The level that means are compared with"),
        "epsilon": Option(
            NOT_NEGATIVE, "How far beyond the threshold is still good enough; empty: not at all"
        ),
    }

    def __new__(cls, arms: int, threshold: float, epsilon: float = 0.0) -> MinimumThreshold:
        return super().__new__(
            cls,
            arm_count(arms),
            moderate("threshold", finite("threshold", threshold)),
            margin(epsilon),
        )


LOW, HIGH = 0, 1


@verbs.asked.register(MinimumThreshold)
def _asked(problem: MinimumThreshold) -> str:
    return f"Is the lowest mean below {problem.threshold:g}?"


@verbs.correct_answers.register(MinimumThreshold)
def _correct_answers(problem: MinimumThreshold, means: Floats) -> Iterator[str]:
    least = means.min()
    if least <= problem.threshold + problem.epsilon:
        yield "low"
    if least >= problem.threshold - problem.epsilon:
        yield "high"


verbs.several_answers.register(MinimumThreshold)(lambda problem: problem.epsilon > 0.0)


@verbs.in_words.register(MinimumThreshold)
def _in_words(problem: MinimumThreshold, answer: str, labels: Sequence[str]) -> str:
    side = "below" if answer == "low" else "above"
    close = f" (or within {problem.epsilon:g} of it)" if problem.epsilon else ""
    return f"the lowest mean is {side} {problem.threshold:g}{close}"


@verbs.cell_count.register(MinimumThreshold)
def _cell_count(problem: MinimumThreshold, code: Code) -> int:
    return 1 if code[0] == LOW else problem.arms


@verbs.shape.register(MinimumThreshold)
def _shape(problem: MinimumThreshold, code: Code, cell: int) -> Shape:
    if code[0] == HIGH:
        return bound_shape(cell, -1.0, problem.threshold - problem.epsilon)
    return side_shape(1.0, problem.threshold + problem.epsilon)


verbs.simple.register(MinimumThreshold)(lambda problem: True)


@verbs.project.register(MinimumThreshold)
def _project(
    problem: MinimumThreshold, family: Any, data: Data, code: Code, cell: int, closest: Floats
) -> float:
    if code[0] == HIGH:
        limit = problem.threshold - problem.epsilon
        return project_bound(family, data, cell, -1.0, limit, closest)
    for k in range(problem.arms):
        closest[k] = max(data.means[k], problem.threshold + problem.epsilon)
    return total_divergence(family, data, closest)


@verbs.check.register(MinimumThreshold)
def _check(problem: MinimumThreshold, family: Any) -> None:
    inside("threshold - epsilon", problem.threshold - problem.epsilon, problem, family)
    inside("threshold + epsilon", problem.threshold + problem.epsilon, problem, family)


verbs.rank.register(MinimumThreshold)(lambda problem: problem.arms)
# "low" is wrong for one reason (all arms are high); "high" is proven wrong by any one low arm
verbs.union_bound.register(MinimumThreshold)(lambda problem: 1)


@jitable
def _clearest(problem: MinimumThreshold, family: Any, means: Floats) -> int:
    """The arm that shows best that the minimum is low: the lowest, if arms are alike."""
    best, limit = 0, problem.threshold + problem.epsilon
    for k in range(1, means.size):
        if arms_alike(family):
            better = means[k] < means[best]
        else:
            better = beyond(family, means, k, 1.0, limit) > beyond(family, means, best, 1.0, limit)
        if better:
            best = k
    return best


@verbs.optimise.register(MinimumThreshold)
def _optimise(
    problem: MinimumThreshold, family: Any, means: Floats, code: Code, weights: Floats
) -> float:
    if code[0] == LOW:
        arm = _clearest(problem, family, means)
        limit = problem.threshold + problem.epsilon
        return alone(arm, beyond(family, means, arm, 1.0, limit), weights)
    return harmonic(high_costs(family, means, problem.threshold - problem.epsilon), weights)


rounds.solve_round.register(MinimumThreshold)(_optimise)


@verbs.upper_bound.register(MinimumThreshold)
def _upper_bound(problem: MinimumThreshold, family: Any, data: Data, code: Code) -> float:
    if code[0] == HIGH:
        return separate_bound(high_costs(family, data.means, problem.threshold - problem.epsilon))
    most = 0.0  # one model: every low arm raised to the limit
    for k in range(problem.arms):
        most = max(most, beyond(family, data.means, k, 1.0, problem.threshold + problem.epsilon))
    return most


@verbs.vertices.register(MinimumThreshold)
def _vertices(problem: MinimumThreshold, family: Any, data: Data, code: Code) -> Floats:
    if code[0] == HIGH:
        return data.counts[None].copy()
    means, limit = data.means, problem.threshold + problem.epsilon
    if arms_alike(family):
        return np.eye(means.size)[nearly(means, means.min())]
    costs = np.array([beyond(family, means, k, 1.0, limit) for k in range(means.size)])
    return np.eye(means.size)[costs >= costs.max() * (1.0 - 1e-9)]


@jitable
def _prefers_low(problem: MinimumThreshold, family: Any, means: Floats) -> float:
    """D(mu, not low) - D(mu, not high), by the appendix's two closed forms."""
    least, total = smallest(means), 0.0
    top, bottom = problem.threshold + problem.epsilon, problem.threshold - problem.epsilon
    arm = _clearest(problem, family, means)
    low = 0.0
    if means[arm] < top:
        low = divergence_from(of_arm(family, arm), means[arm], top)
    if least <= bottom:
        return low
    for k in range(means.size):
        total += 1.0 / divergence_from(of_arm(family, k), means[k], bottom)
    return low - 1.0 / total if total > 0.0 else -math.inf


@verbs.reach.register(MinimumThreshold)
def _reach(
    problem: MinimumThreshold, family: Any, data: Data, code: Code, level: float, point: Floats
) -> float:
    if problem.epsilon > 0.0:
        point[0] = math.nan
        return 0.0 if _within_box(problem, family, data, code, level) else math.inf
    cheapest, least, means = 0, math.inf, data.means
    for k in range(problem.arms):
        value = 0.0
        if not means[k] < problem.threshold:
            value = arm_cost(family, data, k, problem.threshold)
        if value < least:
            cheapest, least = k, value
        point[k] = means[k] if code[0] == LOW else max(means[k], problem.threshold)
    if code[0] == LOW:  # one arm at or below the threshold is enough
        point[cheapest] = min(means[cheapest], problem.threshold)
    return total_divergence(family, data, point)


@jitable
def _within_box(
    problem: MinimumThreshold, family: Any, data: Data, code: Code, level: float
) -> bool:
    """Whether the answer may be the oracle's at a model of the box around the region.

    D(mu, not low) - D(mu, not high) falls in every mean, so its extremes are at corners.
    """
    counts, means = data
    corner = means.copy()
    low, high = interval(family)
    for k in range(problem.arms):
        own = of_arm(family, k)
        if counts[k] > 0.0 and code[0] == LOW:
            corner[k] = lower(own, means[k], level / counts[k])
        elif counts[k] > 0.0:
            corner[k] = upper(own, means[k], level / counts[k])
        else:
            corner[k] = low if code[0] == LOW else high
    if code[0] == LOW:
        limit = problem.threshold - problem.epsilon
        return smallest(corner) <= limit or _prefers_low(problem, family, corner) >= 0.0
    limit = problem.threshold + problem.epsilon
    return smallest(corner) >= limit or _prefers_low(problem, family, corner) <= 0.0


@rounds.first_close.register(MinimumThreshold)
def _first_close(
    problem: MinimumThreshold, family: Any, data: Data, sketch: Any, search: Search
) -> bool:
    """With epsilon only the box around the region is looked at."""
    if problem.epsilon == 0.0 and not search.forced:
        return False
    return rounds.close_of_listed(problem, family, data, search)
