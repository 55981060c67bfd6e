"""Rounds with many arms: what is kept from the last round changes no run, or next to nothing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import stopwise as sw
from stopwise.engine.design import Setting, prepare
from stopwise.engine.loop import run_rounds
from stopwise.engine.worker import Worker, new_outcome
from stopwise.problems.best_arm import BestArm
from stopwise.problems.best_arm_weights import ROOM, best_arm_optimum
from stopwise.problems.many_arms import many_arms
from stopwise.stopping.wealth_state import BetState, WatchedState

DELTAS = (0.1, 0.01, 1e-4)


def runs(setting: Setting, means: list[float]) -> list[list[Any]]:
    """When runs stop, their answers and their samples, computed in plain Python."""
    design, found = prepare(setting, means, DELTAS, 600), []
    for repetition in range(3):
        outcome = new_outcome(design)
        for _ in Worker(design).run(5, 0, repetition, outcome, lambda: False):
            pass
        found.append([outcome.times.tolist(), outcome.codes.tolist(), outcome.counts.tolist()])
    return found


@pytest.mark.parametrize(
    "strategy",
    [sw.TrackAndStop(), sw.T3c(), sw.EbTcEpsilon(0.05), sw.EbTcEpsilon(0.2)],
    ids=["tracking", "T3C", "slack", "much slack"],
)
@pytest.mark.parametrize("epsilon", [0.0, 0.05])
@pytest.mark.parametrize("family", [sw.Bernoulli(), sw.Bounded()], ids=["coins", "bounded"])
def test_runs_are_those_without_memory(
    strategy: Any, epsilon: float, family: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stopwise.engine.worker.kernel", lambda *_: run_rounds)
    means = [0.3, 0.95, 0.4, 0.65, 0.2]
    setting = Setting(sw.BestArm(5, epsilon), family, strategy, sw.Wealth())
    found = runs(setting, means)
    monkeypatch.setattr("stopwise.problems.best_arm.pair_bound", lambda *_: math.inf)
    monkeypatch.setattr("stopwise.problems.best_arm.pair_floor", lambda *_: 0.0)
    monkeypatch.setattr(BestArm, "sole_answer", lambda *_: False)
    for kind in (BetState, WatchedState):
        monkeypatch.setattr(kind, "first_cell", property(lambda _: np.zeros(1, dtype=np.int64)))
    monkeypatch.setattr("stopwise.stopping.wealth_state.replace_key", lambda *_: False)
    assert found == runs(setting, means)
    assert any(time > 0 for times, _, _ in found for time in times)


@pytest.mark.parametrize("epsilon", [0.0, 0.01, 0.05])
@pytest.mark.parametrize("family", [sw.Bernoulli(), sw.Poisson(), sw.Exponential()], ids=repr)
def test_weights_of_many_arms_are_nearly_exact(family: Any, epsilon: float) -> None:
    """Rounds in which one arm has a sample more: the curves' weights against those of a cold start."""
    rng, arms = np.random.default_rng(3), 80
    truth, counts = rng.uniform(0.05, 0.6, arms), np.full(arms, 15.0)
    truth[0] = 0.85
    means = np.array([np.mean([family.draw(each, rng) for _ in range(15)]) for each in truth])
    cache, weights, exact = many_arms(arms), np.zeros(arms), np.zeros(arms)
    solved = 0
    for turn in range(300):
        k = 0 if turn % 10 == 0 else int(rng.integers(arms))
        counts[k] += 1.0
        means[k] += (family.draw(truth[k], rng) - means[k]) / counts[k]
        arm = int(np.argmax(means))
        known = cache.owner[0] == arm + 1
        value = cache.solve(family, means, arm, epsilon, weights)
        state = np.zeros(ROOM * arms)
        expected = best_arm_optimum(family, means, arm, epsilon, exact, state)
        np.testing.assert_allclose(value, expected, rtol=2e-6, atol=0.0)
        np.testing.assert_allclose(weights, exact, rtol=0.0, atol=2e-5 * exact.max())
        solved += known and expected > 0.0
    assert solved > 200  # by curves
