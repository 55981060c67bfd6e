"""Least squares by a few short loops: the same digits compiled or not."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from stopwise.core.arrays import Floats, largest_size, solve_linear
from stopwise.core.data import Data
from stopwise.core.verbs import jitable
from stopwise.families.verbs import of_arm, variance

TIED = 1e-12  # gaps this small, relatively, are rounding


@jitable
def dot(left: Floats, right: Floats) -> float:
    """left . right, for short vectors: without an array in between."""
    found = 0.0
    for k in range(left.size):
        found += left[k] * right[k]
    return found


@jitable(allocates=True)
def information(problem: Any, family: Any, counts: Floats) -> Floats:
    """V = sum_a (N_a/s_a^2) x_a x_a^T, with a hair on the diagonal where arms have no weight."""
    size = problem.features.shape[1]
    found = np.zeros((size, size))
    for a in range(counts.size):
        weight = counts[a] / variance(of_arm(family, a), 0.0)
        if weight > 0.0:
            for r in range(size):
                for c in range(size):
                    found[r, c] += weight * problem.features[a, r] * problem.features[a, c]
    most = 0.0
    for r in range(size):
        most = max(most, found[r, r])
    for r in range(size):
        found[r, r] += 1e-15 * most
    return found


@jitable(allocates=True)
def solved(matrix: Floats, right: Floats) -> Floats:
    """matrix^-1 right."""
    found = right.copy()
    solve_linear(matrix.copy(), found)
    return found


@jitable(allocates=True)
def log_determinant(matrix: Floats) -> float:
    """Of a positive definite matrix, by elimination."""
    left, found = matrix.copy(), 0.0
    for c in range(len(left)):
        found += math.log(left[c, c])
        for r in range(c + 1, len(left)):
            factor = left[r, c] / left[c, c]
            for k in range(c, len(left)):
                left[r, k] -= factor * left[c, k]
    return found


@jitable(allocates=True)
def estimate(problem: Any, family: Any, data: Data, shape: Floats) -> Floats:
    """theta-hat."""
    pull = np.zeros(problem.features.shape[1])
    for a in range(data.means.size):
        weight = data.counts[a] / variance(of_arm(family, a), 0.0)
        for r in range(pull.size):
            pull[r] += weight * data.means[a] * problem.features[a, r]
    return solved(shape, pull)


@jitable
def fit(problem: Any, family: Any, data: Data, fitted: Floats) -> None:
    """The arms' means at theta-hat."""
    theta = estimate(problem, family, data, information(problem, family, data.counts))
    for a in range(fitted.size):
        fitted[a] = dot(problem.features[a], theta)


class Pair(NamedTuple):
    """Of an answer and a rival: y = x_i - x_j, its gap theta-hat . y, V^-1 y, and y^T V^-1 y."""

    gap: float
    toward: Floats
    width: float


@jitable(allocates=True)
def compare(problem: Any, theta: Floats, shape: Floats, arm: int, other: int) -> Pair:
    """What a cell asks of the data; a gap that is rounding counts as 0."""
    y = problem.features[arm] - problem.features[other]
    toward, gap = solved(shape, y), dot(y, theta)
    close = TIED * largest_size(problem.features[arm]) * largest_size(theta)
    return Pair(gap if gap > close else 0.0, toward, dot(y, toward))
