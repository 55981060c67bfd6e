"""What a round asks: heights over the planes and their variances, brought up to date in O(n)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from stopwise.cells.bound import total_divergence
from stopwise.cells.half_space import missing
from stopwise.core.arrays import Floats, assign, replace, total
from stopwise.core.data import Data
from stopwise.families.verbs import Quadratic, arms_alike, of_arm, variance
from stopwise.problems import rounds, verbs
from stopwise.problems.half_spaces.any import AnyHalfSpace
from stopwise.problems.half_spaces.reach import half_space_reach, wall_price
from stopwise.problems.rounds import Search
from stopwise.problems.verbs import Code


class Planes(NamedTuple):
    """Heights u.mu - b over the planes and, for quadratic families, their variances a^2 variance/N."""

    heights: Floats
    spreads: Floats
    columns: Floats  # arm x plane: a
    squares: Floats  # arm x plane: a^2 variance
    sizes: Floats  # 1/sum_k |a_k| s_k
    targets: Floats  # plane x arm: |a_k| s_k/sum, the oracle weights of either side
    walls: Floats  # answer x (arm, offset): what lay between the region and the answer, or nan
    reached: Floats  # answer x arm: where the answer was found in the region, or nan
    model: Floats
    weights: Floats
    code: Code


@rounds.sketch.register(AnyHalfSpace)
def _sketch(problem: AnyHalfSpace, family: Any) -> Planes:
    planes = problem.offsets.size
    spread = np.ones(problem.arms)
    if isinstance(family, Quadratic):
        spread = np.array([variance(of_arm(family, k), 0.0) for k in range(problem.arms)])
    scale = np.ones(problem.arms) if arms_alike(family) else np.sqrt(spread)
    lengths = np.abs(problem.normals) * scale
    sizes = 1.0 / np.sum(lengths, axis=1)
    return Planes(
        np.zeros(planes),
        np.zeros(planes),
        np.ascontiguousarray(problem.normals.T),
        np.ascontiguousarray(problem.normals.T**2 * spread[:, None]),
        sizes,
        lengths * sizes[:, None],
        np.full((2 * planes, problem.arms + 1), math.nan),
        np.full((2 * planes, problem.arms), math.nan),
        *rounds.scratch(problem)[:3],
    )


@rounds.rebuild.register(AnyHalfSpace)
def _rebuild(problem: AnyHalfSpace, family: Any, data: Data, sketch: Planes) -> None:
    counts, means = data
    for m in range(sketch.heights.size):
        sketch.heights[m] = -problem.offsets[m]
        sketch.spreads[m] = 0.0
        for k in range(means.size):
            sketch.heights[m] += sketch.columns[k, m] * means[k]
            sketch.spreads[m] += sketch.squares[k, m] / counts[k]
    if total(counts) == counts.size:  # a new run: what it does must not depend on runs before it
        for place in range(sketch.walls.shape[0]):
            sketch.walls[place, 0] = sketch.reached[place, 0] = math.nan


@rounds.absorb.register(AnyHalfSpace)
def _absorb(
    problem: AnyHalfSpace, family: Any, data: Data, sketch: Planes, arm: int, before: float
) -> None:
    moved = data.means[arm] - before
    less = 1.0 / data.counts[arm] - 1.0 / (data.counts[arm] - 1.0)
    for m in range(sketch.heights.size):
        sketch.heights[m] += sketch.columns[arm, m] * moved
        sketch.spreads[m] += sketch.squares[arm, m] * less


@rounds.first_oracle.register(AnyHalfSpace)
def _first_oracle(
    problem: AnyHalfSpace, family: Any, data: Data, sketch: Planes, code: Code, weights: Floats
) -> None:
    """The plane with the largest D on the side where the means are."""
    best = -1.0
    for m in range(sketch.heights.size):
        sketch.code[0] = 2 * m if sketch.heights[m] >= 0.0 else 2 * m + 1
        value = verbs.optimise(problem, family, data.means, sketch.code, sketch.weights)
        if value > best:
            best = value
            code[0] = sketch.code[0]
            assign(weights, sketch.weights)


@rounds.first_oracle.register(AnyHalfSpace, Quadratic)
def _first_oracle_quadratic(
    problem: AnyHalfSpace, family: Any, data: Data, sketch: Planes, code: Code, weights: Floats
) -> None:
    best, place = -1.0, 0
    for m in range(sketch.heights.size):
        value = abs(sketch.heights[m]) * sketch.sizes[m]  # D = value^2/2, but for one variance
        if value > best:
            best, place = value, m
    code[0] = 2 * place if sketch.heights[place] >= 0.0 else 2 * place + 1
    replace(weights, sketch.targets[place])


@rounds.answer_weights.register(AnyHalfSpace)
def _answer_weights(
    problem: AnyHalfSpace, family: Any, data: Data, sketch: Planes, code: Code, weights: Floats
) -> None:
    """The oracle weights; at the plane and beyond it, proportional to |a_k| sqrt(V(mu_k))."""
    means = data.means
    if verbs.optimise(problem, family, means, code, weights) > 0.0:
        return
    whole = 0.0
    for k in range(means.size):
        spread = variance(of_arm(family, k), means[k])
        weights[k] = sketch.targets[code[0] // 2, k] * math.sqrt(spread)
        whole += weights[k]
    for k in range(means.size):
        weights[k] = weights[k] / whole if whole > 0.0 else 1.0 / means.size


@rounds.first_close.register(AnyHalfSpace)
def _first_close(
    problem: AnyHalfSpace, family: Any, data: Data, sketch: Any, search: Search
) -> bool:
    return rounds.close_of_listed(problem, family, data, search)


@rounds.first_close.register(AnyHalfSpace, Quadratic)
def _first_close_quadratic(
    problem: AnyHalfSpace, family: Any, data: Data, sketch: Any, search: Search
) -> bool:
    """What can be reached is solved for."""
    return search.forced and rounds.close_of_listed(problem, family, data, search)


@rounds.answer_weights.register(AnyHalfSpace, Quadratic)
def _answer_weights_quadratic(
    problem: AnyHalfSpace, family: Any, data: Data, sketch: Planes, code: Code, weights: Floats
) -> None:
    replace(weights, sketch.targets[code[0] // 2])


@rounds.best_evidence.register(AnyHalfSpace)
def _best_evidence(
    problem: AnyHalfSpace, family: Any, data: Data, sketch: Planes, enough: float, code: Code
) -> float:
    """The most evidence for the side of a plane on which the means are."""
    best = -1.0
    for m in range(sketch.heights.size):
        sketch.code[0] = 2 * m if sketch.heights[m] >= 0.0 else 2 * m + 1
        value = verbs.cost(problem, family, data, sketch.code, sketch.model)
        if not value <= best:
            best = value
            code[0] = sketch.code[0]
    return best


@rounds.best_evidence.register(AnyHalfSpace, Quadratic)
def _best_evidence_quadratic(
    problem: AnyHalfSpace, family: Any, data: Data, sketch: Planes, enough: float, code: Code
) -> float:
    """(u.mu - b)^2/(2 sum_k a_k^2 variance/N_k)."""
    reached = False
    for m in range(sketch.heights.size):
        height = sketch.heights[m]
        reached |= not 0.5 * height * height < enough * sketch.spreads[m]
    if not reached:
        return 0.0
    best, place = -1.0, 0
    for m in range(sketch.heights.size):
        value = sketch.heights[m] * sketch.heights[m] / sketch.spreads[m]
        if not value <= best:
            best, place = value, m
    code[0] = 2 * place if sketch.heights[place] >= 0.0 else 2 * place + 1
    return 0.5 * best


@rounds.answer_at.register(AnyHalfSpace)
def _answer_at(problem: AnyHalfSpace, family: Any, data: Data, sketch: Planes, code: Code) -> None:
    best = -1.0
    for m in range(sketch.heights.size):
        below = missing(problem.normals[m], problem.offsets[m], data.means) > 0.0
        sketch.code[0] = 2 * m + 1 if below else 2 * m
        value = verbs.cost(problem, family, data, sketch.code, sketch.model)
        if value > best:
            best, code[0] = value, sketch.code[0]


@rounds.reach_round.register(AnyHalfSpace)
def _reach_round(
    problem: AnyHalfSpace,
    family: Any,
    data: Data,
    sketch: Planes,
    code: Code,
    level: float,
    point: Floats,
) -> float:
    """What decided last time often still does: a wall between the region and the answer, or a model."""
    wall, reached = sketch.walls[code[0]], sketch.reached[code[0]]
    price = wall_price(family, data, wall)
    if price > level:
        return price
    price = total_divergence(family, data, reached)
    if price <= level:
        assign(point, reached)
        return price
    price = half_space_reach(problem, family, data, code, level, point, wall)
    if price <= level:
        assign(reached, point)
    return price
