"""On which side of a threshold is some arm? Any arm will do."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from stopwise.checks import Floats, finite, whole
from stopwise.families.base import interval, lower, upper
from stopwise.problems import base
from stopwise.problems.base import Answer, Code
from stopwise.shapes.bound import divergence_from, project_bound
from stopwise.values import value


class _AnySign(NamedTuple):
    arms: int
    threshold: float


@value
class AnySign(_AnySign):
    """Any arm with its side: (arm, "low") if mean <= threshold, (arm, "high") if >=.

    Ordered by arm, low before high.
    """

    __slots__ = ()

    def __new__(cls, arms: int, threshold: float = 0.0) -> AnySign:
        return super().__new__(cls, whole("arms", arms, least=1), finite("threshold", threshold))


@base.arm_count.register(AnySign)
def _arm_count(problem: AnySign) -> int:
    return problem.arms


@base.answers.register(AnySign)
def _answers(problem: AnySign) -> Iterator[Answer]:
    return ((arm, side) for arm in range(problem.arms) for side in ("low", "high"))


@base.correct_answers.register(AnySign)
def _correct_answers(problem: AnySign, means: Floats) -> Iterator[Answer]:
    for arm in range(problem.arms):
        if means[arm] <= problem.threshold:
            yield (arm, "low")
        if means[arm] >= problem.threshold:
            yield (arm, "high")


@base.cell_count.register(AnySign)
def _cell_count(problem: AnySign, code: Code) -> int:
    return 1


@base.project.register(AnySign)
def _project(
    problem: AnySign,
    family: Any,
    weights: Floats,
    means: Floats,
    code: Code,
    cell: int,
    closest: Floats,
) -> float:
    side = 1.0 if code[0] % 2 == 0 else -1.0  # the alternative to "low" is "high"
    return project_bound(family, weights, means, code[0] // 2, side, problem.threshold, closest)


base.add_hessian.register(AnySign, base.no_hessian)


@base.check.register(AnySign)
def _check(problem: AnySign, family: Any) -> None:
    base.inside("threshold", problem.threshold, problem, family)


@base.rank.register(AnySign)
def _rank(problem: AnySign) -> int:
    return 1


@base.events.register(AnySign)
def _events(problem: AnySign) -> int:
    return problem.arms


@base.reach.register(AnySign)
def _reach(
    problem: AnySign,
    family: Any,
    counts: Floats,
    means: Floats,
    code: Code,
    level: float,
    point: Floats,
) -> float:
    # D of an answer is d(mu_arm, threshold) on its side; compare its most with the others' least,
    # over the box around the region
    point[0] = math.nan
    low, high = interval(family)
    most, least = -1.0, 0.0
    for k in range(means.size):
        left, right = low, high
        if counts[k] > 0.0:
            left = lower(family, means[k], level / counts[k])
            right = upper(family, means[k], level / counts[k])
        if k == code[0] // 2:
            end = left if code[0] % 2 == 0 else right
            side = -1.0 if code[0] % 2 == 0 else 1.0
            if side * (end - problem.threshold) >= 0.0:
                most = divergence_from(family, end, problem.threshold)
        elif left > problem.threshold:
            least = max(least, divergence_from(family, left, problem.threshold))
        elif right < problem.threshold:
            least = max(least, divergence_from(family, right, problem.threshold))
    return 0.0 if most >= least else math.inf


@base.answer_count.register(AnySign)
def _answer_count(problem: AnySign) -> int:
    return 2 * problem.arms


@base.encode.register(AnySign)
def _encode(problem: AnySign, answer: Any) -> Code:
    good = isinstance(answer, tuple) and len(answer) == 2 and answer[1] in ("low", "high")
    if not good or isinstance(answer[0], bool) or answer[0] not in range(problem.arms):
        raise base.unknown_answer(problem, answer)
    return np.array([2 * answer[0] + (answer[1] == "high")], dtype=np.int64)
