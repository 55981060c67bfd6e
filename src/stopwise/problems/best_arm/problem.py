"""The value, its answers and costs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from stopwise.cells.bound import precision, total_divergence
from stopwise.cells.gap import add_gap_hessian, pair_cost, pair_floor, project_gap
from stopwise.cells.shape import Shape, gap_shape
from stopwise.core.arrays import Floats, assign, largest
from stopwise.core.checks import arm_count, margin
from stopwise.core.data import Curve, Data
from stopwise.core.options import NOT_NEGATIVE, Option
from stopwise.core.values import Problem
from stopwise.core.verbs import jitable
from stopwise.families.verbs import arms_alike
from stopwise.problems import verbs
from stopwise.problems.limits import arms_in_words, narrow, nearly, up_to
from stopwise.problems.lowest import GOALS, asked_for, lowest_in_words
from stopwise.problems.ranking import Ranking, ranking
from stopwise.problems.verbs import Code


class _BestArm(NamedTuple):
    arms: int
    epsilon: float


class BestArm(_BestArm, Problem):
    """An arm whose mean is within ``epsilon`` of the largest. Answers: the arms, 0 to K - 1.

    With ``goal="min"`` of the smallest: which is fastest, or cheapest?
    """

    __slots__ = ()
    title = "Which option has the highest (or lowest) mean?"
    options = {
        "epsilon": Option(
            NOT_NEGATIVE, "How far from the best is still good enough; empty: not at all"
        ),
        "goal": Option({"enum": list(GOALS)}, "max: the highest mean; min: the lowest"),
    }

    def __new__(cls, arms: int, epsilon: float = 0.0, goal: str = "max") -> BestArm:
        size, close = arm_count(arms, least=2), margin(epsilon)
        found: BestArm = asked_for(goal, super().__new__(cls, size, close))
        return found


@jitable
def rival(code: Code, cell: int) -> int:
    """The arm that beats the answer in this cell: every arm but the answer, in order."""
    return cell if cell < code[0] else cell + 1


@verbs.answers.register(BestArm)
def _answers(problem: BestArm) -> Iterator[int]:
    return iter(range(problem.arms))


verbs.answer_count.register(BestArm)(lambda problem: problem.arms)


@verbs.correct_answers.register(BestArm)
def _correct_answers(problem: BestArm, means: Floats) -> Iterator[int]:
    return (int(k) for k in np.flatnonzero(means >= means.max() - problem.epsilon))


verbs.several_answers.register(BestArm)(lambda problem: problem.epsilon > 0.0)


@verbs.in_words.register(BestArm)
def _in_words(problem: BestArm, answer: int, labels: Sequence[str]) -> str:
    return f"{labels[answer]} is best{up_to(problem.epsilon)}"


@lowest_in_words.register(BestArm)
def _lowest_in_words(problem: BestArm, answer: int, labels: Sequence[str]) -> str:
    return f"{labels[answer]} is lowest{up_to(problem.epsilon)}"


@verbs.asked.register(BestArm)
def _asked(problem: BestArm) -> str:
    return f"Which option has the highest mean{up_to(problem.epsilon)}?"


verbs.sense.register(BestArm)(lambda problem: 1)
verbs.contest.register(BestArm)(lambda problem: 1.0)
ranking.register(BestArm)(lambda problem: Ranking(1, problem.epsilon))
verbs.with_slack.register(BestArm)(
    lambda problem, slack: BestArm(problem.arms, problem.epsilon + slack)
)
verbs.named.register(BestArm)(lambda problem, answer: (answer,))


@verbs.tie.register(BestArm)
def _tie(problem: BestArm, means: Floats) -> tuple[str, str]:
    tied = np.flatnonzero(means == means.max())
    return f"{arms_in_words(tied)} tie for the best", (
        "Guess means that differ, or accept any arm within epsilon of the best: "
        f"BestArm({means.size}, epsilon=...), on the command line best-arm:epsilon=..."
    )


@verbs.candidates.register(BestArm)
def _candidates(problem: BestArm, family: Any, means: Floats) -> Iterator[int]:
    # D(mu, not i) grows with mu_i and falls with the other means: among arms that are alike but for
    # their means the largest wins; else a quieter one within epsilon may
    if not arms_alike(family):
        return _correct_answers(problem, means)
    return (int(k) for k in np.flatnonzero(nearly(means, means.max())))


verbs.cell_count.register(BestArm)(lambda problem, code: problem.arms - 1)


@verbs.shape.register(BestArm)
def _shape(problem: BestArm, code: Code, cell: int) -> Shape:
    return gap_shape(code[0], rival(code, cell), problem.epsilon)


verbs.simple.register(BestArm)(lambda problem: True)


@verbs.project.register(BestArm)
def _project(
    problem: BestArm, family: Any, data: Data, code: Code, cell: int, closest: Floats
) -> float:
    return project_gap(family, data, code[0], rival(code, cell), problem.epsilon, closest)


@verbs.cost_floor.register(BestArm)
def _cost_floor(problem: BestArm, family: Any, data: Data, code: Code, cell: int) -> float:
    return 0.0 if problem.epsilon > 0.0 else pair_floor(family, data, code[0], rival(code, cell))


@verbs.add_hessian.register(BestArm)
def _add_hessian(
    problem: BestArm, family: Any, data: Data, code: Code, cell: int, closest: Floats, curve: Curve
) -> None:
    add_gap_hessian(family, data, code[0], rival(code, cell), closest, curve)


@verbs.cost.register(BestArm)
def _cost(problem: BestArm, family: Any, data: Data, code: Code, closest: Floats) -> float:
    arm, margin = code[0], problem.epsilon
    best, partner = np.inf, 0
    for other in range(problem.arms):
        if other == arm:
            continue
        value = pair_cost(family, data, arm, other, margin)
        if value < best:
            best, partner = value, other
    if best < np.inf:
        return project_gap(family, data, arm, partner, margin, closest)
    assign(closest, data.means)
    return best


verbs.check.register(BestArm)(narrow)
verbs.grows.register(BestArm)(lambda problem: True)
verbs.rank.register(BestArm)(lambda problem: 2)
verbs.union_bound.register(BestArm)(lambda problem: problem.arms - 1)


@verbs.adaptive_bound.register(BestArm)
def _adaptive_bound(problem: BestArm, first: int) -> int:
    """An arm that samples chose may owe it to the bad luck of any arm that was the best before it."""
    added = problem.arms - first
    return first - 1 + added * (added + 3) // 2


@verbs.reach.register(BestArm)
def _reach(
    problem: BestArm, family: Any, data: Data, code: Code, level: float, point: Floats
) -> float:
    """The answer must have the largest mean; among arms that are not alike, be correct.

    It is pooled with every arm above the common value x (of which a slack is forgiven).
    """
    arm, means = code[0], data.means
    slack = 0.0 if arms_alike(family) else problem.epsilon
    x = means[arm]
    for _ in range(means.size + 1):
        mass = precision(family, data, arm)
        total = mass * means[arm]
        for k in range(means.size):
            if k != arm and means[k] - slack > x:
                total += precision(family, data, k) * (means[k] - slack)
                mass += precision(family, data, k)
        pooled = total / mass if mass > 0.0 else largest(means) - slack
        if pooled <= x:  # Newton on a concave function, from the left: it rises and ends exactly
            break
        x = pooled
    for k in range(means.size):
        point[k] = x if k == arm else min(means[k], x + slack)
    price = total_divergence(family, data, point)
    if slack > 0.0:  # correct, but perhaps not an oracle answer: the price is a lower bound
        point[0] = math.nan
    return price
