"""Top-Two: each part against a naive version round by round, and what it does at the edges."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from scipy import stats

import naive_strategies as naive
import stopwise as sw
from steps import begin, choose, observe
from stopwise.core import registry, spelling
from stopwise.engine import live
from stopwise.engine.design import Setting, generator, prepare
from stopwise.sampling.top_two.parts import log_improvement

LAWS = {sw.Gaussian(): naive.Gaussian(), sw.Bernoulli(): naive.Bernoulli()}
BELL, COIN = LAWS
MEANS = {BELL: [0.9, 0.31, 0.57, -0.2], COIN: [0.71, 0.33, 0.52, 0.18]}


def rounds(problem: Any, family: Any, strategy: Any, means: Any, count: int, seed: int = 1) -> Any:
    """Plain rounds: the state before and after each choice, and the arm."""
    design = prepare(Setting(problem, family, strategy, sw.Stylized()), means, (0.1,), 10**6)
    state, rng, dice = begin(design), generator(seed, 0), generator(seed, 1)
    start = problem.arms
    for t in range(count):
        before = state.data.counts.copy(), state.data.means.copy()
        arm = int(choose(design.setting, state, t, dice))
        if t >= start:
            yield t, before, arm, state
        sample = family.of_arm(arm).draw(float(means[arm]), rng)
        observe(design.setting, state, t + 1, start, arm, sample)


PARTS = [
    (sw.EbTc(), "eb", "tc"),
    (sw.EbTci(), "eb", "tci"),
    (sw.Ttucb(0.5), "ucb", "tc"),
    (sw.Ttei(), "ei", "ei"),
    (sw.TopTwo("ucb", "tci", 0.3), "ucb", "tci"),
]


@pytest.mark.parametrize("family", LAWS, ids=repr)
@pytest.mark.parametrize(("strategy", "first", "second"), PARTS, ids=str)
def test_leaders_and_challengers_are_the_papers(
    family: Any, strategy: Any, first: str, second: str
) -> None:
    law, seen = LAWS[family], 0
    for t, (counts, means), arm, state in rounds(
        sw.BestArm(4), family, strategy, MEANS[family], 120
    ):
        leader = naive.leader(first, law, counts, means, t)
        if np.sum(means == means[leader]) > 1:
            continue  # ties are anybody's
        rival = naive.challenger(second, law, counts, means, leader)
        seen += 1
        assert state.plan.pursued[0] == leader
        assert set(np.flatnonzero(state.strategy_state.found.arms)) == {leader, rival}
        assert arm in (leader, rival)
    assert seen > 80


@pytest.mark.parametrize("family", LAWS, ids=repr)
def test_shares_by_information(family: Any) -> None:
    law = LAWS[family]
    for _, (counts, means), arm, state in rounds(
        sw.BestArm(4), family, sw.EbTc("ids"), MEANS[family], 120
    ):
        leader, parts = int(state.plan.pursued[0]), state.strategy_state.draw
        rival = naive.challenger("tc", law, counts, means, leader)
        share = naive.information(law, counts, means, leader, rival)
        assert parts[leader] / parts.sum() == pytest.approx(share, abs=1e-6)
        assert parts[arm] > 0.0


@pytest.mark.parametrize("slack", [0.0, 0.1])
@pytest.mark.parametrize("family", LAWS, ids=repr)
def test_tracked_shares_sample_the_papers_arms(family: Any, slack: float) -> None:
    strategy = sw.TopTwo("eb", "tc", "tracked", slack)
    law, led, own = LAWS[family], np.zeros(4), np.zeros(4)
    for _, (counts, means), arm, state in rounds(
        sw.BestArm(4), family, strategy, MEANS[family], 150
    ):
        leader = int(state.plan.pursued[0])
        assert means[leader] == means.max()
        led[leader] += 1.0
        if own[leader] <= 0.5 * led[leader]:
            expected = leader
            own[leader] += 1.0
        else:
            expected = naive.challenger("tc", law, counts, means, leader, slack)
        assert arm == expected


def test_the_lowest_mean_is_the_mirror_image() -> None:
    """With normal arms, the arms for the lowest of -mu are those for the highest of mu."""
    means = np.array([0.9, 0.31, 0.57, -0.2])
    for strategy in (
        sw.EbTc("tracked"),
        sw.Ttucb(),
        sw.TopTwo("ei", "ei", "tracked"),
        sw.EbTcEpsilon(),
    ):
        chosen = []
        for goal, sign in (("max", 1.0), ("min", -1.0)):
            problem = sw.BestArm(4, goal=goal)
            design = prepare(
                Setting(problem, BELL, strategy, sw.Stylized()), sign * means, (0.1,), 999
            )
            state, noise = begin(design), np.random.default_rng(3)
            arms = []
            for t in range(60):
                arm = int(choose(design.setting, state, t, generator(1, t)))
                arms.append(arm)
                sample = sign * (means[arm] + noise.standard_normal())
                observe(design.setting, state, t + 1, 4, arm, sample)
            chosen.append(arms)
        assert chosen[0] == chosen[1]


def test_improvements_reach_beyond_the_smallest_number() -> None:
    for cost, spread in ((0.0, 2.0), (0.3, 0.5), (30.0, 1.0), (400.0, 0.1)):
        z = -np.sqrt(2 * cost)
        made = spread * (z * stats.norm.cdf(z) + stats.norm.pdf(z))
        expected = np.log(made)
        assert log_improvement(cost, spread, -np.inf) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    far = [log_improvement(cost, 1.0, -np.inf) for cost in (1e3, 1.2e3, 1.3e3, 1e6, 1e12)]
    assert np.all(np.diff(far) < 0.0)
    assert np.isfinite(far).all()
    assert far[0] == pytest.approx(-1e3 - np.log(np.sqrt(2 * np.pi) * 2e3), abs=2e-3)


# -------------------------------------------------------------------------------------- posteriors

COUNT = 7.0
POSTERIORS = [
    (sw.Gaussian(2.0), 0.3, stats.norm(0.3, np.sqrt(2.0 / COUNT))),
    (sw.Bernoulli(), 2 / 7, stats.beta(3, 6)),
    (sw.Binomial(5), 2.0, stats.beta(15, 22, scale=5)),
    (sw.BoundedCoin(-1.0, 2.0), 0.5, stats.beta(4.5, 4.5, loc=-1, scale=3)),
    (sw.Poisson(), 3.0, stats.gamma(21.5, scale=1 / 7)),
    (sw.Exponential(), 2.0, stats.invgamma(7, scale=14)),
    (sw.Gamma(2.5), 2.0, stats.invgamma(17.5, scale=35)),
    (sw.Gaussian(variance=None).seen([1.5]), 0.3, stats.t(6, 0.3, 1.5 / np.sqrt(6))),
]


@pytest.mark.parametrize(("family", "mean", "law"), POSTERIORS, ids=lambda each: repr(each)[:30])
def test_posterior_draws(family: Any, mean: float, law: Any) -> None:
    """Kolmogorov's test, false alarms 1e-7 each."""
    rng = np.random.default_rng(5)
    found = [family.of_arm(0).posterior_draw(COUNT, mean, rng) for _ in range(3_000)]
    assert stats.kstest(found, law.cdf).pvalue > 1e-7


