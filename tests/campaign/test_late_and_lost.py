"""Late and lost values in campaigns: they count as the worst that they could be, until they come.

Every simulation has a fixed seed; a count of wrong answers is compared with a binomial limit that a
correct package exceeds with probability FALSE_ALARM at most.
"""

from __future__ import annotations

import math
from heapq import heappop, heappush
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from stopwise import Campaign, Event, Session, Ticket
from stopwise.campaign import rounds, spec as specs
from stopwise.campaign.replay import replay
from stopwise.core.errors import BadArgument
from stopwise.engine import live

FALSE_ALARM = 1e-6
AGENT = {
    "question": "thresholding:threshold=0.2",
    "arms": ["agent"],
    "family": "bernoulli",
    "delta": 0.05,
}
TWO: dict[str, Any] = {"question": "best-arm", "arms": ["a", "b"], "delta": 0.05}
COINS, SCORES = {**TWO, "family": "bernoulli"}, {**TWO, "family": "bounded"}
NORMAL = {**TWO, "family": {"kind": "gaussian", "variance": 1.0}}


def outcome(
    session: Session,
    rng: np.random.Generator,
    workers: int,
    rates: tuple[float, ...],
    lease: float,
    seconds: tuple[float, float],
    most: int,
    lost: float = 0.0,
) -> Any:
    """The decision of a campaign in which a failure takes about ``seconds[0]``, a success more.

    Whoever works longer than the lease is given up, and may still tell; of successes a share gets lost.
    """
    now, events, asked = 0.0, list[tuple[float, int, str, Ticket, float]](), 0
    free = workers
    while session.decision is None and asked < most:
        while free:
            ticket = session.ask()
            value, asked, free = float(rng.random() < rates[ticket.arm]), asked + 1, free - 1
            takes = rng.exponential(seconds[int(value)])
            if not (value and rng.random() < lost):
                heappush(events, (now + takes, asked, "tell", ticket, value))
            heappush(events, (now + lease, -asked, "release", ticket, value))
        now, _, what, ticket, value = heappop(events)
        flying = session.queue.is_in_flight(int(ticket.token))
        free += flying
        if what == "tell":
            session.tell(ticket, value)
        elif flying:
            session.release(ticket)
    return session.decision


def wrong_answers(runs: int, rate: float, losses: str, **world: Any) -> int:
    """How many of so many campaigns say that the agent's rate is at most .2, although it is not."""
    made = specs.read({**AGENT, "losses": losses})
    rng, wrong = np.random.default_rng(1), 0
    for _ in range(runs):
        found = outcome(made.session(), rng, rates=(rate,), **world)
        wrong += found is not None and found.answer == (0,)
    return wrong


QUICK_FAILURES = {"lease": 60.0, "seconds": (2.0, 300.0), "most": 250}


@pytest.mark.parametrize("workers", [16, pytest.param(64, marks=pytest.mark.slow)])
def test_quick_failures_and_slow_successes(workers: int) -> None:
    """Successes outlive their lease. Left out, they made every answer wrong."""
    runs = 20
    few = wrong_answers(runs, 0.3, "at random", workers=workers, **QUICK_FAILURES)
    assert few > runs / 2, "so that the test could fail"
    assert wrong_answers(runs, 0.3, "worst case", workers=workers, **QUICK_FAILURES) <= binom.isf(
        FALSE_ALARM, runs, 0.05
    )


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 16, 64])
@pytest.mark.parametrize("lost", [0.0, 0.2])
@pytest.mark.parametrize("lease", [20.0, 60.0, 3600.0])
def test_error_rates_with_informative_delays(workers: int, lost: float, lease: float) -> None:
    """Just above the limit, where "at most .2" is wrong: 1,000 campaigns, delta .05."""
    world = {"lease": lease, "seconds": (2.0, 90.0), "most": 300, "lost": lost}
    wrong = wrong_answers(1000, 0.205, "worst case", workers=workers, **world)
    assert wrong <= binom.isf(FALSE_ALARM, 1000, 0.05), f"{wrong} of 1,000"


# ---------------------------------------------------------------------------------------------
# sessions


