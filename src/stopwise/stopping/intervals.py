"""Means with intervals that hold at all times: what the arm's own bets have not refuted.

At the true mean c of an arm (W+(c) + W-(c))/2 is a martingale that starts at 1, so it ever reaches 1/a
with probability at most a (Ville). The interval is the set of all c where it is below 1/a:
docs/thresholds.md proves that it is one, that it holds the sample mean, and says what it costs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from stopwise.core.arrays import Floats, copied
from stopwise.core.compile import kernels
from stopwise.core.data import Data, State
from stopwise.core.errors import MissingMethod
from stopwise.core.functions import jitable
from stopwise.core.values import Value
from stopwise.families.family import Family
from stopwise.stopping.wealth_state import bet_weights, has_mixture

# parts of the distance from the sample mean
QUADRATIC = 1e-6  # one more step of Newton's is exact to its square
WIDER = 1e-9  # rounding may make an interval wider, not narrower
NEGLIGIBLE = 1e-12
MANY = 50  # arms from which on compiling pays


class Intervals(NamedTuple):
    """Of each arm the least and the largest mean that are not refuted; else the end of the space."""

    low: Floats
    high: Floats


def interval_share(delta: float) -> float:
    """What intervals and bounds may spend beside an answer that spends delta: as much, or half the rest."""
    return min(delta, 0.5 * (1.0 - delta))


def joint_delta(delta: float) -> float:
    """The answer, or any interval or bound beside it, is wrong with this probability at most."""
    return delta + interval_share(delta)


def mean_intervals(family: Family, state: State, delta: float, room: int = 0) -> Intervals:
    """Intervals that hold for all arms and at all times together, with probability 1 - delta.

    ``room``: how many arms there may ever be, if more can be added. An arm without a sample, or of whose
    family no bets are known, has the whole space of means.
    """
    arms = state.data.counts.size
    found = Intervals(*(np.full(arms, each) for each in family.mean_space()))
    bets, level = own_bets(family), math.log(max(arms, room) / delta)
    if bets is None:
        return found
    if arms >= MANY:
        _compiled()(bets, family, state.data, level, *found)
        return found
    for arm in np.flatnonzero(state.data.counts):
        own = copied(family.of_arm(int(arm)))  # what the family has estimated may change in place
        count, mean = (float(each[arm]) for each in state.data)
        found.low[arm], found.high[arm] = _alone(bets, own, count, mean, level)
    return found


@lru_cache(4096)
def _alone(
    bets: ArmBets, own: Family, count: float, mean: float, level: float
) -> tuple[float, float]:
    """The interval of one arm, cached: most arms have no new sample since somebody asked."""
    data, low, high = Data(np.array([count]), np.array([mean])), np.zeros(1), np.zeros(1)
    fill(bets, own, data, level, low, high)
    return float(low[0]), float(high[0])


@cache
def _compiled() -> Callable[..., None]:
    return kernels.compiled(fill, allocates=False)


def own_bets(family: Family) -> ArmBets | None:
    """What has been bet on the arms; None if no bets of the family are known."""
    sizes, weights = bet_weights(*family.bet_sizes())
    if sizes.size:
        return Stakes(sizes, weights)
    return Prior() if has_mixture(family) else None


class ArmBets(Value):
    """What has been bet on one arm: ``refutation`` says what it made."""

    def refutation(self, family: Family, data: Data, arm: int, c: float) -> tuple[float, float]:
        """What bets on an arm made from 1 if its mean is c: log (W+(c) + W-(c))/2; and its slope in c.

        It is at most 0 at the sample mean, and rises from where it is least on either side. A slope that is
        not known may be 0.
        """
        raise MissingMethod("refutation", self)

    def first_step(self, family: Family, data: Data, arm: int, level: float) -> float:
        """About how far the end of the interval is from the sample mean; above 0."""
        own, count, mean = family.of_arm(arm), data.counts[arm], data.means[arm]
        about = level + 0.5 * math.log1p(count) + 1.0  # N d(mean, c) there
        far = math.sqrt(2.0 * about * max(own.variance_at(mean), 0.0) / count)
        return max(far, 1e-3 * about / count)


class Stakes(ArmBets):
    """The gaps that are bet on, and their weights."""

    gaps: Floats
    weights: Floats

    def refutation(self, family: Family, data: Data, arm: int, c: float) -> tuple[float, float]:
        """The sum over gaps and sides goes on with its largest term taken out."""
        own, count, mean = family.of_arm(arm), float(data.counts[arm]), float(data.means[arm])
        top, made, slope = -math.inf, 0.0, 0.0
        for q in range(self.gaps.size):
            gap, weight = float(self.gaps[q]), 0.5 * float(self.weights[q])
            for side in (1.0, -1.0):
                value, rise = own.bet(side, count, mean, c, gap)
                if value > top:
                    less = math.exp(top - value)
                    top, made, slope = value, made * less, slope * less
                part = weight * math.exp(value - top)
                made, slope = made + part, slope + part * rise
        return top + math.log(made), slope / made


class Prior(ArmBets):
    """A family without bets, but with a mixture."""

    def refutation(self, family: Family, data: Data, arm: int, c: float) -> tuple[float, float]:
        """log m(data)/p_c(data) = N d(mu-hat, c) - r."""
        own, count, mean = family.of_arm(arm), data.counts[arm], data.means[arm]
        lost = own.wide_regret(count, mean)
        return count * own.divergence(mean, c) - lost, count * own.divergence_slope(mean, c)


# ---------------------------------------------------------------------------------------- both ends


def fill(
    bets: ArmBets, family: Family, data: Data, level: float, low: Floats, high: Floats
) -> None:
    """Both ends for each arm that has samples."""
    first, last = family.mean_space()
    for arm in range(data.counts.size):
        if data.counts[arm] > 0.0:
            low[arm] = crossing(bets, family, data, arm, level, first)
            high[arm] = crossing(bets, family, data, arm, level, last)


@jitable
def crossing(
    bets: ArmBets, family: Family, data: Data, arm: int, level: float, end: float
) -> float:
    """Where the refutation reaches the level, between the sample mean and an end of the space.

    Newton's method in a bracket: below the level at ``near``, not below it at ``far``. Not one of
    core/roots.py: the refutation may level off, or jump at the end of the space, and one evaluation costs
    as much as all else, so this search ends early and rounds to the safe side.
    """
    mean = float(data.means[arm])
    if mean == end:
        return mean
    near, far = mean, float(end)
    stride = math.copysign(bets.first_step(family, data, arm, level), far - mean)
    c = mean + stride
    for turn in range(300):
        if not min(near, far) < c < max(near, far):
            stride *= 8.0 + 8.0 * turn * turn
            c = near + stride if math.isinf(far) else _between(mean, near, far, end)
        if c == far or abs(far - c) < NEGLIGIBLE * abs(far - mean) or math.isinf(c):
            break  # nothing is refuted up to the end
        value, slope = bets.refutation(family, data, arm, c)
        if value < level:
            near = c
        else:
            far = c
        step = (level - value) / slope if slope != 0.0 else math.inf
        if abs(step) <= QUADRATIC * abs(c - mean):
            far = c + step
            break
        lost = turn > 3 and math.isinf(far)  # Newton's steps may go on for ever where it levels off
        c = math.nan if lost or turn % 9 == 8 else c + step
    far += WIDER * (far - mean)
    return min(far, end) if end > mean else max(far, end)


@jitable
def _between(mean: float, near: float, far: float, end: float) -> float:
    """A place in a bracket. An end of the space, where often nothing is refuted, is reached quickly."""
    if far == end:
        return near + 0.999 * (far - near)
    if abs(far - mean) > 100.0 * abs(near - mean) > 0.0:  # in the middle of the logarithms
        return mean + math.copysign(math.sqrt((near - mean) * (far - mean)), far - mean)
    return 0.5 * (near + far)
