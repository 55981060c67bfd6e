"""Means with intervals: against brute force, at all times, at the ends of the space, and what units do.

Every simulation has a fixed seed. A count is compared with an exact binomial limit; ``FALSE_ALARM`` is
the most probability with which a correct package fails such a test.
"""

from __future__ import annotations

import itertools
import json
import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import stopwise as sw
from naive_wealth import grid, log_arm
from steps import begin
from stopwise import Campaign
from stopwise.campaign.status import Arm, Status
from stopwise.core.arrays import Floats, Rng, argmax
from stopwise.core.compile.kernels import compiled
from stopwise.core.data import Data
from stopwise.core.functions import jitable
from stopwise.engine.design import generator
from stopwise.stopping import intervals
from stopwise.stopping.intervals import mean_intervals, own_bets

FALSE_ALARM = 1e-6
FAMILIES = (
    (sw.Gaussian(), 0.0, 1.0),
    (sw.Gaussian(9.0), 120.0, 3.0),
    (sw.Bernoulli(), 0.4, 0.49),
    (sw.Binomial(7), 2.0, 1.2),
    (sw.Poisson(), 2.0, 1.4),
    (sw.NegativeBinomial(3.0), 2.0, 1.8),
    (sw.Geometric(), 3.0, 2.4),
    (sw.Exponential(), 2.0, 2.0),
    (sw.Gamma(2.5), 2.0, 1.3),
    (sw.InverseGaussian(2.0), 1.0, 0.7),
)
names = {"ids": lambda each: repr(each[0]) if isinstance(each, tuple) else str(each)}


def state_of(family: Any, counts: Any, means: Any, rule: Any = sw.Wealth()) -> Any:
    """A state with these data."""
    arms = len(counts)
    state = begin((sw.Thresholding(arms, interval_middle(family)), family, sw.Uniform(), rule))
    state.data.counts[:], state.data.means[:] = counts, means
    return state


def interval_middle(family: Any) -> float:
    low, high = family.interval()
    if math.isinf(low):
        return 0.0
    return low + 1.0 if math.isinf(high) else 0.5 * (low + high)


def ends(family: Any, samples: Any, alpha: float) -> tuple[float, float]:
    """Of one arm."""
    found = mean_intervals(family, state_of(family, [len(samples)], [np.mean(samples)]), alpha)
    return float(found.low[0]), float(found.high[0])


def naive_end(family: Any, samples: Any, alpha: float, end: float) -> float:
    """By bisection with (W+ + W-)/2 written out; the end of the space if nothing is refuted."""
    mean = float(np.mean(samples))

    def at(share: float) -> float:
        if math.isfinite(end):
            return mean + share * (end - mean)
        return mean + math.copysign(share / (1.0 - share), end)

    def refuted(c: float) -> bool:
        both = np.logaddexp(*(log_arm(family, side, samples, c) for side in (1, -1)))
        return bool(both - math.log(2.0) >= math.log(1.0 / alpha))

    near, far = 0.0, 1.0 - 1e-9
    if not refuted(at(far)):
        return end
    for _ in range(80):
        middle = 0.5 * (near + far)
        near, far = (near, middle) if refuted(at(middle)) else (middle, far)
    return at(far)


@pytest.mark.parametrize("setting", FAMILIES, **names)
def test_intervals_are_those_of_brute_force(setting: Any) -> None:
    family, center, scale = setting
    rng = np.random.default_rng(1)
    for count, alpha in ((2, 0.2), (15, 0.05), (400, 0.01)):
        samples = np.array([family.draw(center, rng) for _ in range(count)])
        for end, found in zip(family.interval(), ends(family, samples, alpha), strict=True):
            expected = naive_end(family, samples, alpha, end) if np.mean(samples) != end else end
            if expected == end:
                assert found == pytest.approx(end, abs=1e-8 * scale)
            else:
                assert found == pytest.approx(expected, abs=1e-7 * abs(expected - np.mean(samples)))


