"""By how much one arm is better at least: every smaller mean difference has been refuted.

The evidence against a mean of at most c falls in c, so that what is refuted is a half-line, at all times
with probability 1 - e^-level (docs/paired.md). The level is that of all pairs together: bounds hold with
each other, and beside the answer, as docs/claims.md says. They are computed when asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from stopwise.core.arrays import Floats
from stopwise.core.errors import MissingVerb
from stopwise.core.verbs import verb
from stopwise.paired.comparison import NOBODY, Comparison, claims
from stopwise.paired.differences import (
    EDGE,
    BoundedDifferences,
    NormalDifferences,
    Stream,
    evidence,
)
from stopwise.stopping.intervals import interval_share, joint_delta

HALVINGS = 60


def least_difference(what: Comparison, differences: Floats) -> float:
    """The largest c such that a mean of at most c is refuted now; minus infinity if none is.

    The differences are the least that they can be, where a result is missing; then the bound holds, too.
    """
    if np.isinf(differences).any():
        return -math.inf
    return least_refuted(what.kind, differences, bound_level(what), what.pool)


def bound_level(what: Comparison) -> float:
    """That of bounds: log(ordered pairs/share of delta). With ties the answer counts all pairs, too."""
    if what.ties:
        return what.level
    others = what.arms - 1
    pairs = what.arms * others if what.control == NOBODY else 2 * others
    return math.log(pairs / interval_share(_delta(what)))


def implied(what: Comparison, named: Collection[int], arm: int, other: int) -> float:
    """What the answer that names these arms says of a difference itself; minus infinity: nothing."""
    near = 0.0 - float(what.margins[-1])  # not -0
    if what.control == NOBODY:
        return near if not what.ties and arm in named and other not in named else -math.inf
    if other == what.control and arm in named:
        return 0.0
    everyone = not (what.one and named)  # one that is better is all that is said
    return near if arm == what.control and other not in named and everyone else -math.inf


def joint(what: Comparison) -> float:
    """The answer, or any bound at any time, is wrong with this probability at most."""
    return _delta(what) if what.ties else joint_delta(_delta(what))


def _delta(what: Comparison) -> float:
    """Of the answer alone; rounded as people write it."""
    spent = claims(what.arms, what.m, what.control, what.ties)
    return float(f"{spent * math.exp(-what.level):.12g}")


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
