"""What every storage of campaigns must do, to be run on your own."""

from __future__ import annotations

import csv
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any

from stopwise.campaign.campaign import Campaign
from stopwise.campaign.errors import (
    BudgetSpent,
    CampaignDecided,
    CampaignExists,
    Conflict,
    UnknownCampaign,
    UnknownToken,
)
from stopwise.campaign.events import Event, Receipt, Ticket
from stopwise.campaign.record import replay
from stopwise.campaign.session import Session
from stopwise.campaign.store import Store
from stopwise.errors import BadArgument

LABELS = ("old page", "neue Seite: größer", "新しいページ 🎯")
COINS = {"question": "best-arm", "arms": list(LABELS), "family": "bernoulli", "delta": 0.05}
NORMAL = {**COINS, "family": "gaussian", "delta": 0.1}
# numbers that must come back to the last bit
NUMBERS = (0.1 + 0.2, -0.0, 5e-324, 2.2250738585072014e-308, 1 / 3, 1e100, -1e100, 123456789.125)


def check_store(where: str | Callable[[], Store]) -> None:
    """Check a storage by its address, or by a function that opens it (again, at each call).

    Campaigns with random names are left behind in it. Raises AssertionError where it does not do
    what campaigns need.
    """
    place = _Place(where)
    try:
        for check in CHECKS:
            check(place)
    finally:
        place.close()


class _Place:
    """A storage, campaigns in it, and a clock that stands still unless told otherwise."""

    def __init__(self, where: str | Callable[[], Store]) -> None:
        self._opened: list[Store] = []
        self._where = where
        self.now = 1_000_000.25

    def store(self) -> Store:
        """Another way in; in memory there is only one."""
        if callable(self._where):
            return self._where()
        if self._where != "memory:" or not self._opened:
            self._opened.append(Store(self._where))
        return self._opened[-1]

    def create(self, spec: Mapping[str, Any], name: str | None = None) -> Campaign:
        called = f"check {token_hex(6)}" if name is None else name
        return Campaign.create(spec, self.store(), called, clock=lambda: self.now)

    def open(self, name: str) -> Campaign:
        return Campaign.open(name, self.store(), clock=lambda: self.now)

    def close(self) -> None:
        for store in self._opened:
            store.close()


@contextmanager
def _refused(kind: type[Exception], *parts: str) -> Iterator[list[Any]]:
    """The block raises this, with these words."""
    caught: list[Any] = []
    try:
        yield caught
    except kind as error:
        caught.append(error)
    assert caught, f"{kind.__name__} was not raised"
    missing = [part for part in parts if part not in str(caught[0])]
    assert not missing, f"{kind.__name__} does not say {missing}: {caught[0]}"


@contextmanager
def _untouched(campaign: Campaign) -> Iterator[None]:
    """The block writes nothing."""
    before = campaign.events(), campaign.status()
    yield
    after = campaign.events(), campaign.status()
    assert after == before, f"something was written: {before} became {after}"


def _one(campaign: Campaign, lease: float | None = None) -> Ticket:
    (ticket,) = campaign.ask(lease=lease)
    return ticket


def _agree(*hands: Campaign) -> list[Event]:
    """Every hand sees the same record, which gives the state that is stored."""
    record = hands[0].events()
    session = Session(hands[0].spec.plan)
    replay(session, record)
    for hand in hands:
        assert hand.events() == record, "two hands see different records"
        found = hand.status()
        assert tuple(arm.samples for arm in found.arms) == tuple(map(int, session.counts))
        assert found.events == len(record)
        assert hand.verify().agrees, hand.verify()
    with hands[0]._store.look(hands[0].name) as found_now:
        state = found_now.state()
        assert state is None or bytes(state) == session.dump(), "the stored state is another one"
    return record


