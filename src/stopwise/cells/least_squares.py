"""Least squares by a few short loops: the same digits compiled or not."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from stopwise.core.arrays import Floats, largest_size, solve_linear
from stopwise.core.data import Data
from stopwise.core.functions import jitable
from stopwise.families.family import Family

TIED = 1e-12  # gaps this small, relatively, are rounding


@jitable
def dot(left: Floats, right: Floats) -> float:
    """left . right, for short vectors: without an array in between."""
    found = 0.0
    for k in range(left.size):
        found += left[k] * right[k]
    return found


@jitable(allocates=True)
def information(features: Floats, family: Family, counts: Floats) -> Floats:
    """V = sum_a (N_a/s_a^2) x_a x_a^T, with a hair on the diagonal where arms have no weight."""
    size = features.shape[1]
    found = np.zeros((size, size))
    for a in range(counts.size):
        weight = counts[a] / family.of_arm(a).variance_at(0.0)
        if weight > 0.0:
            for r in range(size):
                for c in range(size):
                    found[r, c] += weight * features[a, r] * features[a, c]
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
def inverted(matrix: Floats) -> Floats:
    """matrix^-1, of a symmetric one."""
    found = np.eye(len(matrix))
    for r in range(len(matrix)):
        solve_linear(matrix.copy(), found[r])
    return found


@jitable
def squared(matrix: Floats, y: Floats) -> float:
    """y^T matrix y."""
    found = 0.0
    for r in range(y.size):
        found += y[r] * dot(matrix[r], y)
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
def estimate(features: Floats, family: Family, data: Data, shape: Floats) -> Floats:
    """theta-hat."""
    pull = np.zeros(features.shape[1])
    for a in range(data.means.size):
        weight = data.counts[a] / family.of_arm(a).variance_at(0.0)
        for r in range(pull.size):
            pull[r] += weight * data.means[a] * features[a, r]
    return solved(shape, pull)


@jitable(allocates=True)
def fit(features: Floats, family: Family, data: Data, fitted: Floats) -> None:
    """The arms' means at theta-hat."""
    theta = estimate(features, family, data, information(features, family, data.counts))
    for a in range(fitted.size):
        fitted[a] = dot(features[a], theta)


class Pair(NamedTuple):
    """Of an answer and a rival: y = x_i - x_j, its gap theta-hat . y, V^-1 y, and y^T V^-1 y."""

    gap: float
    toward: Floats
    width: float


@jitable(allocates=True)
def compare(features: Floats, theta: Floats, shape: Floats, arm: int, other: int) -> Pair:
    """What a cell asks of the data; a gap that is rounding counts as 0."""
    y = features[arm] - features[other]
    toward, gap = solved(shape, y), dot(y, theta)
    close = TIED * largest_size(features[arm]) * largest_size(theta)
    return Pair(gap if gap > close else 0.0, toward, dot(y, toward))


@jitable
def gap_cost(gap: float, width: float) -> float:
    """What it costs to close a gap; nothing where there is none, as between arms with equal features."""
    return 0.5 * gap * gap / width if gap > 0.0 else 0.0


# ------------------------------------------------------------------------------- confidence in a fit


@jitable(allocates=True)
def mixed_prior(features: Floats, family: Family, gap: float) -> Floats:
    """The precision of a prior for theta's deviation: an arm's mean deviates by gap s_a on average."""
    arms, size = features.shape
    return information(features, family, np.full(arms, size / (arms * gap * gap)))
