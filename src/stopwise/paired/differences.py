"""Bets on the differences of two arms on the same items: one stream for each ordered pair.

A difference is of one of two kinds: between -width and width (coins, scores), or normal with an unknown
variance. Both are bet on with the mean above c, by several gaps at once; docs/paired.md has the proofs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from stopwise.core.arrays import Floats, Numbers, log_sum_exp
from stopwise.core.errors import MissingMethod, NotDefined
from stopwise.core.functions import jitable
from stopwise.core.roots import When, bisection
from stopwise.core.values import Value
from stopwise.families.bets import BOUNDED_GAPS, NORMAL_GAPS
from stopwise.families.family import Family, Logarithmic
from stopwise.families.students_t import t_bet
from stopwise.stopping.wealth_state import bet_weights

ROUNDING = 1e-20  # of a mean's square: a smaller mean squared deviation is rounding, not spread
HALVINGS = 60
EDGE = 1e-9  # of the width: what is certain is certain by this much, whatever rounding did


class Differences(Value):
    """The differences of two arms on the same items: how they are bet on.

    ``fixed``: the differences are the numbers of a pool, drawn without replacement. That takes results
    that are the same whenever they are made: of random ones every draw is new, and a pool has no end.
    """

    gaps: Floats
    weights: Floats
    fixed: bool

    def bet_on(self, stream: Stream, x: float, margin: float, pool: int) -> None:
        """One more difference x, for the bets that are kept; ``stream`` is as it was before."""

    def undo_bet(self, stream: Stream, x: float, margin: float) -> None:
        """Take back what ``bet_on`` did with a difference x, where there is no pool."""

    def ends(self, sense: int) -> tuple[float, float]:
        """The least and the largest result; where less is better (``sense`` -1), of results times -1."""
        return -math.inf, math.inf

    def evidence(self, stream: Stream, margin: float, pool: int) -> float:
        """The log wealth against a mean of at most -margin; ``pool``: how many differences, if fixed."""
        raise MissingMethod("evidence", self)

    def least_refuted(self, differences: Floats, level: float, pool: int) -> float:
        """The largest c such that a mean of at most c is refuted at this level; minus infinity if none is."""
        raise MissingMethod("least_refuted", self)


class BoundedDifferences(Differences):
    """Of results in an interval: in [-width, width]. Coins have width 1."""

    width: float
    low: float  # the least result; the largest is low + width

    def ends(self, sense: int) -> tuple[float, float]:
        low, high = self.low, self.low + self.width
        return (low, high) if sense > 0 else (-high, -low)

    def bet_on(self, stream: Stream, x: float, margin: float, pool: int) -> None:
        left = pool if self.fixed else 0
        c = mean_of_next(stream.size, stream.size * stream.mean, -margin, left)
        c = max(c, self.width * (EDGE - 1.0))  # a larger c makes less
        won = (x - c) / (c + self.width)
        if won != 0.0:
            for q in range(self.gaps.size):
                stream.bets[q] += math.log1p(self.gaps[q] * won)

    def undo_bet(self, stream: Stream, x: float, margin: float) -> None:
        c = max(-margin, self.width * (EDGE - 1.0))
        for q in range(self.gaps.size):
            stream.bets[q] -= math.log1p(self.gaps[q] * ((x - c) / (c + self.width)))

    def evidence(self, stream: Stream, margin: float, pool: int) -> float:
        if self.fixed:
            least = stream.size * stream.mean - (pool - stream.size) * self.width
            if least > pool * (EDGE * self.width - margin):
                return math.inf  # whatever is left, the pool's mean is above -margin
        return log_sum_exp(self.weights, stream.bets)

    def least_refuted(self, differences: Floats, level: float, pool: int) -> float:
        if not self.fixed:
            values, counts = np.unique(differences, return_counts=True)
            return _last_refuted(
                lambda c: _log_wealth(self, values, counts, c), -self.width, self.width, level
            )
        places = np.arange(differences.size)
        before = np.cumsum(differences) - differences

        def wealth(c: float) -> float:
            least = differences.sum() - (pool - differences.size) * self.width
            if least > pool * (EDGE * self.width + c):
                return math.inf
            return _log_wealth(self, differences, 1.0, (pool * c - before) / (pool - places))

        left = pool - differences.size
        most = (differences.sum() + left * self.width) / pool  # whatever is left
        return _last_refuted(wealth, -self.width, most, level)


class NormalDifferences(Differences):
    """Of real numbers: normal, nothing known of mean and variance. A finite pool is not normal."""

    def evidence(self, stream: Stream, margin: float, pool: int) -> float:
        """The t wealth. Without spread nothing is bet: 1, which the sup of the wealth is at least."""
        if not stream.squares > stream.size * ROUNDING * stream.mean * stream.mean:
            return 0.0
        ratio = (stream.mean + margin) / math.sqrt(stream.squares / stream.size)
        for q in range(self.gaps.size):
            stream.bets[q] = t_bet(stream.size, ratio, self.gaps[q])[0]
        return log_sum_exp(self.weights, stream.bets)

    def least_refuted(self, differences: Floats, level: float, pool: int) -> float:
        if differences.size == 0:
            return -math.inf
        mean = float(differences.mean())
        squares = float(np.sum((differences - differences.mean()) ** 2))
        stream = Stream(np.zeros(self.gaps.size), float(differences.size), mean, squares)
        reach = 1e6 * math.sqrt(squares)  # a t statistic that nothing needs
        return _last_refuted(lambda c: self.evidence(stream, -c, pool), mean - reach, mean, level)


class Stream(NamedTuple):
    """What is kept of a pair's differences, against one margin: nothing that grows with them."""

    bets: Floats  # the log wealth of each gap, where it is kept
    size: float  # how many
    mean: float
    squares: float  # of the deviations from the mean


def differences_of(family: Family, fixed: bool = False) -> Differences:
    """Which kind the differences of two arms of this family are."""
    low, high = family.interval()
    if math.isfinite(high - low):
        return BoundedDifferences(*bet_weights(*BOUNDED_GAPS), fixed, float(high - low), float(low))
    if isinstance(family, Logarithmic):
        return NormalDifferences(*bet_weights(*NORMAL_GAPS), fixed)
    raise NotDefined(
        f"paired tests with {family!r}: what two arms share decides how their differences spread, so a "
        "family of single results does not say it. Use Bernoulli() for right and wrong, Bounded(low, "
        "high) for scores, Gaussian(variance=None) for other numbers (logarithms, if ratios matter)."
    )


@jitable
def mean_of_next(count: float, total: float, mean: float, pool: int) -> float:
    """What is left of the pool has this mean, if all of it has the given one."""
    return mean if pool == 0 else (pool * mean - total) / (pool - count)


def _log_wealth(
    kind: BoundedDifferences, values: Floats, counts: Numbers | float, mean: Floats | float
) -> float:
    """log sum_q a_q prod (1 + l_q (x - c)/(c + width))^count, c the mean, one or one for each value."""
    c = np.maximum(mean, kind.width * (EDGE - 1.0))
    won = (values - c) / (c + kind.width)
    bets = np.array([np.sum(counts * np.log1p(gap * won)) for gap in kind.gaps])
    return float(bets.max() + np.log(np.sum(kind.weights * np.exp(bets - bets.max()))))


def _last_refuted(wealth: Callable[[float], float], low: float, high: float, level: float) -> float:
    """Where the wealth, which falls, is last at the level; on the safe side."""
    if wealth(low) < level:
        return -math.inf
    return bisection(When(lambda c: wealth(c) >= level), low, high, HALVINGS)[0]
