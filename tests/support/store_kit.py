"""What every storage of campaigns must do."""

from __future__ import annotations

import csv
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from secrets import token_hex

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
from stopwise.campaign.storage.store import Store
from stopwise.core.errors import BadArgument
from store_paired import PAIRED_CHECKS
from store_place import COINS, LABELS, NORMAL, Place, agree, one, refused, untouched

# numbers that must come back to the last bit
NUMBERS = (0.1 + 0.2, -0.0, 5e-324, 2.2250738585072014e-308, 1 / 3, 1e100, -1e100, 123456789.125)


def check_store(where: str | Callable[[], Store]) -> None:
    """Check a storage by its address, or by a function that opens it (again, at each call).

    Campaigns with random names are left behind in it. Raises AssertionError where it does not do
    what campaigns need.
    """
    place = Place(where)
    try:
        for check in CHECKS:
            check(place)
    finally:
        place.close()


def _check_creation(place: Place) -> None:
    first = place.create(COINS)
    again = place.create(COINS, first.name)
    assert (again.name, again.spec.key) == (first.name, first.spec.key)
    assert first.labels == place.open(first.name).labels == LABELS
    assert first.name in place.store().names()
    with refused(CampaignExists, first.name, first.spec.key, "0.05", "0.01", "delta"):
        place.create({**COINS, "delta": 0.01}, first.name)
    assert place.open(first.name).spec.table == first.spec.table
    absent = f"absent {token_hex(6)}"
    with refused(UnknownCampaign, absent):
        place.open(absent)
    assert first.events() == []
    status = first.status()
    assert (status.state, status.samples, status.in_flight) == ("running", 0, 0)
    assert status.evidence is None
    assert first.decision is None
    assert first.recommend().answer is None
    agree(first, again)


def _check_rounds(place: Place) -> None:
    campaign = place.create(COINS)
    tickets = campaign.ask(3, lease=60)
    assert [ticket.label for ticket in tickets] == list(LABELS), "every arm comes once first"
    assert len({ticket.token for ticket in tickets}) == 3
    place.now += 1.5
    receipts = [campaign.tell(tickets[k].token, float(k == 1)) for k in (2, 0, 1)]
    assert [receipt.number for receipt in receipts] == [4, 5, 6]
    assert [receipt.value for receipt in receipts] == [0.0, 0.0, 1.0]
    recorded = campaign.record(LABELS[2], 1)
    record = agree(campaign, place.open(campaign.name))
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


def _check_repeats(place: Place) -> None:
    campaign, other = (found := place.create(COINS)), place.open(found.name)
    ticket = one(campaign)
    receipt = campaign.tell(ticket.token, 1)
    with untouched(campaign):
        assert other.tell(ticket.token, 1.0) == receipt
        with refused(Conflict, ticket.token, "1.0", "0.0", f"event {receipt.number}"):
            other.tell(ticket.token, 0)
    mine = campaign.record(1, 0, token="row 17")
    with untouched(campaign):
        assert other.record(LABELS[1], 0, token="row 17") == mine
        with refused(Conflict, "row 17", "0.0", "1.0"):
            campaign.record(1, 1, token="row 17")
        with refused(Conflict, "row 17", "arm 1", "given 2"):
            campaign.record(2, 0, token="row 17")
        with refused(Conflict, ticket.token, "use tell"):
            campaign.record(0, 1, token=ticket.token)
        for call in (campaign.heartbeat, campaign.release, lambda token: campaign.tell(token, 1)):
            with refused(UnknownToken, "row 17", campaign.name):
                call("row 17")
    agree(campaign, other)


def _check_leases(place: Place) -> None:
    for order in ("asked", "told"):
        _check_leases_in(place, order)


