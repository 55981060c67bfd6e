"""What problems share: kinds of questions, checks, and closed forms where cells bound single arms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from stopwise.core.arrays import Floats, Ints, divide, fill
from stopwise.core.checks import arm_count, finite, moderate
from stopwise.core.data import Data
from stopwise.core.errors import BadArgument, NotDefined
from stopwise.core.functions import jitable
from stopwise.core.options import NUMBER, Option
from stopwise.families.family import Family
from stopwise.problems.problem import OFF_THE_BOUNDARY, Answer, Code, Problem


class TwoAnswers(Problem, listed=False):
    """Questions with two answers, called ``names`` in their order."""

    names: ClassVar[tuple[str, str]]

    def answers(self) -> Iterator[Answer]:
        return iter(self.names)


class OneOfTwo(TwoAnswers, listed=False):
    """Those of which one answer is correct (but for ties)."""

    def several_answers(self) -> bool:
        return False

    def reach(self, family: Family, data: Data, code: Code, level: float, point: Floats) -> float:
        # one answer is correct: it is reachable if the alternative to the other one is
        return self.transport_cost(family, data, 1 - code, point)


class OneThreshold(Problem, listed=False):
    """Questions about a ``threshold`` with cells that bound arms one by one."""

    arms: int
    threshold: float
    options = {"threshold": Option(NUMBER, "The level that means are compared with")}

    def __init__(self, arms: int, threshold: float) -> None:
        self.arms = arm_count(arms)
        self.threshold = moderate("threshold", finite("threshold", threshold))

    def solve_round(self, family: Family, means: Floats, code: Code, weights: Floats) -> float:
        """The closed form: the generic solver is never needed, nor compiled."""
        return self.optimise(family, means, code, weights)

    def tie_text(self, means: Floats) -> tuple[str, str]:
        """Which means lie on the threshold itself, and what to do about it."""
        tied = np.flatnonzero(means == self.threshold)
        verb = "lies" if tied.size == 1 else "lie"
        where = f"{verb} on the threshold {self.threshold:g}"
        return f"{arms_in_words(tied)} {where}", OFF_THE_BOUNDARY


class ArmSides(OneThreshold, listed=False):
    """Those about the sides on which single arms lie: a cell bounds one arm by the threshold."""

    def check(self, family: Family) -> None:
        check_inside("threshold", self.threshold, self, family)

    def grows(self) -> bool:
        return True

    def rank(self) -> int:
        return 1

    def union_bound(self) -> int:
        return self.arms


def nearly(means: Floats, extreme: float) -> NDArray[np.bool_]:
    """Which means equal the extreme one but for rounding (a tie is decided on the values)."""
    return np.abs(means - extreme) <= 1e-9 * max(1.0, abs(float(extreme)))


def check_inside(name: str, limit: float, problem: Problem, family: Family) -> None:
    """Refuse a limit that no mean of the family can be on both sides of."""
    low, high = family.interval()
    if not low < limit < high:
        raise BadArgument(
            name,
            limit,
            f"a number inside the interval of means of {family!r}, ({low:g}, {high:g})",
            f"Otherwise the answer to {problem!r} is known without a sample.",
        )


def up_to(epsilon: float) -> str:
    """What of a question or an answer the slack changes."""
    return f", up to {epsilon:g}" if epsilon else ""


def narrow(epsilon: float, family: Family) -> None:
    """Refuse an epsilon that forgives every difference."""
    low, high = family.interval()
    if epsilon >= high - low:
        raise BadArgument(
            "epsilon",
            epsilon,
            f"less than the width {high - low:g} of the means of {family!r}",
            "Otherwise every answer is correct and no sample is needed.",
        )


def needs_convexity(what: str, family: Family) -> None:
    """Refuse general half-spaces for families whose divergence is not convex in the mean."""
    if not family.convex():
        raise NotDefined(
            f"{what} with {family!r}: d(mu, lambda) is not convex in lambda for this family, so the "
            "closest model could be a false minimum. Allowed: Gaussian, Bernoulli, Binomial, "
            "Bounded, Poisson; or cells that bound one arm or compare two with a margin >= 0."
        )


def arms_in_words(arms: Sequence[int] | Ints) -> str:
    """The first of these arms, as a list in a sentence."""
    *most, last = (str(arm) for arm in arms[:10])
    return f"arms {', '.join(most)} and {last}" if most else f"arm {last}"


@jitable
def beyond(family: Family, means: Floats, arm: int, side: float, limit: float) -> float:
    """d(mu, limit) of an arm, or 0 where its mean is already on that side of the limit."""
    if side * (means[arm] - limit) >= 0.0:
        return 0.0
    return family.of_arm(arm).divergence(means[arm], limit)


@jitable(allocates=True)
def costs_beyond(family: Family, means: Floats, side: float, limit: float) -> Floats:
    """What it takes to bring each arm, alone, to that side of the limit."""
    costs = np.zeros(means.size)
    for k in range(means.size):
        costs[k] = beyond(family, means, k, side, limit)
    return costs


@jitable
def harmonic(costs: Floats, weights: Floats) -> float:
    """One cell for each arm, lambda_k beyond a bound: w_k = (1/d_k)/sum 1/d, D = 1/sum 1/d."""
    inverse = 0.0
    for k in range(costs.size):
        if costs[k] == 0.0:
            fill(weights, 1.0 / costs.size)
            return 0.0
        weights[k] = 1.0 / costs[k]
        inverse += weights[k]
    divide(weights, inverse)
    return 1.0 / inverse


@jitable
def separate_bound(costs: Floats) -> float:
    """The harmonic case's witness: cell k, with probability proportional to 1/d_k, moves arm k alone."""
    shares = 1.0 / costs
    return np.max(shares / np.sum(shares) * costs)


@jitable
def alone(arm: int, cost: float, weights: Floats) -> float:
    """A bound on one arm only: all samples go to it."""
    fill(weights, 0.0 if cost > 0.0 else 1.0 / weights.size)
    if cost > 0.0:
        weights[arm] = 1.0
    return cost
