"""Find an arm below a threshold, or say that there is none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from stopwise.arrays import smallest
from stopwise.checks import Floats, finite, whole
from stopwise.problems import base
from stopwise.problems.base import Answer, Code
from stopwise.shapes.bound import project_bound, total_divergence
from stopwise.values import value


class _AnyLowArm(NamedTuple):
    arms: int
    threshold: float


@value
class AnyLowArm(_AnyLowArm):
    """Any arm with mean at most ``threshold``, or "none". Answers: 0 to K - 1, then "none"."""

    __slots__ = ()

    def __new__(cls, arms: int, threshold: float) -> AnyLowArm:
        return super().__new__(cls, whole("arms", arms, least=1), finite("threshold", threshold))


@base.arm_count.register(AnyLowArm)
def _arm_count(problem: AnyLowArm) -> int:
    return problem.arms


@base.answers.register(AnyLowArm)
def _answers(problem: AnyLowArm) -> Iterator[Answer]:
    yield from range(problem.arms)
    yield "none"


@base.correct_answers.register(AnyLowArm)
def _correct_answers(problem: AnyLowArm, means: Floats) -> Iterator[Answer]:
    yield from (int(k) for k in np.flatnonzero(means <= problem.threshold))
    if means.min() >= problem.threshold:
        yield "none"


@base.candidates.register(AnyLowArm)
def _candidates(problem: AnyLowArm, means: Floats) -> Iterator[Answer]:
    # D(mu, not k) = d(mu_k, threshold): the lowest arm wins
    if means.min() < problem.threshold:
        near = base.nearly(means, means.min()) & (means <= problem.threshold)
        return (int(k) for k in np.flatnonzero(near))
    return _correct_answers(problem, means)


@base.cell_count.register(AnyLowArm)
def _cell_count(problem: AnyLowArm, code: Code) -> int:
    return problem.arms if code[0] == problem.arms else 1


@base.project.register(AnyLowArm)
def _project(
    problem: AnyLowArm,
    family: Any,
    weights: Floats,
    means: Floats,
    code: Code,
    cell: int,
    closest: Floats,
) -> float:
    none = code[0] == problem.arms
    arm, side = (cell, -1.0) if none else (code[0], 1.0)
    return project_bound(family, weights, means, arm, side, problem.threshold, closest)


base.add_hessian.register(AnyLowArm, base.no_hessian)


@base.check.register(AnyLowArm)
def _check(problem: AnyLowArm, family: Any) -> None:
    base.inside("threshold", problem.threshold, problem, family)


@base.rank.register(AnyLowArm)
def _rank(problem: AnyLowArm) -> int:
    return 1


@base.events.register(AnyLowArm)
def _events(problem: AnyLowArm) -> int:
    return problem.arms


@base.reach.register(AnyLowArm)
def _reach(
    problem: AnyLowArm,
    family: Any,
    counts: Floats,
    means: Floats,
    code: Code,
    level: float,
    point: Floats,
) -> float:
    arm, x = code[0], problem.threshold
    if arm < problem.arms:  # the arm must be the lowest, and at most the threshold
        x = min(means[arm], problem.threshold)
        for _ in range(means.size + 1):
            total, mass = counts[arm] * means[arm], counts[arm]
            for k in range(means.size):
                if k != arm and means[k] < x:
                    total += counts[k] * means[k]
                    mass += counts[k]
            pooled = total / mass if mass > 0.0 else smallest(means)
            if pooled >= x:  # Newton on a convex function, from the right
                break
            x = pooled
    for k in range(means.size):
        point[k] = x if k == arm else max(means[k], x)
    return total_divergence(family, counts, means, point)


@base.answer_count.register(AnyLowArm)
def _answer_count(problem: AnyLowArm) -> int:
    return problem.arms + 1