def _check_leases_in(place: Place, order: str) -> None:
    strict = order == "asked"  # then a sample that comes after its lease counts never, else always
    campaign = place.create({**COINS, "order": order, "losses": "at random"})
    other = place.open(campaign.name)
    lost, kept, gone = campaign.ask(3, lease=10)
    place.now += 9
    assert other.heartbeat(kept.token, lease=10)
    assert other.release(gone.token, "the page was down")
    with untouched(campaign):
        assert not campaign.release(gone.token, "again")
        assert not campaign.heartbeat(gone.token)
    place.now += 2
    assert campaign.status().in_flight == 2, "a lease ends at the next change"
    again = campaign.ask(2, lease=100)
    assert [ticket.arm for ticket in again] == [0, 2], "arms whose samples were lost come again"
    released = [event for event in agree(campaign, other) if event.kind == "released"]
    assert [event.token for event in released] == [gone.token, lost.token]
    assert [event.note for event in released] == ["the page was down", "lease expired"]
    assert not campaign.heartbeat(lost.token)
    for ticket, value in ((lost, 1), (gone, 0)):
        receipt = other.tell(ticket.token, value)
        assert (receipt.late, receipt.decided, receipt.waiting) == (strict, False, False)
        with untouched(campaign):
            assert campaign.tell(ticket.token, value) == receipt
    place.now += 8
    assert not other.tell(kept.token, 1).late
    waits = other.tell(again[1].token, 0)
    assert (waits.late, waits.waiting) == (False, strict)
    assert campaign.tell(again[1].token, 0) == waits
    status = campaign.status()
    assert [arm.samples for arm in status.arms] == ([0, 1, 0] if strict else [1, 1, 2])
    assert [arm.in_flight for arm in status.arms] == [1, 0, 0]
    assert (status.waiting, status.oldest) == ((1, 8.0) if strict else (0, None))
    assert ("1 wait for an earlier one, asked 8 s ago" in repr(status)) == strict
    assert campaign.explain().lost[LABELS[0]] == ((1, 2) if strict else (0, 2))
    agree(campaign, other)
    place.now += 100
    assert campaign.expire() == 1
    status = place.open(campaign.name).status()
    assert [arm.samples for arm in status.arms] == ([0, 1, 1] if strict else [1, 1, 2])
    assert (status.waiting, status.in_flight) == (0, 0)
    agree(campaign, other)


def _check_missing(place: Place) -> None:
    """What does not come within its lease counts as the worst, for all who look, until it comes."""
    campaign = place.create({**COINS, "delta": 1e-9})
    other = place.open(campaign.name)
    slow, gone, *rest = campaign.ask(30, lease=10)
    for ticket in rest:
        assert other.tell(ticket.token, float(ticket.arm == 2)).waiting
    assert campaign.release(gone.token, "the page was down")
    place.now += 20
    assert other.expire() == 1
    status = place.open(campaign.name).status()
    assert (status.samples, status.missing, status.in_flight, status.waiting) == (28, 2, 0, 0)
    assert "2 values are missing" in repr(status)
    agree(campaign, other)
    receipt = campaign.tell(slow.token, float(slow.arm == 2))
    assert (receipt.late, receipt.waiting) == (False, False)
    with untouched(campaign):
        assert other.tell(slow.token, float(slow.arm == 2)) == receipt
    after = other.status()
    assert (after.samples, after.missing) == (29, 1)
    assert (after.evidence or 0.0) >= (status.evidence or 0.0)
    agree(campaign, other)
    assert campaign.change(losses="at random")
    assert (campaign.status().missing, campaign.status().lost) == (0, 1)
    assert other.tell(gone.token, 0.0).late
    agree(campaign, other)


def _check_order(place: Place) -> None:
    """A sample counts once all that were asked before it are there, or lost; and then it may decide."""
    campaign = place.create({**NORMAL, "delta": 0.3, "losses": "at random"})
    other, tickets = place.open(campaign.name), campaign.ask(60)
    for ticket in reversed(tickets[2:]):
        assert other.tell(ticket.token, 10.0 * ticket.arm).waiting
    mine = campaign.record(0, 0.0)
    assert mine.waiting, "its turn comes after what was asked before"
    status = place.open(campaign.name).status()
    assert (status.samples, status.in_flight, status.waiting) == (0, 2, 59)
    assert not campaign.tell(tickets[0].token, 0.0).waiting
    assert (campaign.status().samples, campaign.decision) == (1, None)
    agree(campaign, other)
    assert other.release(tickets[1].token, "no answer")
    decision = place.open(campaign.name).decision
    assert decision is not None
    assert decision == other.decision
    assert 3 < decision.samples < 59
    record = agree(campaign, other)
    assert [event.kind for event in record[-2:]] == ["released", "decided"]
    assert campaign.status().waiting == 0, "after the decision nothing waits"
    with refused(CampaignDecided, LABELS[2]):
        campaign.ask()
    late = other.tell(tickets[1].token, 5.0)
    assert (late.late, late.decided) == (True, True)