def test_posterior_draws_of_transformed_laws() -> None:
    rng = np.random.default_rng(6)
    chances = [1 / sw.Geometric().posterior_draw(COUNT, 3.0, rng) for _ in range(3_000)]
    assert stats.kstest(chances, stats.beta(8, 15).cdf).pvalue > 1e-7
    means = np.array(
        [sw.NegativeBinomial(3.0).posterior_draw(COUNT, 2.0, rng) for _ in range(3_000)]
    )
    assert stats.kstest(3 / (3 + means), stats.beta(22, 15).cdf).pvalue > 1e-7
    rates = [1 / sw.InverseGaussian(2.0).posterior_draw(1.0, 1.0, rng) for _ in range(3_000)]
    spread = 1 / np.sqrt(2.0)
    law = stats.truncnorm(-1.0 / spread, np.inf, loc=1.0, scale=spread)
    assert stats.kstest(rates, law.cdf).pvalue > 1e-7


def test_a_family_of_the_users_own_has_draws_by_its_likelihood_ratio() -> None:
    """The default, here of coins: close to the posterior once there are some samples."""
    default, rng = sw.Family.posterior_draw, np.random.default_rng(7)
    found = np.array([default(sw.Bernoulli(), 400.0, 0.3, rng) for _ in range(4_000)])
    assert found.mean() == pytest.approx(0.3, abs=0.003)
    assert found.std() == pytest.approx(np.sqrt(0.21 / 400), rel=0.1)


@pytest.mark.parametrize(
    ("family", "mean"),
    [(sw.Bernoulli(), 0.0), (sw.Bernoulli(), 1.0), (sw.Poisson(), 0.0), (sw.Geometric(), 1.0),
     (sw.NegativeBinomial(2.0), 0.0), (sw.Binomial(3), 3.0)],
)  # fmt: skip
def test_first_samples_at_an_end_leave_all_means_possible(family: Any, mean: float) -> None:
    rng = np.random.default_rng(8)
    found = [family.posterior_draw(1.0, mean, rng) for _ in range(500)]
    assert np.isfinite(found).all()
    assert np.std(found) > 0.05


# ---------------------------------------------------------------------------------------- the edges

EVERY = [
    sw.Ttts(), sw.T3c("ids"), sw.Ttei(), sw.EbTc("ids"), sw.EbTci(), sw.Ttucb(), sw.EbTcEpsilon(),
    sw.TopTwo("ts", "ei", 0.7),
]  # fmt: skip


