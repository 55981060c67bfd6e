"""Lost results of paired items: they count as the worst that they could be, until they come.

Every simulation has a fixed seed; a count of wrong answers is compared with a binomial limit that a
correct package exceeds with probability FALSE_ALARM at most.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import naive_paired
import stopwise as sw
from stopwise import Campaign
from stopwise.campaign import spec as specs

FALSE_ALARM = 1e-6
SCORE = sw.Bounded(-1.0, 3.0)


def worst(rows: Any, i: int, j: int, low: float, high: float) -> Any:
    """The least differences, item by item, where nan is not known."""
    first = np.where(np.isnan(rows[:, i]), low, rows[:, i])
    return first - np.where(np.isnan(rows[:, j]), high, rows[:, j])


def lossy(rng: np.random.Generator, items: int, arms: int, share: float) -> Any:
    """Scores with holes."""
    rows = -1.0 + 4.0 * rng.beta(4.0, 3.0 + np.arange(arms), (items, arms))
    return np.where(rng.random(rows.shape) < share, math.nan, rows)


@pytest.mark.parametrize("goal", ["max", "min"])
@pytest.mark.parametrize("epsilon", [0.0, 0.3])
@pytest.mark.parametrize("compiled", [False, True])
def test_evidence_is_that_of_the_worst_differences(
    goal: str, epsilon: float, compiled: bool
) -> None:
    """Told, lost and found in any order: by hand from the rows as they are known at the end."""
    rng = np.random.default_rng(5)
    session = sw.PairedSession(SCORE, 3, delta=1e-40, epsilon=epsilon, goal=goal)
    if compiled:
        session.compile()
    rows = lossy(rng, 40, 3, 0.2)
    truth = np.where(np.isnan(rows), -1.0 + 4.0 * rng.random(rows.shape), rows)
    for _ in range(40):
        session.ask()
    calls = [(item, arm) for item in range(40) for arm in range(3)]
    for place in rng.permutation(len(calls)):
        item, arm = calls[place]
        if math.isnan(rows[item, arm]):
            session.release(item, arm)
        else:
            session.tell(item, arm, rows[item, arm])
    holes = np.argwhere(np.isnan(rows))
    found = rng.permutation(len(holes))[: len(holes) // 2]
    for item, arm in holes[found]:
        session.tell(int(item), int(arm), truth[item, arm])
        rows[item, arm] = truth[item, arm]
    assert session.counted == 40
    sense = 1.0 if goal == "max" else -1.0
    low, high = (-1.0, 3.0) if goal == "max" else (-3.0, 1.0)
    for place, margin in enumerate([0.0, epsilon] if epsilon else [0.0]):
        for i in range(3):
            for j in set(range(3)) - {i}:
                least = worst(sense * rows, i, j, low, high)
                expected = naive_paired.log_wealth(least, margin, 4.0)
                assert session.state.evidence[place, i, j] == pytest.approx(expected, abs=1e-9)
                assert session.differences(i, j) == pytest.approx(least)
    both = ~np.isnan(rows[:, 0]) & ~np.isnan(rows[:, 1])
    assert session.state.counts[0, 1] == both.sum()
    assert session.state.missing[0, 1] == 40 - both.sum()
    assert session.state.means[0, 1] == pytest.approx(
        sense * np.mean(rows[both, 0] - rows[both, 1])
    )


def test_without_a_worst_result_nothing_is_proven() -> None:
    session = sw.PairedSession(sw.Gaussian(variance=None), 2, delta=0.05)
    rng = np.random.default_rng(1)
    for item in range(60):
        session.ask()
        session.tell(item, 0, rng.normal(3.0))
        if item == 0:
            session.release(item, 1)
        else:
            session.tell(item, 1, rng.normal())
    assert not session.decided
    assert session.counted == 60
    assert session.state.evidence[0, 0, 1] == 0.0
    assert session.at_least(0, 1) == -math.inf
    assert session.tell(0, 1, 0.0)
    assert session.verdict().winners == (0,)


def quick_answers(losses: str, runs: int, lease: float, seed: int = 1) -> tuple[int, int]:
    """Two options of which the worse one's good answers are quick: wrong and right of so many runs."""
    spec = {
        "question": "best-arm",
        "arms": ["better", "worse"],
        "family": "bernoulli",
        "delta": 0.05,
        "paired": True,
        "losses": losses,
    }
    made, rng = specs.read(spec), np.random.default_rng(seed)
    wrong = right = 0
    for _ in range(runs):
        session, number, late = made.session(), 0, list[tuple[int, float]]()
        while session.decision is None and number < 3000:
            number += 1
            (arm,) = session.asks(1, number - 1)
            value = float(rng.random() < (0.65, 0.55)[arm])
            slow = value == (1.0 if arm == 0 else 0.0)
            if rng.exponential(400.0 if slow else 30.0) > lease:
                session.give_up(arm, number)
                if losses == "worst case":
                    late.append((number, value))
            else:
                session.take(1, [arm], [value], [True], [number])
            if len(late) > 10:
                ask, value = late.pop(0)
                session.take(1, [0], [value], [False], [ask])
        wrong += session.decision is not None and session.decision.answer == 1
        right += session.decision is not None and session.decision.answer == 0
    return wrong, right


