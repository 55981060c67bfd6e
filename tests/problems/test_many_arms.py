"""Rounds with many arms: what is kept from the last round changes no run."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import stopwise as sw
from stopwise.cells.gap import pair_cost
from stopwise.core.data import Data
from stopwise.engine.design import Setting, prepare
from stopwise.engine.loop import run_rounds
from stopwise.engine.worker import Worker, new_outcome
from stopwise.problems.best_arm import BestArm
from stopwise.stopping.wealth_state import WealthState

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


def plain_cost(problem: BestArm, family: Any, data: Any, arm: int, other: int, memo: Any) -> float:
    """The cost of a pair, computed anew every time."""
    return pair_cost(family, data, arm, other, problem.epsilon)


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
    monkeypatch.setattr(BestArm, "remembered_cost", plain_cost)
    monkeypatch.setattr(BestArm, "cost_bound", lambda *_: math.inf)
    monkeypatch.setattr(BestArm, "sole_answer", lambda *_: False)
    monkeypatch.setattr(WealthState, "last_weak", lambda _: 0)
    monkeypatch.setattr("stopwise.stopping.wealth_state.recalled", lambda *_: False)
    assert found == runs(setting, means)
    assert any(time > 0 for times, _, _ in found for time in times)


def test_costs_are_shared_only_with_the_same_epsilon() -> None:
    """A strategy with slack compares other costs than the stopping rule."""
    problem, memo = BestArm(3, 0.1), np.zeros((4, 3))
    data = Data(np.array([4.0, 5.0, 6.0]), np.array([0.9, 0.3, 0.2]))
    problem.recall(data, 0, memo)
    assert problem.is_about(0, memo)
    assert not problem.is_about(1, memo)
    assert not BestArm(3, 0.3).is_about(0, memo)
