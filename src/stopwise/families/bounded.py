"""Rewards in a known interval, of any shape: judged by bets that adapt to their spread, or as coins.

An arm's samples are kept as shares on a few nodes: a sample between two nodes counts for both, in
proportion to how near it is. That keeps their number and mean, and every bet of docs/thresholds.md
(Bounded rewards) makes at most as much from the shares as from the samples, as its logarithm is concave
in a sample. So any bet at any mean can be looked at later, and what is kept does not grow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from stopwise.core.arrays import Floats, Ints, Rng, moments_with
from stopwise.core.checks import LARGEST, finite, moderate
from stopwise.core.errors import BadArgument
from stopwise.core.functions import jitable
from stopwise.core.options import NUMBER, Option
from stopwise.families import divergences
from stopwise.families.bets import BOUNDED_GAPS, Sloped, coin_bet
from stopwise.families.family import Family, Quadratic
from stopwise.families.gaussian import NormalArm
from stopwise.families.laws import BetaLaw, beta_law
from stopwise.families.mixtures import beta_regret

STEPS = 64  # between nodes, which are closer to each other near the ends, as (1 - cos)/2 is
ENOUGH, NARROW = 100, 0.1  # samples, and the part of the interval, from which on it seems too wide
NO_SPREAD = 1e-6  # of the interval's squared length: the least variance that somebody may know


class OnInterval(Family, listed=False):
    """Any distribution on [low, high]; what is known without a look at the samples.

    The Bernoulli divergence of the rescaled means is the smallest that two such distributions can have;
    ``variance`` is the largest that the mean allows. Simulated rewards are drawn, unless a law is given,
    from the Beta law with this mean and a + b = 2 (uniform for the middle mean).
    """

    low: float
    high: float
    options = {
        "low": Option(NUMBER, "The least possible value; 0 if empty"),
        "high": Option(NUMBER, "The largest possible value; 1 if empty"),
    }

    def __init__(self, low: float = 0.0, high: float = 1.0) -> None:
        self.low, self.high = check_ends(low, high)

    def interval(self) -> tuple[float, float]:
        return (self.low, self.high)

    def variance_at(self, mu: float) -> float:
        return (mu - self.low) * (self.high - mu)

    def variance_slope(self, mu: float) -> float:
        return self.low + self.high - 2.0 * mu

    def convex(self) -> bool:
        return True

    def supports(self, value: float) -> bool:
        return self.low <= value <= self.high

    def divergence(self, mu: float, lam: float) -> float:
        low, high = self.low, self.high
        width = high - low
        p, q = (mu - low) / width, (lam - low) / width
        if divergences.survive_rounding(p, q):
            return divergences.coin_divergence(p, 1.0 - p, q - p, q, 1.0 - q)
        whole = divergences.coin_divergence(mu - low, high - mu, lam - mu, lam - low, high - lam)
        return whole / width

    def natural(self, mu: float) -> float:
        return math.log((mu - self.low) / (self.high - mu)) / (self.high - self.low)

    def tilt(self, mu: float, slope: float) -> float:
        width = self.high - self.low
        return self.low + width * divergences.binary_tilt((mu - self.low) / width, slope * width)

    def draw(self, mean: float, rng: Rng) -> float:
        width = self.high - self.low
        share = (mean - self.low) / width
        return self.low + width * rng.beta(2.0 * share, 2.0 * (1.0 - share))

    def posterior_draw(self, count: float, mean: float, rng: Rng) -> float:
        """That of coins, for a uniform prior."""
        width = self.high - self.low
        share = (mean - self.low) / width
        return self.low + width * rng.beta(1.0 + count * share, 1.0 + count * (1.0 - share))

    def unsupported(self) -> str:
        return (
            "Widen the interval in a new campaign; or clip every value to it, all in the same way, before "
            "it is told. Never leave out the values that do not fit: what is left is biased."
        )

    def law_of(self, mean: float, deviation: float) -> BetaLaw:
        return beta_law(mean, deviation, self.low, self.high)

    def regret(self, count: float, mean: float, center: float, spread: float) -> float:
        share = (mean - self.low) / (self.high - self.low)
        return beta_regret(count * share, count * (1.0 - share))

    def bound_remark(self) -> str:
        return "if the rewards lie at the ends of the interval, else fewer may do"


class BoundedCoin(OnInterval):
    """Numbers between two ends, of any shape, judged as coins with the same (rescaled) means.

    Every guarantee of coins carries over, but a coin spreads more than any other law with its mean, so
    that scores of a small spread take many more samples than with ``Bounded``.
    """

    title = "Numbers between two ends, judged as if they were coins"

    def bet_sizes(self) -> tuple[float, float, int]:
        return (3.0, 2.0, 19)

    def bet(self, side: float, count: float, mean: float, c: float, gap: float) -> Sloped:
        low, width = self.low, self.high - self.low
        heads = count * ((mean - low) / width)
        value, slope = coin_bet(heads, count, (c - low) / width, side * gap)
        return value, slope / width


class Bounded(OnInterval):
    """Any distribution on [low, high]: nothing else is assumed.

    Stopping is by bets against each possible mean, which adapt to the spread of the samples; sampling is
    by estimated variances. Rules that compare likelihood ratios (``Mixture`` and other thresholds) take
    the samples for coins, as ``BoundedCoin`` does. Simulated rewards, unless laws or deviations are
    given, have the Beta law with a + b = 2.
    """

    title = "Numbers between two ends, of any shape"

    def init_stats(self, arms: int) -> Scores:
        nodes = new_nodes()
        counts, means, squares, variances = np.zeros((4, arms))
        return Scores(counts, means, squares, variances, np.zeros((arms, nodes.size)), nodes)

    def update_stats(self, stats: Scores, arm: int, sample: float) -> None:
        width = self.high - self.low
        x = min(max((sample - self.low) / width, 0.0), 1.0)
        count = stats.counts[arm] + 1.0
        mean, squares = moments_with(count, stats.means[arm], stats.squares[arm], x)
        stats.counts[arm], stats.means[arm], stats.squares[arm] = count, mean, squares
        # as if there were one sample more, of a coin: constant samples do not say that there is no spread
        share = (count * mean + 0.5) / (count + 1.0)
        spread = (squares + share * (1.0 - share)) / (count + 1.0)
        stats.variances[arm] = spread * width * width
        place = _node_below(stats.nodes, x)
        left, right = stats.nodes[place], stats.nodes[place + 1]
        part = (x - left) / (right - left)
        stats.shares[arm, place] += 1.0 - part
        stats.shares[arm, place + 1] += part

    def estimated(self, stats: Scores) -> BoundedSeen:
        return BoundedSeen(self.low, self.high, stats.variances, stats.shares, stats.nodes)

    def with_deviations(self, deviations: Floats) -> BoundedSeen:
        least = NO_SPREAD * (self.high - self.low) ** 2
        variances, nodes = np.maximum(np.asarray(deviations) ** 2, least), new_nodes()
        return BoundedSeen(
            self.low, self.high, variances, np.zeros((variances.size, nodes.size)), nodes
        )

    def likelihood_family(self) -> BoundedCoin:
        return BoundedCoin(self.low, self.high)


class Scores(NamedTuple):
    """What is kept of the samples, scaled to [0, 1]: an entry, or a row, for each arm."""

    counts: Floats
    means: Floats
    squares: Floats  # sums of squared differences from the mean
    variances: Floats  # estimates, of samples that are not scaled
    shares: Floats  # of the samples, at the nodes
    nodes: Floats


class BoundedSeen(Quadratic, listed=False):
    """Arms of ``Bounded`` as their samples show them: with estimated variances."""

    low: float
    high: float
    variance: Floats
    shares: Floats
    nodes: Floats

    def __repr__(self) -> str:
        return f"Bounded(low={self.low}, high={self.high}), variances {self.variance.tolist()}"

    def add_at_end(self, arm: int, count: float, high: bool) -> float:
        node = self.nodes.size - 1 if high else 0
        before = float(self.shares[arm, node])
        self.shares[arm, node] = before + count
        return before

    def restore_end(self, arm: int, high: bool, before: float) -> None:
        self.shares[arm, self.nodes.size - 1 if high else 0] = before

    def likelihood_family(self) -> BoundedCoin:
        return BoundedCoin(self.low, self.high)

    def arms_alike(self) -> bool:
        return False

    def mean_space(self) -> tuple[float, float]:
        return (self.low, self.high)

    def glr_dominates(self) -> bool:
        return False

    def of_arm(self, arm: int) -> BoundedArm:
        shares = self.shares[arm]
        return BoundedArm(self.variance[arm], self.low, self.high, shares, self.nodes)

    def of_arms(self, arms: Ints) -> BoundedSeen:
        own = self.variance[arms], self.shares[arms]
        return BoundedSeen(self.low, self.high, *own, self.nodes)

    def update_of_arms(self, family: Self, arms: Ints) -> None:
        for k in range(arms.size):
            self.variance[k] = family.variance[arms[k]]
            for place in range(self.nodes.size):
                self.shares[k, place] = family.shares[arms[k], place]

    def warning(self, labels: Sequence[str]) -> str:
        used = self.nodes[self.shares.sum(axis=0) > 0.0]
        if self.shares.sum() < ENOUGH or used[-1] - used[0] > NARROW:
            return ""
        width = self.high - self.low
        low, high = self.low + width * used[0], self.low + width * used[-1]
        return (
            f"all samples so far lie between {low:.4g} and {high:.4g}, a small part of {self.low:g} to "
            f"{self.high:g}: the answer is safe, but it takes more samples than with ends that are close."
        )

    def bound_remark(self) -> str:
        return "but T* is here that of normal rewards with these standard deviations: a scale, not a bound"

    def bet_sizes(self) -> tuple[float, float, int]:
        return BOUNDED_GAPS

    def pair_decay(self) -> float:
        return 0.8


class BoundedArm(NormalArm, listed=False):
    """One arm of ``Bounded``, with its estimated variance."""

    low: float
    high: float
    shares: Floats
    nodes: Floats

    def mean_space(self) -> tuple[float, float]:
        return (self.low, self.high)

    def bet(self, side: float, count: float, mean: float, c: float, gap: float) -> Sloped:
        """sum over nodes x of their share times log(1 - gap + gap x/c); for -1 its mirror image."""
        width, up = self.high - self.low, side > 0.0
        place = max(float(c - self.low if up else self.high - c) / width, 1e-300)
        value = slope = 0.0
        gap = float(gap)  # plain Python is quicker with its own numbers
        rest = 1.0 - gap
        for k in range(self.nodes.size):
            share = float(self.shares[k])
            if share > 0.0:
                x = float(self.nodes[k])
                won = gap * ((x if up else 1.0 - x) / place)
                factor = rest + won
                value += share * math.log(factor)
                slope += share * (won / factor)
        return value, -side * slope / (place * width)

    def log_bet_factor(self, side: float, sample: float, c: float, gap: float) -> float:
        return math.log(max(1.0 - gap + gap * _ratio(self, side, sample, c), 1e-300))

    def log_wealth_bound(self, side: float, count: float, mean: float, c: float) -> float:
        """N log(max(1, mean/c)): the logarithm is concave, so samples at their mean would earn the most."""
        ratio = _ratio(self, side, mean, c)
        return count * math.log(ratio) if ratio > 1.0 else 0.0


@jitable
def _ratio(arm: BoundedArm, side: float, x: float, c: float) -> float:
    """How far x and c are from the low end (side +1) or from the high one, as a ratio."""
    if side > 0.0:
        return (x - arm.low) / max(c - arm.low, 1e-300)
    return (arm.high - x) / max(arm.high - c, 1e-300)


def check_ends(low: float, high: float) -> tuple[float, float]:
    """Two finite numbers, the second above the first."""
    low, high = finite("low", low), finite("high", high)
    if not low < high:
        raise BadArgument("high", high, f"a number above low = {low}")
    for name, end in (("low", low), ("high", high)):
        moderate(name, end)
    if high - low < 1.0 / LARGEST:
        raise BadArgument("high", high, f"a number at least {1.0 / LARGEST:g} above low = {low}")
    return low, high


def new_nodes() -> Floats:
    """STEPS + 1 numbers from 0 to 1."""
    return np.sin(0.5 * math.pi * np.arange(STEPS + 1) / STEPS) ** 2


@jitable
def _node_below(nodes: Floats, x: float) -> int:
    """The last node but one that is at most x; the formula for nodes may miss it by rounding."""
    place = min(int(math.asin(math.sqrt(x)) * (2.0 * STEPS / math.pi)), STEPS - 1)
    while place > 0 and nodes[place] > x:
        place -= 1
    while place < STEPS - 1 and nodes[place + 1] <= x:
        place += 1
    return place
