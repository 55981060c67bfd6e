"""Which arm is best, up to epsilon?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from stopwise.arrays import assign, largest
from stopwise.checks import Floats, not_negative, whole
from stopwise.errors import BadArgument
from stopwise.families.base import interval
from stopwise.problems import base
from stopwise.problems.base import Code
from stopwise.shapes.bound import total_divergence, weighted_divergence
from stopwise.shapes.gap import add_gap_hessian, meeting_point, project_gap
from stopwise.values import value
from stopwise.verbs import jitable


class _BestArm(NamedTuple):
    arms: int
    epsilon: float


@value
class BestArm(_BestArm):
    """An arm whose mean is within ``epsilon`` of the largest. Answers: the arms, 0 to K - 1."""

    __slots__ = ()

    def __new__(cls, arms: int, epsilon: float = 0.0) -> BestArm:
        return super().__new__(cls, whole("arms", arms, least=2), not_negative("epsilon", epsilon))


@jitable
def rival(code: Code, cell: int) -> int:
    """The arm that beats the answer in this cell: every arm but the answer, in order."""
    return cell if cell < code[0] else cell + 1


@jitable
def pair_cost(
    family: Any, weights: Floats, means: Floats, arm: int, other: int, margin: float
) -> float:
    """What it costs to let ``other`` beat ``arm`` by the margin."""
    if means[other] >= means[arm] + margin:
        return 0.0
    x = meeting_point(family, weights[arm], weights[other], means[arm], means[other], margin)
    cost = weighted_divergence(family, weights[arm], means[arm], x)
    return cost + weighted_divergence(family, weights[other], means[other], x + margin)


@base.arm_count.register(BestArm)
def _arm_count(problem: BestArm) -> int:
    return problem.arms


@base.answers.register(BestArm)
def _answers(problem: BestArm) -> Iterator[int]:
    return iter(range(problem.arms))


@base.correct_answers.register(BestArm)
def _correct_answers(problem: BestArm, means: Floats) -> Iterator[int]:
    return (int(k) for k in np.flatnonzero(means >= means.max() - problem.epsilon))


@base.candidates.register(BestArm)
def _candidates(problem: BestArm, means: Floats) -> Iterator[int]:
    # D(mu, not i) grows with mu_i and falls with the other means: the largest mean wins
    return (int(k) for k in np.flatnonzero(base.nearly(means, means.max())))


@base.cell_count.register(BestArm)
def _cell_count(problem: BestArm, code: Code) -> int:
    return problem.arms - 1


@base.project.register(BestArm)
def _project(
    problem: BestArm,
    family: Any,
    weights: Floats,
    means: Floats,
    code: Code,
    cell: int,
    closest: Floats,
) -> float:
    other = rival(code, cell)
    return project_gap(family, weights, means, code[0], other, problem.epsilon, closest)


@base.add_hessian.register(BestArm)
def _add_hessian(
    problem: BestArm,
    family: Any,
    weights: Floats,
    means: Floats,
    code: Code,
    cell: int,
    closest: Floats,
    scale: float,
    hessian: Floats,
) -> None:
    add_gap_hessian(family, weights, means, code[0], rival(code, cell), closest, scale, hessian)


@base.cost.register(BestArm)
def _cost(
    problem: BestArm, family: Any, weights: Floats, means: Floats, code: Code, closest: Floats
) -> float:
    arm, margin = code[0], problem.epsilon
    best, partner = np.inf, 0
    for other in range(problem.arms):
        if other == arm:
            continue
        value = pair_cost(family, weights, means, arm, other, margin)
        if value < best:
            best, partner = value, other
    if best < np.inf:
        return project_gap(family, weights, means, arm, partner, margin, closest)
    assign(closest, means)
    return best


@base.check.register(BestArm)
def _check(problem: BestArm, family: Any) -> None:
    low, high = interval(family)
    if problem.epsilon >= high - low:
        raise BadArgument(
            "epsilon",
            problem.epsilon,
            f"less than the width {high - low:g} of the means of {family!r}",
            "Otherwise every arm is a correct answer and no sample is needed.",
        )


@base.rank.register(BestArm)
def _rank(problem: BestArm) -> int:
    return 2


@base.events.register(BestArm)
def _events(problem: BestArm) -> int:
    return problem.arms - 1


@base.reach.register(BestArm)
def _reach(
    problem: BestArm,
    family: Any,
    counts: Floats,
    means: Floats,
    code: Code,
    level: float,
    point: Floats,
) -> float:
    # the answer must have the largest mean: pool it with every arm above the common value x
    arm = code[0]
    x = means[arm]
    for _ in range(means.size + 1):
        total, mass = counts[arm] * means[arm], counts[arm]
        for k in range(means.size):
            if k != arm and means[k] > x:
                total += counts[k] * means[k]
                mass += counts[k]
        pooled = total / mass if mass > 0.0 else largest(means)
        if pooled <= x:  # Newton on a concave function, from the left: it rises and ends exactly
            break
        x = pooled
    for k in range(means.size):
        point[k] = x if k == arm else min(means[k], x)
    return total_divergence(family, counts, means, point)


@base.answer_count.register(BestArm)
def _answer_count(problem: BestArm) -> int:
    return problem.arms
