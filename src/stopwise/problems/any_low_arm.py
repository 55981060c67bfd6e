"""Find an arm below a threshold, or say that there is none."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from stopwise.cells.bound import arm_cost, divergence_from, project_bound, total_divergence
from stopwise.cells.shape import Shape, bound_shape
from stopwise.core.arrays import Floats, fill, smallest
from stopwise.core.data import Data
from stopwise.core.verbs import jitable
from stopwise.families.verbs import Logarithmic, arms_alike, lower, of_arm, upper, variance
from stopwise.problems import limits, rounds, verbs
from stopwise.problems.rounds import Scratch, Search
from stopwise.problems.verbs import Answer, Code


class AnyLowArm(limits.ArmSides):
    """Any arm with mean at most ``threshold``, or "none". Answers: 0 to K - 1, then "none"."""

    __slots__ = ()
    title = "Is any option below a threshold? Name one"


@verbs.answers.register(AnyLowArm)
def _answers(problem: AnyLowArm) -> Iterator[Answer]:
    yield from range(problem.arms)
    yield "none"


@verbs.correct_answers.register(AnyLowArm)
def _correct_answers(problem: AnyLowArm, means: Floats) -> Iterator[Answer]:
    yield from (int(k) for k in np.flatnonzero(means <= problem.threshold))
    if means.min() >= problem.threshold:
        yield "none"


@verbs.in_words.register(AnyLowArm)
def _in_words(problem: AnyLowArm, answer: Any, labels: Sequence[str]) -> str:
    if isinstance(answer, int):
        return f"{labels[answer]} is below {problem.threshold:g}"
    return f"no arm is below {problem.threshold:g}"


verbs.asked.register(AnyLowArm)(lambda problem: f"Is any option below {problem.threshold:g}?")
verbs.named.register(AnyLowArm)(lambda problem, answer: () if answer == "none" else (answer,))


@verbs.candidates.register(AnyLowArm)
def _candidates(problem: AnyLowArm, family: Any, means: Floats) -> Iterator[Answer]:
    # D(mu, not k) = d(mu_k, threshold): among arms that are alike the lowest wins
    if means.min() < problem.threshold and arms_alike(family):
        near = limits.nearly(means, means.min()) & (means <= problem.threshold)
        return (int(k) for k in np.flatnonzero(near))
    return _correct_answers(problem, means)


@verbs.cell_count.register(AnyLowArm)
def _cell_count(problem: AnyLowArm, code: Code) -> int:
    return problem.arms if code[0] == problem.arms else 1


@verbs.shape.register(AnyLowArm)
def _shape(problem: AnyLowArm, code: Code, cell: int) -> Shape:
    none = code[0] == problem.arms
    arm, side = (cell, -1.0) if none else (code[0], 1.0)
    return bound_shape(arm, side, problem.threshold)


verbs.simple.register(AnyLowArm)(lambda problem: True)


@verbs.project.register(AnyLowArm)
def _project(
    problem: AnyLowArm, family: Any, data: Data, code: Code, cell: int, closest: Floats
) -> float:
    _, arm, _, side, limit = verbs.shape(problem, code, cell)
    return project_bound(family, data, arm, side, limit, closest)


@verbs.reach.register(AnyLowArm)
def _reach(
    problem: AnyLowArm, family: Any, data: Data, code: Code, level: float, point: Floats
) -> float:
    """The arm must be the lowest, and at most the threshold: it is pooled with every lower arm.

    Arms that are not alike are compared by their distance from the threshold in standard deviations.
    """
    counts, means = data
    arm, x = code[0], problem.threshold
    for k in range(means.size):
        point[k] = _standard(problem, family, data, k)
    if arm < problem.arms:
        x = min(point[arm], problem.threshold)
        for _ in range(means.size + 1):
            total, mass = counts[arm] * point[arm], counts[arm]
            for k in range(means.size):
                if k != arm and point[k] < x:
                    total += counts[k] * point[k]
                    mass += counts[k]
            pooled = total / mass if mass > 0.0 else smallest(point)
            if pooled >= x:  # Newton on a convex function, from the right
                break
            x = pooled
    for k in range(means.size):
        point[k] = _from_standard(problem, family, data, k, x if k == arm else max(point[k], x))
    return total_divergence(family, data, point)


@verbs.reach.register(AnyLowArm, Logarithmic)
def _reach_in_box(
    problem: AnyLowArm, family: Any, data: Data, code: Code, level: float, point: Floats
) -> float:
    """Where costs are not quadratic: the answer's most beside the others' least, in the region's box."""
    point[0] = math.nan
    total, most, least = 0.0, -1.0, 0.0
    for k in range(problem.arms):
        own, share = of_arm(family, k), level / data.counts[k] if data.counts[k] > 0.0 else math.inf
        left, right = lower(own, data.means[k], share), upper(own, data.means[k], share)
        if data.means[k] < problem.threshold:
            total += arm_cost(family, data, k, problem.threshold)
        if k == code[0]:
            if left <= problem.threshold:
                most = divergence_from(own, left, problem.threshold)
        elif right < problem.threshold:
            least = max(least, divergence_from(own, right, problem.threshold))
    if code[0] == problem.arms:
        return total
    return 0.0 if most >= least else math.inf


