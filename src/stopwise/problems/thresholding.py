"""Which arms lie at or below a threshold?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from stopwise.cells.bound import Bound, arm_cost, total_divergence
from stopwise.core.arrays import Floats, Ints, fill, total
from stopwise.core.data import Data
from stopwise.core.functions import jitable
from stopwise.families.family import Family
from stopwise.problems.arm_sets import ArmSets
from stopwise.problems.limits import ArmSides, beyond, harmonic, separate_bound
from stopwise.problems.problem import Answer, Code, Refutation, Search


class Thresholding(ArmSides, ArmSets):
    """The set of arms with mean at most ``threshold``. Answers: tuples of arms, 2^K of them.

    They are ordered arm by arm from arm 0, low before high, and never enumerated by the library.
    """

    title = "Which options are below a threshold, and which above?"

    def answers(self) -> Iterator[Answer]:
        codes = product((1, 0), repeat=self.arms)
        return (tuple(arm for arm, low in enumerate(code) if low) for code in codes)

    def correct_answers(self, means: Floats) -> Iterator[Answer]:
        """One answer; an arm on the threshold itself counts as low."""
        return iter([tuple(int(k) for k in np.flatnonzero(means <= self.threshold))])

    def several_answers(self) -> bool:
        return False

    def question_text(self) -> str:
        return f"Which options are below {self.threshold:g}, and which above?"

    def answer_text(self, answer: tuple[int, ...], labels: Sequence[str]) -> str:
        below = [labels[k] for k in answer]
        return f"at most {self.threshold:g}: {', '.join(below) or 'none'}; the others are above"

    def cell_count(self, code: Code) -> int:
        return self.arms

    def cell(self, code: Code, j: int) -> Bound:
        return Bound(j, away(code, j), self.threshold)

    def transport_cost(self, family: Family, data: Data, code: Code, closest: Floats) -> float:
        return _cheapest(self, family, data, code, 0.0, closest)[1]

    def reach(self, family: Family, data: Data, code: Code, level: float, point: Floats) -> float:
        for k in range(self.arms):
            wrong = away(code, k) * (data.means[k] - self.threshold) > 0.0
            point[k] = self.threshold if wrong else data.means[k]
        return total_divergence(family, data, point)

    def reachable(self, family: Family, data: Data, level: float) -> Iterator[Answer]:
        """Arm by arm, low first, as long as what is left of the level pays for it."""
        means = data.means
        prices = [arm_cost(family, data, k, self.threshold) for k in range(self.arms)]
        stack: list[tuple[tuple[int, ...], int, float]] = [((), 0, level)]
        while stack:
            chosen, arm, left = stack.pop()
            if arm == self.arms:
                yield chosen
                continue
            low_price = prices[arm] if means[arm] > self.threshold else 0.0
            high_price = prices[arm] if means[arm] < self.threshold else 0.0
            if high_price <= left:  # popped after "low": later in the order
                stack.append((chosen, arm + 1, left - high_price))
            if low_price <= left:
                stack.append(((*chosen, arm), arm + 1, left - low_price))

    def optimise(self, family: Family, means: Floats, code: Code, weights: Floats) -> float:
        return harmonic(_costs(self, family, means, code), weights)

    def upper_bound(self, family: Family, data: Data, code: Code) -> float:
        return separate_bound(_costs(self, family, data.means, code))

    def init_cache(self, family: Family) -> Distances:
        arms = self.arms
        return Distances(np.zeros(arms), np.zeros(arms), np.zeros(1), np.zeros(1, dtype=np.int64))

    def rebuild_cache(self, family: Family, data: Data, cache: Distances) -> None:
        cache.total[0], cache.weakest[0] = 0.0, 0
        for k in range(self.arms):
            cache.inverses[k] = 0.0
            self.update_cache(family, data, cache, k, 0.0)

    def update_cache(
        self, family: Family, data: Data, cache: Distances, arm: int, before: float
    ) -> None:
        old = cache.inverses[arm]
        cache.costs[arm] = family.of_arm(arm).divergence(data.means[arm], self.threshold)
        cache.inverses[arm] = 1.0 / max(cache.costs[arm], CLOSE)
        cache.total[0] += cache.inverses[arm] - old
        if old > 1e3 * cache.total[0]:  # what is left of a much larger number has lost its digits
            cache.total[0] = total(cache.inverses)

    def first_oracle(
        self, family: Family, data: Data, cache: Distances, code: Code, weights: Floats
    ) -> None:
        """w_k proportional to 1/d_k; nearly all weight to an arm that sits on the threshold itself."""
        self.answer_weights(family, data, cache, code, weights)
        self.answer_at(family, data, cache, code)

    def answer_weights(
        self, family: Family, data: Data, cache: Distances, code: Code, weights: Floats
    ) -> None:
        """As above, whatever the answer."""
        scale = 1.0 / cache.total[0]
        for k in range(self.arms):
            weights[k] = cache.inverses[k] * scale

    def best_evidence(
        self, family: Family, data: Data, cache: Distances, enough: float, code: Code
    ) -> float:
        least = math.inf
        for turn in range(-1, self.arms):
            arm = cache.weakest[0] if turn < 0 else turn
            value = data.counts[arm] * cache.costs[arm]
            if not value >= least:
                least = value
            if value < enough:
                cache.weakest[0] = arm
                return value
        self.answer_at(family, data, cache, code)
        return least

    def answer_at(self, family: Family, data: Data, cache: Distances, code: Code) -> None:
        for k in range(self.arms):
            code[k] = data.means[k] <= self.threshold

    def refute(
        self,
        family: Family,
        data: Data,
        cache: Distances,
        code: Code,
        penalty: float,
        found: Refutation,
    ) -> float:
        arm, cost = _cheapest(self, family, data, code, penalty, found.model)
        fill(found.arms, 0.0)
        found.arms[arm] = 1.0
        return cost

    def first_reachable(
        self, family: Family, data: Data, cache: Distances, level: float, held: bool, search: Search
    ) -> float:
        """Arm by arm, low where what is left of the level pays for it: the first in the order."""
        code, point = search.code, search.point
        spent, barrier = 0.0, math.inf
        for k in range(self.arms):
            code[k], point[k] = 1, data.means[k]
            if data.means[k] > self.threshold:
                own = family.of_arm(k)
                price = data.counts[k] * own.divergence(data.means[k], self.threshold)
                if spent + price <= level:
                    spent += price
                    point[k] = self.threshold
                else:  # any earlier answer calls this arm low, or one before it
                    barrier = min(barrier, spent + price)
                    code[k] = 0
        return barrier


@jitable
def away(code: Code, arm: int) -> float:
    """The side of the threshold on which the arm would prove the answer wrong."""
    return 1.0 if code[arm] == 1 else -1.0


@jitable
def _cheapest(
    problem: Thresholding, family: Family, data: Data, code: Code, penalty: float, closest: Floats
) -> tuple[int, float]:
    """The arm that proves the answer wrong at the least cost (see ``refute``); of equals the first."""
    best, least, arm, limit = math.inf, math.inf, 0, problem.threshold
    for k in range(problem.arms):
        wrong = away(code, k) * (data.means[k] - limit) >= 0.0
        value = 0.0 if wrong else arm_cost(family, data, k, limit)
        price = value if penalty == 0.0 or wrong else value + penalty * math.log(data.counts[k])
        if price < best:
            best, least, arm = price, value, k
    Bound(arm, away(code, arm), limit).project(family, data, closest)
    return arm, least


@jitable
def _costs(problem: Thresholding, family: Family, means: Floats, code: Code) -> Floats:
    costs = np.zeros(means.size)
    for k in range(means.size):
        costs[k] = beyond(family, means, k, away(code, k), problem.threshold)
    return costs


class Distances(NamedTuple):
    """Each arm's divergence to the threshold, its inverse, and the inverses' sum."""

    costs: Floats
    inverses: Floats
    total: Floats
    weakest: Ints  # the arm that last kept the evidence low


CLOSE = 1e-12  # a smaller divergence to the threshold counts as this
