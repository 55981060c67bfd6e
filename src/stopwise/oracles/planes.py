"""The half-space sketch: heights over the planes and their variances, brought up to date in O(n)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from stopwise.arrays import assign, total
from stopwise.checks import Floats
from stopwise.families import Gaussian
from stopwise.families.base import variance
from stopwise.oracles.closed_forms import optimise
from stopwise.oracles.rounds import (
    absorb,
    answer_weights,
    best_evidence,
    first_oracle,
    reach_round,
    rebuild,
    scratch,
    sketch,
    solve_round,
)
from stopwise.problems import AnyHalfSpace
from stopwise.problems.base import Code, cost
from stopwise.problems.reaching import half_space_reach, wall_price
from stopwise.shapes.bound import total_divergence
from stopwise.verbs import verb

solve_round.register(AnyHalfSpace, optimise.dispatch(AnyHalfSpace))


class Planes(NamedTuple):
    """Half-spaces, Gaussian arms: heights u.mu - b and their variances, sum_k a_k^2 variance/N_k."""

    heights: Floats
    spreads: Floats
    columns: Floats  # arm x plane: a
    squares: Floats  # arm x plane: a^2 variance
    sizes: Floats  # 1/||u||_1
    targets: Floats  # plane x arm: |a|/||u||_1, the oracle weights of either side
    walls: Floats  # answer x (arm, offset): what lay between the region and the answer, or nan
    reached: Floats  # answer x arm: where the answer was found in the region, or nan
    model: Floats
    weights: Floats
    code: Code


@sketch.register(AnyHalfSpace)
def _planes(problem: AnyHalfSpace, family: Any) -> Planes:
    planes, room = problem.offsets.size, scratch(problem)
    sizes = 1.0 / np.sum(np.abs(problem.normals), axis=1)
    spread = family.variance if isinstance(family, Gaussian) else 1.0
    return Planes(
        np.zeros(planes),
        np.zeros(planes),
        np.ascontiguousarray(problem.normals.T),
        np.ascontiguousarray(problem.normals.T**2 * spread),
        sizes,
        np.abs(problem.normals) * sizes[:, None],
        np.full((2 * planes, problem.normals.shape[1] + 1), math.nan),
        np.full((2 * planes, problem.normals.shape[1]), math.nan),
        room.model,
        room.weights,
        room.code,
    )


@rebuild.register(AnyHalfSpace)
def _rebuild_planes(
    problem: AnyHalfSpace, family: Any, sketch: Planes, counts: Floats, means: Floats
) -> None:
    for m in range(sketch.heights.size):
        sketch.heights[m] = -problem.offsets[m]
        sketch.spreads[m] = 0.0
        for k in range(means.size):
            sketch.heights[m] += sketch.columns[k, m] * means[k]
            sketch.spreads[m] += sketch.squares[k, m] / counts[k]
    if total(counts) == counts.size:  # a new run: what it does must not depend on runs before it
        for place in range(sketch.walls.shape[0]):
            sketch.walls[place, 0] = sketch.reached[place, 0] = math.nan


@absorb.register(AnyHalfSpace)
def _absorb_planes(
    problem: AnyHalfSpace,
    family: Any,
    sketch: Planes,
    counts: Floats,
    means: Floats,
    arm: int,
    before: float,
) -> None:
    moved = means[arm] - before
    less = 1.0 / counts[arm] - 1.0 / (counts[arm] - 1.0)
    for m in range(sketch.heights.size):
        sketch.heights[m] += sketch.columns[arm, m] * moved
        sketch.spreads[m] += sketch.squares[arm, m] * less


@first_oracle.register(AnyHalfSpace)
def _any_half_space(
    problem: AnyHalfSpace, family: Any, sketch: Planes, means: Floats, code: Code, weights: Floats
) -> None:
    first_plane(family, problem, sketch, means, code, weights)


@verb(inline=True)
def first_plane(
    family: Any, problem: AnyHalfSpace, sketch: Planes, means: Floats, code: Code, weights: Floats
) -> None:
    """The plane with the largest D on the side where the means are."""
    best = -1.0
    for m in range(sketch.heights.size):
        sketch.code[0] = 2 * m if sketch.heights[m] >= 0.0 else 2 * m + 1
        value = optimise(problem, family, means, sketch.code, sketch.weights)
        if value > best:
            best = value
            code[0] = sketch.code[0]
            assign(weights, sketch.weights)


@first_plane.register(Gaussian)
def _first_gaussian_plane(
    family: Gaussian,
    problem: AnyHalfSpace,
    sketch: Planes,
    means: Floats,
    code: Code,
    weights: Floats,
) -> None:
    best, place = -1.0, 0
    for m in range(sketch.heights.size):
        value = abs(sketch.heights[m]) * sketch.sizes[m]  # D = value^2/(2 variance)
        if value > best:
            best, place = value, m
    code[0] = 2 * place if sketch.heights[place] >= 0.0 else 2 * place + 1
    assign(weights, sketch.targets[place])


@answer_weights.register(AnyHalfSpace)
def _any_half_space_weights(
    problem: AnyHalfSpace, family: Any, sketch: Planes, means: Floats, code: Code, weights: Floats
) -> None:
    plane_weights(family, problem, sketch, means, code, weights)


@verb(inline=True)
def plane_weights(
    family: Any, problem: AnyHalfSpace, sketch: Planes, means: Floats, code: Code, weights: Floats
) -> None:
    """The oracle weights; at the plane and beyond it, proportional to |a_k| sqrt(V(mu_k))."""
    if optimise(problem, family, means, code, weights) > 0.0:
        return
    total = 0.0
    for k in range(means.size):
        weights[k] = sketch.targets[code[0] // 2, k] * math.sqrt(variance(family, means[k]))
        total += weights[k]
    for k in range(means.size):
        weights[k] = weights[k] / total if total > 0.0 else 1.0 / means.size


@plane_weights.register(Gaussian)
def _gaussian_plane_weights(
    family: Gaussian,
    problem: AnyHalfSpace,
    sketch: Planes,
    means: Floats,
    code: Code,
    weights: Floats,
) -> None:
    assign(weights, sketch.targets[code[0] // 2])


@best_evidence.register(AnyHalfSpace)
def _any_half_space_evidence(
    problem: AnyHalfSpace,
    family: Any,
    sketch: Planes,
    counts: Floats,
    means: Floats,
    enough: float,
    code: Code,
) -> float:
    return plane_evidence(family, problem, sketch, counts, means, enough, code)


@verb(inline=True)
def plane_evidence(
    family: Any,
    problem: AnyHalfSpace,
    sketch: Planes,
    counts: Floats,
    means: Floats,
    enough: float,
    code: Code,
) -> float:
    """The most evidence for the side of a plane on which the means are."""
    best = -1.0
    for m in range(sketch.heights.size):
        sketch.code[0] = 2 * m if sketch.heights[m] >= 0.0 else 2 * m + 1
        value = cost(problem, family, counts, means, sketch.code, sketch.model)
        if not value <= best:
            best = value
            code[0] = sketch.code[0]
    return best


@plane_evidence.register(Gaussian)
def _gaussian_plane_evidence(
    family: Gaussian,
    problem: AnyHalfSpace,
    sketch: Planes,
    counts: Floats,
    means: Floats,
    enough: float,
    code: Code,
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


@reach_round.register(AnyHalfSpace)
def _reach_any_half_space(
    problem: AnyHalfSpace,
    family: Any,
    sketch: Planes,
    counts: Floats,
    means: Floats,
    code: Code,
    level: float,
    point: Floats,
) -> float:
    """What decided last time often still does: a wall between the region and the answer, or a model."""
    wall, reached = sketch.walls[code[0]], sketch.reached[code[0]]
    price = wall_price(family, wall, counts, means)
    if price > level:
        return price
    price = total_divergence(family, counts, means, reached)
    if price <= level:
        assign(point, reached)
        return price
    normals, offsets = problem.normals, problem.offsets
    price = half_space_reach(family, normals, offsets, counts, means, code, level, point, wall)
    if price <= level:
        assign(reached, point)
    return price