@pytest.mark.parametrize("setting", FAMILIES, **names)
def test_the_sample_mean_is_inside_and_smaller_risks_are_wider(setting: Any) -> None:
    """Also: what two one-sided bets at half the risk do not refute holds the whole interval."""
    family, center, _ = setting
    rng = np.random.default_rng(2)
    first, last = family.interval()
    for count in (1, 3, 40, 2000):
        samples = np.array([family.draw(center, rng) for _ in range(count)])
        found = [ends(family, samples, alpha) for alpha in (0.5, 0.1, 0.01, 1e-9)]
        assert found[0][0] <= np.mean(samples) <= found[0][1]
        for (low, high), (lower, higher) in itertools.pairwise(found):
            assert lower <= low
            assert high <= higher
            assert first <= lower <= higher <= last
        low, high = found[1]
        for side, end in ((1, low), (-1, high)):
            if end not in (first, last):
                assert log_arm(family, side, samples, end) <= math.log(2.0 / 0.1) + 1e-6


BOUNDARY = (
    (sw.Bernoulli(), 0.0, (0.0, 3.0 / 50)),
    (sw.Bernoulli(), 1.0, (1.0 - 3.0 / 50, 1.0)),
    (sw.Binomial(4), 0.0, (0.0, 3.0 / 50)),
    (sw.Poisson(), 0.0, (0.0, 3.0 / 50)),
    (sw.NegativeBinomial(2.0), 0.0, (0.0, 3.0 / 50)),
    (sw.Geometric(), 1.0, (1.0, 1.0 + 3.0 / 50)),
)


@pytest.mark.parametrize("setting", BOUNDARY, **names)
def test_data_at_the_end_of_the_space(setting: Any) -> None:
    """Fifty times the least value, or the largest: one end stays, the other is within 1.3 to 4 of the
    rule of three, 3/n, which holds at one time only."""
    family, value, (low, high) = setting
    found = ends(family, np.full(50, value), 0.05)
    kept, moved = (low, high) if value == low else (high, low)
    assert kept in found
    (other,) = [each for each in found if each != kept]
    assert 1.3 < abs(other - value) / abs(moved - value) < 4.0


def test_one_sample() -> None:
    """Means may have no upper bound yet; a Gaussian sample has both ends."""
    assert ends(sw.Exponential(), np.array([2.0]), 0.05)[1] == math.inf
    assert 0.0 < ends(sw.Exponential(), np.array([2.0]), 0.05)[0] < 2.0
    assert ends(sw.InverseGaussian(), np.array([2.0]), 0.05)[1] == math.inf
    assert ends(sw.Bernoulli(), np.array([1.0]), 0.05) == (0.0, 1.0)
    low, high = ends(sw.Gaussian(), np.array([2.0]), 0.05)
    assert -3.0 < low < 2.0 < high < 7.0
    assert ends(sw.Exponential(), np.zeros(5), 0.05)[0] == 0.0


def test_units_change_nothing() -> None:
    """Gaussian: shift and scale; positive scales; coins: heads and tails."""
    samples = np.random.default_rng(3).gamma(2.0, 1.0, 60)

    def same(one: Any, two: Any) -> None:
        assert one == pytest.approx(two, rel=1e-8)

    low, high = ends(sw.Gaussian(2.0), samples, 0.05)
    same(ends(sw.Gaussian(2e6), 1e3 * samples + 5e3, 0.05), (1e3 * low + 5e3, 1e3 * high + 5e3))
    same(ends(sw.Gaussian(2.0), -samples, 0.05), (-high, -low))
    for family in (sw.Exponential(), sw.Gamma(3.0)):
        low, high = ends(family, samples, 0.05)
        same(ends(family, 1e3 * samples, 0.05), (1e3 * low, 1e3 * high))
    low, high = ends(sw.InverseGaussian(2.0), samples, 0.05)
    same(ends(sw.InverseGaussian(2e3), 1e3 * samples, 0.05), (1e3 * low, 1e3 * high))
    coins = np.array([1.0] * 13 + [0.0] * 30)
    low, high = ends(sw.Bernoulli(), coins, 0.05)
    same(ends(sw.Bernoulli(), 1.0 - coins, 0.05), (1.0 - high, 1.0 - low))


