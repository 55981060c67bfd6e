"""Closed forms: value and weights where the paper has them, with what certifies them.

``optimise`` writes the oracle weights of an answer and returns its value, or nan where the generic
solver is needed. ``models`` are the candidates for the witness, ``upper_bound`` what it concedes,
``vertices`` the corners of the set of oracle weights where that is not a single point.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stopwise.checks import Floats
from stopwise.families.base import divergence
from stopwise.oracles.best_arm import best_arm_optimum, best_arm_upper_bound
from stopwise.oracles.witness import mix, payoff_table
from stopwise.problems import (
    AllHalfSpaces,
    AnyHalfSpace,
    AnyLowArm,
    AnySign,
    BestArm,
    MinimumThreshold,
    Sphere,
    Thresholding,
)
from stopwise.problems.base import Code, cell_count, nearly, project
from stopwise.problems.half_spaces import NO
from stopwise.problems.minimum import LOW
from stopwise.problems.sphere import INSIDE
from stopwise.problems.thresholding import away
from stopwise.shapes.half_space import half_space_optimum, missing, project_half_space
from stopwise.verbs import jitable, verb


@verb(allocates=True)
def optimise(problem: Any, family: Any, means: Floats, code: Code, weights: Floats) -> float:
    """The value of an answer and, written to ``weights``, its oracle weights; nan: no closed form."""
    return math.nan


@verb(allocates=True)
def models(problem: Any, family: Any, means: Floats, code: Code, weights: Floats) -> Floats:
    """Models of the alternative that hold a witness: by default each cell's closest one."""
    found = np.zeros((cell_count(problem, code), means.size))
    for cell in range(len(found)):
        project(problem, family, weights, means, code, cell, found[cell])
    return found


@verb(allocates=True)
def upper_bound(problem: Any, family: Any, means: Floats, code: Code, weights: Floats) -> float:
    """What the witness at these weights concedes: an upper bound on the value."""
    table = payoff_table(family, means, models(problem, family, means, code, weights))
    shares = mix(table)
    return float(np.max(shares @ np.where(shares[:, None] > 0.0, table, 0.0)))


@verb
def vertices(problem: Any, family: Any, means: Floats, code: Code, weights: Floats) -> Floats:
    """The corners of the set of oracle weights, one row each."""
    return weights[None].copy()


@jitable
def harmonic(costs: Floats, weights: Floats) -> float:
    """One cell for each arm, lambda_k beyond a bound: w_k = (1/d_k)/sum 1/d, D = 1/sum 1/d."""
    total = 0.0
    for k in range(costs.size):
        if costs[k] == 0.0:
            weights[:] = 1.0 / costs.size
            return 0.0
        weights[k] = 1.0 / costs[k]
        total += weights[k]
    weights /= total
    return 1.0 / total


@jitable
def alone(arm: int, cost: float, weights: Floats) -> float:
    """A bound on one arm only: all samples go to it."""
    weights[:] = 0.0 if cost > 0.0 else 1.0 / weights.size
    if cost > 0.0:
        weights[arm] = 1.0
    return cost


@jitable
def beyond(family: Any, mu: float, side: float, limit: float) -> float:
    """d(mu, limit), or 0 where mu is already on that side of the limit."""
    return 0.0 if side * (mu - limit) >= 0.0 else divergence(family, mu, limit)


@optimise.register(BestArm)
def _best_arm(problem: BestArm, family: Any, means: Floats, code: Code, weights: Floats) -> float:
    state = np.zeros(means.size)
    return best_arm_optimum(family, means, code[0], problem.epsilon, weights, state)


@upper_bound.register(BestArm)
def _best_arm_bound(
    problem: BestArm, family: Any, means: Floats, code: Code, weights: Floats
) -> float:
    return best_arm_upper_bound(family, means, code[0], problem.epsilon, weights)


@jitable
def separate_bound(costs: Floats) -> float:
    """The harmonic case's witness: cell k, with probability proportional to 1/d_k, moves arm k alone."""
    shares = 1.0 / costs
    return np.max(shares / np.sum(shares) * costs)