@rounds.first_close.register(AnyLowArm, Logarithmic)
def _first_close(
    problem: AnyLowArm, family: Any, data: Data, sketch: Scratch, search: Search
) -> bool:
    return rounds.close_of_listed(problem, family, data, search)


@jitable
def _standard(problem: AnyLowArm, family: Any, data: Data, arm: int) -> float:
    """An arm's mean, seen from the threshold in units of its standard deviation."""
    if arms_alike(family):
        return data.means[arm]
    scale = math.sqrt(variance(of_arm(family, arm), data.means[arm]))
    return problem.threshold + (data.means[arm] - problem.threshold) / scale


@jitable
def _from_standard(problem: AnyLowArm, family: Any, data: Data, arm: int, x: float) -> float:
    if arms_alike(family):
        return x
    scale = math.sqrt(variance(of_arm(family, arm), data.means[arm]))
    return problem.threshold + (x - problem.threshold) * scale


@verbs.optimise.register(AnyLowArm)
def _optimise(problem: AnyLowArm, family: Any, means: Floats, code: Code, weights: Floats) -> float:
    arm = code[0]
    if arm < means.size:
        return limits.alone(arm, limits.beyond(family, means, arm, 1.0, problem.threshold), weights)
    return limits.harmonic(limits.high_costs(family, means, problem.threshold), weights)


rounds.solve_round.register(AnyLowArm)(_optimise)


@verbs.upper_bound.register(AnyLowArm)
def _upper_bound(problem: AnyLowArm, family: Any, data: Data, code: Code) -> float:
    arm = code[0]
    if arm < problem.arms:
        return limits.beyond(family, data.means, arm, 1.0, problem.threshold)
    return limits.separate_bound(limits.high_costs(family, data.means, problem.threshold))


@rounds.answer_weights.register(AnyLowArm)
def _answer_weights(
    problem: AnyLowArm, family: Any, data: Data, sketch: Scratch, code: Code, weights: Floats
) -> None:
    """Where the answer is wrong: those of the lowest arm, or of "none"."""
    arm, means = code[0], data.means
    if arm == means.size or not means[arm] < problem.threshold:
        arm = 0
        for k in range(means.size):
            if means[k] < means[arm]:
                arm = k
    if means[arm] > problem.threshold:
        sketch.code[0] = means.size
        verbs.optimise(problem, family, means, sketch.code, weights)
    else:
        fill(weights, 0.0)
        weights[arm] = 1.0


verbs.answer_count.register(AnyLowArm)(lambda problem: problem.arms + 1)