def events_of(
    design: Any, rates: Any, count: int, seed: int, draw: Any = None
) -> tuple[Session, list[Event]]:
    """Asks, tells in any order, losses, late tells and unasked samples; and what happened."""
    rng, session, record = np.random.default_rng(seed), Session(design), list[Event]()
    flying, gone = list[tuple[str, int, int]](), list[tuple[str, int, int]]()
    sample = draw or (lambda arm: float(rng.random() < rates[arm]))
    for number in range(1, count + 1):
        lot, token = rng.random(), f"t{number}"
        if lot < 0.45 or not flying:
            (arm,) = session.asks(1, number - 1)
            flying.append((token, arm, number))
            record.append(Event(number, "asked", token, arm, 60.0, 0.0, False, ""))
            continue
        pile = gone if lot < 0.55 and gone else flying
        token, arm, ask = pile.pop(int(min(rng.geometric(0.2) - 1, len(pile) - 1)))
        if lot > 0.9 and pile is flying:
            session.give_up(arm, ask)
            gone.append((token, arm, ask))
            record.append(Event(number, "released", token, arm, None, 0.0, False, ""))
        else:
            value = sample(arm)
            session.take(live.TOLD, [arm], [value], [pile is flying], [ask])
            record.append(Event(number, "told", token, arm, value, 0.0, False, ""))
        if session.decision is not None:
            break
    return session, record


def by_hand(design: Any, record: list[Event], family: Any) -> tuple[list[list[float]], Any]:
    """What counts: values in the order asked up to the first in flight, and how many are missing."""
    fate: dict[str, Event] = {}
    for event in record:
        if event.kind != "asked":
            fate[event.token] = event
    samples: list[list[float]] = [[] for _ in range(design.problem.arms)]
    missing = np.zeros(design.problem.arms)
    for event in record:
        if event.kind == "asked" and event.token not in fate:
            break
        if event.kind == "asked":
            last = fate[event.token]
            assert last.arm is not None
            if last.kind == "told":
                samples[last.arm].append(float(last.value or 0.0))
            else:
                missing[last.arm] += 1.0
    return samples, missing


