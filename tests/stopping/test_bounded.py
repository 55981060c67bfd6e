"""Bounded rewards by bets: what they make, sample by sample, and what the rule makes of it."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import naive_bets
import stopwise as sw
from steps import begin, instance, observe
from stopwise.cells.gap import Gap
from stopwise.core.data import Data
from stopwise.engine.design import Setting, prepare
from stopwise.families.bounded import Bounded, new_nodes
from stopwise.stopping.wealth_state import wealth_state
from validity import check_skipping

LOW, HIGH = -1.0, 3.0
FAMILY = Bounded(LOW, HIGH)
NODES = LOW + (HIGH - LOW) * new_nodes()


def looked_at(arms: list[Any], family: Bounded = FAMILY) -> tuple[Any, Data]:
    """The family and the data after these samples of each arm."""
    own = family.init_stats(len(arms))
    for arm, samples in enumerate(arms):
        for sample in samples:
            family.update_stats(own, arm, float(sample))
    counts = np.array([float(len(each)) for each in arms])
    return family.estimated(own), Data(counts, np.array([np.mean(each) for each in arms]))


def stated(problem: Any, arms: list[Any], family: Bounded = FAMILY) -> tuple[Any, Any]:
    """The state of a run after these samples, in turn, and its setting."""
    setting = prepare(
        Setting(problem, family, sw.Uniform(), sw.Wealth()), None, (0.05,), 10**6
    ).setting
    state = begin(setting)
    waiting = [list(each) for each in arms]
    rounds = 0
    while any(waiting):
        for arm, left in enumerate(waiting):
            if left:
                rounds += 1
                observe(setting, state, rounds, len(arms), arm, float(left.pop(0)))
    return state, setting


def found(problem: Any, arms: list[Any], answer: Any) -> float:
    """The evidence for an answer."""
    state, setting = stated(problem, arms)
    family = setting.family.estimated(state.stats)
    return sw.Wealth().evidence(instance(problem, family, state), state, problem.encode(answer))


# ------------------------------------------------------------------------------------------- bets


@pytest.mark.parametrize("side", [1, -1])
def test_samples_at_nodes_make_their_products(side: int) -> None:
    rng = np.random.default_rng(1)
    samples = rng.choice(NODES[[0, 7, 31, 64]], size=40)
    family, data = looked_at([samples])
    for c in (-0.99, 0.1, 1.7, 2.9):
        for gap, expected in zip(
            naive_bets.BETS, naive_bets.log_products(side, samples, c, LOW, HIGH), strict=True
        ):
            value, _ = family.of_arm(0).bet(float(side), 40.0, data.means[0], c, gap)
            assert value == pytest.approx(expected, rel=1e-10, abs=1e-10)


def most_lost(side: int, samples: Any, c: float, gap: float) -> float:
    """How far log f is above its chord between two nodes, at most; r is the ratio of f at the two.

    With x from 0 to 1, log(1 + (r - 1) x) - x log r is largest where 1 + (r - 1) x = (r - 1)/log r.
    """
    place = np.clip(np.searchsorted(NODES, samples, side="right") - 1, 0, 63)
    gain = (NODES - c) / (c - LOW) if side > 0 else (c - NODES) / (HIGH - c)
    f = 1.0 + gap * gain
    ratio = np.maximum(f[place + 1] / f[place], f[place] / f[place + 1])
    log = np.log(ratio)
    return float(np.sum(np.log((ratio - 1.0) / log) - 1.0 + log / (ratio - 1.0))) + 1e-9


@pytest.mark.parametrize("side", [1, -1])
def test_other_samples_make_a_little_less(side: int) -> None:
    """The logarithm is concave in a sample: what lies between two nodes is between two values."""
    rng = np.random.default_rng(2)
    for samples in (rng.uniform(LOW, HIGH, 200), LOW + 4 * rng.beta(0.2, 0.2, 200), [2.5] * 9):
        family, data = looked_at([samples])
        for c in (-0.5, 0.6, 2.4):
            for gap, expected in zip(
                naive_bets.BETS, naive_bets.log_products(side, samples, c, LOW, HIGH), strict=True
            ):
                value, _ = family.of_arm(0).bet(float(side), 1.0, data.means[0], c, gap)
                assert expected - most_lost(side, samples, c, gap) <= value <= expected + 1e-9


@pytest.mark.parametrize("side", [1, -1])
def test_bets_are_monotone_and_convex_and_have_the_slope_they_say(side: int) -> None:
    samples = np.random.default_rng(3).uniform(LOW, HIGH, 30)
    family, data = looked_at([samples])
    places = np.linspace(LOW + 0.01, HIGH - 0.01, 400)
    for gap in naive_bets.BETS:
        pairs = [family.of_arm(0).bet(float(side), 30.0, data.means[0], c, gap) for c in places]
        values, slopes = np.array(pairs).T
        assert np.all(-side * np.diff(values) >= 0.0)
        assert np.all(-side * slopes >= 0.0)
        assert np.all(np.diff(slopes) >= -1e-9 * np.abs(slopes[1:]))
        middle = np.diff(values) / np.diff(places)
        assert np.all(middle >= slopes[:-1] - 1e-9 * np.abs(slopes[:-1]))
        assert np.all(middle <= slopes[1:] + 1e-9 * np.abs(slopes[1:]))


@pytest.mark.parametrize("ends", [(0, 64), (13, 40)])
@pytest.mark.parametrize("share", [0.05, 0.5, 0.7])
def test_wealth_sums_to_one_over_all_outcomes(ends: tuple[int, int], share: float) -> None:
    """Two-point laws, 12 samples: at the true mean every bet is worth exactly 1 on average."""
    low, high = NODES[list(ends)]
    c = low + share * (high - low)
    state = wealth_state(looked_at([[c], [c]])[0], sw.BestArm(2))
    for size in (1, 5, 12):
        above = below = 0.0
        for successes in range(size + 1):
            chance = (
                math.comb(size, successes) * share**successes * (1 - share) ** (size - successes)
            )
            family, data = looked_at([[high] * successes + [low] * (size - successes)])
            above += chance * math.exp(state.arm_wealth(family, data, 0, 1.0, c))
            below += chance * math.exp(state.arm_wealth(family, data, 0, -1.0, c))
        assert above == pytest.approx(1.0, abs=1e-11)
        assert below == pytest.approx(1.0, abs=1e-11)


def test_pairs_sum_to_one_and_other_laws_to_less() -> None:
    """Two arms with 5 and 7 samples at equal means; values that are no nodes lose a little."""
    state = wealth_state(looked_at([[0.0], [0.0]])[0], sw.BestArm(2))
    for low, high, exact in ((LOW, HIGH, True), (0.123, 1.456, False)):
        c, total = low + 0.3 * (high - low), 0.0
        for one, two in itertools.product(range(6), range(8)):
            chance = (
                math.comb(5, one) * math.comb(7, two) * 0.3 ** (one + two) * 0.7 ** (12 - one - two)
            )
            arms = [[high] * one + [low] * (5 - one), [high] * two + [low] * (7 - two)]
            family, data = looked_at(arms)
            total += chance * math.exp(state.log_pair(family, data, Gap(0, 1, 0.0), c)[0])
        assert total <= 1.0 + 1e-11
        assert total >= (1.0 - 1e-11 if exact else 0.99)


# --------------------------------------------------------------------------------------- evidence


def test_evidence_is_what_brute_force_finds() -> None:
    """Samples at nodes: to 1e-7. The minimum is over all means, found by grids there."""
    rng = np.random.default_rng(4)
    for turn in range(6):
        low, high = (20, 50) if turn % 2 else (0, 65)
        arms = [rng.choice(NODES[low:high], size=size) for size in rng.integers(3, 40, size=3)]
        arms[0] = np.minimum(arms[0] + 0.5, HIGH) if turn % 3 == 0 else arms[0]
        arms[0] = NODES[np.searchsorted(NODES, arms[0] - 1e-12)]
        limit, margin = float(rng.uniform(0.0, 2.0)), float(rng.choice([0.0, 0.3]))
        pairs = [naive_bets.pair_evidence(arms[0], arms[k], margin, LOW, HIGH) for k in (1, 2)]
        assert found(sw.BestArm(3, margin), arms, 0) == pytest.approx(min(pairs), abs=1e-7)
        ups = [max(naive_bets.log_arm(1, each, limit, LOW, HIGH), 0.0) for each in arms]
        assert found(sw.MinimumThreshold(3, limit), arms, "high") == pytest.approx(
            min(ups), abs=1e-7
        )
        low_one = naive_bets.side_evidence(arms, limit, LOW, HIGH)
        assert found(sw.MinimumThreshold(3, limit), arms, "low") == pytest.approx(low_one, abs=1e-7)


def test_evidence_of_any_samples_is_a_little_less_than_brute_force() -> None:
    rng = np.random.default_rng(5)
    for _ in range(4):
        arms = [LOW + 4 * rng.beta(*ab, size=60) for ab in ((6, 2), (3, 4))]
        expected = naive_bets.pair_evidence(arms[0], arms[1], 0.0, LOW, HIGH)
        assert 0.97 * expected - 0.01 <= found(sw.BestArm(2), arms, 0) <= expected + 1e-9


@pytest.mark.parametrize(
    ("problem", "means"),
    [
        (sw.BestArm(3), (0.8, 0.5, 0.4)),
        (sw.BestArm(3, 0.1), (0.7, 0.65, 0.4)),
        (sw.Thresholding(3, 0.5), (0.8, 0.3, 0.2)),
        (sw.AnyLowArm(3, 0.5), (0.8, 0.3, 0.6)),
        (sw.MinimumThreshold(3, 0.5), (0.8, 0.3, 0.35)),
    ],
    ids=repr,
)
def test_watching_changes_no_stopping_time(problem: Any, means: Any) -> None:
    setting = Setting(problem, sw.Bounded(), sw.Uniform(), sw.Wealth())
    rng = np.random.default_rng(6)
    arms = [rounds % 3 for rounds in range(2000)]
    samples = ((arm, float(rng.beta(8 * means[arm], 8 * (1 - means[arm])))) for arm in arms)
    check_skipping(prepare(setting, means, (0.1,), 10**6), samples)


# ------------------------------------------------------------------------- what is kept and sampled


def test_variances_are_estimated_as_if_there_were_one_sample_more() -> None:
    samples = np.random.default_rng(7).uniform(LOW, HIGH, 50)
    family, _ = looked_at([samples, [HIGH] * 20])
    scaled = (samples - LOW) / 4
    share = (scaled.sum() + 0.5) / 51
    expected = (50 * scaled.var() + share * (1 - share)) / 51
    assert family.variance[0] == pytest.approx(16 * expected, rel=1e-9)
    assert 0.0 < family.variance[1] < 0.05  # constant samples


def test_shares_keep_number_and_mean_and_the_state_does_not_grow() -> None:
    samples = np.random.default_rng(8).beta(2, 5, 3000)
    family, data = looked_at([samples], Bounded())
    assert family.shares.shape == (1, 65)
    assert family.shares.sum() == pytest.approx(3000.0)
    assert family.shares[0] @ family.nodes == pytest.approx(3000.0 * data.means[0])


def test_more_samples_go_to_the_arm_with_the_larger_spread() -> None:
    """In proportion to the standard deviations, 1 to 4: within a factor of 1.2."""
    runs = sw.simulate(
        *(sw.BestArm(2), [0.51, 0.49]),
        **{"family": sw.Bounded(), "deviations": [0.08, 0.32], "repetitions": 5, "seed": 1},
    )
    assert runs.correct.all()
    ratio = runs.counts[:, 1].sum() / runs.counts[:, 0].sum()
    assert 4.0 / 1.2 <= ratio <= 4.0 * 1.2


@pytest.mark.parametrize("value", [0.0, 0.3, 1.0])
def test_constant_data_are_patient_not_rich(value: float) -> None:
    """The same constant everywhere: no evidence for either arm, however many samples."""
    state, setting = stated(sw.BestArm(2), [[value] * 300] * 2, Bounded())
    family = setting.family.estimated(state.stats)
    assert sw.Wealth().margin(instance(sw.BestArm(2), family, state), state, 600, -math.inf) == 0.0


def test_constants_that_differ_are_told_apart_and_one_sample_is_not_enough() -> None:
    for arms in ([[0.7], [0.6]], [[1.0], [0.0]]):
        state, setting = stated(sw.BestArm(2), arms, Bounded())
        family = setting.family.estimated(state.stats)
        found = sw.Wealth().margin(instance(sw.BestArm(2), family, state), state, 2, -math.inf)
        assert 0.0 <= found < math.log(4.0)  # no bet wins more than 2 for 1 there, on each arm
    runs = sw.simulate(
        sw.BestArm(2), {"a": [0.7], "b": [0.6]}, family=sw.Bounded(), repetitions=2, seed=1
    )
    assert runs.answers.tolist() == [0, 0]
    assert runs.stopping_times.max() <= 120


# ------------------------------------------------------------------------------------ old behaviour


@pytest.mark.usefixtures("not_compiled")
def test_thresholds_take_bounded_arms_for_coins() -> None:
    for rule in (sw.Mixture(), sw.MixtureMartingale(), sw.Stylized(), sw.Conservative()):
        times = [
            sw.simulate(
                *(sw.BestArm(2), [0.9, 0.2]),
                **{"family": family, "stopping": rule, "repetitions": 3, "seed": 2, "workers": 1},
            ).stopping_times.tolist()
            for family in (sw.Bounded(), sw.BoundedCoin())
        ]
        assert times[0] == times[1]


def test_campaigns_keep_the_rule_of_their_spec(tmp_path: Path) -> None:
    """A spec that names a threshold, as those of older versions do, is about coins as before."""
    spec = {
        "question": {"kind": "best-arm"},
        "arms": ["a", "b"],
        "family": {"kind": "bounded", "low": 0, "high": 1},
        "delta": 0.1,
    }
    older = sw.Campaign.create({**spec, "threshold": "mixture"}, tmp_path / "x.db", "older")
    newer = sw.Campaign.create(spec, tmp_path / "x.db", "newer")
    assert isinstance(older.spec.design.family, sw.BoundedCoin)
    assert isinstance(newer.spec.design.family, sw.Bounded)
    for campaign in (older, newer):
        for turn in range(30):
            (ask,) = campaign.ask()
            campaign.tell(ask.token, 0.5 + 0.01 * (turn % 7) + 0.01 * ask.arm)
        assert campaign.verify().agrees
        with pytest.raises(sw.BadArgument, match=r"Widen the interval.*clip every value.*Never"):
            campaign.tell(campaign.ask()[0].token, 1.2)
