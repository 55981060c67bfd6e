"""What kind of question a problem asks, told by its cells: strategies say which kinds they are for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stopwise.cells.bound import Bound, Side
from stopwise.cells.cell import Cell
from stopwise.cells.gap import Gap
from stopwise.cells.linear_gap import LinearGap
from stopwise.core.arrays import Floats
from stopwise.core.errors import NotDefined
from stopwise.core.values import Role
from stopwise.problems.problem import Problem


class Contest(NamedTuple):
    """Which arm has the largest (side +1) or smallest (-1) mean, up to epsilon?"""

    side: float
    epsilon: float


class Limit(NamedTuple):
    """Is some arm above (side +1) or below (-1) the limit? ``names``: which one, or "none" (code K)."""

    side: float
    limit: float
    names: bool


class Regression(NamedTuple):
    """Which arm has the largest (side +1) or smallest (-1) mean, if means are linear in features?"""

    side: float
    features: Floats


def linear_arms(who: Role, problem: Problem) -> Regression:
    """The question as one about linear arms, or a refusal."""
    cell = _cells(problem, 0)[0] if problem.code_size() == 1 else None
    if isinstance(cell, LinearGap):
        return Regression(float(problem.goal_sign()), cell.features)
    raise _refusal(who, problem, "the best arm by its features: Linear(features)")


def best_arm(who: Role, problem: Problem) -> Contest:
    """The question as one about the best arm, or a refusal."""
    side = float(problem.goal_sign())
    if side and problem.code_size() == 1 and next(iter(problem.answers())) == 0:
        cells = _cells(problem, 0)
        gaps = [each for each in cells if isinstance(each, Gap)]
        if len(gaps) == len(cells) == problem.arms - 1:
            return Contest(side, float(gaps[0].margin))
    raise _refusal(who, problem, "the best arm: BestArm(K), or with goal='min'")


def some_arm(who: Role, problem: Problem, also_unnamed: bool = False) -> Limit:
    """The question as one about any arm beyond a limit, or a refusal."""
    if problem.code_size() == 1:
        count = problem.answer_count()
        first, none = _cells(problem, 0), _cells(problem, count - 1)
        bounds = len(none) == problem.arms and all(isinstance(each, Bound) for each in none)
        if bounds and count == problem.arms + 1 and len(first) == 1 and isinstance(first[0], Bound):
            return Limit(-float(first[0].side), float(first[0].limit), True)
        if bounds and also_unnamed and count == 2 and isinstance(first[0], Side):
            return Limit(-float(first[0].side), float(first[0].limit), False)
    more = ", MinimumThreshold(K, threshold)" if also_unnamed else ""
    raise _refusal(who, problem, f"an arm beyond a limit: AnyLowArm(K, threshold){more}")


def every_arm(who: Role, problem: Problem) -> float:
    """The limit of a question about the sides of all arms, or a refusal."""
    if problem.code_size() == problem.arms > 1 or problem.answer_count() == 0:
        cells = _cells(problem, 0)
        bounds = [each for each in cells if isinstance(each, Bound)]
        limits = {float(each.limit) for each in bounds}
        if len(bounds) == len(cells) == problem.arms and len(limits) == 1:
            return limits.pop()
    raise _refusal(who, problem, "the sides of all arms: Thresholding(K, threshold)")


def _cells(problem: Problem, place: int) -> list[Cell]:
    """The cells that refute the answer with this code."""
    code = np.zeros(problem.code_size(), dtype=np.int64)
    code[0] = place
    return [problem.cell(code, j).simplest() for j in range(problem.cell_count(code))]


def _refusal(who: Role, problem: Problem, what: str) -> NotDefined:
    return NotDefined(
        f"{who.role}: {type(who).__name__} is not for {problem!r}; allowed: questions about {what}. "
        "TrackAndStop() and Wealth() are for every question."
    )