@pytest.mark.parametrize(("delta", "decides"), [(1e-12, False), (0.2, True)])
@pytest.mark.parametrize("family", ["bernoulli", "bounded"])
def test_replay_is_the_session_is_the_count_by_hand(
    family: str, delta: float, decides: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = specs.read({**TWO, "family": family, "delta": delta})
    design, rates = made.design, (0.75, 0.35) if decides else (0.5, 0.48)
    session, record = events_of(design, rates, 400, 3)
    assert (session.decision is not None) == decides
    samples, missing = by_hand(design, record, family)
    if not decides:  # a decision may look ahead of what is complete
        assert [len(own) for own in samples] == session.counts.tolist()
        assert session.means == pytest.approx([np.mean(own) for own in samples])
        assert missing.tolist() == session.missing.tolist()
        assert missing.sum() > 0
    for long in (10**9, 0):  # plain, and compiled
        monkeypatch.setattr(rounds, "LONG", long)
        monkeypatch.setattr(rounds, "_known", {})
        again = Session(design)
        seen = replay(again, [record])
        assert again.dump() == session.dump()
        assert (again.decision, seen.last) == (session.decision, record[-1].number)
        parts = Session(design)
        for place, event in enumerate(record if long else []):  # one by one
            known = {
                each.token: _known(record, place, each)
                for each in record[:place]
                if each.kind == "asked"
            }
            replay(parts, [[event]], known)
            fresh = Session(design)
            assert fresh.load(parts.dump())
            parts = fresh if event.number % 5 == 0 else parts
        assert parts.dump() == session.dump() or not long


def _known(record: list[Event], place: int, asked: Event) -> Any:
    from stopwise.campaign.replay import Known

    ended = any(each.token == asked.token and each.kind != "asked" for each in record[:place])
    return Known(asked.number, not ended)


def test_a_late_value_mends_what_its_absence_cost() -> None:
    session = specs.read({**COINS, "delta": 1e-40}).session()
    tickets = [session.ask() for _ in range(60)]
    for ticket in tickets[1:]:
        session.tell(ticket, float(ticket.arm == 0))
    session.release(tickets[0])
    assert session.missing.sum() == 1
    less = session.evidence
    session.tell(tickets[0], float(tickets[0].arm == 0))
    assert session.missing.sum() == 0
    assert session.evidence > less + 0.05
    told = specs.read({**COINS, "delta": 1e-40}).session()
    for _ in range(60):
        ticket = told.ask()
        told.tell(ticket, float(ticket.arm == 0))
    assert session.counts.tolist() == told.counts.tolist()
    assert session.evidence == pytest.approx(told.evidence, abs=1e-9)


def test_a_decision_need_not_wait_for_a_slow_value() -> None:
    """The first of all asks never comes back, and no lease ends: its worst value changes nothing."""
    session = specs.read(SCORES).session()
    session.ask()
    asked = 0
    while session.decision is None and asked < 300:
        ticket = session.ask()
        session.tell(ticket, 0.9 if ticket.arm == 0 else 0.2)
        asked += 1
    assert session.decision is not None
    assert session.decision.answer == 0
    assert session.missing.sum() == 1
    fresh = specs.read(SCORES).session()
    assert fresh.load(session.dump())
    assert fresh.decision == session.decision


def test_without_a_worst_value_a_loss_ends_the_proof() -> None:
    session = specs.read(NORMAL).session()
    first = session.ask()
    session.release(first)
    rng = np.random.default_rng(1)
    for _ in range(200):
        ticket = session.ask()
        session.tell(ticket, rng.normal(3.0 * (ticket.arm == 0)))
    assert session.decision is None
    assert session.evidence == 0.0
    found = session.tell(first, 3.0 * (first.arm == 0))
    assert found is not None, "the value came after all"
    assert found.answer == 0


def test_losses_may_be_taken_for_random() -> None:
    session = specs.read(NORMAL).session()
    session.release(session.ask())
    for _ in range(100):
        ticket = session.ask()
        session.tell(ticket, 3.0 * (ticket.arm == 0))
    found = session.assume_random()
    assert found is not None
    assert found.answer == 0
    assert session.missing.sum() == 0


def test_tickets_are_told_once() -> None:
    session = specs.read(COINS).session()
    one, other = session.ask(), session.ask()
    session.tell(one, 1.0)
    with pytest.raises(BadArgument, match="not told before"):
        session.tell(one, 1.0)
    session.release(other)
    session.release(other)
    assert session.missing.sum() == 1
    session.tell(other, 0.0)
    with pytest.raises(BadArgument, match="not told before"):
        session.tell(other, 0.0)
    for strange in (0, 1, Ticket("x", 0, "a"), Ticket("99", 0, "a"), None):
        with pytest.raises(BadArgument, match="a ticket that ask"):
            session.tell(strange, 1.0)  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="value"):
        session.tell(session.ask(), 2.0)


@pytest.mark.parametrize("in_flight", [5, 20, 50])
def test_a_session_counts_in_the_order_asked(in_flight: int) -> None:
    """What ``tell`` by arms did not: a value of .3 takes .3 seconds, and counted as it came."""
    spec = {
        "question": "thresholding:threshold=1",
        "arms": ["A"],
        "family": "exponential",
        "delta": 0.1,
        "strategy": "uniform",
    }
    runs, rng, wrong = 30, np.random.default_rng(in_flight), 0
    made = specs.read(spec)
    for _ in range(runs):
        session, now, running = made.session(), 0.0, list[tuple[float, int, Ticket, float]]()
        while session.decision is None and session.samples < 200:
            while len(running) < in_flight:
                ticket, value = session.ask(), rng.exponential(1.01)
                heappush(running, (now + value, int(ticket.token), ticket, value))
            now, _, ticket, value = heappop(running)
            session.tell(ticket, value)
        wrong += session.decision is not None and session.decision.answer == (0,)
    assert wrong <= binom.isf(FALSE_ALARM, runs, 0.1)


# ---------------------------------------------------------------------------------------------
# campaigns


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def campaign_of(spec: dict[str, Any]) -> tuple[Campaign, Clock]:
    clock = Clock()
    return Campaign.create(spec, "memory:", "late", clock), clock


