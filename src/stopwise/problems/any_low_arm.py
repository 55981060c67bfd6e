"""Find an arm below a threshold, or say that there is none."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from stopwise.cells.bound import Bound, arm_cost, box_ends, divergence_from, total_divergence
from stopwise.core.arrays import Floats, argmin, fill, smallest
from stopwise.core.data import Data
from stopwise.core.functions import jitable, variant, variants
from stopwise.families.family import Family, Logarithmic
from stopwise.problems import limits
from stopwise.problems.problem import Answer, Code, Problem, Scratch, close_of_listed


class AnyLowArm(limits.ArmSides):
    """Any arm with mean at most ``threshold``, or "none". Answers: 0 to K - 1, then "none"."""

    title = "Is any option below a threshold? Name one"

    def answers(self) -> Iterator[Answer]:
        yield from range(self.arms)
        yield "none"

    def correct_answers(self, means: Floats) -> Iterator[Answer]:
        yield from (int(k) for k in np.flatnonzero(means <= self.threshold))
        if means.min() >= self.threshold:
            yield "none"

    def answer_text(self, answer: int | str, labels: Sequence[str]) -> str:
        if isinstance(answer, int):
            return f"{labels[answer]} is below {self.threshold:g}"
        return f"no arm is below {self.threshold:g}"

    def question_text(self) -> str:
        return f"Is any option below {self.threshold:g}?"

    def named_arms(self, answer: int | str) -> tuple[int, ...]:
        return (answer,) if isinstance(answer, int) else ()

    def candidates(self, family: Family, means: Floats) -> Iterator[Answer]:
        # D(mu, not k) = d(mu_k, threshold): among arms that are alike the lowest wins
        if means.min() < self.threshold and family.arms_alike():
            near = limits.nearly(means, means.min()) & (means <= self.threshold)
            return (int(k) for k in np.flatnonzero(near))
        return self.correct_answers(means)

    def cell_count(self, code: Code) -> int:
        return self.arms if code[0] == self.arms else 1

    def cell(self, code: Code, j: int) -> Bound:
        none = code[0] == self.arms
        arm, side = (j, -1.0) if none else (code[0], 1.0)
        return Bound(arm, side, self.threshold)

    @variants
    def reach(self, family: Family, data: Data, code: Code, level: float, point: Floats) -> float:
        """The arm must be the lowest, and at most the threshold: it is pooled with every lower arm.

        Arms that are not alike are compared by their distance from the threshold in standard deviations.
        """
        counts, means = data
        arm, x = code[0], self.threshold
        for k in range(means.size):
            point[k] = _standard(self, family, data, k)
        if arm < self.arms:
            x = min(point[arm], self.threshold)
            for _ in range(means.size + 1):
                total, mass = counts[arm] * point[arm], counts[arm]
                for k in range(means.size):
                    if k != arm and point[k] < x:
                        total += counts[k] * point[k]
                        mass += counts[k]
                pooled = total / mass if mass > 0.0 else smallest(point)
                if pooled >= x:  # Newton on a convex function, from the right
                    break
                x = pooled
        for k in range(means.size):
            point[k] = _from_standard(self, family, data, k, x if k == arm else max(point[k], x))
        return total_divergence(family, data, point)

    @variant(reach, Logarithmic)
    def reach_logarithmic(
        self, family: Family, data: Data, code: Code, level: float, point: Floats
    ) -> float:
        """Where costs are not quadratic: the answer's most beside the others' least, in the region's box."""
        point[0] = math.nan
        total, most, least = 0.0, -1.0, 0.0
        for k in range(self.arms):
            own = family.of_arm(k)
            left, right = box_ends(family, data, k, level)
            if data.means[k] < self.threshold:
                total += arm_cost(family, data, k, self.threshold)
            if k == code[0]:
                if left <= self.threshold:
                    most = divergence_from(own, left, self.threshold)
            elif right < self.threshold:
                least = max(least, divergence_from(own, right, self.threshold))
        if code[0] == self.arms:
            return total
        return 0.0 if most >= least else math.inf

    first_close = variants(Problem.first_close)
    variant(first_close, Logarithmic)(close_of_listed)

    def optimise(self, family: Family, means: Floats, code: Code, weights: Floats) -> float:
        arm, limit = code[0], self.threshold
        if arm < means.size:
            return limits.alone(arm, limits.beyond(family, means, arm, 1.0, limit), weights)
        return limits.harmonic(limits.costs_beyond(family, means, -1.0, limit), weights)

    def upper_bound(self, family: Family, data: Data, code: Code) -> float:
        arm = code[0]
        if arm < self.arms:
            return limits.beyond(family, data.means, arm, 1.0, self.threshold)
        return limits.separate_bound(limits.costs_beyond(family, data.means, -1.0, self.threshold))

    def answer_weights(
        self, family: Family, data: Data, cache: Scratch, code: Code, weights: Floats
    ) -> None:
        """Where the answer is wrong: those of the lowest arm, or of "none"."""
        arm, means = code[0], data.means
        if arm == means.size or not means[arm] < self.threshold:
            arm = argmin(means)
        if means[arm] > self.threshold:
            cache.code[0] = means.size
            self.optimise(family, means, cache.code, weights)
        else:
            fill(weights, 0.0)
            weights[arm] = 1.0


@jitable
def _standard(problem: AnyLowArm, family: Family, data: Data, arm: int) -> float:
    """An arm's mean, seen from the threshold in units of its standard deviation."""
    if family.arms_alike():
        return data.means[arm]
    scale = math.sqrt(family.of_arm(arm).variance_at(data.means[arm]))
    return problem.threshold + (data.means[arm] - problem.threshold) / scale


@jitable
def _from_standard(problem: AnyLowArm, family: Family, data: Data, arm: int, x: float) -> float:
    if family.arms_alike():
        return x
    scale = math.sqrt(family.of_arm(arm).variance_at(data.means[arm]))
    return problem.threshold + (x - problem.threshold) * scale
