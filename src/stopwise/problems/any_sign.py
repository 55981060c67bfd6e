"""On which side of a threshold is some arm? Any arm will do."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from stopwise.cells.bound import divergence_from, project_bound
from stopwise.cells.shape import Shape, bound_shape
from stopwise.core.arrays import Floats, fill
from stopwise.core.data import Data
from stopwise.core.options import NUMBER, Option
from stopwise.families.verbs import interval, lower, of_arm, upper
from stopwise.problems import rounds, verbs
from stopwise.problems.limits import ArmSides, alone, beyond
from stopwise.problems.rounds import Scratch, Search
from stopwise.problems.verbs import Answer, Code


class AnySign(ArmSides):
    """Any arm with its side: (arm, "low") if mean <= threshold, (arm, "high") if >=.

    Ordered by arm, low before high.
    """

    __slots__ = ()
    title = "Name any one arm, and its side of a threshold"
    options = {"threshold": Option(NUMBER, "The level that means are compared with; 0 if empty")}

    def __new__(cls, arms: int, threshold: float = 0.0) -> AnySign:
        return super().__new__(cls, arms, threshold)


@verbs.answers.register(AnySign)
def _answers(problem: AnySign) -> Iterator[Answer]:
    return ((arm, side) for arm in range(problem.arms) for side in ("low", "high"))


@verbs.correct_answers.register(AnySign)
def _correct_answers(problem: AnySign, means: Floats) -> Iterator[Answer]:
    for arm in range(problem.arms):
        if means[arm] <= problem.threshold:
            yield (arm, "low")
        if means[arm] >= problem.threshold:
            yield (arm, "high")


@verbs.in_words.register(AnySign)
def _in_words(problem: AnySign, answer: Any, labels: Sequence[str]) -> str:
    arm, side = answer
    where = "below" if side == "low" else "above"
    return f"{labels[arm]} is {where} {problem.threshold:g}"


@verbs.asked.register(AnySign)
def _asked(problem: AnySign) -> str:
    return f"On which side of {problem.threshold:g} is any one option?"


verbs.named.register(AnySign)(lambda problem, answer: (answer[0],))
verbs.cell_count.register(AnySign)(lambda problem, code: 1)


@verbs.shape.register(AnySign)
def _shape(problem: AnySign, code: Code, cell: int) -> Shape:
    side = 1.0 if code[0] % 2 == 0 else -1.0  # the alternative to "low" is "high"
    return bound_shape(code[0] // 2, side, problem.threshold)


verbs.simple.register(AnySign)(lambda problem: True)


@verbs.project.register(AnySign)
def _project(
    problem: AnySign, family: Any, data: Data, code: Code, cell: int, closest: Floats
) -> float:
    _, arm, _, side, limit = verbs.shape(problem, code, cell)
    return project_bound(family, data, arm, side, limit, closest)


@verbs.reach.register(AnySign)
def _reach(
    problem: AnySign, family: Any, data: Data, code: Code, level: float, point: Floats
) -> float:
    # D of an answer is d(mu_arm, threshold) on its side; compare its most with the others' least,
    # over the box around the region
    point[0] = math.nan
    counts, means = data
    low, high = interval(family)
    most, least = -1.0, 0.0
    for k in range(means.size):
        left, right, own = low, high, of_arm(family, k)
        if counts[k] > 0.0:
            left = lower(own, means[k], level / counts[k])
            right = upper(own, means[k], level / counts[k])
        if k == code[0] // 2:
            end = left if code[0] % 2 == 0 else right
            side = -1.0 if code[0] % 2 == 0 else 1.0
            if side * (end - problem.threshold) >= 0.0:
                most = divergence_from(own, end, problem.threshold)
        elif left > problem.threshold:
            least = max(least, divergence_from(own, left, problem.threshold))
        elif right < problem.threshold:
            least = max(least, divergence_from(own, right, problem.threshold))
    return 0.0 if most >= least else math.inf


verbs.answer_count.register(AnySign)(lambda problem: 2 * problem.arms)


@verbs.encode.register(AnySign)
def _encode(problem: AnySign, answer: Any) -> Code:
    good = isinstance(answer, tuple) and len(answer) == 2 and answer[1] in ("low", "high")
    if not good or isinstance(answer[0], bool) or answer[0] not in range(problem.arms):
        raise verbs.unknown_answer(problem, answer)
    return np.array([2 * answer[0] + (answer[1] == "high")], dtype=np.int64)


@verbs.optimise.register(AnySign)
def _optimise(problem: AnySign, family: Any, means: Floats, code: Code, weights: Floats) -> float:
    arm, side = code[0] // 2, 1.0 if code[0] % 2 == 0 else -1.0
    return alone(arm, beyond(family, means, arm, side, problem.threshold), weights)


rounds.solve_round.register(AnySign)(_optimise)


@rounds.first_close.register(AnySign)
def _first_close(
    problem: AnySign, family: Any, data: Data, sketch: Scratch, search: Search
) -> bool:
    return rounds.close_of_listed(problem, family, data, search)


@rounds.answer_weights.register(AnySign)
def _answer_weights(
    problem: AnySign, family: Any, data: Data, sketch: Scratch, code: Code, weights: Floats
) -> None:
    fill(weights, 0.0)
    weights[code[0] // 2] = 1.0
