"""Samples count in the order asked: delays do no harm, and cost little.

Every simulation has a fixed seed; a count of wrong answers is compared with a binomial limit, and a mean
with its standard error, that a correct package exceeds with probability FALSE_ALARM at most.
"""

from __future__ import annotations

import runpy
from heapq import heappop, heappush
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, norm

import stopwise as sw
from stopwise import Event, Session, Ticket
from stopwise.campaign import rounds
from stopwise.campaign.replay import replay
from stopwise.campaign.spec import HORIZON, read
from stopwise.engine import live
from stopwise.engine.design import Design, Setting, prepare

FALSE_ALARM = 1e-6
DELAYS = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "delays.py"))
KEPT = [name for name in DELAYS["ROWS"] if name.startswith("kept")]


def limit(campaigns: int) -> float:
    return float(binom.isf(FALSE_ALARM, campaigns, DELAYS["SPEC"]["delta"]))


@pytest.mark.slow
@pytest.mark.parametrize("name", KEPT)
def test_delays_by_value_do_no_harm(name: str) -> None:
    wrong = round(300 * DELAYS["wrong"](DELAYS["ROWS"][name], 300))
    assert wrong <= limit(300), f"{wrong} of 300"


def test_they_do_if_samples_count_as_told() -> None:
    """So that the tests above could fail."""
    losses = {"asked": "worst case", "told": "at random"}
    worlds = {order: DELAYS["World"](20, order, losses[order]) for order in ORDERS}
    wrong = {order: 40 * DELAYS["wrong"](world, 40) for order, world in worlds.items()}
    assert wrong["asked"] <= limit(40) < wrong["told"], wrong


ORDERS = ("asked", "told")
COINS = {
    "question": {"kind": "best-arm", "epsilon": 0.05},
    "arms": ["a", "b", "c"],
    "family": "bernoulli",
    "delta": 0.1,
}
RATES = (0.3, 0.8, 0.4)


def asked_until_decided(order: str, in_flight: int, seed: int) -> int:
    """How many samples were taken, with delays that have nothing to do with the values."""
    session, rng = read({**COINS, "order": order}).session(), np.random.default_rng(seed)
    now, asks, running = 0.0, 0, list[tuple[float, int, Ticket]]()
    while session.decision is None:
        while len(running) < in_flight:
            ticket, asks = session.ask(), asks + 1
            heappush(running, (now + rng.uniform(0.5, 1.5), asks, ticket))
        now, _, ticket = heappop(running)
        session.tell(ticket, float(rng.random() < RATES[ticket.arm]))
    return asks


@pytest.mark.parametrize("in_flight", [5, pytest.param(20, marks=pytest.mark.slow)])
def test_delays_without_information_cost_at_most_what_is_in_flight(in_flight: int) -> None:
    runs = 40
    found = {
        order: [asked_until_decided(order, in_flight, seed) for seed in range(runs)]
        for order in ORDERS
    }
    more = np.array(found["asked"]) - np.array(found["told"])
    error = np.std(more) / np.sqrt(runs)
    assert np.mean(more) - norm.isf(FALSE_ALARM) * error <= in_flight, (more.mean(), error)


# ---------------------------------------------------------------------------------------------
# replay, and the same by hand


