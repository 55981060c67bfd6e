"""Wealth of a pair's differences: against products over items and known numbers; bounds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.special import betainc, betaln

import naive_paired
import stopwise as sw
from stopwise.paired.bounds import least_difference
from stopwise.paired.comparison import comparison, new_state
from stopwise.paired.differences import BoundedDifferences, Stream
from stopwise.paired.step import count_item

COIN, SCORE, REAL = sw.Bernoulli(), sw.Bounded(-1.0, 3.0), sw.Gaussian(variance=None)


def pair(rows: Any, family: Any, epsilon: float, pool: int | None = None) -> Any:
    what = comparison(family, 2, 1e-300, epsilon, pool, deterministic=pool is not None)
    state = new_state(what)
    for row in rows:
        count_item(what, state, np.asarray(row, dtype=float))
    return what, state


def rows_of(family: Any, count: int, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    if family is COIN:
        return (rng.random((count, 2)) < [0.6, 0.5]).astype(float)
    shared = rng.normal(size=(count, 1))
    if family is REAL:
        return 100.0 * shared + rng.normal(size=(count, 2)) + [0.3, 0.0]
    return np.clip(0.5 * shared + rng.uniform(-1.0, 2.0, (count, 2)), -1.0, 3.0)


@pytest.mark.parametrize(("ahead", "behind", "known"), [(80, 50, 1.94088), (20, 5, 3.88199)])
def test_a_uniform_prior_of_coins_gives_known_numbers(
    ahead: int, behind: int, known: float
) -> None:
    """The bets are 2 theta - 1: theta uniform in (1/2, 1) is a grid of bets, fine enough."""
    bets = (np.arange(20_000) + 0.5) / 20_000
    kind = BoundedDifferences(bets, np.full(bets.size, 1.0 / bets.size), False, 1.0, 0.0)
    stream = Stream(np.zeros(bets.size), 0.0, 0.0, 0.0)
    for x in [1.0] * ahead + [0.0] * 7 + [-1.0] * behind:
        kind.bet_on(stream, x, 0.0, 0)
    n = ahead + behind
    by_beta = (n + 1) * math.log(2) + betaln(ahead + 1, behind + 1)
    by_beta += math.log(betainc(behind + 1, ahead + 1, 0.5))
    assert kind.evidence(stream, 0.0, 0) == pytest.approx(by_beta, abs=1e-6)
    assert by_beta == pytest.approx(known, abs=5e-6)


@pytest.mark.parametrize("family", [COIN, SCORE, REAL], ids=repr)
@pytest.mark.parametrize("epsilon", [0.0, 0.07])
def test_wealth_is_the_product_over_items(family: Any, epsilon: float) -> None:
    rows = rows_of(family, 60, 1)
    for count in (1, 2, 3, 10, 60):
        _, state = pair(rows[:count], family, epsilon)
        for arm, other in ((0, 1), (1, 0)):
            x = rows[:count, arm] - rows[:count, other]
            for place, margin in enumerate(sorted({0.0, epsilon})):
                if family is REAL:
                    known = naive_paired.log_t_wealth(x, margin)
                else:
                    known = naive_paired.log_wealth(x, margin, 1.0 if family is COIN else 4.0)
                found = state.evidence[place, arm, other]
                assert found == pytest.approx(known, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("family", [COIN, SCORE], ids=repr)
@pytest.mark.parametrize("epsilon", [0.0, 0.07])
def test_wealth_in_a_pool(family: Any, epsilon: float) -> None:
    rows, width = rows_of(family, 40, 2), 1.0 if family is COIN else 4.0
    for count in (1, 5, 20, 35, 39, 40):
        _, state = pair(rows[:count], family, epsilon, pool=40)
        count = int(state.counts[0, 1])  # until what is left could no longer matter
        for place, margin in enumerate(sorted({0.0, epsilon})):
            for arm, other in ((0, 1), (1, 0)):
                known = naive_paired.log_wealth(
                    rows[:count, arm] - rows[:count, other], margin, width, 40
                )
                assert state.evidence[place, arm, other] == pytest.approx(known, rel=1e-9, abs=1e-9)


def test_a_pool_is_certain_as_soon_as_what_is_left_cannot_matter() -> None:
    rows = [[1, 0]] * 6 + [[0, 0]] * 4
    assert not math.isinf(pair(rows[:5], COIN, 0.0, pool=10)[1].evidence[0, 0, 1])
    assert math.isinf(pair(rows[:6], COIN, 0.0, pool=10)[1].evidence[0, 0, 1])


@pytest.mark.parametrize("family", [COIN, SCORE, REAL], ids=repr)
def test_wealth_rises_in_the_margin(family: Any) -> None:
    """What the proof uses: whoever is put out at margin 0 would be so at every larger one."""
    rows = rows_of(family, 50, 3)
    for count in (1, 2, 7, 50):
        made = [pair(rows[:count], family, each)[1].evidence[-1] for each in (0.0, 0.01, 0.1, 0.4)]
        assert np.all(np.diff(np.array(made), axis=0) >= -1e-12)


@pytest.mark.parametrize(
    ("family", "pool"), [(COIN, 0), (SCORE, 0), (REAL, 0), (COIN, 90), (SCORE, 90)]
)
def test_the_bound_is_where_the_wealth_crosses_the_level(family: Any, pool: int) -> None:
    rows = rows_of(family, 80, 4) + ([0.0, 0.0] if family is COIN else [0.4, 0.0])
    rows = np.clip(rows, -1.0, 3.0) if family is SCORE else rows
    what = comparison(family, 2, 0.1, 0.0, pool or None, deterministic=pool > 0)
    x = rows[:, 0] - rows[:, 1]
    found = least_difference(what, x)
    assert -4.0 < found < x.mean()

    def wealth(c: float) -> float:
        if family is REAL:
            return naive_paired.log_t_wealth(x, -c)
        return naive_paired.log_wealth(x, -c, 1.0 if family is COIN else 4.0, pool)

    assert wealth(found - 1e-6) >= math.log(2 / 0.1) > wealth(found + 1e-6)  # of both directions


def test_differences_without_spread_say_nothing() -> None:
    _, state = pair([[2.0, 1.0]] * 50, REAL, 0.0)
    assert state.evidence[0, 0, 1] == 0.0