@jitable
def thresholding_costs(problem: Thresholding, family: Any, means: Floats, code: Code) -> Floats:
    costs = np.zeros(means.size)
    for k in range(means.size):
        costs[k] = beyond(family, means[k], away(code, k), problem.threshold)
    return costs


@optimise.register(Thresholding)
def _thresholding(
    problem: Thresholding, family: Any, means: Floats, code: Code, weights: Floats
) -> float:
    return harmonic(thresholding_costs(problem, family, means, code), weights)


@upper_bound.register(Thresholding)
def _thresholding_bound(
    problem: Thresholding, family: Any, means: Floats, code: Code, weights: Floats
) -> float:
    return separate_bound(thresholding_costs(problem, family, means, code))


@jitable
def high_costs(family: Any, means: Floats, limit: float) -> Floats:
    """What it takes to bring each arm, alone, down to the limit."""
    costs = np.zeros(means.size)
    for k in range(means.size):
        costs[k] = beyond(family, means[k], -1.0, limit)
    return costs


@optimise.register(MinimumThreshold)
def _minimum(
    problem: MinimumThreshold, family: Any, means: Floats, code: Code, weights: Floats
) -> float:
    if code[0] == LOW:
        arm = int(np.argmin(means))
        limit = problem.threshold + problem.epsilon
        return alone(arm, beyond(family, means[arm], 1.0, limit), weights)
    return harmonic(high_costs(family, means, problem.threshold - problem.epsilon), weights)


@upper_bound.register(MinimumThreshold)
def _minimum_bound(
    problem: MinimumThreshold, family: Any, means: Floats, code: Code, weights: Floats
) -> float:
    if code[0] != LOW:
        return separate_bound(high_costs(family, means, problem.threshold - problem.epsilon))
    most = 0.0  # one model: every low arm raised to the limit
    for k in range(means.size):
        most = max(most, beyond(family, means[k], 1.0, problem.threshold + problem.epsilon))
    return most


@vertices.register(MinimumThreshold)
def _minimum_vertices(
    problem: MinimumThreshold, family: Any, means: Floats, code: Code, weights: Floats
) -> Floats:
    if code[0] != LOW:
        return weights[None].copy()
    return np.eye(means.size)[nearly(means, means.min())]


@optimise.register(AnyLowArm)
def _any_low(problem: AnyLowArm, family: Any, means: Floats, code: Code, weights: Floats) -> float:
    arm = code[0]
    if arm < means.size:
        return alone(arm, beyond(family, means[arm], 1.0, problem.threshold), weights)
    return harmonic(high_costs(family, means, problem.threshold), weights)


@upper_bound.register(AnyLowArm)
def _any_low_bound(
    problem: AnyLowArm, family: Any, means: Floats, code: Code, weights: Floats
) -> float:
    arm = code[0]
    if arm < means.size:
        return beyond(family, means[arm], 1.0, problem.threshold)
    return separate_bound(high_costs(family, means, problem.threshold))


@optimise.register(AnySign)
def _any_sign(problem: AnySign, family: Any, means: Floats, code: Code, weights: Floats) -> float:
    arm, side = code[0] // 2, 1.0 if code[0] % 2 == 0 else -1.0
    return alone(arm, beyond(family, means[arm], side, problem.threshold), weights)


@optimise.register(AnyHalfSpace)
def _any_half_space(
    problem: AnyHalfSpace, family: Any, means: Floats, code: Code, weights: Floats
) -> float:
    m, side = code[0] // 2, -1.0 if code[0] % 2 == 0 else 1.0
    normal, offset = side * problem.normals[m], side * problem.offsets[m]
    return half_space_optimum(family, means, normal, offset, weights)


@optimise.register(AllHalfSpaces)
def _all_half_spaces(
    problem: AllHalfSpaces, family: Any, means: Floats, code: Code, weights: Floats
) -> float:
    """One plane: a half-space. "No": the hardest plane, if reaching it reaches all the others.

    "Yes" where some plane is not reached: nothing to prove.
    """
    if code[0] != NO:
        for m in range(problem.offsets.size):
            if missing(problem.normals[m], problem.offsets[m], means) >= 0.0:
                weights[:] = 1.0 / means.size
                return 0.0
        if problem.offsets.size > 1:
            return math.nan
        return half_space_optimum(family, means, -problem.normals[0], -problem.offsets[0], weights)
    best, place = 0.0, -1
    for m in range(problem.offsets.size):
        value = half_space_optimum(family, means, problem.normals[m], problem.offsets[m], weights)
        if value > best:
            best, place = value, m
    if place < 0:
        weights[:] = 1.0 / means.size
        return 0.0
    if not _reaches_all(problem, family, means, place, weights):
        return math.nan
    return best