def _check_creation(place: _Place) -> None:
    first = place.create(COINS)
    again = place.create(COINS, first.name)
    assert (again.name, again.spec.key) == (first.name, first.spec.key)
    assert first.labels == place.open(first.name).labels == LABELS
    assert first.name in place.store().names()
    with _refused(CampaignExists, first.name, first.spec.key, "0.05", "0.01", "delta"):
        place.create({**COINS, "delta": 0.01}, first.name)
    assert place.open(first.name).spec.table == first.spec.table
    absent = f"absent {token_hex(6)}"
    with _refused(UnknownCampaign, absent):
        place.open(absent)
    assert first.events() == []
    status = first.status()
    assert (status.state, status.samples, status.pending) == ("running", 0, 0)
    assert status.evidence is None
    assert first.decision is None
    assert first.recommend().answer is None
    _agree(first, again)


def _check_rounds(place: _Place) -> None:
    campaign = place.create(COINS)
    tickets = campaign.ask(3, lease=60)
    assert [ticket.label for ticket in tickets] == list(LABELS), "every arm comes once first"
    assert len({ticket.token for ticket in tickets}) == 3
    place.now += 1.5
    receipts = [campaign.tell(tickets[k].token, float(k == 1)) for k in (2, 0, 1)]
    assert [receipt.number for receipt in receipts] == [4, 5, 6]
    assert [receipt.value for receipt in receipts] == [0.0, 0.0, 1.0]
    recorded = campaign.record(LABELS[2], 1)
    record = _agree(campaign, place.open(campaign.name))
    assert [event.kind for event in record] == ["asked"] * 3 + ["told"] * 3 + ["recorded"]
    assert [event.number for event in record] == list(range(1, 8))
    assert [event.arm for event in record] == [0, 1, 2, 2, 0, 1, 2]
    assert [event.token for event in record[3:6]] == [tickets[k].token for k in (2, 0, 1)]
    assert {event.time for event in record[:3]} == {place.now - 1.5}
    assert {event.time for event in record[3:]} == {place.now}
    assert recorded.token == record[-1].token
    assert campaign.events(after=5) == record[5:]
    status = campaign.status()
    assert [arm.mean for arm in status.arms] == [0.0, 1.0, 0.5]
    assert status.leading == f"{LABELS[1]} is best"
    assert campaign.recommend().text == f"{LABELS[1]} is best"
    assert not campaign.recommend().proven
    said = campaign.explain()
    assert said.next_arm in LABELS
    assert said.threshold > 0.0
    assert "neue Seite: größer is best" in said.text


def _check_repeats(place: _Place) -> None:
    campaign, other = (found := place.create(COINS)), place.open(found.name)
    ticket = _one(campaign)
    receipt = campaign.tell(ticket.token, 1)
    with _untouched(campaign):
        assert other.tell(ticket.token, 1.0) == receipt
        with _refused(Conflict, ticket.token, "1.0", "0.0", f"event {receipt.number}"):
            other.tell(ticket.token, 0)
    mine = campaign.record(1, 0, token="row 17")
    with _untouched(campaign):
        assert other.record(LABELS[1], 0, token="row 17") == mine
        with _refused(Conflict, "row 17", "0.0", "1.0"):
            campaign.record(1, 1, token="row 17")
        with _refused(Conflict, "row 17", "arm 1", "given 2"):
            campaign.record(2, 0, token="row 17")
        with _refused(Conflict, ticket.token, "use tell"):
            campaign.record(0, 1, token=ticket.token)
        for call in (campaign.heartbeat, campaign.release, lambda token: campaign.tell(token, 1)):
            with _refused(UnknownToken, "row 17", campaign.name):
                call("row 17")
    _agree(campaign, other)


def _check_leases(place: _Place) -> None:
    campaign, other = (found := place.create(COINS)), place.open(found.name)
    lost, kept, gone = campaign.ask(3, lease=10)
    place.now += 9
    assert other.heartbeat(kept.token, lease=10)
    assert other.release(gone.token, "the page was down")
    with _untouched(campaign):
        assert not campaign.release(gone.token, "again")
        assert not campaign.heartbeat(gone.token)
    place.now += 2
    assert campaign.status().pending == 2, "a lease ends at the next ask"
    again = campaign.ask(2, lease=100)
    assert [ticket.arm for ticket in again] == [0, 2], "arms whose samples were lost come again"
    released = [event for event in _agree(campaign, other) if event.kind == "released"]
    assert [event.token for event in released] == [gone.token, lost.token]
    assert [event.note for event in released] == ["the page was down", "lease expired"]
    assert not campaign.heartbeat(lost.token)
    for ticket, value in ((lost, 1), (gone, 0), (kept, 1), (again[1], 0)):
        assert not other.tell(ticket.token, value).late, "a sample that comes late still counts"
    status = campaign.status()
    assert [arm.samples for arm in status.arms] == [1, 1, 2]
    assert [arm.pending for arm in status.arms] == [1, 0, 0]
    assert campaign.explain().lost[LABELS[0]] == (0, 2)
    _agree(campaign, other)