def busy(design: Design, means: np.ndarray, events: int, seed: int) -> tuple[Session, list[Event]]:
    """A session whose samples come in any order, or not at all, or unasked; and what happened."""
    rng, record = np.random.default_rng(seed), list[Event]()
    session = Session(design, losses="at random")
    flying: list[tuple[str, int, int]] = []  # token, arm, number
    for number in range(1, events + 1):
        lot, token = rng.random(), f"t{number}"
        if lot < 0.45 or not flying:
            (arm,) = session.asks(1, number - 1)
            flying.append((token, arm, number))
            record.append(Event(number, "asked", token, arm, 60.0, 0.0, False, ""))
            continue
        kind, sample = "recorded", float(rng.random() < means[number % means.size])
        arm, ask = number % means.size, number
        if lot < 0.97:
            place = int(min(rng.geometric(0.3) - 1, len(flying) - 1))
            token, arm, ask = flying.pop(place)
            kind, sample = "told", float(rng.random() < means[arm])
        if 0.45 <= lot < 0.5 and kind == "told":
            kind, sample = "released", 0.0
            session.give_up(arm, ask)
        elif kind == "told":
            session.take(live.TOLD, [arm], [sample], [True], [ask])
        else:
            session.record(arm, sample, number=ask)
        record.append(Event(number, kind, token, arm, sample, 0.0, False, ""))
        if session.decision is not None:
            break
    return session, record


def by_hand(design: Design, record: list[Event]) -> list[tuple[int, float]]:
    """What counts: told and recorded samples in the order of their asks, up to one that is missing."""
    fate = {event.token: event for event in record if event.kind in ("told", "released")}
    counted = []
    for event in record:
        if event.kind == "asked" and event.token not in fate:
            break
        last = fate.get(event.token, event) if event.kind == "asked" else event
        if event.kind in ("asked", "recorded") and last.kind != "released":
            assert last.arm is not None
            assert last.value is not None
            counted.append((last.arm, last.value))
    return counted


@pytest.mark.parametrize(("delta", "decides"), [(1e-12, False), (0.3, True)])
def test_replay_is_the_session_is_the_count_by_hand(
    delta: float, decides: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, means = sw.BestArm(3), np.array([0.2, 0.4, 0.85 if decides else 0.45])
    setting = Setting(problem, sw.Bernoulli(), sw.TrackAndStop(), sw.Mixture())
    design = prepare(setting, None, (delta,), HORIZON)
    session, record = busy(design, means, 1500, 4)
    assert (session.decision is not None) == decides
    naive, counted = Session(design), by_hand(design, record)
    for arm, value in counted:
        if naive.decision is None:
            naive.record(arm, value)
    assert np.array_equal(session.counts, naive.counts)
    assert np.array_equal(session.means, naive.means)
    assert session.decision == naive.decision
    assert decides or session.samples < len(record) / 2
    for long in (10**9, 0):  # plain, and compiled
        monkeypatch.setattr(rounds, "LONG", long)
        monkeypatch.setattr(rounds, "_known", {})
        again, parts = (Session(design, losses="at random") for _ in range(2))
        seen = replay(again, [record])
        assert again.dump() == session.dump()
        assert (seen.last, seen.unused, seen.other_asks) == (record[-1].number, None, [])
        assert parts.load(again.dump())
        assert (parts.dump(), parts.waiting) == (again.dump(), session.waiting)


def test_a_minimum_of_samples_an_arm() -> None:
    spec: dict[str, Any] = {**COINS, "delta": 0.3, "minimum": 12, "strategy": "uniform"}
    session = read(spec).session()
    while session.decision is None:
        ticket = session.ask()
        session.tell(ticket, float(ticket.arm == 1))
    assert session.decision.samples == 36
    assert session.evidence > session.threshold + 1


RARE = {"question": "best-arm", "arms": ["a", "b", "c"], "family": "bernoulli", "delta": 1e-12}


@pytest.mark.parametrize("early", range(20, 40))
def test_a_lost_sample_that_lets_others_count(early: int) -> None:
    """Fewer wait then, so that it may be time to look ahead: alive, and when the record is replayed."""
    campaign = sw.Campaign.create(RARE, "memory:", "one")
    tickets = campaign.ask(early + 14)
    for place, ticket in enumerate(tickets[: early + 13]):
        if place not in (0, early):  # the others wait for these
            campaign.tell(ticket.token, place % 2)
    campaign.release(tickets[0].token)
    campaign.tell(tickets[early + 13].token, 1)
    found = campaign.verify()
    assert found.agrees, found
