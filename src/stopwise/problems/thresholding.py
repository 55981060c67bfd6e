"""Which arms lie at or below a threshold?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from stopwise.arrays import assign
from stopwise.checks import Floats, finite, whole
from stopwise.problems import base
from stopwise.problems.base import Answer, Code
from stopwise.shapes.bound import project_bound, total_divergence, weighted_divergence
from stopwise.values import value
from stopwise.verbs import jitable


class _Thresholding(NamedTuple):
    arms: int
    threshold: float


@value
class Thresholding(_Thresholding):
    """The set of arms with mean at most ``threshold``. Answers: tuples of arms, 2^K of them.

    They are ordered arm by arm from arm 0, low before high, and never enumerated by the library.
    """

    __slots__ = ()

    def __new__(cls, arms: int, threshold: float) -> Thresholding:
        return super().__new__(cls, whole("arms", arms, least=1), finite("threshold", threshold))


@jitable
def away(code: Code, arm: int) -> float:
    """The side of the threshold on which the arm would prove the answer wrong."""
    return 1.0 if code[arm] == 1 else -1.0


@base.arm_count.register(Thresholding)
def _arm_count(problem: Thresholding) -> int:
    return problem.arms


@base.answers.register(Thresholding)
def _answers(problem: Thresholding) -> Iterator[Answer]:
    codes = product((1, 0), repeat=problem.arms)
    return (tuple(arm for arm, low in enumerate(code) if low) for code in codes)


@base.correct_answers.register(Thresholding)
def _correct_answers(problem: Thresholding, means: Floats) -> Iterator[Answer]:
    """One answer; an arm on the threshold itself counts as low."""
    return iter([tuple(int(k) for k in np.flatnonzero(means <= problem.threshold))])


@base.encode.register(Thresholding)
def _encode(problem: Thresholding, answer: Any) -> Code:
    good = isinstance(answer, tuple) and all(
        isinstance(arm, int | np.integer) and not isinstance(arm, bool) for arm in answer
    )
    if not good or list(answer) != [arm for arm in range(problem.arms) if arm in answer]:
        raise base.unknown_answer(problem, answer)
    code = np.zeros(problem.arms, dtype=np.int64)
    code[list(answer)] = 1
    return code


@base.decode.register(Thresholding)
def _decode(problem: Thresholding, code: Code) -> Answer:
    return tuple(int(k) for k in np.flatnonzero(code))


@base.cell_count.register(Thresholding)
def _cell_count(problem: Thresholding, code: Code) -> int:
    return problem.arms


@base.project.register(Thresholding)
def _project(
    problem: Thresholding,
    family: Any,
    weights: Floats,
    means: Floats,
    code: Code,
    cell: int,
    closest: Floats,
) -> float:
    side = away(code, cell)
    return project_bound(family, weights, means, cell, side, problem.threshold, closest)


base.add_hessian.register(Thresholding, base.no_hessian)


@base.cost.register(Thresholding)
def _cost(
    problem: Thresholding, family: Any, weights: Floats, means: Floats, code: Code, closest: Floats
) -> float:
    assign(closest, means)
    best, arm = np.inf, 0
    for k in range(problem.arms):
        if away(code, k) * (means[k] - problem.threshold) >= 0.0:
            return 0.0
        value = weighted_divergence(family, weights[k], means[k], problem.threshold)
        if value < best:
            best, arm = value, k
    closest[arm] = problem.threshold
    return best


@base.check.register(Thresholding)
def _check(problem: Thresholding, family: Any) -> None:
    base.inside("threshold", problem.threshold, problem, family)


@base.rank.register(Thresholding)
def _rank(problem: Thresholding) -> int:
    return 1


@base.events.register(Thresholding)
def _events(problem: Thresholding) -> int:
    return problem.arms


@base.reach.register(Thresholding)
def _reach(
    problem: Thresholding,
    family: Any,
    counts: Floats,
    means: Floats,
    code: Code,
    level: float,
    point: Floats,
) -> float:
    for k in range(problem.arms):
        wrong = away(code, k) * (means[k] - problem.threshold) > 0.0
        point[k] = problem.threshold if wrong else means[k]
    return total_divergence(family, counts, means, point)


@base.code_size.register(Thresholding)
def _code_size(problem: Thresholding) -> int:
    return problem.arms


@base.reachable.register(Thresholding)
def _reachable(
    problem: Thresholding, family: Any, counts: Floats, means: Floats, level: float
) -> Iterator[Answer]:
    """Arm by arm, low first, as long as what is left of the level pays for it."""
    prices = [
        weighted_divergence(family, n, m, problem.threshold)
        for n, m in zip(counts, means, strict=True)
    ]

    stack: list[tuple[tuple[int, ...], int, float]] = [((), 0, level)]
    while stack:
        chosen, arm, left = stack.pop()
        if arm == problem.arms:
            yield chosen
            continue
        low_price = prices[arm] if means[arm] > problem.threshold else 0.0
        high_price = prices[arm] if means[arm] < problem.threshold else 0.0
        if high_price <= left:  # popped after "low": later in the order
            stack.append((chosen, arm + 1, left - high_price))
        if low_price <= left:
            stack.append(((*chosen, arm), arm + 1, left - low_price))