def _check_budget(place: _Place) -> None:
    campaign = place.create({**COINS, "budget": 5})
    first = campaign.ask(3, lease=10)
    assert len(campaign.ask(3, lease=10)) == 2, "what is left"
    with _untouched(campaign), _refused(BudgetSpent, "budget of 5", campaign.name):
        campaign.ask()
    campaign.release(first[0].token)
    assert len(campaign.ask(4)) == 1, "what was released is there again"
    place.now += 11
    for ticket in campaign.ask(9):  # two leases ran out for good: the others are told below
        campaign.tell(ticket.token, 1)
    assert campaign.status().samples + campaign.status().pending == 5
    with _refused(BudgetSpent, "without a decision"):
        campaign.ask()
    _agree(campaign, place.open(campaign.name))


def _check_decision(place: _Place) -> None:
    campaign, other = (found := place.create(NORMAL)), place.open(found.name)
    open_ones = campaign.ask(4)
    told: list[tuple[Ticket, Receipt]] = []
    while not told or not told[-1][1].decided:
        ticket = _one(other)
        assert len(told) < 200, "no decision, though the data are clear"
        told.append((ticket, campaign.tell(ticket.token, 3.0 * ticket.arm)))
    receipt = told[-1][1]
    assert not receipt.late
    decision = campaign.decision
    assert decision is not None
    assert decision == other.decision == place.open(campaign.name).decision
    assert (decision.answer, decision.text) == (2, f"{LABELS[2]} is best")
    assert decision.evidence >= decision.threshold > 0.0
    assert (decision.samples, decision.number) == (len(told), receipt.number + 1)
    assert decision.key == campaign.spec.key
    for hand in (campaign, other):
        with _untouched(campaign), _refused(CampaignDecided, LABELS[2]) as caught:
            hand.ask()
        assert caught[0].decision == decision
    _check_ledger(place, campaign, other, open_ones, told)


def _check_ledger(
    place: _Place,
    campaign: Campaign,
    other: Campaign,
    open_ones: list[Ticket],
    told: list[tuple[Ticket, Receipt]],
) -> None:
    """After the decision: everything is kept, and changes nothing."""
    before, decision = other.status(), campaign.decision
    with _untouched(campaign):
        for ticket, receipt in told:
            assert other.tell(ticket.token, receipt.value) == receipt, "the same receipt as before"
        with _refused(Conflict, "samples are not corrected"):
            other.tell(told[-1][0].token, -7)
    late = other.tell(open_ones[0].token, 1e6)
    assert (late.late, late.decided) == (True, True)
    assert campaign.tell(open_ones[0].token, 1e6) == late
    assert campaign.record(0, 1e6).late
    assert campaign.release(open_ones[1].token, "no need")
    after = campaign.status()
    assert after.state == "decided"
    assert [arm.samples for arm in after.arms] == [arm.samples for arm in before.arms]
    assert (after.evidence, after.pending) == (before.evidence, before.pending - 2)
    record = _agree(campaign, other, place.open(campaign.name))
    assert [event.kind for event in record[-4:]] == ["decided", "told", "recorded", "released"]
    assert [event.late for event in record[-4:]] == [False, True, True, True]
    assert json.loads(record[-4].note)["answer"] == 2
    assert campaign.decision == place.open(campaign.name).decision == decision
    assert campaign.verify().decision == decision
    found = other.recommend()
    assert (found.answer, found.proven) == (2, True)
    assert f"decided: {LABELS[2]} is best" in campaign.explain().text


