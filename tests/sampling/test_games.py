"""AdaHedge, mirror ascent and Frank-Wolfe sampling against naive versions, round by round."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from test_top_two import BELL, COIN, LAWS, MEANS, arms_in_flight, rounds

import naive_strategies as naive
import stopwise as sw
from stopwise.core import spelling
from stopwise.sampling.games import is_square, most_cells
from stopwise.sampling.matrix_game import new_tableau, play

GAMES = [sw.AdaHedge(), sw.LazyMirrorAscent(), sw.FrankWolfe()]


@pytest.mark.parametrize("family", LAWS, ids=repr)
def test_ada_hedge_plays_the_papers_weights(family: Any) -> None:
    law = LAWS[family]
    learners = [naive.AdaHedge(4) for _ in range(4)]
    for t, (counts, means), _, state in rounds(
        sw.BestArm(4), family, sw.AdaHedge(), MEANS[family], 150
    ):
        learner = learners[int(np.argmax(means))]
        weights = learner.weights()
        np.testing.assert_allclose(state.plan.weights, weights, rtol=1e-5, atol=1e-7)
        # the package's own weights go on, so that rounding does not pile up
        arm, model = naive.closest(law, state.plan.weights, means)
        assert state.plan.pursued[0] == arm
        gains = naive.optimistic(law, counts, means, model, t)
        kept = state.strategy_state
        np.testing.assert_allclose(kept.step, gains, rtol=1e-5, atol=1e-6)
        learner.learn(kept.step)


@pytest.mark.parametrize("family", LAWS, ids=repr)
def test_mirror_ascent_takes_the_steps(family: Any) -> None:
    law, weights, values = LAWS[family], np.full(4, 0.25), 0.0
    for t, (_, means), _, state in rounds(
        sw.BestArm(4), family, sw.LazyMirrorAscent(), MEANS[family], 150
    ):
        np.testing.assert_allclose(state.plan.weights, weights, rtol=1e-6, atol=1e-8)
        weights = state.plan.weights
        _, model = naive.closest(law, weights, means)
        gains = np.array([law.d(m, x) for m, x in zip(means, model, strict=True)])
        if gains.max() > 0.0:
            values += float(weights @ gains)
            weights = naive.mirror_step(weights, gains, t - 3, values)


@pytest.mark.parametrize("family", LAWS, ids=repr)
def test_frank_wolfe_steps_gain_what_the_game_is_worth(family: Any) -> None:
    law, x, solved = LAWS[family], np.full(4, 0.25), 0
    for t, (counts, means), arm, state in rounds(
        sw.BestArm(4), family, sw.FrankWolfe(), MEANS[family], 130
    ):
        after = state.plan.weights.copy()
        goal = t * after - (t - 1) * x
        np.testing.assert_allclose(goal.sum(), 1.0, atol=1e-9)
        assert goal.min() > -1e-9
        tied = np.sum(means == means.max()) > 1
        if tied or round((t // 4) ** 0.5) ** 2 == t // 4:
            np.testing.assert_allclose(goal, 0.25, atol=1e-9)
        else:
            payoffs = naive.pieces(law, x, means, t**-0.9 / 4)
            solved += len(payoffs) > 1
            assert np.min(payoffs @ goal) == pytest.approx(naive.game_value(payoffs), abs=1e-6)
        ratios = after / counts
        assert ratios[arm] == pytest.approx(ratios.max(), rel=1e-12)
        x = after
    assert solved > 5


@pytest.mark.parametrize("seed", range(30))
def test_matrix_games_against_a_linear_program(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pieces, arms = int(rng.integers(2, 8)), int(rng.integers(1, 9))
    payoffs = np.round(rng.normal(size=(pieces, arms)), int(rng.integers(0, 6)))
    weights = np.zeros(arms)
    play(payoffs, pieces, new_tableau(pieces, arms), weights)
    assert weights.sum() == pytest.approx(1.0)
    assert weights.min() >= 0.0
    assert np.min(payoffs @ weights) == pytest.approx(naive.game_value(payoffs), abs=1e-9)


def test_squares_and_cells() -> None:
    assert [n for n in range(50) if is_square(n)] == [0, 1, 4, 9, 16, 25, 36, 49]
    assert is_square(10**12)
    assert not is_square(10**12 + 1)
    assert most_cells(sw.BestArm(5)) == 4
    assert most_cells(sw.Thresholding(5, 0.0)) == 5
    assert most_cells(sw.AnyLowArm(5, 0.0)) == 5


@pytest.mark.parametrize("strategy", GAMES, ids=repr)
def test_ties_two_arms_and_a_thousand(strategy: Any) -> None:
    for family, means in ((COIN, [0.5, 0.5, 0.5]), (COIN, [0.999, 0.999]), (BELL, [0.0, 0.0])):
        counts = np.zeros(len(means))
        for _, _, arm, state in rounds(sw.BestArm(len(means)), family, strategy, means, 150):
            counts[arm] += 1.0
            assert state.plan.weights.sum() == pytest.approx(1.0)
        assert counts.min() >= 10
    many = np.linspace(1.0, -1.0, 1_000)
    found = list(rounds(sw.BestArm(1_000), BELL, strategy, many, 1_003))
    assert len(found) == 3


@pytest.mark.parametrize("strategy", GAMES, ids=repr)
def test_one_arm(strategy: Any) -> None:
    arms = [arm for _, _, arm, _ in rounds(sw.Thresholding(1, 0.0), BELL, strategy, [0.3], 30)]
    assert set(arms) == {0}


@pytest.mark.parametrize("strategy", GAMES, ids=repr)
def test_samples_in_flight_and_lost(strategy: Any) -> None:
    assert min(arms_in_flight(strategy)) >= 2


def test_names() -> None:
    for name, strategy in zip(
        ("ada-hedge", "lazy-mirror-ascent", "frank-wolfe"), GAMES, strict=True
    ):
        assert spelling.strategy(name) == strategy
        assert pickle.loads(pickle.dumps(strategy)) == strategy
        assert strategy.title
        assert strategy.reason
        assert all(strategy.because)