@pytest.mark.parametrize("strategy", EVERY, ids=repr)
def test_ties_equal_arms_and_two_arms(strategy: Any) -> None:
    """No crash, no arm out of range, and of two equal arms both are sampled."""
    for family, means in ((COIN, [0.5, 0.5, 0.5]), (COIN, [0.999, 0.999]), (BELL, [0.0, 0.0])):
        counts = np.zeros(len(means))
        for _, _, arm, _ in rounds(sw.BestArm(len(means)), family, strategy, means, 150):
            counts[arm] += 1.0
        assert counts.sum() == 150 - len(means)
        assert counts.min() >= (20 if len(means) == 2 else 0)


@pytest.mark.parametrize("strategy", EVERY, ids=repr)
def test_a_thousand_arms(strategy: Any) -> None:
    means = np.linspace(1.0, -1.0, 1_000)
    arms = [arm for _, _, arm, _ in rounds(sw.BestArm(1_000), BELL, strategy, means, 1_006)]
    assert len(arms) == 6


@pytest.mark.parametrize("strategy", [sw.EbTc(), sw.T3c("ids"), sw.EbTci("ids")], ids=repr)
def test_an_arm_on_the_limit_does_not_stop_the_others(strategy: Any) -> None:
    """At a tie no answer has evidence; the sample that breaks it must come."""
    problem = sw.AnyLowArm(3, 0.5)
    design = prepare(Setting(problem, COIN, strategy, sw.Wealth()), [0.6, 0.7, 0.8], (0.1,), 999)
    state, dice = begin(design), generator(1, 1)
    told = {0: [1, 1, 1], 1: [1, 0], 2: [1, 1]}
    t = 0
    for arm, samples in told.items():
        for sample in samples:
            t += 1
            observe(design.setting, state, t, 7, arm, float(sample))
    arms = {int(choose(design.setting, state, t, dice)) for _ in range(40)}
    assert 1 in arms


# ------------------------------------------------------------------------------------- in campaigns


def arms_in_flight(strategy: Any) -> list[int]:
    """How many arms each batch of 20 has, one sample in ten lost, up to a decision that must come."""
    setting = Setting(sw.BestArm(4), COIN, strategy, sw.Stylized())
    design = prepare(setting, None, (0.1,), 10**5)
    ledger, rng, dice = live.open_ledger(design), np.random.default_rng(2), generator(3, 1)
    truth, told, batches = [0.85, 0.5, 0.4, 0.3], 0, []
    while told < 3_000:
        asked = [int(live.ask(design.setting, ledger, dice)) for _ in range(20)]
        batches.append(len(set(asked)))
        for arm in asked:
            if rng.random() < 0.1:
                live.give_up(ledger, arm)
                continue
            told += 1
            live.tell(design.setting, ledger, arm, float(rng.random() < truth[arm]))
            if live.current_margin(design.setting, ledger, design.levels[0]) >= design.levels[0]:
                assert ledger.state.report.answer[0] == 0
                return batches
    pytest.fail("no decision")


@pytest.mark.parametrize("strategy", EVERY, ids=repr)
def test_twenty_samples_in_flight_and_one_in_ten_lost(strategy: Any) -> None:
    """Asks without news are for more than one arm, and the campaign decides."""
    assert min(arms_in_flight(strategy)) >= 2


def test_without_news_the_asks_go_where_the_samples_in_flight_have_not_gone() -> None:
    """Of two rivals that are as close one would get half of the asks, the other none."""
    setting = Setting(sw.BestArm(3), BELL, sw.EbTc("tracked"), sw.Stylized())
    design = prepare(setting, None, (0.1,), 10**5)
    ledger = live.open_ledger(design)
    for arm, value in ((0, 1.0), (1, 0.2), (2, 0.19)):
        live.ask(design.setting, ledger, generator(1, 1))
        live.tell(design.setting, ledger, arm, value)
    asked = [int(live.ask(design.setting, ledger, generator(1, 1))) for _ in range(30)]
    assert min(np.bincount(asked, minlength=3)) >= 6


# -------------------------------------------------------------------------------------------- names


def test_names_and_options() -> None:
    known = {
        "ttts": sw.Ttts(),
        "t3c:share=ids": sw.T3c("ids"),
        "ttei": sw.Ttei(),
        "eb-tc": sw.EbTc(),
        "eb-tci:share=0.4": sw.EbTci(0.4),
        "ttucb": sw.Ttucb(),
        "eb-tc-epsilon:slack=0.2": sw.EbTcEpsilon(0.2),
        "top-two:leader=eb,challenger=tci,share=ids": sw.TopTwo("eb", "tci", "ids"),
    }
    for name, strategy in known.items():
        assert spelling.strategy(name) == strategy
        assert name.partition(":")[0] in registry.names("strategy")
        assert pickle.loads(pickle.dumps(strategy)) == strategy
        assert strategy.title
        assert strategy.reason
        assert all(strategy.because)
    assert sw.TopTwo() != sw.T3c("ids")  # the same parts, another name