def _check_expired_decision(place: Place) -> None:
    """The ask that finds a lease at its end may find that the campaign is decided."""
    campaign = place.create({**NORMAL, "delta": 0.3, "losses": "at random"})
    (dead,) = campaign.ask(lease=5)
    for ticket in campaign.ask(60):
        campaign.tell(ticket.token, 10.0 * ticket.arm)
    assert campaign.decision is None
    place.now += 6
    with refused(CampaignDecided, LABELS[2]):
        campaign.ask()
    assert campaign.decision is not None, "and that is stored"
    assert [event.kind for event in agree(campaign)[-2:]] == ["released", "decided"]
    assert campaign.events()[-2].token == dead.token


def _check_lease_default(place: Place) -> None:
    """An hour; then ten times the longest that came in time: at least a minute, at most a day."""
    campaign = place.create({**COINS, "losses": "at random"})
    for seconds, lease in ((1, 3600.0), (30, 60.0), (2, 300.0), (500, 300.0), (1, 300.0)):
        ticket = one(campaign)
        assert campaign.events()[-1].value == lease
        place.now += seconds
        assert campaign.tell(ticket.token, 1).late == (seconds > lease)
    for seconds in (30 * 86_400.0, 100 * 365 * 86_400.0):  # nobody looked; the clock was wrong
        ticket = one(campaign, lease=1e6)
        place.now += seconds
        campaign.tell(ticket.token, 1)
        one(campaign)
        assert campaign.events()[-1].value == 300.0, "a late sample says nothing"
    ticket = one(campaign, lease=1e9)
    place.now += 30 * 86_400.0
    campaign.tell(ticket.token, 1)
    one(campaign)
    assert campaign.events()[-1].value == 86_400.0, "a day at most"


def _check_budget(place: Place) -> None:
    campaign = place.create({**COINS, "budget": 5})
    first = campaign.ask(3, lease=10)
    assert len(campaign.ask(3, lease=10)) == 2, "what is left"
    with untouched(campaign), refused(BudgetSpent, "budget of 5", campaign.name):
        campaign.ask()
    campaign.release(first[0].token)
    assert len(campaign.ask(4)) == 1, "what was released is there again"
    place.now += 11
    for ticket in campaign.ask(9):  # four leases ran out
        campaign.tell(ticket.token, 1)
    status = campaign.status()
    assert status.samples + status.waiting + status.in_flight == 5
    with refused(BudgetSpent, "without a decision"):
        campaign.ask()
    agree(campaign, place.open(campaign.name))


def _check_decision(place: Place) -> None:
    spec = {**NORMAL, "losses": "at random"}
    campaign, other = (found := place.create(spec)), place.open(found.name)
    told: list[tuple[Ticket, Receipt]] = []
    open_ones: list[Ticket] = []
    while not told or not told[-1][1].decided:
        for early in open_ones:  # nothing waits for what is lost
            campaign.release(early.token)
        ticket, *open_ones = other.ask(5)
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
        with untouched(campaign), refused(CampaignDecided, LABELS[2]) as caught:
            hand.ask()
        assert caught[0].decision == decision
    _check_ledger(place, campaign, other, open_ones, told)


