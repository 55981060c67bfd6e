"""What kind of question a problem asks, told by its cells: strategies say which kinds they are for."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from stopwise.cells.shape import BOUND, GAP, SIDE, Shape
from stopwise.core.arrays import Floats
from stopwise.core.errors import NotDefined
from stopwise.problems.verbs import (
    answer_count,
    answers,
    cell_count,
    code_size,
    features,
    sense,
    shape,
)


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


def linear_arms(who: Any, problem: Any) -> Regression:
    """The question as one about linear arms, or a refusal."""
    rows = features(problem)
    if len(rows) == 0:
        raise _refusal(who, problem, "the best arm by its features: Linear(features)")
    return Regression(float(sense(problem)), rows)


def best_arm(who: Any, problem: Any) -> Contest:
    """The question as one about the best arm, or a refusal."""
    side = float(sense(problem))
    if side and code_size(problem) == 1 and next(iter(answers(problem))) == 0:
        shapes = _shapes(problem, 0)
        if len(shapes) == problem.arms - 1 and all(each.kind == GAP for each in shapes):
            return Contest(side, float(shapes[0].limit))
    raise _refusal(who, problem, "the best arm: BestArm(K), or with goal='min'")


def some_arm(who: Any, problem: Any, also_unnamed: bool = False) -> Limit:
    """The question as one about any arm beyond a limit, or a refusal."""
    if code_size(problem) == 1:
        count = answer_count(problem)
        first, none = _shapes(problem, 0), _shapes(problem, count - 1)
        bounds = len(none) == problem.arms and all(each.kind == BOUND for each in none)
        if bounds and count == problem.arms + 1 and len(first) == 1 and first[0].kind == BOUND:
            return Limit(-float(first[0].side), float(first[0].limit), True)
        if bounds and also_unnamed and count == 2 and first[0].kind == SIDE:
            return Limit(-float(first[0].side), float(first[0].limit), False)
    more = ", MinimumThreshold(K, threshold)" if also_unnamed else ""
    raise _refusal(who, problem, f"an arm beyond a limit: AnyLowArm(K, threshold){more}")


def every_arm(who: Any, problem: Any) -> float:
    """The limit of a question about the sides of all arms, or a refusal."""
    if code_size(problem) == problem.arms > 1 or answer_count(problem) == 0:
        shapes = _shapes(problem, 0)
        if len(shapes) == problem.arms and all(each.kind == BOUND for each in shapes):
            limits = {float(each.limit) for each in shapes}
            if len(limits) == 1:
                return limits.pop()
    raise _refusal(who, problem, "the sides of all arms: Thresholding(K, threshold)")


def _shapes(problem: Any, place: int) -> list[Shape]:
    code = np.zeros(code_size(problem), dtype=np.int64)
    code[0] = place
    return [shape(problem, code, cell) for cell in range(cell_count(problem, code))]


def _refusal(who: Any, problem: Any, what: str) -> NotDefined:
    return NotDefined(
        f"{who.role}: {type(who).__name__} is not for {problem!r}; allowed: questions about {what}. "
        "TrackAndStop() and Wealth() are for every question."
    )
