"""Pairs without a new sample are not judged again: the evidence is the same, bit for bit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import stopwise as sw
from steps import begin, instance, observe
from stopwise.core.arrays import copied
from stopwise.stopping.students_t import SpreadState
from stopwise.stopping.wealth_state import BetState

FAMILIES = (sw.Bernoulli(), sw.Gaussian(0.1), sw.Gaussian(variance=None), sw.Bounded())
PROBLEMS = (
    sw.BestArm(4),
    sw.BestArm(4, 0.1),
    sw.TopArms(4, 2),
    sw.BetterThan(4, 1),
    sw.Product([(sw.BestArm(2), [0, 2]), (sw.BestArm(2), [1, 3])]),
)
RATES = (0.95, 0.05, 0.2, 0.8)


def without_memory(tally: Any) -> Any:
    """The same state, which knows no pair."""
    fresh = tuple(each.copy() if isinstance(each, np.ndarray) else each for each in tally)
    made = type(tally)(*fresh)
    made.pairs.fill(0.0)
    return made


def evidence(setting: Any, state: Any, rounds: int) -> float:
    problem, family, _, rule = setting
    return float(
        rule.margin(
            instance(problem, family.estimated(state.stats), state), state, rounds, -math.inf
        )
    )


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
@pytest.mark.parametrize("problem", PROBLEMS, ids=repr)
def test_evidence_is_what_it_is_without_memory(problem: Any, family: Any) -> None:
    setting = (problem, family, sw.Uniform(), sw.Wealth())
    state, rng = begin(setting), np.random.default_rng(1)
    start, most = 4 * family.first_samples(), 0.0
    for rounds in range(1, start + 80):
        arm = (rounds - 1) % 4 if rounds <= start else int(rng.integers(4))
        observe(setting, state, rounds, start, arm, float(rng.random() < RATES[arm]))
        if rounds >= start:
            alone = state._replace(
                rule_state=without_memory(state.rule_state), report=copied(state.report)
            )
            found = evidence(setting, state, rounds)
            assert found == evidence(setting, alone, rounds)
            most = max(most, found)
    assert most > 0.0


@pytest.mark.parametrize(
    ("family", "kind"),
    [(sw.Bernoulli(), BetState), (sw.Gaussian(variance=None), SpreadState)],
    ids=["coins", "unknown variances"],
)
def test_one_sample_of_a_rival_changes_one_pair(
    family: Any, kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    setting = (sw.BestArm(4), family, sw.Uniform(), sw.Wealth())
    state, rng, asked = begin(setting), np.random.default_rng(1), []
    for rounds in range(1, 101):
        arm = (rounds - 1) % 4
        observe(setting, state, rounds, 8, arm, float(rng.random() < RATES[arm]))
    evidence(setting, state, 100)
    plain = kind.pair_evidence
    monkeypatch.setattr(kind, "pair_evidence", lambda *given: asked.append(given) or plain(*given))
    for arm, pairs in ((2, 1), (0, 3)):
        asked.clear()
        observe(setting, state, 101, 8, arm, 1.0)
        evidence(setting, state, 101)
        assert len(asked) == pairs
