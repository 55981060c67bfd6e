"""What a round asks: answered from where Newton's method left off."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from stopwise.cells.gap import pair_bound, pair_cost, pair_floor, project_gap, screened
from stopwise.core.arrays import Floats, Ints, assign, fill, largest, place_of_largest
from stopwise.core.data import Data
from stopwise.core.verbs import jitable
from stopwise.families.verbs import arms_alike
from stopwise.problems import rounds
from stopwise.problems.best_arm.optimum import ROOM, best_arm_optimum
from stopwise.problems.best_arm.problem import BestArm
from stopwise.problems.rounds import Refutation, Search
from stopwise.problems.verbs import Code


class Start(NamedTuple):
    """Where Newton's method left off, and places: whose state it is (plus 1; 0: nobody's), and, for
    each arm, the rival that last kept its evidence low.
    """

    state: Floats
    places: Ints
    weights: Floats  # scratch


OWNER, WEAKEST = 0, 1


@rounds.sketch.register(BestArm)
def _sketch(problem: BestArm, family: Any) -> Start:
    arms = problem.arms
    return Start(np.zeros(ROOM * arms), np.zeros(1 + arms, dtype=np.int64), np.zeros(arms))


@rounds.rebuild.register(BestArm)
def _rebuild(problem: BestArm, family: Any, data: Data, sketch: Start) -> None:
    fill(sketch.places, 0)


@rounds.first_oracle.register(BestArm)
def _first_oracle(
    problem: BestArm, family: Any, data: Data, sketch: Start, code: Code, weights: Floats
) -> None:
    code[0] = place_of_largest(data.means)
    if problem.epsilon > 0.0 and not arms_alike(family):
        _best_of_several(problem, family, data, sketch, code, weights)
    else:
        rounds.answer_weights(problem, family, data, sketch, code, weights)


@jitable
def _best_of_several(
    problem: BestArm, family: Any, data: Data, sketch: Start, code: Code, weights: Floats
) -> None:
    """The arm within epsilon of the largest mean that is the cheapest to prove."""
    best, top = -1.0, largest(data.means)
    for arm in range(data.means.size):
        if data.means[arm] >= top - problem.epsilon:
            sketch.state[arm] = 0.0
            value = best_arm_optimum(
                family, data.means, arm, problem.epsilon, sketch.weights, sketch.state
            )
            if value > best:
                best, code[0] = value, arm
                assign(weights, sketch.weights)
    sketch.places[OWNER] = 0


@rounds.first_close.register(BestArm)
def _first_close(problem: BestArm, family: Any, data: Data, sketch: Start, search: Search) -> bool:
    """Where a quieter arm within epsilon may be easier to prove than the best one."""
    if problem.epsilon == 0.0 or arms_alike(family):
        return False
    values, top = search.trial, largest(data.means)
    for arm in range(data.means.size):
        values[arm] = -1.0
        if data.means[arm] >= top - problem.epsilon:
            sketch.state[arm] = 0.0
            values[arm] = best_arm_optimum(
                family, data.means, arm, problem.epsilon, sketch.weights, sketch.state
            )
    sketch.places[OWNER] = 0
    rounds.first_of_values(values, search)
    return True


@rounds.answer_weights.register(BestArm)
def _answer_weights(
    problem: BestArm, family: Any, data: Data, sketch: Start, code: Code, weights: Floats
) -> None:
    """Where the answer is wrong, those of the best arm: the evidence grows for what looks right."""
    means = data.means
    arm, best = code[0], place_of_largest(means)
    if not means[arm] + problem.epsilon > means[best]:
        arm = best
    if sketch.places[OWNER] != arm + 1:
        sketch.places[OWNER] = arm + 1
        sketch.state[arm] = 0.0  # a cold start
    best_arm_optimum(family, means, arm, problem.epsilon, weights, sketch.state)


@rounds.best_evidence.register(BestArm)
def _best_evidence(
    problem: BestArm, family: Any, data: Data, sketch: Start, enough: float, code: Code
) -> float:
    """Only arms within epsilon of the largest mean have any; one cheap rival shows it is too little."""
    best, top = 0.0, largest(data.means)
    for arm in range(data.means.size):
        if data.means[arm] >= top - problem.epsilon:
            value = _arm_evidence(problem, family, data, sketch, enough, arm)
            if arm == 0 or not value <= best:
                best = value
                code[0] = arm
    return best


@jitable
def _arm_evidence(
    problem: BestArm, family: Any, data: Data, sketch: Start, enough: float, arm: int
) -> float:
    """The least over the rivals, or a bound on it that is less than enough."""
    least, weakest = math.inf, WEAKEST + arm
    if problem.epsilon > 0.0:  # else the costs are as cheap as their bounds
        for turn in range(-1, data.means.size):
            other = sketch.places[weakest] if turn < 0 else turn
            if other != arm:
                bound = pair_bound(family, data, arm, other, problem.epsilon)
                if bound < enough:
                    sketch.places[weakest] = other
                    return bound
    for turn in range(-1, data.means.size):
        other = sketch.places[weakest] if turn < 0 else turn
        if other != arm:
            value = pair_cost(family, data, arm, other, problem.epsilon)
            if not value >= least:
                least = value
            if value < enough:
                sketch.places[weakest] = other
                break
    return least


@rounds.front_runner.register(BestArm)
def _front_runner(problem: BestArm, family: Any, data: Data, sketch: Start, code: Code) -> bool:
    code[0] = place_of_largest(data.means)
    return True  # the best arms are all correct


@rounds.answer_at.register(BestArm)
def _answer_at(problem: BestArm, family: Any, data: Data, sketch: Start, code: Code) -> None:
    code[0] = place_of_largest(data.means)


@rounds.refute.register(BestArm)
def _refute(
    problem: BestArm,
    family: Any,
    data: Data,
    sketch: Start,
    code: Code,
    penalty: float,
    found: Refutation,
) -> float:
    """The penalty is for the rival's samples alone; of rivals at the same price, the best one."""
    _recall(data, code[0], found.memo)
    arm, best, other = code[0], math.inf, 1 if code[0] == 0 else 0
    most = _ceiling(problem, family, data, arm, penalty, found)
    for k in range(data.means.size):
        if k == arm or _dearer(family, data, arm, k, most, found.memo):
            continue
        price = _remembered_cost(problem, family, data, arm, k, found.memo)
        if penalty > 0.0:
            price += penalty * math.log(data.counts[k])
        if price < best or (price == best and data.means[k] > data.means[other]):
            best, other = price, k
    fill(found.arms, 0.0)
    found.arms[arm] = found.arms[other] = 1.0
    return project_gap(family, data, arm, other, problem.epsilon, found.model)


