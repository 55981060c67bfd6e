"""Which arms lie at or below a threshold?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from stopwise.cells.bound import arm_cost, project_bound, total_divergence
from stopwise.cells.shape import Shape, bound_shape
from stopwise.core.arrays import Floats, Ints, assign, fill, total
from stopwise.core.data import Data
from stopwise.core.verbs import jitable
from stopwise.families.verbs import divergence, of_arm
from stopwise.problems import rounds, verbs
from stopwise.problems.arm_sets import ArmSets
from stopwise.problems.limits import ArmSides, beyond, harmonic, separate_bound
from stopwise.problems.rounds import Search
from stopwise.problems.verbs import Answer, Code


class Thresholding(ArmSides, ArmSets):
    """The set of arms with mean at most ``threshold``. Answers: tuples of arms, 2^K of them.

    They are ordered arm by arm from arm 0, low before high, and never enumerated by the library.
    """

    __slots__ = ()
    title = "Which options are below a threshold, and which above?"


@jitable
def away(code: Code, arm: int) -> float:
    """The side of the threshold on which the arm would prove the answer wrong."""
    return 1.0 if code[arm] == 1 else -1.0


@verbs.answers.register(Thresholding)
def _answers(problem: Thresholding) -> Iterator[Answer]:
    codes = product((1, 0), repeat=problem.arms)
    return (tuple(arm for arm, low in enumerate(code) if low) for code in codes)


@verbs.correct_answers.register(Thresholding)
def _correct_answers(problem: Thresholding, means: Floats) -> Iterator[Answer]:
    """One answer; an arm on the threshold itself counts as low."""
    return iter([tuple(int(k) for k in np.flatnonzero(means <= problem.threshold))])


verbs.several_answers.register(Thresholding)(lambda problem: False)


@verbs.asked.register(Thresholding)
def _asked(problem: Thresholding) -> str:
    return f"Which options are below {problem.threshold:g}, and which above?"


@verbs.in_words.register(Thresholding)
def _in_words(problem: Thresholding, answer: Any, labels: Sequence[str]) -> str:
    below = [labels[k] for k in answer]
    return f"at most {problem.threshold:g}: {', '.join(below) or 'none'}; the others are above"


verbs.cell_count.register(Thresholding)(lambda problem, code: problem.arms)


@verbs.shape.register(Thresholding)
def _shape(problem: Thresholding, code: Code, cell: int) -> Shape:
    return bound_shape(cell, away(code, cell), problem.threshold)


verbs.simple.register(Thresholding)(lambda problem: True)


@verbs.project.register(Thresholding)
def _project(
    problem: Thresholding, family: Any, data: Data, code: Code, cell: int, closest: Floats
) -> float:
    side = away(code, cell)
    return project_bound(family, data, cell, side, problem.threshold, closest)


@verbs.cost.register(Thresholding)
def _cost(problem: Thresholding, family: Any, data: Data, code: Code, closest: Floats) -> float:
    assign(closest, data.means)
    best, arm = np.inf, 0
    for k in range(problem.arms):
        if away(code, k) * (data.means[k] - problem.threshold) >= 0.0:
            return 0.0
        value = arm_cost(family, data, k, problem.threshold)
        if value < best:
            best, arm = value, k
    closest[arm] = problem.threshold
    return best


@verbs.reach.register(Thresholding)
def _reach(
    problem: Thresholding, family: Any, data: Data, code: Code, level: float, point: Floats
) -> float:
    for k in range(problem.arms):
        wrong = away(code, k) * (data.means[k] - problem.threshold) > 0.0
        point[k] = problem.threshold if wrong else data.means[k]
    return total_divergence(family, data, point)


@verbs.reachable.register(Thresholding)
def _reachable(problem: Thresholding, family: Any, data: Data, level: float) -> Iterator[Answer]:
    """Arm by arm, low first, as long as what is left of the level pays for it."""
    means = data.means
    prices = [arm_cost(family, data, k, problem.threshold) for k in range(problem.arms)]
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


@jitable
def _costs(problem: Thresholding, family: Any, means: Floats, code: Code) -> Floats:
    costs = np.zeros(means.size)
    for k in range(means.size):
        costs[k] = beyond(family, means, k, away(code, k), problem.threshold)
    return costs


@verbs.optimise.register(Thresholding)
def _optimise(
    problem: Thresholding, family: Any, means: Floats, code: Code, weights: Floats
) -> float:
    return harmonic(_costs(problem, family, means, code), weights)


rounds.solve_round.register(Thresholding)(_optimise)


@verbs.upper_bound.register(Thresholding)
def _upper_bound(problem: Thresholding, family: Any, data: Data, code: Code) -> float:
    return separate_bound(_costs(problem, family, data.means, code))


class Distances(NamedTuple):
    """Each arm's divergence to the threshold, its inverse, and the inverses' sum."""

    costs: Floats
    inverses: Floats
    total: Floats
    weakest: Ints  # the arm that last kept the evidence low


CLOSE = 1e-12  # a smaller divergence to the threshold counts as this


@rounds.sketch.register(Thresholding)
def _sketch(problem: Thresholding, family: Any) -> Distances:
    arms = problem.arms
    return Distances(np.zeros(arms), np.zeros(arms), np.zeros(1), np.zeros(1, dtype=np.int64))


@rounds.rebuild.register(Thresholding)
def _rebuild(problem: Thresholding, family: Any, data: Data, sketch: Distances) -> None:
    sketch.total[0], sketch.weakest[0] = 0.0, 0
    for k in range(problem.arms):
        sketch.inverses[k] = 0.0
        rounds.absorb(problem, family, data, sketch, k, 0.0)


@rounds.absorb.register(Thresholding)
def _absorb(
    problem: Thresholding, family: Any, data: Data, sketch: Distances, arm: int, before: float
) -> None:
    old = sketch.inverses[arm]
    sketch.costs[arm] = divergence(of_arm(family, arm), data.means[arm], problem.threshold)
    sketch.inverses[arm] = 1.0 / max(sketch.costs[arm], CLOSE)
    sketch.total[0] += sketch.inverses[arm] - old
    if old > 1e3 * sketch.total[0]:  # what is left of a much larger number has lost its digits
        sketch.total[0] = total(sketch.inverses)


@rounds.first_oracle.register(Thresholding)
def _first_oracle(
    problem: Thresholding, family: Any, data: Data, sketch: Distances, code: Code, weights: Floats
) -> None:
    """w_k proportional to 1/d_k; nearly all weight to an arm that sits on the threshold itself."""
    rounds.answer_weights(problem, family, data, sketch, code, weights)
    for k in range(problem.arms):
        code[k] = data.means[k] <= problem.threshold


@rounds.answer_weights.register(Thresholding)
def _answer_weights(
    problem: Thresholding, family: Any, data: Data, sketch: Distances, code: Code, weights: Floats
) -> None:
    """As above, whatever the answer."""
    scale = 1.0 / sketch.total[0]
    for k in range(problem.arms):
        weights[k] = sketch.inverses[k] * scale


@rounds.best_evidence.register(Thresholding)
def _best_evidence(
    problem: Thresholding, family: Any, data: Data, sketch: Distances, enough: float, code: Code
) -> float:
    least = math.inf
    for turn in range(-1, problem.arms):
        arm = sketch.weakest[0] if turn < 0 else turn
        value = data.counts[arm] * sketch.costs[arm]
        if not value >= least:
            least = value
        if value < enough:
            sketch.weakest[0] = arm
            return value
    for k in range(problem.arms):
        code[k] = data.means[k] <= problem.threshold
    return least


@rounds.answer_at.register(Thresholding)
def _answer_at(
    problem: Thresholding, family: Any, data: Data, sketch: Distances, code: Code
) -> None:
    for k in range(problem.arms):
        code[k] = data.means[k] <= problem.threshold


@rounds.refute.register(Thresholding)
def _refute(
    problem: Thresholding,
    family: Any,
    data: Data,
    sketch: Distances,
    code: Code,
    penalty: float,
    found: rounds.Refutation,
) -> float:
    """An arm that is already on the other side costs nothing; of equals the first."""
    best, least, arm = math.inf, math.inf, 0
    for k in range(problem.arms):
        wrong = away(code, k) * (data.means[k] - problem.threshold) >= 0.0
        value = 0.0 if wrong else arm_cost(family, data, k, problem.threshold)
        price = value if penalty == 0.0 or wrong else value + penalty * math.log(data.counts[k])
        if price < best:
            best, least, arm = price, value, k
    assign(found.model, data.means)
    fill(found.arms, 0.0)
    found.arms[arm] = 1.0
    if least > 0.0:
        found.model[arm] = problem.threshold
    return least


@rounds.first_reachable.register(Thresholding)
def _first_reachable(
    problem: Thresholding,
    family: Any,
    data: Data,
    sketch: Distances,
    level: float,
    held: bool,
    search: Search,
) -> float:
    """Arm by arm, low where what is left of the level pays for it: the first in the order."""
    code, point = search.code, search.point
    spent, barrier = 0.0, math.inf
    for k in range(problem.arms):
        code[k], point[k] = 1, data.means[k]
        if data.means[k] > problem.threshold:
            own = of_arm(family, k)
            price = data.counts[k] * divergence(own, data.means[k], problem.threshold)
            if spent + price <= level:
                spent += price
                point[k] = problem.threshold
            else:  # any earlier answer calls this arm low, or one before it
                barrier = min(barrier, spent + price)
                code[k] = 0
    return barrier
