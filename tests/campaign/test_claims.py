"""All that is shown together holds together: docs/claims.md, at the boundary where claims can be false.

A run is wrong if the answer, or any interval or bound that is shown at any time, is wrong. Arms are
equal, or apart by exactly epsilon; the first counts as the better one of equals. Counts are compared
with binomial limits that a correct package exceeds with probability 1e-6.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pytest

import stopwise as sw
from stopwise.campaign.campaign import Campaign
from stopwise.campaign.spec import read as read_spec
from stopwise.core.arrays import Floats
from stopwise.paired.bounds import bound_level, implied, joint
from stopwise.stopping.intervals import interval_share, joint_delta, mean_intervals
from validity import most

DELTA = 0.2
COIN, SCORE, REAL = sw.Bernoulli(), sw.Bounded(0.0, 1.0), sw.Gaussian(variance=None)


# --------------------------------------------------------------------------------- what is stated


def test_what_is_spent_beside_the_answer() -> None:
    assert [joint_delta(each) for each in (0.05, 0.1, 0.2)] == [0.1, 0.2, 0.4]
    for delta in (0.4, 0.6, 0.99):
        assert delta < joint_delta(delta) < 1.0
        assert interval_share(delta) <= delta


@pytest.mark.parametrize("delta", [0.05, 0.4, 0.7])
def test_bounds_spend_their_share_on_all_ordered_pairs(delta: float) -> None:
    def spent(**given: Any) -> float:
        what = sw.PairedSession(COIN, 4, delta=delta, **given).what
        return math.exp(-bound_level(what))

    share = interval_share(delta)
    assert 12 * spent() == pytest.approx(share)
    assert 12 * spent(problem=sw.TopArms(4, 2)) == pytest.approx(share)
    assert 6 * spent(problem=sw.BetterThan(4, 0)) == pytest.approx(share)
    assert 12 * spent(ties=True, epsilon=0.1) == pytest.approx(delta)  # the answer's own events
    tied = sw.PairedSession(COIN, 4, delta=delta, ties=True, epsilon=0.1)
    assert joint(tied.what) == delta
    assert joint(sw.PairedSession(COIN, 4, delta=delta).what) == pytest.approx(delta + share)


def test_an_answer_says_something_of_differences_itself() -> None:
    what = sw.PairedSession(COIN, 3, epsilon=0.1).what
    assert implied(what, (0,), 0, 1) == -0.1
    assert implied(what, (0,), 1, 2) == implied(what, (0,), 1, 0) == -math.inf
    what = sw.PairedSession(COIN, 3, problem=sw.BetterThan(3, 1, epsilon=0.1)).what
    assert implied(what, (0,), 0, 1) == 0.0
    assert implied(what, (0,), 1, 2) == -0.1  # the control, and one that is not better by epsilon
    what = sw.PairedSession(COIN, 3, problem=sw.AnyBetterThan(3, 1, epsilon=0.1)).what
    assert implied(what, (0,), 1, 2) == -math.inf  # that one is better says nothing of others
    assert implied(what, (), 1, 2) == -0.1
    what = sw.PairedSession(COIN, 3, ties=True, epsilon=0.1).what
    assert implied(what, (0, 1), 0, 2) == -math.inf


def test_where_it_is_stated() -> None:
    spec = {
        "question": "best-arm",
        "arms": ["A", "B"],
        "family": "bernoulli",
        "delta": 0.05,
        "paired": True,
    }
    campaign = Campaign.create(spec, "memory:", "pairs")
    while campaign.status().state == "running":
        for ticket in campaign.ask(2):
            campaign.tell(ticket.token, float(ticket.label == "A"))
    assert campaign.status().joint_delta == 0.1
    assert campaign.status().to_dict()["joint_delta"] == 0.1
    said = campaign.explain().text
    assert "A against B: better by 1 on the same items, at least 0\n" in said
    assert "the answer and all bounds, at all times: together with probability 90 %" in said
    assert "is better (" not in said  # of a pair by itself nothing is proven


# ------------------------------------------------------------------------------- items: simulations


class Setting(NamedTuple):
    """True means and how rows are drawn; the question."""

    family: Any
    means: tuple[float, ...]
    given: dict[str, Any] = {}
    pool: int = 0


PAIRED = {
    "two equal coins": Setting(COIN, (0.5, 0.5)),
    "three equal coins": Setting(COIN, (0.5, 0.5, 0.5)),
    "coins, at epsilon": Setting(COIN, (0.5, 0.4, 0.4), {"epsilon": 0.1}),
    "scores, the two best": Setting(SCORE, (0.5, 0.5, 0.5, 0.5), {"problem": sw.TopArms(4, 2)}),
    "normal": Setting(REAL, (0.0, 0.0, 0.0)),
    "a control": Setting(COIN, (0.5, 0.5, 0.5), {"problem": sw.BetterThan(3, 0)}),
    "a control, at epsilon": Setting(
        COIN, (0.4, 0.5), {"problem": sw.BetterThan(2, 0, epsilon=0.1)}
    ),
    "a pool": Setting(COIN, (30 / 60, 29 / 60), {}, 60),  # at its end equal means are no error
    "ties": Setting(REAL, (0.1, 0.0, 0.0), {"epsilon": 0.1, "ties": True}),
}


def fed(session: sw.PairedSession, rows: Floats) -> sw.PairedSession:
    for row in rows:
        if not session.decided:
            item, arms = session.ask()
            for arm in arms:
                session.tell(item, arm, row[arm])
    return session


def draw(setting: Setting, items: int, rng: np.random.Generator) -> Floats:
    means, arms = np.array(setting.means), len(setting.means)
    if setting.pool:
        ones = [np.arange(setting.pool) < round(mean * setting.pool) for mean in means]
        return np.column_stack([rng.permutation(each) for each in ones]).astype(float)
    if setting.family is REAL:
        return np.asarray(rng.normal(size=(items, arms)) + means)
    if setting.family is SCORE:
        return np.asarray(rng.beta(2.0 * means, 2.0 * (1.0 - means), size=(items, arms)))
    return np.asarray((rng.random((items, arms)) < means).astype(float))


def answer_is_wrong(setting: Setting, session: sw.PairedSession) -> bool:
    """Equal arms: the first ones are the better ones, as if by a hair."""
    what, means = session.what, np.array(setting.means)
    hair = means - 1e-9 * np.arange(means.size)
    epsilon, named = session.epsilon, session.verdict().winners
    if not session.decided:
        return False
    if what.ties:
        best = [k for k in range(means.size) if k in named]
        apart = max(means[best]) - min(means[best]) >= epsilon - 1e-12 and len(best) > 1
        return bool(apart or max(hair) > max(hair[best]))
    others = [k for k in range(means.size) if k not in named]
    if what.control >= 0:
        limit = means[what.control]
        false = any(hair[k] < limit for k in named)
        return bool(false or any(means[k] >= limit + epsilon > limit for k in others))
    return any(hair[j] > hair[i] and means[j] >= means[i] + epsilon for i in named for j in others)


def is_wrong(setting: Setting, items: int, seed: int) -> bool:
    """One run: the answer, every bound at the end, and those at zero and -epsilon at every item."""
    rows = draw(setting, items, np.random.default_rng(seed))
    more = {"pool": setting.pool} if setting.pool else {}
    session = sw.PairedSession(setting.family, rows.shape[1], delta=DELTA, **setting.given, **more)
    session.compile()
    means = np.array(setting.means) if not setting.pool else rows.mean(0)
    true, level = means[:, None] - means, bound_level(session.what)
    at = np.isclose(true[None], -session.what.margins[:, None, None], atol=1e-12)
    at &= ~np.eye(len(means), dtype=bool)
    wrong = False
    for row in rows:
        if session.decided:
            break
        fed(session, row[None])
        wrong = wrong or bool(np.any(session.state.evidence[at] >= level))
    pairs = [(i, j) for i in range(len(means)) for j in range(len(means)) if i != j]
    wrong = wrong or any(session.at_least(i, j) > true[i, j] + 1e-9 for i, j in pairs)
    return wrong or answer_is_wrong(setting, session)


def check_paired(name: str, runs: int, items: int) -> float:
    setting = PAIRED[name]
    stated = joint(
        sw.PairedSession(setting.family, len(setting.means), delta=DELTA, **setting.given).what
    )
    wrong = sum(is_wrong(setting, items, seed) for seed in range(runs))
    assert wrong <= most(runs, stated), (name, wrong / runs, stated)
    return wrong / runs


@pytest.mark.parametrize("name", PAIRED)
def test_the_answer_and_bounds_hold_together(name: str) -> None:
    check_paired(name, 25, 60)


@pytest.mark.slow
@pytest.mark.parametrize("name", PAIRED)
def test_the_answer_and_bounds_hold_together_in_many_runs(name: str) -> None:
    print(name, check_paired(name, 1_000, 200))


# ---------------------------------------------------------------------------- campaigns: simulations


def campaign_is_wrong(spec: dict[str, Any], means: Floats, samples: int, seed: int) -> bool:
    """One campaign: the answer, and every interval that a status shows on the way."""
    rng, campaign = np.random.default_rng(seed), Campaign.create(spec, "memory:", f"run {seed}")
    for _ in range(samples // 10):
        if campaign.status().decision is not None:
            break
        for ticket in campaign.ask(10):
            value = float(rng.random() < means[ticket.arm])
            if spec["family"] != "bernoulli":
                value = float(means[ticket.arm] + rng.normal())
            campaign.tell(ticket.token, value)
        for arm, mean in zip(campaign.status().arms, means, strict=True):
            low = -math.inf if arm.low is None else arm.low
            high = math.inf if arm.high is None else arm.high
            if arm.samples and not low <= mean <= high:
                return True
    decision = campaign.status().decision
    return decision is not None and decision.answer != 0


CAMPAIGNS = {
    "coins": ({"family": "bernoulli"}, (0.5, 0.5, 0.5)),
    "normal": ({"family": {"kind": "gaussian", "variance": 1}}, (0.0, 0.0)),
    "unknown variance": ({"family": {"kind": "gaussian", "variance": "unknown"}}, (0.0, 0.0)),
}


def check_campaigns(name: str, runs: int, samples: int) -> float:
    table, means = CAMPAIGNS[name]
    arms = [f"arm {k}" for k in range(len(means))]
    spec = {"question": "best-arm", "arms": arms, "delta": DELTA, "strategy": "uniform", **table}
    wrong = sum(campaign_is_wrong(spec, np.array(means), samples, seed) for seed in range(runs))
    stated = Campaign.create(spec, "memory:", "stated").status().joint_delta
    assert stated == joint_delta(DELTA)
    assert wrong <= most(runs, stated), (name, wrong / runs)
    return wrong / runs


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_the_answer_and_intervals_hold_together(name: str) -> None:
    check_campaigns(name, 8, 50)


def session_is_wrong(design: Any, means: Floats, samples: int, seed: int) -> bool:
    """The same without a store."""
    rng, session = np.random.default_rng(seed), sw.Session(design)
    for _ in range(samples // 100):
        for _ in range(100):
            if session.decision is None:
                arm = session.ask()
                session.tell(arm, draw_one(design.family, means[arm], rng))
        low, high = mean_intervals(session.family, session.ledger.state, interval_share(DELTA))
        if np.any((low > means) | (high < means)):
            return True
    return session.decision is not None and session.decision.answer != 0


def draw_one(family: Any, mean: float, rng: np.random.Generator) -> float:
    return float(rng.random() < mean) if family == COIN else mean + rng.normal()


@pytest.mark.slow
@pytest.mark.parametrize("name", CAMPAIGNS)
def test_the_answer_and_intervals_hold_together_in_many_campaigns(name: str) -> None:
    means = CAMPAIGNS[name][1]
    table, arms = CAMPAIGNS[name][0], [f"arm {k}" for k in range(len(means))]
    spec = {"question": "best-arm", "arms": arms, "delta": DELTA, "strategy": "uniform", **table}
    design = read_spec(spec).design
    wrong = sum(session_is_wrong(design, np.array(means), 300, seed) for seed in range(1_000))
    print(name, wrong / 1_000)
    assert wrong <= most(1_000, joint_delta(DELTA))
