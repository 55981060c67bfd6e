"""By how much one arm is better at least: every smaller mean difference has been refuted.

The evidence against a mean of at most c falls in c, so that what is refuted is a half-line, at all times
with probability 1 - e^-level (docs/paired.md). It is computed from all differences, when asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from stopwise.core.arrays import Floats
from stopwise.core.errors import MissingVerb
from stopwise.core.verbs import verb
from stopwise.paired.comparison import Comparison
from stopwise.paired.differences import (
    EDGE,
    BoundedDifferences,
    NormalDifferences,
    Stream,
    evidence,
)

HALVINGS = 60


def least_difference(what: Comparison, differences: Floats) -> float:
    """The largest c such that a mean of at most c is refuted now; minus infinity if none is.

    The differences are the least that they can be, where a result is missing; then the bound holds, too.
    """
    if np.isinf(differences).any():
        return -math.inf
    return least_refuted(what.kind, differences, what.level, what.pool)


@verb
def least_refuted(kind: Any, differences: Floats, level: float, pool: int) -> float:
    """The same for one kind of differences."""
    raise MissingVerb("least_refuted", kind)


@least_refuted.register(BoundedDifferences)
def _of_bounded(kind: BoundedDifferences, differences: Floats, level: float, pool: int) -> float:
    if not kind.fixed:
        values, counts = np.unique(differences, return_counts=True)
        return _last_refuted(
            lambda c: _log_wealth(kind, values, counts, c), -kind.width, kind.width, level
        )
    places = np.arange(differences.size)
    before = np.cumsum(differences) - differences

    def wealth(c: float) -> float:
        least = differences.sum() - (pool - differences.size) * kind.width
        if least > pool * (EDGE * kind.width + c):
            return math.inf
        return _log_wealth(kind, differences, 1.0, (pool * c - before) / (pool - places))

    most = (differences.sum() + (pool - differences.size) * kind.width) / pool  # whatever is left
    return _last_refuted(wealth, -kind.width, most, level)


def _log_wealth(kind: BoundedDifferences, values: Floats, counts: Any, c: Any) -> float:
    """log sum_q a_q prod (1 + l_q (x - c)/(c + width))^count."""
    c = np.maximum(c, kind.width * (EDGE - 1.0))
    won = (values - c) / (c + kind.width)
    bets = np.array([np.sum(counts * np.log1p(gap * won)) for gap in kind.gaps])
    return float(bets.max() + np.log(np.sum(kind.weights * np.exp(bets - bets.max()))))


@least_refuted.register(NormalDifferences)
def _of_normal(kind: NormalDifferences, differences: Floats, level: float, pool: int) -> float:
    if differences.size == 0:
        return -math.inf
    mean, squares = (
        float(differences.mean()),
        float(np.sum((differences - differences.mean()) ** 2)),
    )
    stream = Stream(np.zeros(kind.gaps.size), float(differences.size), mean, squares)
    reach = 1e6 * math.sqrt(squares)  # a t statistic that nothing needs
    return _last_refuted(lambda c: evidence(kind, stream, -c, pool), mean - reach, mean, level)


def _last_refuted(wealth: Callable[[float], float], low: float, high: float, level: float) -> float:
    """Where the wealth, which falls, is last at the level; on the safe side."""
    if wealth(low) < level:
        return -math.inf
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if wealth(middle) >= level:
            low = middle
        else:
            high = middle
    return low