def test_arms_with_variances_of_their_own_share_the_risk() -> None:
    family = sw.Gaussian([1.0, 4.0, 9.0])
    found = mean_intervals(family, state_of(family, [20, 0, 40], [1.0, 0.0, 3.0]), 0.15)
    for arm, (count, mean, variance) in enumerate(((20, 1.0, 1.0), (0, 0, 1), (40, 3.0, 9.0))):
        if count:
            alone = ends(sw.Gaussian(variance), np.full(count, mean), 0.05)
            assert (found.low[arm], found.high[arm]) == pytest.approx(alone, rel=1e-9)
        else:
            assert (found.low[arm], found.high[arm]) == (-math.inf, math.inf)


def test_room_for_more_arms_is_paid_for() -> None:
    """An arm that may come later has its share of delta from the start."""
    state = state_of(sw.Gaussian(), [20, 30], [0.0, 1.0])
    found = mean_intervals(sw.Gaussian(), state, 0.1, room=10)
    assert found.high[0] == pytest.approx(ends(sw.Gaussian(), np.zeros(20), 0.01)[1], rel=1e-8)
    spec = {
        "question": "best-arm",
        "arms": ["A", "B"],
        "family": {"kind": "gaussian", "variance": 1},
        "delta": 0.1,
    }
    high = []
    for more in ({}, {"room": 10}):
        campaign = Campaign.create({**spec, **more}, "memory:", f"room{len(more)}")
        for arm in "AB":
            campaign.record(arm, 0.0)
        high.append(campaign.status().arms[0].high)
    assert high[0] < high[1]


def test_every_rule_has_the_same_intervals() -> None:
    found = [
        mean_intervals(sw.Poisson(), state_of(sw.Poisson(), [9, 5], [2.0, 3.0], rule), 0.1)
        for rule in (sw.Wealth(), sw.Stylized(), sw.Conservative())
    ]
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


class Unknown(sw.Family, listed=False):
    """Coins of somebody else's, of which neither bets nor a mixture are known."""

    def interval(self) -> tuple[float, float]:
        return sw.Bernoulli().interval()

    def divergence(self, mu: float, lam: float) -> float:
        return sw.Bernoulli().divergence(mu, lam)

    def variance_at(self, mu: float) -> float:
        return sw.Bernoulli().variance_at(mu)


class Odd(Unknown, listed=False):
    """The same with a mixture."""

    def regret(self, count: float, mean: float, center: float, spread: float) -> float:
        return sw.Bernoulli().regret(count, mean, center, spread)


def test_families_without_bets() -> None:
    """A mixture will do, N d(mu-hat, c) - r < level; where none is known the interval is the space."""
    low, high = ends(Odd(), np.array([1.0] * 30 + [0.0] * 30), 0.05)
    lost = sw.Bernoulli().regret(60.0, 0.5, 0.0, 1.0)
    expected = sw.Bernoulli().upper(0.5, (math.log(20.0) + lost) / 60.0)
    assert (low, high) == pytest.approx((1.0 - expected, expected), rel=1e-8)
    assert ends(Unknown(), np.array([1.0, 0.0]), 0.05) == (0.0, 1.0)


@pytest.mark.parametrize("family", [sw.Bernoulli(), sw.Gaussian()])
def test_many_arms_are_compiled(family: Any) -> None:
    counts, means = np.arange(intervals.MANY), np.linspace(0.0, 1.0, intervals.MANY)
    state = state_of(family, counts, means)
    found = mean_intervals(family, state, 0.1)
    plain = [np.full(counts.size, each) for each in family.interval()]
    bets = own_bets(family)
    intervals.fill(bets, family, state.data, math.log(counts.size / 0.1), *plain)
    np.testing.assert_allclose(found.low[1:], plain[0][1:], rtol=1e-9)
    np.testing.assert_allclose(found.high[1:], plain[1][1:], rtol=1e-9)