@jitable
def _reaches_all(
    problem: AllHalfSpaces, family: Any, means: Floats, place: int, weights: Floats
) -> bool:
    """Whether the closest model beyond one plane lies beyond all; leaves that plane's weights."""
    closest = np.zeros(means.size)
    normal, offset = problem.normals[place], problem.offsets[place]
    half_space_optimum(family, means, normal, offset, weights)
    project_half_space(family, weights, means, normal, offset, closest)
    for m in range(problem.offsets.size):
        size = np.sum(np.abs(problem.normals[m])) * (1.0 + np.max(np.abs(closest)))
        if missing(problem.normals[m], problem.offsets[m], closest) > 1e-12 * size:
            return False
    return True


@vertices.register(AllHalfSpaces)
def _all_half_spaces_vertices(
    problem: AllHalfSpaces, family: Any, means: Floats, code: Code, weights: Floats
) -> Floats:
    corners = []
    if code[0] == NO:
        own = np.zeros(means.size)
        values = [
            half_space_optimum(family, means, normal, offset, own)
            for normal, offset in zip(problem.normals, problem.offsets, strict=True)
        ]
        for m, value in enumerate(values):
            tied = value > 0.0 and value >= max(values) * (1.0 - 1e-12)
            if tied and _reaches_all(problem, family, means, m, own):
                corners.append(own.copy())
    return np.unique(np.array(corners), axis=0) if corners else weights[None].copy()


@jitable
def sphere_step(offset: Floats, radius: float, kept: Floats) -> float:
    """How far each kept arm moves: (sqrt(K (r^2 - ||mu||^2) + ||mu||_1^2) - ||mu||_1)/K.

    Marks in ``kept`` the arms that the appendix's recursion leaves: while its proviso fails the arm
    closest to the center gets no weight.
    """
    kept[:] = 1.0
    for _ in range(offset.size):
        count, one, two, least, drop = 0, 0.0, 0.0, math.inf, -1
        for k in range(offset.size):
            if kept[k] > 0.0:
                size = abs(offset[k])
                count += 1
                one += size
                two += size * size
                if size < least:
                    least, drop = size, k
        room = count * (radius * radius - two)
        if (one - count * least) ** 2 <= one * one + room or count == 1:
            root = math.sqrt(max(one * one + room, 0.0))
            return room / (root + one) / count if root + one > 0.0 else 0.0
        kept[drop] = 0.0
    return 0.0


@optimise.register(Sphere)
def _sphere(problem: Sphere, family: Any, means: Floats, code: Code, weights: Floats) -> float:
    offset = means - problem.center
    distance = math.sqrt(np.sum(offset * offset))
    weights[:] = 1.0 / means.size
    if (distance >= problem.radius) == (code[0] == INSIDE) or distance == problem.radius:
        return 0.0
    kept = np.zeros(means.size)
    step = sphere_step(offset, problem.radius, kept)
    # w_k = 1/K + (|mu_k| - ||mu||_1/K)/root, and root = ||mu||_1 + K step
    total = np.sum(kept * (np.abs(offset) + step))
    for k in range(means.size):
        weights[k] = kept[k] * (abs(offset[k]) + step) / total
    return 0.5 * step * step / family.variance


@models.register(Sphere)
def _sphere_models(
    problem: Sphere, family: Any, means: Floats, code: Code, weights: Floats
) -> Floats:
    """One model: every kept arm moves by the same step, the others to the center."""
    offset, kept = means - problem.center, np.zeros(means.size)
    step = sphere_step(offset, problem.radius, kept)
    side = np.where(offset >= 0.0, 1.0, -1.0)
    return (problem.center + kept * (offset + side * step))[None]
