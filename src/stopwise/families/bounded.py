"""Rewards in a known interval, of any shape: bets that adapt to how they are spread.

An arm's samples are kept as shares on a few nodes: a sample between two nodes counts for both, in
proportion to how near it is. That keeps their number and mean, and every bet of docs/thresholds.md
(Bounded rewards) makes at most as much from the shares as from the samples, as its logarithm is concave
in a sample. So any bet at any mean can be looked at later, and what is kept does not grow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from stopwise.core.arrays import Floats, Ints
from stopwise.core.verbs import jitable
from stopwise.families import verbs
from stopwise.families.bounded_coin import BoundedCoin, Ends, OnInterval, check_ends
from stopwise.families.gaussian import Gaussian
from stopwise.families.laws import with_deviations
from stopwise.families.posterior import posterior_draw
from stopwise.families.surprise import least_surprise
from stopwise.families.verbs import OneVariance, Quadratic

STEPS = 64  # between nodes, which are closer to each other near the ends, as (1 - cos)/2 is
LARGEST = 0.995  # bet; the next ones are half of it, a quarter, ...
ENOUGH, NARROW = 100, 0.1  # samples, and the part of the interval, from which on it seems too wide
NO_SPREAD = 1e-6  # of the interval's squared length: the least variance that somebody may know


class Bounded(Ends, OnInterval):
    """Any distribution on [low, high]: nothing else is assumed.

    Stopping is by bets against each possible mean, which adapt to the spread of the samples; sampling is
    by estimated variances. Rules that compare likelihood ratios (``Mixture`` and other thresholds) take
    the samples for coins, as ``BoundedCoin`` does. Simulated rewards, unless laws or deviations are
    given, have the Beta law with a + b = 2.
    """

    __slots__ = ()
    title = "Numbers between two ends, of any shape"

    def __new__(cls, low: float = 0.0, high: float = 1.0) -> Bounded:
        return super().__new__(cls, *check_ends(low, high))


class Scores(NamedTuple):
    """What is kept of the samples, scaled to [0, 1]: an entry, or a row, for each arm."""

    counts: Floats
    means: Floats
    squares: Floats  # sums of squared differences from the mean
    variances: Floats  # estimates, of samples that are not scaled
    shares: Floats  # of the samples, at the nodes
    nodes: Floats


class _Seen(NamedTuple):
    low: float
    high: float
    variance: Floats
    shares: Floats
    nodes: Floats


class BoundedSeen(_Seen, Quadratic, listed=False):
    """Arms of ``Bounded`` as their samples show them: with estimated variances."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Bounded(low={self.low}, high={self.high}), variances {self.variance.tolist()}"


class _Arm(NamedTuple):
    low: float
    high: float
    variance: float
    shares: Floats
    nodes: Floats


class BoundedArm(_Arm, OneVariance, listed=False):
    """One of them."""

    __slots__ = ()


def new_nodes() -> Floats:
    """From 0 to 1."""
    return np.sin(0.5 * math.pi * np.arange(STEPS + 1) / STEPS) ** 2


@verbs.record.register(Bounded)
def _record(family: Bounded, arms: int) -> Scores:
    nodes = new_nodes()
    counts, means, squares, variances = np.zeros((4, arms))
    return Scores(counts, means, squares, variances, np.zeros((arms, nodes.size)), nodes)


@verbs.note.register(Bounded)
def _note(family: Bounded, record: Scores, arm: int, sample: float) -> None:
    width = family.high - family.low
    x = min(max((sample - family.low) / width, 0.0), 1.0)
    record.counts[arm] += 1.0
    count, before = record.counts[arm], record.means[arm]
    record.means[arm] += (x - before) / count
    record.squares[arm] += (x - before) * (x - record.means[arm])
    # as if there were one sample more, of a coin: constant samples do not say that there is no spread
    share = (count * record.means[arm] + 0.5) / (count + 1.0)
    spread = (record.squares[arm] + share * (1.0 - share)) / (count + 1.0)
    record.variances[arm] = spread * width * width
    place = _node_below(record.nodes, x)
    left, right = record.nodes[place], record.nodes[place + 1]
    part = (x - left) / (right - left)
    record.shares[arm, place] += 1.0 - part
    record.shares[arm, place + 1] += part


@jitable
def _node_below(nodes: Floats, x: float) -> int:
    """The last node but one that is at most x; the formula for nodes may miss it by rounding."""
    place = min(int(math.asin(math.sqrt(x)) * (2.0 * STEPS / math.pi)), STEPS - 1)
    while place > 0 and nodes[place] > x:
        place -= 1
    while place < STEPS - 1 and nodes[place + 1] <= x:
        place += 1
    return place


@verbs.seen.register(Bounded)
def _seen(family: Bounded, record: Scores) -> BoundedSeen:
    return BoundedSeen(family.low, family.high, record.variances, record.shares, record.nodes)


@with_deviations.register(Bounded)
def _with_deviations(family: Bounded, deviations: Floats) -> BoundedSeen:
    least = NO_SPREAD * (family.high - family.low) ** 2
    variances, nodes = np.maximum(np.asarray(deviations) ** 2, least), new_nodes()
    return BoundedSeen(
        family.low, family.high, variances, np.zeros((variances.size, nodes.size)), nodes
    )