# ------------------------------------------------------------------------------------ at all times


@jitable
def ever_refuted(bets: Any, family: Any, means: Floats, rounds: int, rng: Rng, data: Data) -> float:
    """The most that the bets on any arm made at its true mean, by a rule that feeds on luck."""
    top, made = 0.0, np.zeros(means.size)
    for t in range(rounds):
        # an adversary: the arm whose wealth is largest
        arm = t if t < means.size else argmax(made)
        sample = family.of_arm(arm).draw(means[arm], rng)
        data.counts[arm] += 1.0
        data.means[arm] += (sample - data.means[arm]) / data.counts[arm]
        made[arm] = bets.refutation(family, data, arm, means[arm])[0]
        top = max(top, made[arm])
    return top


def check_coverage(setting: Any, runs: int, rounds: int) -> None:
    """All arms' intervals hold their means at all times in a share of 1 - delta of the runs."""
    family, center, scale = setting
    means = center + scale * np.array([0.0, 0.1, 0.2])
    arms = 3
    bets, search = own_bets(family), compiled(ever_refuted)
    tops = np.array(
        [
            search(bets, family, means, rounds, generator(9, run), Data(np.zeros(3), np.zeros(3)))
            for run in range(runs)
        ]
    )
    for delta in (0.2, 0.05):
        missed = int(np.sum(tops >= math.log(arms / delta)))
        assert missed <= binom.isf(FALSE_ALARM / 2, runs, delta), missed / runs
    assert np.sum(tops >= math.log(arms / 0.5)) > 0  # the bets are not idle


@pytest.mark.parametrize("setting", [FAMILIES[0], FAMILIES[2]], **names)
def test_coverage_at_all_times(setting: Any) -> None:
    """False-alarm rate 1e-6 each."""
    check_coverage(setting, runs=1000, rounds=300)


@pytest.mark.slow
@pytest.mark.parametrize("setting", FAMILIES, **names)
def test_coverage_of_every_family(setting: Any) -> None:
    """False-alarm rate 1e-6 each."""
    check_coverage(setting, runs=4000, rounds=1000)


@pytest.mark.parametrize("setting", FAMILIES, **names)
def test_a_mean_is_outside_where_it_is_refuted(setting: Any) -> None:
    """What the simulations above count is what an interval misses."""
    family, center, scale = setting
    rng, seen = np.random.default_rng(4), set()
    for _ in range(60):
        count = int(rng.integers(1, 40))
        samples = np.array([family.draw(center, rng) for _ in range(count)])
        state = state_of(family, [count], [np.mean(samples)])
        c = np.clip(center + scale * rng.normal() * 3.0 / math.sqrt(count), *inside(family))
        low, high = ends(family, samples, 0.3)
        bets = own_bets(family)
        value = bets.refutation(family, state.data, 0, float(c))[0]
        if abs(value - math.log(1.0 / 0.3)) > 1e-6:
            refuted = value >= math.log(1.0 / 0.3)
            assert refuted == (not low <= c <= high)
            seen.add(refuted)
    assert seen == {True, False}


def inside(family: Any) -> tuple[float, float]:
    low, high = family.interval()
    return low + 1e-3, high - 1e-3


# ------------------------------------------------------------------------------------- where shown


