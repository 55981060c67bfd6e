"""What one round asks of a problem, for compiled loops: no answer object, no allocation to return.

``first_oracle`` and ``best_evidence`` go through the answers by their codes; a problem with 2^K of
them registers its own.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stopwise.checks import Floats
from stopwise.families.base import divergence, variance
from stopwise.oracles.best_arm import best_arm_optimum
from stopwise.oracles.closed_forms import optimise
from stopwise.problems import AnyHalfSpace, AnyLowArm, AnySign, BestArm, Thresholding
from stopwise.problems.base import Code, answer_count, cost, reach
from stopwise.verbs import verb


@verb
def first_oracle(
    problem: Any, family: Any, means: Floats, code: Code, weights: Floats, memory: Floats
) -> float:
    """The first oracle answer at these means, its weights, and D(mu).

    ``memory`` is the problem's to keep between rounds (zeros at first), to start where it left off.
    """
    best, trial, own = -1.0, np.zeros(1, dtype=np.int64), np.zeros(means.size)
    for place in range(answer_count(problem)):
        trial[0] = place
        value = optimise(problem, family, means, trial, own)
        if value > best:
            best = value
            code[0] = place
            weights[:] = own
    return best


@verb
def answer_weights(
    problem: Any, family: Any, means: Floats, code: Code, weights: Floats, memory: Floats
) -> float:
    """Oracle weights of a given answer, and its value.

    At means where the answer is wrong every weight vector is optimal, and the paper leaves the
    choice open. Taken are the limits of the weights as the means come to the boundary of the
    alternative, where the problem has such a limit, so that an answer which is pursued is tested in
    the way that can still save it; otherwise uniform ones.
    """
    return optimise(problem, family, means, code, weights)


@verb
def best_evidence(
    problem: Any, family: Any, counts: Floats, means: Floats, code: Code, closest: Floats
) -> float:
    """The largest D(N, mu-hat, not i) over all answers, and the first answer that has it."""
    best, trial = -1.0, np.zeros(1, dtype=np.int64)
    for place in range(answer_count(problem)):
        trial[0] = place
        value = cost(problem, family, counts, means, trial, closest)
        if value > best:
            best = value
            code[0] = place
    return best


@verb
def first_reachable(
    problem: Any, family: Any, counts: Floats, means: Floats, level: float, code: Code
) -> None:
    """The first answer, in the order, that is an oracle answer somewhere in the region."""
    trial = np.zeros(1, dtype=np.int64)
    for place in range(answer_count(problem)):
        trial[0] = place
        if reach(problem, family, counts, means, trial, level) <= level:
            code[0] = place
            return


@first_oracle.register(BestArm)
def _best_arm(
    problem: BestArm, family: Any, means: Floats, code: Code, weights: Floats, memory: Floats
) -> float:
    code[0] = np.argmax(means)
    return answer_weights(problem, family, means, code, weights, memory)


@answer_weights.register(BestArm)
def _best_arm_weights(
    problem: BestArm, family: Any, means: Floats, code: Code, weights: Floats, memory: Floats
) -> float:
    arm, place = code[0], memory.size - 1  # the last entry says whose state is kept, plus 1
    if memory[place] != arm + 1.0:
        memory[:] = 0.0
        memory[place] = arm + 1.0
    return best_arm_optimum(family, means, arm, problem.epsilon, weights, memory[:place])


@answer_weights.register(AnyLowArm)
def _any_low_weights(
    problem: AnyLowArm, family: Any, means: Floats, code: Code, weights: Floats, memory: Floats
) -> float:
    value = optimise(problem, family, means, code, weights)
    if value == 0.0 and code[0] < means.size:
        weights[:] = 0.0
        weights[code[0]] = 1.0
    return value


@answer_weights.register(AnySign)
def _any_sign_weights(
    problem: AnySign, family: Any, means: Floats, code: Code, weights: Floats, memory: Floats
) -> float:
    weights[:] = 0.0
    weights[code[0] // 2] = 1.0
    return 0.0


@answer_weights.register(AnyHalfSpace)
def _any_half_space_weights(
    problem: AnyHalfSpace, family: Any, means: Floats, code: Code, weights: Floats, memory: Floats
) -> float:
    value = optimise(problem, family, means, code, weights)
    if value == 0.0:  # near the plane w_k is proportional to |a_k| sqrt(V(mu_k))
        total = 0.0
        for k in range(means.size):
            weights[k] = abs(problem.normals[code[0] // 2, k]) * math.sqrt(
                variance(family, means[k])
            )
            total += weights[k]
        if total > 0.0:
            weights /= total
        else:
            weights[:] = 1.0 / means.size
    return value


@first_oracle.register(Thresholding)
def _thresholding(
    problem: Thresholding, family: Any, means: Floats, code: Code, weights: Floats, memory: Floats
) -> float:
    for k in range(means.size):
        code[k] = 1 if means[k] <= problem.threshold else 0
    return optimise(problem, family, means, code, weights)


@best_evidence.register(Thresholding)
def _thresholding_evidence(
    problem: Thresholding, family: Any, counts: Floats, means: Floats, code: Code, closest: Floats
) -> float:
    for k in range(means.size):
        code[k] = 1 if means[k] <= problem.threshold else 0
    return cost(problem, family, counts, means, code, closest)


@first_reachable.register(Thresholding)
def _thresholding_reachable(
    problem: Thresholding, family: Any, counts: Floats, means: Floats, level: float, code: Code
) -> None:
    """Arm by arm, low where what is left of the level pays for it: the first in the order."""
    left = level
    for k in range(means.size):
        code[k] = 1
        if means[k] > problem.threshold:
            price = counts[k] * divergence(family, means[k], problem.threshold)
            code[k] = 1 if price <= left else 0
            left -= price if price <= left else 0.0
