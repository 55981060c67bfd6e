"""Is the smallest mean below a threshold, up to epsilon?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from stopwise.cells.bound import Bound, Side, arm_cost, box_ends, divergence_from, total_divergence
from stopwise.cells.cell import Either
from stopwise.core.arrays import Floats, largest, smallest
from stopwise.core.checks import margin
from stopwise.core.data import Data
from stopwise.core.functions import jitable
from stopwise.core.options import NOT_NEGATIVE, Option
from stopwise.families.family import Family
from stopwise.problems.limits import (
    OneThreshold,
    TwoAnswers,
    alone,
    beyond,
    check_inside,
    costs_beyond,
    harmonic,
    nearly,
    separate_bound,
)
from stopwise.problems.problem import Code, Scratch, Search, close_of_listed


class MinimumThreshold(OneThreshold, TwoAnswers):
    """Is the smallest mean "low" (at most threshold + epsilon) or "high" (at least - epsilon)?

    Both answers are correct in between.
    """

    epsilon: float
    title = "Is the lowest mean below a threshold?"
    names = ("low", "high")
    options = {
        **OneThreshold.options,
        "epsilon": Option(
            NOT_NEGATIVE, "How far beyond the threshold is still good enough; empty: not at all"
        ),
    }

    def __init__(self, arms: int, threshold: float, epsilon: float = 0.0) -> None:
        OneThreshold.__init__(self, arms, threshold)
        self.epsilon = margin(epsilon)

    def question_text(self) -> str:
        return f"Is the lowest mean below {self.threshold:g}?"

    def correct_answers(self, means: Floats) -> Iterator[str]:
        least = means.min()
        if least <= self.threshold + self.epsilon:
            yield "low"
        if least >= self.threshold - self.epsilon:
            yield "high"

    def several_answers(self) -> bool:
        return self.epsilon > 0.0

    def answer_text(self, answer: str, labels: Sequence[str]) -> str:
        side = "below" if answer == "low" else "above"
        close = f" (or within {self.epsilon:g} of it)" if self.epsilon else ""
        return f"the lowest mean is {side} {self.threshold:g}{close}"

    def cell_count(self, code: Code) -> int:
        return 1 if code[0] == LOW else self.arms

    def cell(self, code: Code, j: int) -> Either:
        low = Bound(j, -1.0, self.threshold - self.epsilon)
        return Either(low, Side(1.0, self.threshold + self.epsilon), code[0] == HIGH)

    def check(self, family: Family) -> None:
        check_inside("threshold - epsilon", self.threshold - self.epsilon, self, family)
        check_inside("threshold + epsilon", self.threshold + self.epsilon, self, family)

    def rank(self) -> int:
        return self.arms

    def union_bound(self) -> int:
        return 1

    def optimise(self, family: Family, means: Floats, code: Code, weights: Floats) -> float:
        if code[0] == LOW:
            arm = _clearest(self, family, means)
            limit = self.threshold + self.epsilon
            return alone(arm, beyond(family, means, arm, 1.0, limit), weights)
        costs = costs_beyond(family, means, -1.0, self.threshold - self.epsilon)
        return harmonic(costs, weights)

    def upper_bound(self, family: Family, data: Data, code: Code) -> float:
        means, limit, epsilon = data.means, self.threshold, self.epsilon
        if code[0] == HIGH:
            return separate_bound(costs_beyond(family, means, -1.0, limit - epsilon))
        # one model: every low arm raised to the limit
        return largest(costs_beyond(family, means, 1.0, limit + epsilon))

    def vertices(self, family: Family, data: Data, code: Code) -> Floats:
        if code[0] == HIGH:
            return data.counts[None].copy()
        means, limit = data.means, self.threshold + self.epsilon
        if family.arms_alike():
            return np.eye(means.size)[nearly(means, means.min())]
        costs = costs_beyond(family, means, 1.0, limit)
        return np.eye(means.size)[costs >= costs.max() * (1.0 - 1e-9)]

    def reach(self, family: Family, data: Data, code: Code, level: float, point: Floats) -> float:
        if self.epsilon > 0.0:
            point[0] = math.nan
            return 0.0 if _within_box(self, family, data, code, level) else math.inf
        cheapest, least, means = 0, math.inf, data.means
        for k in range(self.arms):
            value = 0.0
            if not means[k] < self.threshold:
                value = arm_cost(family, data, k, self.threshold)
            if value < least:
                cheapest, least = k, value
            point[k] = means[k] if code[0] == LOW else max(means[k], self.threshold)
        if code[0] == LOW:  # one arm at or below the threshold is enough
            point[cheapest] = min(means[cheapest], self.threshold)
        return total_divergence(family, data, point)

    def first_close(self, family: Family, data: Data, cache: Scratch, search: Search) -> bool:
        """With epsilon only the box around the region is looked at."""
        if self.epsilon == 0.0 and not search.always_close:
            return False
        return close_of_listed(self, family, data, cache, search)


LOW, HIGH = 0, 1


@jitable
def _clearest(problem: MinimumThreshold, family: Family, means: Floats) -> int:
    """The arm that shows best that the minimum is low: the lowest, if arms are alike."""
    best, limit = 0, problem.threshold + problem.epsilon
    for k in range(1, means.size):
        if family.arms_alike():
            better = means[k] < means[best]
        else:
            better = beyond(family, means, k, 1.0, limit) > beyond(family, means, best, 1.0, limit)
        if better:
            best = k
    return best


@jitable
def _prefers_low(problem: MinimumThreshold, family: Family, means: Floats) -> float:
    """D(mu, not low) - D(mu, not high), by the appendix's two closed forms."""
    least, total = smallest(means), 0.0
    top, bottom = problem.threshold + problem.epsilon, problem.threshold - problem.epsilon
    arm = _clearest(problem, family, means)
    low = 0.0
    if means[arm] < top:
        low = divergence_from(family.of_arm(arm), means[arm], top)
    if least <= bottom:
        return low
    for k in range(means.size):
        total += 1.0 / divergence_from(family.of_arm(k), means[k], bottom)
    return low - 1.0 / total if total > 0.0 else -math.inf


@jitable
def _within_box(
    problem: MinimumThreshold, family: Family, data: Data, code: Code, level: float
) -> bool:
    """Whether the answer may be the oracle's at a model of the box around the region.

    D(mu, not low) - D(mu, not high) falls in every mean, so its extremes are at corners.
    """
    corner = np.zeros(problem.arms)
    for k in range(problem.arms):
        left, right = box_ends(family, data, k, level)
        corner[k] = left if code[0] == LOW else right
    if code[0] == LOW:
        limit = problem.threshold - problem.epsilon
        return smallest(corner) <= limit or _prefers_low(problem, family, corner) >= 0.0
    limit = problem.threshold + problem.epsilon
    return smallest(corner) >= limit or _prefers_low(problem, family, corner) <= 0.0
