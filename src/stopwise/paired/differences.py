"""Bets on the differences of two arms on the same items: one stream for each ordered pair.

A difference is of one of two kinds: between -width and width (coins, scores), or normal with an unknown
variance. Both are bet on with the mean above c, by several gaps at once; docs/paired.md has the proofs.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from stopwise.core.arrays import Floats
from stopwise.core.errors import MissingVerb, NotDefined
from stopwise.core.verbs import jitable, verb
from stopwise.families.students_t import t_bet
from stopwise.families.verbs import Logarithmic, gaps, interval
from stopwise.stopping.purse import stakes

ROUNDING = 1e-20  # of a mean's square: a smaller mean squared deviation is rounding, not spread
EDGE = 1e-9  # of the width: what is certain is certain by this much, whatever rounding did


class BoundedDifferences(NamedTuple):
    """Of results in an interval: in [-width, width]. Coins have width 1.

    ``fixed``: the differences are the numbers of a pool, drawn without replacement. That takes results
    that are the same whenever they are made: of random ones every draw is new, and a pool has no end.
    """

    width: float
    gaps: Floats
    weights: Floats
    fixed: bool = False
    low: float = 0.0  # the least result; the largest is low + width


class NormalDifferences(NamedTuple):
    """Of real numbers: normal, nothing known of mean and variance."""

    gaps: Floats
    weights: Floats
    fixed: bool = False  # never: a finite pool is not normal


class Stream(NamedTuple):
    """What is kept of a pair's differences, against one margin: nothing that grows with them."""

    bets: Floats  # the log wealth of each gap, where it is kept
    size: float  # how many
    mean: float
    squares: float  # of the deviations from the mean


class _Grid(NamedTuple):
    bounded: bool


gaps.register(_Grid)(
    lambda grid: (0.995, 2.0, 12) if grid.bounded else (math.sqrt(8.0), math.sqrt(8.0), 8)
)


def differences_of(family: Any) -> Any:
    """Which kind the differences of two arms of this family are."""
    low, high = interval(family)
    if math.isfinite(high - low):
        return BoundedDifferences(float(high - low), *stakes(_Grid(True)), low=float(low))
    if isinstance(family, Logarithmic):
        return NormalDifferences(*stakes(_Grid(False)))
    raise NotDefined(
        f"paired tests with {family!r}: what two arms share decides how their differences spread, so a "
        "family of single results does not say it. Use Bernoulli() for right and wrong, Bounded(low, "
        "high) for scores, Gaussian(variance=None) for other numbers (logarithms, if ratios matter)."
    )


@verb
def bet_on(kind: Any, stream: Stream, x: float, margin: float, pool: int) -> None:
    """One more difference x, for the bets that are kept; ``stream`` is as it was before."""


@verb
def undo_bet(kind: Any, stream: Stream, x: float, margin: float) -> None:
    """Take back what ``bet_on`` did with a difference x, where there is no pool."""


@verb
def ends(kind: Any, sense: int) -> tuple[float, float]:
    """The least and the largest result; where less is better (``sense`` -1), of results times -1."""
    return -math.inf, math.inf


@ends.register(BoundedDifferences)
def _ends(kind: BoundedDifferences, sense: int) -> tuple[float, float]:
    low, high = kind.low, kind.low + kind.width
    return (low, high) if sense > 0 else (-high, -low)


@verb
def evidence(kind: Any, stream: Stream, margin: float, pool: int) -> float:
    """The log wealth against a mean of at most -margin; ``pool``: how many differences, if fixed."""
    raise MissingVerb("evidence", kind)


@bet_on.register(BoundedDifferences)
def _bet_on(kind: BoundedDifferences, stream: Stream, x: float, margin: float, pool: int) -> None:
    left = pool if kind.fixed else 0
    c = mean_of_next(stream.size, stream.size * stream.mean, -margin, left)
    c = max(c, kind.width * (EDGE - 1.0))  # a larger c makes less
    won = (x - c) / (c + kind.width)
    if won != 0.0:
        for q in range(kind.gaps.size):
            stream.bets[q] += math.log1p(kind.gaps[q] * won)


@undo_bet.register(BoundedDifferences)
def _undo_bet(kind: BoundedDifferences, stream: Stream, x: float, margin: float) -> None:
    c = max(-margin, kind.width * (EDGE - 1.0))
    for q in range(kind.gaps.size):
        stream.bets[q] -= math.log1p(kind.gaps[q] * ((x - c) / (c + kind.width)))


@jitable
def mean_of_next(count: float, total: float, mean: float, pool: int) -> float:
    """What is left of the pool has this mean, if all of it has the given one."""
    return mean if pool == 0 else (pool * mean - total) / (pool - count)


@evidence.register(BoundedDifferences)
def _evidence(kind: BoundedDifferences, stream: Stream, margin: float, pool: int) -> float:
    if kind.fixed:
        least = stream.size * stream.mean - (pool - stream.size) * kind.width
        if least > pool * (EDGE * kind.width - margin):
            return math.inf  # whatever is left, the pool's mean is above -margin
    top = -math.inf
    for q in range(kind.gaps.size):
        top = max(top, stream.bets[q])
    return log_mixed(kind.weights, stream.bets, top)


@jitable
def log_mixed(weights: Floats, bets: Floats, top: float) -> float:
    """log sum_q a_q w_q, given all log w_q and the largest of them."""
    made = 0.0
    for q in range(weights.size):
        made += weights[q] * math.exp(bets[q] - top)
    return top + math.log(made)


@evidence.register(NormalDifferences)
def _t_evidence(kind: NormalDifferences, stream: Stream, margin: float, pool: int) -> float:
    """The t wealth. Without spread nothing is bet: 1, which the sup of the wealth is at least."""
    if not stream.squares > stream.size * ROUNDING * stream.mean * stream.mean:
        return 0.0
    ratio = (stream.mean + margin) / math.sqrt(stream.squares / stream.size)
    top = -math.inf
    for q in range(kind.gaps.size):
        stream.bets[q] = t_bet(stream.size, ratio, kind.gaps[q])[0]
        top = max(top, stream.bets[q])
    return log_mixed(kind.weights, stream.bets, top)