def _check_refusals(place: _Place) -> None:
    campaign = place.create(COINS)
    ticket = _one(campaign)
    nan, inf = float("nan"), float("inf")
    bad: list[tuple[type[Exception], Callable[[], object]]] = [
        *((BadArgument, lambda v=v: campaign.tell(ticket.token, v)) for v in (nan, inf, "1", 0.5)),
        *((BadArgument, lambda v=v: campaign.record(0, v)) for v in (nan, -inf, None, 2)),
        *((BadArgument, lambda a=a: campaign.record(a, 1)) for a in (3, -1, "no such", None, 0.0)),
        *((BadArgument, lambda n=n: campaign.ask(n)) for n in (0, -1, 1.5, "2", 10_001)),
        *((BadArgument, lambda t=t: campaign.ask(lease=t)) for t in (0, -1, nan, inf, "1")),
        *((BadArgument, lambda t=t: campaign.tell(t, 1)) for t in ("", None, 5, "x" * 65)),
        (UnknownToken, lambda: campaign.tell("no such", 1)),
        (UnknownToken, lambda: campaign.release("no such")),
        (UnknownToken, lambda: campaign.heartbeat("no such")),
        (BadArgument, lambda: campaign.release(ticket.token, "x" * 1001)),
    ]
    with _untouched(campaign):
        for kind, call in bad:
            with _refused(kind):
                call()
    assert campaign.tell(ticket.token, 1).number == 2, "and the work goes on"
    _agree(campaign, place.open(campaign.name))


def _check_together(place: _Place) -> None:
    campaign, other = (found := place.create(COINS)), place.open(found.name)
    tickets = campaign.ask(6)
    with campaign.together():
        for ticket in tickets[:3]:
            campaign.tell(ticket.token, 1)
        with _refused(BadArgument, "value"):
            campaign.tell(tickets[3].token, float("nan"))
        campaign.ask(2)
        assert campaign.status().samples == 3
        assert len(campaign.events()) == 11
    assert len(_agree(campaign, other)) == 11
    with _untouched(other), _refused(ZeroDivisionError), campaign.together():
        campaign.tell(tickets[4].token, 1)
        raise ZeroDivisionError
    assert campaign.tell(tickets[4].token, 0).value == 0.0, (
        "nothing was told in a block that failed"
    )
    _agree(campaign, other)


def _check_numbers(place: _Place) -> None:
    campaign = place.create(NORMAL)
    for value in NUMBERS:
        receipt = campaign.record(0, value)
        assert campaign.events()[-1].value == value, f"{value!r} became {campaign.events()[-1]}"
        assert campaign.record(0, value, token=receipt.token) == receipt
    _agree(campaign, place.open(campaign.name))


def _check_all_or_nothing(place: _Place) -> None:
    campaign = place.create(COINS)
    ticket, store = _one(campaign), campaign._store
    with _untouched(campaign), _refused(ZeroDivisionError), store.change(campaign.name) as found:
        found.add("told", ticket.token, 0, 1.0, place.now)
        found.settle(ticket.token)
        found.save(None, b"half done")
        raise ZeroDivisionError
    _agree(campaign, place.open(campaign.name))


def _check_export(place: _Place) -> None:
    campaign = place.create(COINS)
    campaign.tell(_one(campaign).token, 1)
    campaign.record(2, 0)
    record = campaign.events()
    with tempfile.TemporaryDirectory() as folder:
        text = campaign.export(Path(folder) / "record.csv").read_text(encoding="utf-8")
        lines = campaign.export(Path(folder) / "record.jsonl").read_text(encoding="utf-8")
        with _refused(BadArgument, ".xls", ".parquet"):
            campaign.export(Path(folder) / "record.xls")
    rows = [json.loads(line) for line in lines.splitlines()]
    assert [Event(**{k: v for k, v in row.items() if k != "label"}) for row in rows] == record
    assert [row["label"] for row in rows] == [LABELS[0], LABELS[0], LABELS[2]]
    table = list(csv.DictReader(text.splitlines()))
    assert [row["token"] for row in table] == [event.token for event in record]


CHECKS: tuple[Callable[[_Place], None], ...] = (
    _check_creation,
    _check_rounds,
    _check_repeats,
    _check_leases,
    _check_budget,
    _check_decision,
    _check_refusals,
    _check_together,
    _check_numbers,
    _check_all_or_nothing,
    _check_export,
)
