"""Pools: about just their items where results are deterministic, else a sample of a population.

Every simulation has a fixed seed, and its limits a false-alarm rate of 1e-6.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stopwise as sw
from stopwise.campaign import spec as specs
from stopwise.paired.bounds import least_difference
from stopwise.paired.comparison import comparison
from validity import most

COIN = sw.Bernoulli()


def answer(session: sw.PairedSession, means: Any, rng: np.random.Generator) -> tuple[int, ...]:
    """Random results with these means on every item; who is named, nobody if it ends undecided."""
    while not session.decided and not session.exhausted:
        item, arms = session.ask()
        for arm in arms:
            session.tell(item, arm, float(rng.random() < means[arm]))
    return session.verdict().winners


@pytest.mark.parametrize(("means", "right"), [((0.6, 0.6), ()), ((0.6, 0.63), (1,))])
@pytest.mark.parametrize("runs", [100, pytest.param(1_000, marks=pytest.mark.slow)])
def test_random_results_of_a_pool(means: Any, right: Any, runs: int) -> None:
    """Two equal options have no winner, and the worse one of two is named in delta of the runs."""
    rng = np.random.default_rng(1)
    named = [answer(sw.PairedSession(COIN, 2, pool=300), means, rng) for _ in range(runs)]
    wrong = sum(each not in ((), right) for each in named)
    assert wrong <= most(runs, 0.05), wrong


def test_a_pool_of_random_results_bets_as_a_population_does() -> None:
    rng = np.random.default_rng(2)
    rows = (rng.random((200, 3)) < [0.5, 0.6, 0.65]).astype(float)
    listed = sw.PairedSession(COIN, 3, pool=200, delta=1e-4)
    endless = sw.PairedSession(COIN, 3, delta=1e-4)
    for session in (listed, endless):
        for row in rows:
            item, arms = session.ask()
            for arm in arms:
                session.tell(item, arm, row[arm])
    assert listed.verdict() == endless.verdict()
    assert listed.used_up
    assert not endless.used_up
    np.testing.assert_array_equal(listed.state.evidence, endless.state.evidence)
    assert listed.at_least(2, 0) == endless.at_least(2, 0)
    with pytest.raises(sw.BadArgument, match="end of its pool of 200 items"):
        listed.ask()


def test_a_bound_for_random_results_of_a_whole_pool_is_not_their_mean() -> None:
    x = np.random.default_rng(6).permutation(np.repeat([1.0, 0.0, -1.0], [50, 30, 20]))
    drawn, fixed = (comparison(COIN, 2, 0.05, pool=100, deterministic=d) for d in (False, True))
    assert least_difference(fixed, x) == pytest.approx(0.3, abs=1e-6)
    assert least_difference(drawn, x) < 0.25


def test_simulated_pools() -> None:
    """With replacement, as many items as rows: the worse of two is seldom named."""
    table = np.array([[1.0, 0.0]] * 10 + [[0.0, 1.0]] * 11 + [[1.0, 1.0]] * 79)
    asked = {"family": COIN, "delta": 0.2, "repetitions": 300, "seed": 3}
    drawn = sw.simulate_paired(table, pool=True, **asked)
    assert drawn.items.max() == 100
    assert drawn.undecided.mean() > 0.5
    assert drawn.errors <= most(300, 0.2)
    fixed = sw.simulate_paired(table, pool=True, deterministic=True, **asked)
    assert not fixed.undecided.any()


def test_a_tie_over_a_whole_pool_names_both() -> None:
    session = sw.PairedSession(sw.Bounded(), 3, pool=30, deterministic=True)
    rng = np.random.default_rng(4)
    scores = rng.random(30)
    for score in scores:
        item, arms = session.ask()
        mirrored = scores.sum() / 30 * 2 - score  # the same mean, not the same scores
        for arm in arms:
            session.tell(item, arm, (score, min(max(mirrored, 0.0), 1.0), 0.0)[arm])
    assert session.decided
    exact = abs(session.state.means[0, 1]) < 1e-9
    assert session.verdict().winners == ((0, 1) if exact else (session.verdict().leader,))
    coins = sw.PairedSession(COIN, 2, pool=4, deterministic=True)
    for first in (1.0, 0.0, 1.0, 0.0):
        item, _ = coins.ask()
        coins.tell(item, 0, first)
        coins.tell(item, 1, 1.0 - first)
    assert coins.verdict().winners == (0, 1)


def test_deterministic_results_do_not_change() -> None:
    session = sw.PairedSession(COIN, 2, pool=10, deterministic=True)
    item, _ = session.ask()
    session.tell(item, 0, 1.0)
    with pytest.raises(sw.BadArgument, match="results are deterministic"):
        session.tell(item, 0, 0.0)
    session.tell(item, 1, 1.0)
    with pytest.raises(sw.BadArgument, match="deterministic=False"):
        session.tell(item, 1, 0.0)
    assert not session.tell(item, 1, 1.0)
    drawn = sw.PairedSession(COIN, 2, pool=10)
    item, _ = drawn.ask()
    drawn.tell(item, 0, 1.0)
    drawn.tell(item, 0, 0.0)


SPEC = {
    "question": "best-arm",
    "arms": ["a", "b"],
    "family": "bernoulli",
    "delta": 0.05,
    "paired": True,
    "items": 60,
}


def test_campaigns_of_earlier_releases_keep_their_pools() -> None:
    """A stored spec without the key means just these items; a new one says which is meant."""
    old = specs.make({**SPEC, "order": "asked"})
    assert old.pairs is not None
    assert old.pairs.deterministic
    new = specs.read(SPEC)
    assert new.table["deterministic"] is False
    assert new.pairs is not None
    assert not new.pairs.deterministic
    assert specs.like(new, old.table).key == old.key, "the same call finds the stored campaign"
    assert specs.like(specs.read({**SPEC, "deterministic": True}), old.table).key == old.key
    assert specs.like(specs.read({**SPEC, "deterministic": False}), old.table).key != old.key
    assert "deterministic" not in specs.read({**SPEC, "items": None}).table


@pytest.mark.parametrize("deterministic", [False, True])
def test_status_says_what_the_answer_is_about(deterministic: bool) -> None:
    campaign = sw.Campaign.create({**SPEC, "deterministic": deterministic}, "memory:", "pool")
    rng = np.random.default_rng(5)
    while campaign.status().state == "running":
        for ticket in campaign.ask(20):
            campaign.tell(ticket.token, float(rng.random() < 0.5))
    status = campaign.status()
    assert status.state == ("decided" if deterministic else "items used up")
    about = "just these 60 items" if deterministic else "items like these 60"
    assert f"the answer is about {about}" in repr(status)
    assert campaign.verify().agrees
    assert sw.Status.from_dict(status.to_dict()) == status