def test_a_value_counts_after_its_lease() -> None:
    campaign, clock = campaign_of({**COINS, "delta": 1e-9})
    slow, *others = campaign.ask(20, lease=60.0)
    for ticket in others:
        campaign.tell(ticket.token, float(ticket.arm == 0))
    clock.now = 100.0
    assert campaign.expire() == 1
    status = campaign.status()
    assert (status.samples, status.missing, status.waiting) == (19, 1, 0)
    assert "1 value is missing: until it comes, it counts as the worst" in repr(status)
    receipt = campaign.tell(slow.token, 1.0)
    assert not receipt.late
    assert (campaign.status().samples, campaign.status().missing) == (20, 0)
    assert campaign.tell(slow.token, 1.0) == receipt
    assert campaign.verify().agrees
    other = Campaign.open("late", campaign._store, clock)
    assert repr(other.status()) == repr(campaign.status())


def test_losses_at_random_are_left_out_and_said() -> None:
    campaign, clock = campaign_of({**COINS, "losses": "at random"})
    slow, *_ = campaign.ask(2, lease=60.0)
    clock.now = 100.0
    campaign.expire()
    assert campaign.tell(slow.token, 1.0).late
    while campaign.decision is None:
        (ticket,) = campaign.ask()
        campaign.tell(ticket.token, float(ticket.arm == 0))
    text = repr(campaign.status())
    assert "2 values were lost: the answer assumes that losses have nothing to do with" in text
    assert campaign.verify().agrees


def test_changing_what_is_assumed_of_losses() -> None:
    campaign, clock = campaign_of(NORMAL)
    campaign.ask(1, lease=60.0)
    clock.now = 100.0
    for _ in range(60):
        (ticket,) = campaign.ask()
        campaign.tell(ticket.token, 3.0 * (ticket.arm == 0))
    assert campaign.decision is None
    assert campaign.status().evidence == 0.0
    assert campaign.change(losses="at random")
    assert campaign.decision is not None
    assert campaign.decision.answer == 0
    assert campaign.verify().agrees
    reopened = Campaign.open("late", campaign._store, clock)
    assert reopened.decision == campaign.decision
    fresh, _ = campaign_of({**COINS, "losses": "at random"})
    with pytest.raises(BadArgument, match="losses so far were left out"):
        fresh.change(losses="worst case")


def test_what_specs_say_of_losses() -> None:
    assert specs.read(COINS).losses == "worst case"
    assert specs.read({**COINS, "order": "told"}).losses == "at random"
    assert specs.make({**COINS, "order": "asked"}).losses == "at random", (
        "as before there was a key"
    )
    with pytest.raises(BadArgument, match="losses"):
        specs.read({**COINS, "losses": "never"})
    with pytest.raises(BadArgument, match="losses"):
        specs.read({**COINS, "losses": "worst case", "order": "told"})


@pytest.mark.parametrize("family", ["bernoulli", "bounded"])
@pytest.mark.parametrize("seed", range(3))
def test_any_way_of_working_verifies(family: str, seed: int) -> None:
    """Random leases, losses, late values, changes of clocks, batches and reopening."""
    rng = np.random.default_rng(seed)
    campaign, clock = campaign_of({**TWO, "family": family, "delta": 0.01})
    tickets: list[Ticket] = []
    for turn in range(150):
        if campaign.decision is not None:
            break
        tickets += campaign.ask(int(rng.integers(1, 5)), lease=float(rng.exponential(20.0) + 1.0))
        clock.now += rng.exponential(4.0)
        told = [
            (tickets.pop(int(rng.integers(len(tickets)))).token, float(rng.random() < 0.5))
            for _ in range(int(rng.integers(1, 4)))
            if tickets
        ]
        campaign.tell_all(told)
        if rng.random() < 0.2 and tickets:
            campaign.release(tickets.pop().token, "gone")
        if turn % 40 == 39:
            campaign = Campaign.open("late", campaign._store, clock)
    assert campaign.verify().agrees, campaign.verify()
    assert math.isfinite(campaign.status().evidence or 0.0)
    assert campaign.explain().text


def test_an_arm_that_is_added_keeps_what_is_missing() -> None:
    campaign, clock = campaign_of({**COINS, "room": 3, "delta": 1e-6})
    slow, *others = campaign.ask(10, lease=60.0)
    for ticket in others:
        campaign.tell(ticket.token, 1.0)
    clock.now = 100.0
    campaign.expire()
    campaign.add_arm("c")
    assert campaign.status().missing == 1
    campaign.tell(slow.token, 0.0)
    assert campaign.status().missing == 0
    assert campaign.verify().agrees
