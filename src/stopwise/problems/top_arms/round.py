"""What a round asks, answered without listing the sets."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from stopwise.cells.gap import pair_cost
from stopwise.core.arrays import Floats, Ints, assign, total
from stopwise.core.data import Data
from stopwise.core.verbs import jitable
from stopwise.families.verbs import arms_alike
from stopwise.problems import rounds
from stopwise.problems.arm_sets import closed_set
from stopwise.problems.rounds import Search
from stopwise.problems.top_arms.problem import TopArms, catching_up
from stopwise.problems.verbs import Code


class Pairs(NamedTuple):
    """The pair that last kept the evidence low; and scratch."""

    weakest: Ints
    order: Ints  # the arms, from the largest mean to the smallest
    forces: Ints  # 1 where the arm of the row may not be named without that of the column
    trial: Code


@rounds.sketch.register(TopArms)
def _sketch(problem: TopArms, family: Any) -> Pairs:
    arms = problem.arms
    return Pairs(*(np.zeros(size, dtype=np.int64) for size in (2, arms, (arms, arms), arms)))


@rounds.rebuild.register(TopArms)
def _rebuild(problem: TopArms, family: Any, data: Data, sketch: Pairs) -> None:
    sketch.weakest[0] = sketch.weakest[1] = 0


@jitable
def best_set(means: Floats, m: int, order: Ints, code: Code) -> None:
    """The arms in the order of their means, and the first m of them."""
    for k in range(means.size):
        place = k
        while place > 0 and means[order[place - 1]] < means[k]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = k
    for place in range(means.size):
        code[order[place]] = 1 if place < m else 0


@rounds.first_oracle.register(TopArms)
def _first_oracle(
    problem: TopArms, family: Any, data: Data, sketch: Pairs, code: Code, weights: Floats
) -> None:
    """The m largest means: the oracle's answer if arms are alike, and a correct one if they are not."""
    best_set(data.means, problem.m, sketch.order, code)
    rounds.solve_round(problem, family, data.means, code, weights)


@rounds.answer_weights.register(TopArms)
def _answer_weights(
    problem: TopArms, family: Any, data: Data, sketch: Pairs, code: Code, weights: Floats
) -> None:
    """Where the answer is wrong, those of the best arms: the evidence grows for what looks right."""
    assign(sketch.trial, code)
    if not _correct(problem, data.means, code):
        best_set(data.means, problem.m, sketch.order, sketch.trial)
    rounds.solve_round(problem, family, data.means, sketch.trial, weights)


@rounds.best_evidence.register(TopArms)
def _best_evidence(
    problem: TopArms, family: Any, data: Data, sketch: Pairs, enough: float, code: Code
) -> float:
    """The m largest means have the most, but for arms with few samples that epsilon lets be left out."""
    best_set(data.means, problem.m, sketch.order, code)
    found = _set_evidence(problem, family, data, sketch, enough, code)
    if problem.epsilon == 0.0:
        return found
    while _better_set(problem, family, data, sketch, max(found, 0.0)):
        assign(code, sketch.trial)
        found = _set_evidence(problem, family, data, sketch, 0.0, code)
    return found


@jitable
def _set_evidence(
    problem: TopArms, family: Any, data: Data, sketch: Pairs, enough: float, code: Code
) -> float:
    """The least over the pairs, or the first that is less than enough."""
    arm, other = sketch.weakest[0], sketch.weakest[1]
    if code[arm] == 1 and code[other] == 0:
        least = pair_cost(family, data, arm, other, problem.epsilon)
        if least < enough:
            return least
    least = math.inf
    for arm in range(problem.arms):
        if code[arm] == 1:
            for other in range(problem.arms):
                if code[other] == 0:
                    value = pair_cost(family, data, arm, other, problem.epsilon)
                    if not value >= least:  # nan shows
                        least = value
                        sketch.weakest[0], sketch.weakest[1] = arm, other
                    if value < enough:
                        return value
    return least