def test_a_campaign_shows_them() -> None:
    spec = {"question": "best-arm", "arms": ["A", "B"], "family": "poisson", "delta": 0.05}
    campaign = Campaign.create(spec, "memory:", "counts")
    assert campaign.status().table()[1][0] == ["A", "0", "-", "-", "0"]
    for value in (3, 5, 2, 4, 6, 2):
        for arm in "AB":
            campaign.record(arm, value)
    status = campaign.status()
    low, high = ends(sw.Poisson(), np.array([3, 5, 2, 4, 6, 2]), 0.025)
    arm = status.arms[0]
    assert (arm.low, arm.high) == pytest.approx((low, high), rel=1e-9)
    header, rows = status.table()
    assert header[3] == "90 % interval"
    assert rows[0][3] == arm.interval == f"{low:.2f} to {high:.2f}"
    assert Status.from_dict(json.loads(json.dumps(status.to_dict()))) == status
    told = campaign.explain()
    assert told.intervals == {"A": arm.interval, "B": arm.interval}
    assert (
        f"90 % intervals for all arms and times, together with the answer: A: {arm.interval}"
        in told.text
    )


def seen_ends(family: str, samples: Any, delta: float) -> tuple[float | None, float | None]:
    """Of a campaign's arm whose family is as its samples show it; another arm shares the risk."""
    spec = {"question": "best-arm", "arms": ["A", "B"], "family": family, "delta": delta}
    session = Campaign.create(spec, "memory:", "seen").spec.session()
    for value in samples:
        session.record(0, float(value))
    found = mean_intervals(session.family, session.ledger.state, delta)
    return float(found.low[0]), float(found.high[0])


def test_unknown_variances() -> None:
    """At both ends sum_q a_q (1 + N/kappa_q)^(-1/2) (1 - q/V)^(-N/2) is 2/delta; units do not matter."""
    samples = np.random.default_rng(5).normal(3.0, 2.0, 25)
    n, mean, weights = samples.size, samples.mean(), grid(sw.Gaussian())[1]
    found = seen_ends("gaussian:variance=unknown", samples, 0.1)
    for end in found:
        total = 0.0
        for kappa, weight in zip(8.0 ** np.arange(-1, 7), weights, strict=True):
            share = n**2 * (mean - end) ** 2 / (n + kappa) / np.sum((samples - end) ** 2)
            total += weight * (1 + n / kappa) ** -0.5 * (1 - share) ** (-n / 2)
        assert total == pytest.approx(20.0, rel=1e-6)
    assert found[0] < mean < found[1]
    moved = seen_ends("gaussian:variance=unknown", 1e3 * samples + 5e3, 0.1)
    assert moved == pytest.approx(tuple(1e3 * end + 5e3 for end in found), rel=1e-7)
    assert seen_ends("gaussian:variance=unknown", [1.0], 0.1) == (-math.inf, math.inf)


def test_bounded_scores() -> None:
    """Products of bets on the samples themselves make at least as much at both ends, and little more."""
    samples = np.random.default_rng(6).beta(14.0, 6.0, 60)
    low, high = seen_ends("bounded", samples, 0.1)
    assert low < samples.mean() < high
    assert high - low < 0.2  # the coin's is twice as wide
    gaps = 0.995 * 0.5 ** np.arange(12)
    weights = np.maximum(np.arange(12) - 5.0, 1.0) ** -1.5
    weights /= weights.sum()
    for end in (low, high):
        above, below = samples / end, (1.0 - samples) / (1.0 - end)
        made = sum(
            w * (np.prod(1 - g + g * above) + np.prod(1 - g + g * below)) / 2
            for g, w in zip(gaps, weights, strict=True)
        )
        assert 20.0 * (1 - 1e-6) <= made < 30.0
    assert seen_ends("bounded", np.zeros(50), 0.1)[0] == 0.0
    assert seen_ends("bounded", np.full(50, 0.3), 0.1)[1] < 0.5


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (None, None, "-"),
        (0.25, None, "at least 0.25"),
        (None, 3.0, "at most 3"),
        (0.0, 0.0123, "0.0000 to 0.0123"),
        (119.6765, 120.3234, "119.677 to 120.323"),
        (1.0, 1.0, "1.000000000000 to 1.000000000000"),
        (12_000.0, 34_567.8, "12000 to 34568"),
    ],
)
def test_words_of_an_interval(low: float | None, high: float | None, words: str) -> None:
    assert Arm("A", 5, 1.0, 0, None, low, high).interval == words
