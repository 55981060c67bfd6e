"""By how much one arm is better at least: every smaller mean difference has been refuted.

The evidence against a mean of at most c falls in c, so that what is refuted is a half-line, at all times
with probability 1 - e^-level (docs/paired.md). The level is that of all pairs together: bounds hold with
each other, and beside the answer, as docs/claims.md says. They are computed when asked for.
"""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np

from stopwise.core.arrays import Floats
from stopwise.paired.comparison import NOBODY, Comparison, claims
from stopwise.stopping.intervals import interval_share, joint_delta


def least_difference(what: Comparison, differences: Floats) -> float:
    """The largest c such that a mean of at most c is refuted now; minus infinity if none is.

    The differences are the least that they can be, where a result is missing; then the bound holds, too.
    """
    if np.isinf(differences).any():
        return -math.inf
    return what.kind.least_refuted(differences, bound_level(what), what.pool)


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