def test_asking_again_selects_and_the_worst_case_does_not() -> None:
    """The better option's good answers are slow: whoever asks until an answer is quick is misled."""
    runs = 12
    assert quick_answers("at random", runs, 300.0)[0] > runs / 2, "so that the test could fail"
    wrong, right = quick_answers("worst case", runs, 300.0)
    assert wrong <= binom.isf(FALSE_ALARM, runs, 0.05)
    assert right > 0


@pytest.mark.slow
@pytest.mark.parametrize("lease", [100.0, 300.0, 1000.0])
def test_error_rates_with_losses_by_value(lease: float) -> None:
    wrong, _ = quick_answers("worst case", 1000, lease, seed=2)
    assert wrong <= binom.isf(FALSE_ALARM, 1000, 0.05), f"{wrong} of 1,000"


@pytest.mark.parametrize("deterministic", [None, True, False])
@pytest.mark.parametrize("seed", range(2))
def test_paired_campaigns_verify(deterministic: bool | None, seed: int) -> None:
    """Leases end, results come late or never, in an order of their own; reopened now and then."""
    rng, now = np.random.default_rng(seed), [0.0]
    spec: dict[str, Any] = {
        "question": "best-arm",
        "arms": ["a", "b", "c"],
        "family": "bounded",
        "delta": 0.05,
        "paired": True,
    }
    if deterministic is not None:
        spec |= {"items": 80, "deterministic": deterministic}
    campaign = Campaign.create(spec, "memory:", "late", lambda: now[0])
    results = rng.beta(4.0, 3.0 + np.arange(3), (400, 3))
    tickets = []
    for turn in range(120):
        if campaign.decision is not None:
            break
        try:
            tickets += campaign.ask(
                int(rng.integers(1, 6)), lease=float(1.0 + rng.exponential(20.0))
            )
        except sw.NothingToAsk:
            if not tickets:
                break
        now[0] += rng.exponential(4.0)
        told = []
        for _ in range(min(len(tickets), int(rng.integers(1, 6)))):
            ticket = tickets.pop(int(rng.integers(len(tickets))))
            told.append((ticket.token, float(results[ticket.item or 0, ticket.arm])))
        campaign.tell_all(told)
        if turn % 30 == 29:
            campaign = Campaign.open("late", campaign._store, lambda: now[0])
    found = campaign.verify()
    assert found.agrees, found
    assert campaign.explain().text
    if deterministic:
        assert campaign.status().missing == 0
    again = Campaign.open("late", campaign._store, lambda: now[0])
    assert repr(again.status()) == repr(campaign.status())


def test_losses_of_items_may_be_taken_for_random() -> None:
    spec = {
        "question": "best-arm",
        "arms": ["a", "b"],
        "family": {"kind": "gaussian", "variance": "unknown"},
        "delta": 0.05,
        "paired": True,
    }
    now = [0.0]
    campaign = Campaign.create(spec, "memory:", "late", lambda: now[0])
    rng = np.random.default_rng(1)
    campaign.ask(1, lease=10.0)
    now[0] = 100.0
    for _ in range(120):
        if campaign.decision is None:
            (ticket,) = campaign.ask()
            campaign.tell(ticket.token, rng.normal(2.0 * (ticket.arm == 0)))
    assert campaign.decision is None
    assert campaign.status().missing == 1
    campaign.change(losses="at random")
    for _ in range(40):
        if campaign.decision is None:
            (ticket,) = campaign.ask()
            campaign.tell(ticket.token, rng.normal(2.0 * (ticket.arm == 0)))
    assert campaign.decision is not None
    assert campaign.decision.answer == 0
    assert campaign.verify().agrees, campaign.verify()
