"""Problems that answer a round's questions from what they keep between rounds."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from stopwise.arrays import largest, place_of_largest, total
from stopwise.checks import Floats
from stopwise.families.base import divergence
from stopwise.oracles.best_arm import best_arm_optimum
from stopwise.oracles.closed_forms import optimise
from stopwise.oracles.rounds import (
    Scratch,
    absorb,
    answer_weights,
    best_evidence,
    first_oracle,
    first_reachable,
    rebuild,
    sketch,
    solve_round,
)
from stopwise.problems import (
    AnyLowArm,
    AnySign,
    BestArm,
    MinimumThreshold,
    Sphere,
    Thresholding,
)
from stopwise.problems.base import Code
from stopwise.problems.best_arm import pair_cost
from stopwise.verbs import jitable

CLOSE = 1e-12  # a smaller divergence to the threshold counts as this

for _kind in (AnyLowArm, AnySign, BestArm, MinimumThreshold, Sphere, Thresholding):
    solve_round.register(_kind, optimise.dispatch(_kind))


class Start(NamedTuple):
    """Best arm: where Newton's method left off, and places: whose state it is (plus 1; 0: nobody's),
    and the rival that last kept the evidence low.
    """

    state: Floats
    places: Code


OWNER, WEAKEST = 0, 1


@sketch.register(BestArm)
def _best_arm_sketch(problem: BestArm, family: Any) -> Start:
    return Start(np.zeros(problem.arms), np.zeros(2, dtype=np.int64))


@rebuild.register(BestArm)
def _forget_start(
    problem: BestArm, family: Any, sketch: Start, counts: Floats, means: Floats
) -> None:
    sketch.places[OWNER] = sketch.places[WEAKEST] = 0


@first_oracle.register(BestArm)
def _best_arm(
    problem: BestArm, family: Any, sketch: Start, means: Floats, code: Code, weights: Floats
) -> None:
    code[0] = place_of_largest(means)
    answer_weights(problem, family, sketch, means, code, weights)


@answer_weights.register(BestArm)
def _best_arm_weights(
    problem: BestArm, family: Any, sketch: Start, means: Floats, code: Code, weights: Floats
) -> None:
    """Where the answer is wrong, those of the best arm: the evidence grows for what looks right."""
    arm, best = code[0], place_of_largest(means)
    if not means[arm] + problem.epsilon > means[best]:
        arm = best
    if sketch.places[OWNER] != arm + 1:
        sketch.places[OWNER] = arm + 1
        sketch.state[arm] = 0.0  # a cold start
    best_arm_optimum(family, means, arm, problem.epsilon, weights, sketch.state)


@best_evidence.register(BestArm)
def _best_arm_evidence(
    problem: BestArm,
    family: Any,
    sketch: Start,
    counts: Floats,
    means: Floats,
    enough: float,
    code: Code,
) -> float:
    """Only arms within epsilon of the largest mean have any; one cheap rival shows it is too little."""
    best, top = 0.0, largest(means)
    for arm in range(means.size):
        if means[arm] >= top - problem.epsilon:
            value = _arm_evidence(problem, family, sketch, counts, means, enough, arm)
            if arm == 0 or not value <= best:
                best = value
                code[0] = arm
    return best


@jitable
def _arm_evidence(
    problem: BestArm,
    family: Any,
    sketch: Start,
    counts: Floats,
    means: Floats,
    enough: float,
    arm: int,
) -> float:
    least = math.inf
    for turn in range(-1, means.size):
        other = sketch.places[WEAKEST] if turn < 0 else turn
        if other != arm:
            value = pair_cost(family, counts, means, arm, other, problem.epsilon)
            if not value >= least:
                least = value
            if value < enough:
                sketch.places[WEAKEST] = other
                break
    return least


class Distances(NamedTuple):
    """Thresholding: each arm's divergence to the threshold, its inverse, and the inverses' sum."""

    costs: Floats
    inverses: Floats
    total: Floats
    weakest: Code  # the arm that last kept the evidence low


@sketch.register(Thresholding)
def _thresholding_sketch(problem: Thresholding, family: Any) -> Distances:
    arms = problem.arms
    return Distances(np.zeros(arms), np.zeros(arms), np.zeros(1), np.zeros(1, dtype=np.int64))


@rebuild.register(Thresholding)
def _rebuild_distances(
    problem: Thresholding, family: Any, sketch: Distances, counts: Floats, means: Floats
) -> None:
    sketch.total[0], sketch.weakest[0] = 0.0, 0
    for k in range(means.size):
        sketch.inverses[k] = 0.0
        absorb(problem, family, sketch, counts, means, k, 0.0)


@absorb.register(Thresholding)
def _absorb_distance(
    problem: Thresholding,
    family: Any,
    sketch: Distances,
    counts: Floats,
    means: Floats,
    arm: int,
    before: float,
) -> None:
    old = sketch.inverses[arm]
    sketch.costs[arm] = divergence(family, means[arm], problem.threshold)
    sketch.inverses[arm] = 1.0 / max(sketch.costs[arm], CLOSE)
    sketch.total[0] += sketch.inverses[arm] - old
    if old > 1e3 * sketch.total[0]:  # what is left of a much larger number has lost its digits
        sketch.total[0] = total(sketch.inverses)


@first_oracle.register(Thresholding)
def _thresholding(
    problem: Thresholding,
    family: Any,
    sketch: Distances,
    means: Floats,
    code: Code,
    weights: Floats,
) -> None:
    """w_k proportional to 1/d_k; nearly all weight to an arm that sits on the threshold itself."""
    scale = 1.0 / sketch.total[0]
    for k in range(means.size):
        weights[k] = sketch.inverses[k] * scale
        code[k] = means[k] <= problem.threshold


@answer_weights.register(Thresholding)
def _thresholding_weights(
    problem: Thresholding,
    family: Any,
    sketch: Distances,
    means: Floats,
    code: Code,
    weights: Floats,
) -> None:
    """As above, whatever the answer."""
    scale = 1.0 / sketch.total[0]
    for k in range(means.size):
        weights[k] = sketch.inverses[k] * scale


@best_evidence.register(Thresholding)
def _thresholding_evidence(
    problem: Thresholding,
    family: Any,
    sketch: Distances,
    counts: Floats,
    means: Floats,
    enough: float,
    code: Code,
) -> float:
    least = math.inf
    for turn in range(-1, means.size):
        arm = sketch.weakest[0] if turn < 0 else turn
        value = counts[arm] * sketch.costs[arm]
        if not value >= least:
            least = value
        if value < enough:
            sketch.weakest[0] = arm
            return value
    for k in range(means.size):
        code[k] = means[k] <= problem.threshold
    return least


@first_reachable.register(Thresholding)
def _thresholding_reachable(
    problem: Thresholding,
    family: Any,
    sketch: Distances,
    counts: Floats,
    means: Floats,
    level: float,
    order: Code,
    held: bool,
    code: Code,
    point: Floats,
    trial: Floats,
) -> float:
    """Arm by arm, low where what is left of the level pays for it: the first in the order."""
    spent, barrier = 0.0, math.inf
    for k in range(means.size):
        code[k], point[k] = 1, means[k]
        if means[k] > problem.threshold:
            price = counts[k] * divergence(family, means[k], problem.threshold)
            if spent + price <= level:
                spent += price
                point[k] = problem.threshold
            else:  # any earlier answer calls this arm low, or one before it
                barrier = min(barrier, spent + price)
                code[k] = 0
    return barrier


@answer_weights.register(AnyLowArm)
def _any_low_weights(
    problem: AnyLowArm, family: Any, sketch: Scratch, means: Floats, code: Code, weights: Floats
) -> None:
    """Where the answer is wrong: those of the lowest arm, or of "none"."""
    arm = code[0]
    if arm == means.size or not means[arm] < problem.threshold:
        arm = 0
        for k in range(means.size):
            if means[k] < means[arm]:
                arm = k
    if means[arm] > problem.threshold:
        sketch.code[0] = means.size
        optimise(problem, family, means, sketch.code, weights)
    else:
        weights[:] = 0.0
        weights[arm] = 1.0


@answer_weights.register(AnySign)
def _any_sign_weights(
    problem: AnySign, family: Any, sketch: Scratch, means: Floats, code: Code, weights: Floats
) -> None:
    weights[:] = 0.0
    weights[code[0] // 2] = 1.0
