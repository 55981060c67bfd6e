"""Paired comparisons in runs: wrong claims at the hardest truths, items needed, order, pools.

Every simulation has a fixed seed. A count is compared with an exact binomial limit; ``FALSE_ALARM`` is
the most probability with which a correct package fails such a test.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import naive_paired
import stopwise as sw
from stopwise.core.compile.kernels import compiled
from stopwise.paired.comparison import comparison, new_state
from stopwise.paired.step import Table, run_items

FALSE_ALARM = 1e-6
COIN, SCORE, REAL = sw.Bernoulli(), sw.Bounded(), sw.Gaussian(variance=None)


def most(runs: int, share: float) -> int:
    """Binomial(runs, share) exceeds this with probability FALSE_ALARM at most."""
    return int(binom.isf(FALSE_ALARM, runs, share))


def coins(size: int, **shares: float) -> Any:
    """A table of coins with so many rows of each pattern: coins(100, a10=.08, a01=.05, a11=.72)."""
    patterns = [
        [[int(bit) for bit in name[1:]]] * round(size * share) for name, share in shares.items()
    ]
    rows = np.array([row for each in patterns for row in each], dtype=float)
    return np.vstack([rows, np.zeros((size - len(rows), rows.shape[1]))])


def rasch(abilities: Any, items: int, seed: int) -> Any:
    """Answers to questions whose difficulty all arms share: uniform in logit -2..2."""
    rng = np.random.default_rng(seed)
    logit = np.asarray(abilities) - rng.uniform(-2.0, 2.0, (items, 1))
    return (rng.random(logit.shape) < 1.0 / (1.0 + np.exp(-logit))).astype(float)


def symmetric(rows: Any) -> Any:
    """With every item also its mirror image: all columns have one mean, and items stay correlated."""
    return np.vstack([np.roll(rows, k, axis=1) for k in range(rows.shape[1])])


def scores(size: int, seed: int) -> Any:
    """Skewed differences: the first arm is mostly a bit better and rarely much worse."""
    rng = np.random.default_rng(seed)
    shared = rng.beta(5.0, 2.0, size)
    worse = np.arange(size) < 0.05 * size
    return np.column_stack([shared * np.where(worse, 0.05, 1.0), shared * 0.95])


def level_means(rows: Any) -> Any:
    """The same rows with equal column means: the better column is scaled down."""
    means = rows.mean(0)
    return rows * (means.min() / means)


NULLS: dict[str, tuple[Any, Any]] = {
    "coins": (COIN, coins(100, a10=0.08, a01=0.08, a11=0.5)),
    "rare differences": (COIN, coins(400, a10=0.005, a01=0.005, a11=0.9)),
    "Rasch": (COIN, symmetric(rasch([0.5] * 3, 500, 1))),
    "skewed scores": (SCORE, level_means(scores(400, 2))),
    "normal": (
        REAL,
        symmetric(np.random.default_rng(3).normal(size=(20_000, 1)) * 9.0
                  + np.random.default_rng(4).normal(size=(20_000, 3))),
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=[pytest.mark.slow] * (each == "normal")) for each in NULLS]
)
@pytest.mark.parametrize("duels", [False, True])
def test_equal_arms_are_seldom_put_out(name: str, duels: bool) -> None:
    """With ties as an answer, every arm that is put out here is a wrong claim."""
    family, table = NULLS[name]
    assert np.ptp(table.mean(0)) < 1e-12 * max(1.0, abs(table).max())
    found = sw.simulate_paired(
        table, family=family, delta=0.2, epsilon=1e-9, ties=True, duels=duels,
        repetitions=300, max_items=500, seed=5,
    )  # fmt: skip
    wrong = int(np.sum(~found.named.all(1)))
    assert wrong <= most(300, 0.2)


@pytest.mark.parametrize("name", ["coins", "Rasch", "skewed scores", "normal"])
def test_arms_that_differ_by_exactly_epsilon(name: str) -> None:
    """The first arm is beaten by just epsilon: to name it has probability delta at most."""
    family, table = NULLS[name]
    epsilon, runs = 0.1, 300
    if name in ("coins", "Rasch"):
        rng, table = np.random.default_rng(6), np.tile(table, (10, 1))
        first = np.flatnonzero(table[:, 0] == 1)
        table[rng.choice(first, round(epsilon * len(table)), replace=False), 0] = 0.0
    elif family is SCORE:
        table = table * [1.0 - epsilon / table[:, 0].mean(), 1.0]
    else:
        table = table - [epsilon, *[0.0] * (table.shape[1] - 1)]
    np.testing.assert_allclose(table[:, 1:].mean(0) - table[:, 0].mean(), epsilon, atol=1e-12)
    found = sw.simulate_paired(
        table, family=family, delta=0.2, epsilon=epsilon, repetitions=runs, max_items=1_500, seed=7
    )
    assert np.sum(found.answers == 0) <= most(runs, 0.2)
    assert np.mean(found.answers > 0) > 0.5


def test_a_pool_that_hardly_differs() -> None:
    """The second arm is better by one item of 200: what is asked is about these items."""
    table = coins(200, a10=0.1, a01=0.105, a11=0.6)
    found = sw.simulate_paired(
        table, family=COIN, delta=0.2, pool=True, deterministic=True, repetitions=1_000, seed=8
    )
    assert not found.undecided.any()
    assert found.errors <= most(1_000, 0.2)
    assert found.correct[found.items == 200].all()
    early = found.items < 200
    assert early.any()
    assert np.sum(early & ~found.correct) <= most(1_000, 0.2)


def test_a_pool_of_equals_ends_in_a_tie() -> None:
    table = coins(100, a10=0.1, a01=0.1, a11=0.6)
    found = sw.simulate_paired(
        table, family=COIN, ties=True, pool=True, deterministic=True, repetitions=50, seed=9
    )
    assert not found.undecided.any()
    assert np.sum(~found.correct) <= most(50, 0.05)


def test_three_points_in_a_pool_of_a_thousand() -> None:
    table = coins(1_000, a10=0.08, a01=0.05, a11=0.67)
    found = sw.simulate_paired(
        table, family=COIN, pool=True, deterministic=True, repetitions=1_000, seed=10
    )
    assert np.mean(found.items < 1_000) > 0.9
    assert found.correct[found.items == 1_000].all()
    assert found.errors <= most(1_000, 0.05)
    endless = sw.simulate_paired(table, family=COIN, repetitions=500, seed=10)
    assert found.items.mean() < 0.6 * endless.items.mean()


def test_pairing_takes_less_than_half_of_the_items() -> None:
    """Accuracies .75 and .72 with discordance .08/.05, against separate samples of both arms."""
    table = coins(100, a10=0.08, a01=0.05, a11=0.67)
    found = sw.simulate_paired(table, family=COIN, repetitions=500, seed=11)
    apart = sw.simulate(
        sw.BestArm(2), [0.75, 0.72], family=COIN, strategy=sw.Uniform(), repetitions=100, seed=11
    )
    assert found.items.mean() < 0.45 * apart.stopping_times.mean() / 2
    assert found.errors <= most(500, 0.05)


@pytest.mark.parametrize("family", [COIN, REAL], ids=repr)
@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_runs_agree_with_elimination_by_the_book(family: Any, epsilon: float) -> None:
    rng = np.random.default_rng(12)
    for _ in range(2):
        if family is COIN:
            rows = (rng.random((50, 4)) < [0.9, 0.75, 0.5, 0.3]).astype(float)
        else:
            rows = 5.0 * rng.normal(size=(50, 1)) + rng.normal(size=(50, 4)) + [0.9, 0.3, 0.0, 0.8]
        session = sw.PairedSession(family, 4, delta=0.1, epsilon=epsilon)
        feed(session, rows)

        def wealth(x: Any, margin: float) -> float:
            if family is COIN:
                return naive_paired.log_wealth(x, margin, 1.0)
            return naive_paired.log_t_wealth(x, margin)

        items, answer = naive_paired.best_arm(rows, wealth, math.log(3 / 0.1), epsilon)
        verdict = session.verdict()
        assert (verdict.items, verdict.winners) == (items, (answer,) if answer >= 0 else ())


def feed(session: sw.PairedSession, rows: Any) -> None:
    """One item after another, until it is decided or there are no more."""
    for row in rows:
        if session.decided:
            return
        item, arms = session.ask()
        for arm in arms:
            session.tell(item, arm, row[arm])


def test_compiled_and_plain_runs_are_the_same() -> None:
    table = rasch([1.2, 0.8, 0.1], 300, 13)
    what = comparison(COIN, 3, 0.1, 0.02, pool=None)
    states = []
    for run in (run_items, compiled(run_items, allocates=False)):
        state, rng = new_state(what), np.random.Generator(np.random.PCG64(14))
        items = Table(table, np.arange(300), np.zeros(3), np.zeros(3, dtype=np.int64))
        assert run(what, state, items, rng, False, 5_000)
        states.append(state)
    for plain, quick in zip(*states, strict=True):
        np.testing.assert_array_equal(plain, quick)


@pytest.mark.parametrize("pool", [None, 120])
def test_delays_change_nothing(pool: int | None) -> None:
    """20 items in flight, better answers slower: the decision is that of items told one by one."""
    rng = np.random.default_rng(15)
    table = coins(120, a10=0.2, a01=0.1, a11=0.4)
    wrong, runs = 0, 80
    for _ in range(runs):
        rows = rng.permutation(table) if pool else table[rng.integers(len(table), size=600)]
        calm = sw.PairedSession(COIN, 2, delta=0.2, pool=pool, deterministic=pool is not None)
        feed(calm, rows)
        hasty = sw.PairedSession(COIN, 2, delta=0.2, pool=pool, deterministic=pool is not None)
        waiting: list[tuple[float, int, int]] = []
        now = 0.0
        while not hasty.decided:
            while hasty.in_flight < 20 and hasty.asked < len(rows):
                item, arms = hasty.ask()
                waiting += [
                    (now + rng.exponential(0.1 + 5.0 * rows[item, a]), item, a) for a in arms
                ]
            if not waiting:
                break
            now, item, arm = min(waiting)
            waiting.remove((now, item, arm))
            hasty.tell(item, arm, rows[item, arm])
        assert hasty.verdict() == calm.verdict()
        wrong += calm.verdict().winners == (1,)
    assert wrong <= most(runs, 0.2)


def test_what_comes_after_the_decision_or_from_an_arm_that_is_out_changes_nothing() -> None:
    session = sw.PairedSession(COIN, 3, delta=0.1)
    feed(session, [[1, 1, 0]] * 30)
    assert not session.is_in(2)
    assert session.is_in(0)
    assert not session.decided
    item, arms = session.ask()
    assert arms == (0, 1)
    before = session.verdict()
    session.tell(item, 2, 1.0)
    session.tell(3, 0, 0.0)
    assert session.verdict() == before
    for arm in (0, 1):
        session.tell(item, arm, 1.0 - arm)
    feed(session, [[1, 0, 0]] * 30)
    assert session.decided
    assert session.verdict().winners == (0,)
    assert session.tell(item, 0, 0.0)
    assert session.verdict().winners == (0,)


def test_a_minimum_is_a_maximum_of_the_negative() -> None:
    rng = np.random.default_rng(16)
    rows = rng.normal(size=(200, 1)) + rng.normal(size=(200, 2)) * 0.3 + [0.0, 0.4]
    low, high = (sw.PairedSession(REAL, 2, goal=goal) for goal in ("min", "max"))
    feed(low, rows)
    feed(high, -rows)
    assert low.verdict() == high.verdict()
    assert low.verdict().winners == (0,)
    assert low.at_least(0, 1) == high.at_least(0, 1) == 0.0  # all that the answer says
    assert low.at_least(1, 0) == high.at_least(1, 0) < -0.4