@jitable
def _better_set(problem: TopArms, family: Any, data: Data, sketch: Pairs, level: float) -> bool:
    """Whether a set has more evidence than this: arms go by their means, each with those it forces.

    Whoever names an arm must name every other that it does not beat by as much.
    """
    for arm in range(problem.arms):
        for other in range(problem.arms):
            weak = arm != other and not (
                pair_cost(family, data, arm, other, problem.epsilon) > level
            )
            sketch.forces[arm, other] = 1 if weak else 0
    return closed_set(sketch.forces, sketch.order, problem.m, sketch.trial)


@rounds.answer_at.register(TopArms)
def _answer_at(problem: TopArms, family: Any, data: Data, sketch: Pairs, code: Code) -> None:
    best_set(data.means, problem.m, sketch.order, code)


MOST = 64  # sets that are tried: each takes a solution


@rounds.first_close.register(TopArms)
def _first_close(problem: TopArms, family: Any, data: Data, sketch: Pairs, search: Search) -> bool:
    """The pursued set, while it is close to the easiest; else that one."""
    if problem.epsilon == 0.0:
        return False
    best = _easiest(problem, family, data.means, sketch, search.trial)
    kept = 0.0
    if total(search.code) == problem.m:
        kept = rounds.solve_round(problem, family, data.means, search.code, search.trial)
    if not kept >= (1.0 - search.slack) * best:
        assign(search.code, sketch.trial)
    return True


@jitable
def _easiest(problem: TopArms, family: Any, means: Floats, sketch: Pairs, weights: Floats) -> float:
    """The largest value of a set: the m largest means, if arms are alike; else as far as swaps of two
    arms lead from there.
    """
    arms, trial = problem.arms, sketch.trial
    best_set(means, problem.m, sketch.order, trial)
    best = rounds.solve_round(problem, family, means, trial, weights)
    place, since, tried = 0, 0, 1 if not arms_alike(family) else MOST
    while since < arms * arms and tried < MOST:
        arm, other = place // arms, place % arms
        place, since = (place + 1) % (arms * arms), since + 1
        if trial[arm] == 1 and trial[other] == 0:
            trial[arm], trial[other], value = 0, 1, 0.0
            if _correct(problem, means, trial):
                value = rounds.solve_round(problem, family, means, trial, weights)
                tried += 1
            if value > best * (1.0 + 1e-9):
                best, since = value, 0
            else:
                trial[arm], trial[other] = 1, 0
    return best


@jitable
def _correct(problem: TopArms, means: Floats, code: Code) -> bool:
    """Whether no arm that is left out is better than one of the set by epsilon."""
    worst, best = math.inf, -math.inf
    for k in range(code.size):
        if code[k] == 1:
            worst = min(worst, means[k])
        else:
            best = max(best, means[k])
    return worst + problem.epsilon > best


@rounds.first_reachable.register(TopArms)
def _first_reachable(
    problem: TopArms,
    family: Any,
    data: Data,
    sketch: Pairs,
    level: float,
    held: bool,
    search: Search,
) -> float:
    """Arms in their order, each with all that are out of its reach: the first set in the order.

    Who is out of whose reach has no circles, so that any such set of fewer arms can be filled up.
    """
    if search.slack >= 0.0 and rounds.first_close(problem, family, data, sketch, search):
        search.point[0] = math.nan
        return rounds.BY_VALUE
    barrier = math.inf
    for arm in range(problem.arms):
        sketch.order[arm] = arm
        for other in range(problem.arms):
            price = catching_up(problem, family, data, arm, other) if arm != other else 0.0
            sketch.forces[arm, other] = 1 if price > level else 0
            if price > level:
                barrier = min(barrier, price)
    closed_set(sketch.forces, sketch.order, problem.m, search.code)
    search.point[0] = math.nan
    return barrier