@jitable
def _ceiling(
    problem: BestArm, family: Any, data: Data, arm: int, penalty: float, found: Refutation
) -> float:
    """The price of the rival that was the cheapest before: who costs more need not be looked at."""
    if problem.epsilon > 0.0 or not screened(family):
        return math.inf
    for k in range(data.means.size):
        if k != arm and found.arms[k] > 0.0:
            price = _remembered_cost(problem, family, data, arm, k, found.memo)
            return price + penalty * math.log(data.counts[k]) if penalty > 0.0 else price
    return math.inf


@jitable(inline=True)
def _dearer(family: Any, data: Data, arm: int, other: int, most: float, memo: Floats) -> bool:
    """Whether a rival is known to cost more; not asked where its cost is remembered."""
    if most == math.inf or _remembers(family, data, other, memo):
        return False
    return bool(pair_floor(family, data, arm, other) > most)


# rows of the memo: what each pair with the leader costs, and at which count and mean of the rival; in
# the leader's own column its own. The leader's number plus 1 stands in the last row, column 0
COST, COUNT, MEAN, LEADER = range(4)


@jitable
def _recall(data: Data, arm: int, memo: Floats) -> None:
    """Forget all costs if the leader is another one, or has another sample."""
    same = memo[LEADER, 0] == arm + 1
    if not (same and memo[COUNT, arm] == data.counts[arm] and memo[MEAN, arm] == data.means[arm]):
        fill(memo[COUNT], 0.0)
        memo[LEADER, 0] = arm + 1
        memo[COUNT, arm], memo[MEAN, arm] = data.counts[arm], data.means[arm]


@jitable(inline=True)
def _remembers(family: Any, data: Data, other: int, memo: Floats) -> bool:
    same = memo[COUNT, other] == data.counts[other] and memo[MEAN, other] == data.means[other]
    return bool(arms_alike(family) and same)


@jitable(inline=True)
def _remembered_cost(
    problem: BestArm, family: Any, data: Data, arm: int, other: int, memo: Floats
) -> float:
    """``pair_cost``, computed anew where the rival's data have changed: it takes most of a round."""
    if not _remembers(family, data, other, memo):
        memo[COST, other] = pair_cost(family, data, arm, other, problem.epsilon)
        memo[COUNT, other], memo[MEAN, other] = data.counts[other], data.means[other]
    return memo[COST, other]