@verbs.add_at_end.register(BoundedSeen)
def _add_at_end(family: BoundedSeen, arm: int, count: float, high: bool) -> float:
    node = family.nodes.size - 1 if high else 0
    before = float(family.shares[arm, node])
    family.shares[arm, node] = before + count
    return before


@verbs.restore_end.register(BoundedSeen)
def _restore_end(family: BoundedSeen, arm: int, high: bool, before: float) -> None:
    family.shares[arm, family.nodes.size - 1 if high else 0] = before


verbs.likelihood.register(Bounded)(lambda family: BoundedCoin(family.low, family.high))
verbs.likelihood.register(BoundedSeen)(lambda family: BoundedCoin(family.low, family.high))
verbs.arms_alike.register(BoundedSeen)(lambda family: False)
verbs.space.register(BoundedSeen)(lambda family: (family.low, family.high))
verbs.space.register(BoundedArm)(lambda family: (family.low, family.high))
verbs.screens.register(BoundedSeen)(lambda family: False)


@verbs.of_arm.register(BoundedSeen)
def _of_arm(family: BoundedSeen, arm: int) -> BoundedArm:
    shares = family.shares[arm]
    return BoundedArm(family.low, family.high, family.variance[arm], shares, family.nodes)


@verbs.of_group.register(BoundedSeen)
def _of_group(family: BoundedSeen, arms: Ints) -> BoundedSeen:
    own = family.variance[arms], family.shares[arms]
    return BoundedSeen(family.low, family.high, *own, family.nodes)


@verbs.regroup.register(BoundedSeen)
def _regroup(own: BoundedSeen, family: BoundedSeen, arms: Ints) -> None:
    for k in range(arms.size):
        own.variance[k] = family.variance[arms[k]]
        for place in range(own.nodes.size):
            own.shares[k, place] = family.shares[arms[k], place]


@verbs.caution.register(BoundedSeen)
def _caution(family: BoundedSeen, labels: Sequence[str]) -> str:
    used = family.nodes[family.shares.sum(axis=0) > 0.0]
    if family.shares.sum() < ENOUGH or used[-1] - used[0] > NARROW:
        return ""
    width = family.high - family.low
    low, high = family.low + width * used[0], family.low + width * used[-1]
    return (
        f"all samples so far lie between {low:.4g} and {high:.4g}, a small part of {family.low:g} to "
        f"{family.high:g}: the answer is safe, but it takes more samples than with ends that are close."
    )


for _verb in (
    *(verbs.divergence, verbs.variance, verbs.variance_slope, verbs.natural, verbs.tilt),
    *(verbs.upper, verbs.lower, least_surprise, posterior_draw),
):  # an arm with an estimated variance is weighed as a Gaussian one
    _verb.register(BoundedArm)(_verb.dispatch(Gaussian))


@verbs.bound_remark.register(BoundedSeen)
def _bound_remark(family: BoundedSeen) -> str:
    return (
        "but T* is here that of normal rewards with these standard deviations: a scale, not a bound"
    )


# ------------------------------------------------------------------------------------------- bets

verbs.gaps.register(BoundedSeen)(lambda family: (LARGEST, 2.0, 12))
verbs.likeness.register(BoundedSeen)(lambda family: 0.8)


@verbs.bet.register(BoundedArm)
def _bet(
    family: BoundedArm, side: float, count: float, mean: float, c: float, gap: float
) -> tuple[float, float]:
    """sum over nodes x of their share times log(1 - gap + gap x/c); for -1 its mirror image."""
    width, up = family.high - family.low, side > 0.0
    place = max(float(c - family.low if up else family.high - c) / width, 1e-300)
    value = slope = 0.0
    gap = float(gap)  # plain Python is quicker with its own numbers
    rest = 1.0 - gap
    for k in range(family.nodes.size):
        share = float(family.shares[k])
        if share > 0.0:
            x = float(family.nodes[k])
            won = gap * ((x if up else 1.0 - x) / place)
            factor = rest + won
            value += share * math.log(factor)
            slope += share * (won / factor)
    return value, -side * slope / (place * width)


@verbs.factor.register(BoundedArm)
def _factor(family: BoundedArm, side: float, sample: float, c: float, gap: float) -> float:
    if side > 0.0:
        ratio = (sample - family.low) / max(c - family.low, 1e-300)
    else:
        ratio = (family.high - sample) / max(family.high - c, 1e-300)
    return math.log(max(1.0 - gap + gap * ratio, 1e-300))


@verbs.ceiling.register(BoundedArm)
def _ceiling(family: BoundedArm, side: float, count: float, mean: float, c: float) -> float:
    """N log(max(1, mean/c)): the logarithm is concave, so samples at their mean would earn the most."""
    if side > 0.0:
        ratio = (mean - family.low) / max(c - family.low, 1e-300)
    else:
        ratio = (family.high - mean) / max(family.high - c, 1e-300)
    return count * math.log(ratio) if ratio > 1.0 else 0.0