def _check_ledger(
    place: Place,
    campaign: Campaign,
    other: Campaign,
    open_ones: list[Ticket],
    told: list[tuple[Ticket, Receipt]],
) -> None:
    """After the decision: everything is kept, and changes nothing."""
    before, decision = other.status(), campaign.decision
    with untouched(campaign):
        for ticket, receipt in told:
            assert other.tell(ticket.token, receipt.value) == receipt, "the same receipt as before"
        with refused(Conflict, "samples are not corrected"):
            other.tell(told[-1][0].token, -7)
    late = other.tell(open_ones[0].token, 1e6)
    assert (late.late, late.decided) == (True, True)
    assert campaign.tell(open_ones[0].token, 1e6) == late
    assert campaign.record(0, 1e6).late
    assert campaign.release(open_ones[1].token, "no need")
    after = campaign.status()
    assert after.state == "decided"
    assert [arm.samples for arm in after.arms] == [arm.samples for arm in before.arms]
    assert (after.evidence, after.in_flight) == (before.evidence, before.in_flight - 2)
    record = agree(campaign, other, place.open(campaign.name))
    assert [event.kind for event in record[-4:]] == ["decided", "told", "recorded", "released"]
    assert [event.late for event in record[-4:]] == [False, True, True, True]
    assert json.loads(record[-4].note)["answer"] == 2
    assert campaign.decision == place.open(campaign.name).decision == decision
    assert campaign.verify().decision == decision
    found = other.recommend()
    assert (found.answer, found.proven) == (2, True)
    assert f"decided: {LABELS[2]} is best" in campaign.explain().text


def _check_refusals(place: Place) -> None:
    campaign = place.create(COINS)
    ticket = one(campaign)
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
    with untouched(campaign):
        for kind, call in bad:
            with refused(kind):
                call()
    assert campaign.tell(ticket.token, 1).number == 2, "and the work goes on"
    agree(campaign, place.open(campaign.name))


def _check_together(place: Place) -> None:
    campaign, other = (found := place.create(COINS)), place.open(found.name)
    tickets = campaign.ask(6)
    with campaign.together():
        for ticket in tickets[:3]:
            campaign.tell(ticket.token, 1)
        with refused(BadArgument, "value"):
            campaign.tell(tickets[3].token, float("nan"))
        campaign.ask(2)
        assert campaign.status().samples == 3
        assert len(campaign.events()) == 11
    assert len(agree(campaign, other)) == 11
    with untouched(other), refused(ZeroDivisionError), campaign.together():
        campaign.tell(tickets[4].token, 1)
        raise ZeroDivisionError
    assert campaign.tell(tickets[4].token, 0).value == 0.0, (
        "nothing was told in a block that failed"
    )
    agree(campaign, other)


def _check_numbers(place: Place) -> None:
    campaign = place.create(NORMAL)
    for value in NUMBERS:
        receipt = campaign.record(0, value)
        assert campaign.events()[-1].value == value, f"{value!r} became {campaign.events()[-1]}"
        assert campaign.record(0, value, token=receipt.token) == receipt
    agree(campaign, place.open(campaign.name))


def _check_all_or_nothing(place: Place) -> None:
    campaign = place.create(COINS)
    ticket, store = one(campaign), campaign._store
    with (
        untouched(campaign),
        refused(ZeroDivisionError),
        store.change(campaign.name) as transaction,
    ):
        transaction.add("told", ticket.token, 0, 1.0, place.now)
        transaction.close_lease(ticket.token)
        transaction.save_state(b"half done")
        transaction.save(None)
        raise ZeroDivisionError
    agree(campaign, place.open(campaign.name))


def _check_export(place: Place) -> None:
    campaign = place.create(COINS)
    campaign.tell(one(campaign).token, 1)
    campaign.record(2, 0)
    record = campaign.events()
    with tempfile.TemporaryDirectory() as folder:
        text = campaign.export(Path(folder) / "record.csv").read_text(encoding="utf-8")
        lines = campaign.export(Path(folder) / "record.jsonl").read_text(encoding="utf-8")
        with refused(BadArgument, ".xls", ".parquet"):
            campaign.export(Path(folder) / "record.xls")
    rows = [json.loads(line) for line in lines.splitlines()]
    assert [Event(**{k: v for k, v in row.items() if k != "label"}) for row in rows] == record
    assert [row["label"] for row in rows] == [LABELS[0], LABELS[0], LABELS[2]]
    table = list(csv.DictReader(text.splitlines()))
    assert [row["token"] for row in table] == [event.token for event in record]


CHECKS: tuple[Callable[[Place], None], ...] = (
    _check_creation,
    _check_rounds,
    _check_repeats,
    _check_leases,
    _check_missing,
    _check_order,
    _check_expired_decision,
    _check_lease_default,
    _check_budget,
    _check_decision,
    _check_refusals,
    _check_together,
    _check_numbers,
    _check_all_or_nothing,
    _check_export,
    *PAIRED_CHECKS,
)
