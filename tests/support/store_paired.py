"""What every storage must do for paired campaigns: all arms get the same items."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from stopwise import PairedSession
from stopwise.campaign.campaign import Campaign
from stopwise.campaign.errors import (
    BudgetSpent,
    CampaignDecided,
    Conflict,
    NothingToAsk,
    NotPossible,
)
from stopwise.campaign.events import Ticket
from stopwise.core.errors import BadArgument
from store_place import COINS, LABELS, Place, agree, one, refused, untouched

PAIRED: Mapping[str, Any] = {**COINS, "paired": True}
TWO: Mapping[str, Any] = {**PAIRED, "arms": list(LABELS[:2])}


def answer_sheet(items: int, seed: int = 1) -> Any:
    """Answers of three arms to the same questions, the last of them mostly right."""
    rng = np.random.default_rng(seed)
    hard = rng.random((items, 1))
    return (hard < [0.4, 0.6, 0.8] + 0.2 * rng.random((items, 3))).astype(float)


def tell_rows(campaign: Campaign, rows: Any, tickets: list[Ticket]) -> None:
    for ticket in tickets:
        campaign.tell(ticket.token, rows[ticket.item, ticket.arm])


def check_tickets(place: Place) -> None:
    """Arm by arm, item by item; asks may cut through an item, and go on there."""
    campaign = place.create(PAIRED)
    other = place.open(campaign.name)
    tickets = campaign.ask(2) + other.ask(2) + campaign.ask(5)
    assert [ticket.item for ticket in tickets] == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert tickets[0].to_dict()["item"] == 0
    assert "item" not in place.create(COINS).ask()[0].to_dict(), "clients of 0.2.0 do not know it"
    for first in (0, 3, 6):
        assert sorted(each.arm for each in tickets[first : first + 3]) == [0, 1, 2]
    assert len({ticket.token for ticket in tickets}) == 9
    orders = {tuple(each.arm for each in campaign.ask(3)) for _ in range(20)}
    assert len(orders) > 1, "the order of arms within an item is random"
    record = agree(campaign, other)
    assert [event.note for event in record[:4]] == ["item 0", "item 0", "item 0", "item 1"]


def check_items_count_in_turn(place: Place) -> None:
    """Results wait for the other arms on their item, and for earlier items."""
    campaign = place.create(PAIRED)
    other, tickets = place.open(campaign.name), campaign.ask(9)
    told = [other.tell(ticket.token, 1) for ticket in tickets[3:]]
    assert all(receipt.waiting for receipt in told)
    status = place.open(campaign.name).status()
    assert (status.samples, status.in_flight, status.waiting) == (0, 3, 6)
    assert "wait for an earlier one" in repr(status)
    for ticket in tickets[:2]:
        assert campaign.tell(ticket.token, 0).waiting
    place.now += 5
    last = campaign.tell(tickets[2].token, 1)
    assert not last.waiting
    status = other.status()
    assert (status.samples, status.in_flight, status.waiting) == (9, 0, 0)
    assert status.pairs is not None
    assert status.pairs.items == 3
    assert [arm.samples for arm in status.arms] == [3, 3, 3]
    agree(campaign, other)


def check_repeats(place: Place) -> None:
    campaign = place.create(PAIRED)
    other, ticket = place.open(campaign.name), one(campaign)
    receipt = campaign.tell(ticket.token, 1)
    with untouched(campaign):
        assert other.tell(ticket.token, 1) == receipt
        with refused(Conflict, ticket.token):
            other.tell(ticket.token, 0)
        for value in (0.5, float("nan"), "1"):
            with refused(BadArgument, "value"):
                other.tell(ticket.token, value)  # type: ignore[arg-type]
        with refused(NotPossible, "paired", "item"):
            other.record(0, 1)
        with refused(NotPossible, "paired"):
            other.add_arm("one more")
    agree(campaign, other)


def check_missing(place: Place) -> None:
    """What is lost counts as the worst, and is not asked again; it may come late."""
    campaign = place.create(PAIRED)
    other, tickets = place.open(campaign.name), campaign.ask(6, lease=10)
    gone = tickets[1]
    for ticket in tickets:
        if ticket is not gone:
            campaign.tell(ticket.token, 1)
    place.now += 11
    (fresh,) = other.ask(1, lease=10)
    assert fresh.item == 2, "a new item"
    status = other.status()
    assert status.pairs is not None
    assert (status.pairs.items, status.missing) == (2, 1)
    agree(campaign, other)
    assert not campaign.tell(gone.token, 1).late
    assert other.status().missing == 0
    agree(campaign, other)


def check_losses(place: Place) -> None:
    """Where losses are at random what is lost is asked again, with the same item."""
    campaign = place.create({**PAIRED, "losses": "at random"})
    other, tickets = place.open(campaign.name), campaign.ask(6, lease=10)
    gone, slow = tickets[1], tickets[4]
    assert other.release(gone.token, "no answer")
    for ticket in tickets:
        if ticket not in (gone, slow):
            campaign.tell(ticket.token, 1)
    place.now += 11
    again = other.ask(2, lease=10)
    assert [(each.item, each.arm) for each in again] == [(0, gone.arm), (1, slow.arm)]
    assert campaign.tell(slow.token, 1).late, "a result after its lease never counts"
    assert not campaign.tell(again[1].token, 0).late
    agree(campaign, other)
    assert not campaign.tell(again[0].token, 0).waiting
    status = other.status()
    assert status.pairs is not None
    assert (status.pairs.items, status.waiting) == (2, 0)
    assert campaign.explain().lost[LABELS[gone.arm]][0] >= 1
    agree(campaign, other)


def check_decision(place: Place) -> None:
    """The same items as in one process: the same decision; then everything is kept, and late."""
    rows, session = answer_sheet(500), PairedSession(place.create(PAIRED).spec.design.family, 3)
    while not session.decided:
        item, arms = session.ask()
        for arm in arms:
            session.tell(item, arm, rows[item, arm])
    campaign = place.create(PAIRED)
    other = place.open(campaign.name)
    while campaign.decision is None:
        tickets = other.ask(4)
        for ticket in reversed(tickets):
            campaign.tell(ticket.token, rows[ticket.item, ticket.arm])
    decision, verdict = campaign.decision, session.verdict()
    assert decision.answer == verdict.winners[0] == 2
    assert (decision.evidence, decision.threshold) == (verdict.evidence, verdict.level)
    status = place.open(campaign.name).status()
    assert status.pairs is not None
    assert status.pairs.items == verdict.items
    assert [arm.samples for arm in status.arms] == session.state.used.tolist()
    assert [each.state for each in status.pairs.places] == ["out", "out", "in"]
    with untouched(campaign), refused(CampaignDecided, LABELS[2]):
        campaign.ask()
    record = agree(campaign, other)
    assert sum(event.kind == "decided" for event in record) == 1
    said = campaign.explain().text
    assert f"{LABELS[0]} is out after" in said
    assert f"{LABELS[2]} against {LABELS[1]}: better by" in said
    assert campaign.recommend().proven


def check_pool(place: Place) -> None:
    """Every item of a pool once, in a random order; at its end deterministic results are all known."""
    _use_up(place, deterministic=True)
    campaign = _use_up(place, deterministic=False)
    assert campaign.status().state == "items used up"
    with untouched(campaign), refused(NothingToAsk, "40 items are used", "ends undecided"):
        campaign.ask()


def _use_up(place: Place, deterministic: bool) -> Campaign:
    campaign = place.create({**TWO, "items": 40, "delta": 1e-9, "deterministic": deterministic})
    rows, seen = np.tile([0.0, 1.0], (40, 1)), []
    rows[:20] = [1.0, 0.0]  # no proof before the end
    while True:
        tickets = campaign.ask(3)
        seen += [ticket.item for ticket in tickets]
        if len(seen) >= 76:
            break
        tell_rows(campaign, rows, tickets)
    assert seen != sorted(seen)
    rest = campaign.ask(5)
    assert len(rest) == 80 - len(seen)
    seen += [ticket.item for ticket in rest]
    assert sorted(seen) == sorted([*range(40)] * 2)
    with untouched(campaign), refused(NothingToAsk, "pool", "in flight"):
        campaign.ask()
    tell_rows(campaign, rows, tickets + rest)
    assert (campaign.decision is not None) == deterministic
    if campaign.decision is not None:
        assert campaign.decision.text == f"{LABELS[0]} and {LABELS[1]} tie on all 40 items"
    assert [arm.mean for arm in campaign.status().arms] == [0.5, 0.5]
    agree(campaign, place.open(campaign.name))
    return campaign


def check_budget_and_minimum(place: Place) -> None:
    campaign = place.create({**TWO, "budget": 7, "minimum": 100})
    for ticket in campaign.ask(9):
        campaign.tell(ticket.token, ticket.arm)
    with untouched(campaign), refused(BudgetSpent, "budget of 7"):
        campaign.ask()
    assert campaign.change(budget=None)
    for _ in range(30):
        for ticket in campaign.ask(2):
            campaign.tell(ticket.token, ticket.arm)
    assert campaign.decision is None, "nothing is decided before the minimum"
    agree(campaign, place.open(campaign.name))
    assert campaign.change(minimum=10)
    for ticket in campaign.ask(2):
        campaign.tell(ticket.token, ticket.arm)
    assert campaign.decision is not None
    agree(campaign, place.open(campaign.name))


def check_together(place: Place) -> None:
    campaign = place.create(PAIRED)
    other, tickets = place.open(campaign.name), campaign.ask(6)
    with campaign.together():
        for ticket in tickets[:3]:
            campaign.tell(ticket.token, 1)
        campaign.ask(2)
        assert campaign.status().samples == 3
    with untouched(other), refused(ZeroDivisionError), campaign.together():
        campaign.tell(tickets[4].token, 1)
        raise ZeroDivisionError
    assert campaign.tell(tickets[4].token, 0).waiting
    agree(campaign, other)


def check_questions(place: Place) -> None:
    """The m best, and arms against a control; settled arms get no more items."""
    rows = answer_sheet(3000)
    for question, answer in (
        ({"kind": "top-arms", "m": 2}, (1, 2)),
        ({"kind": "better-than", "control": 1}, (2,)),
        ({"kind": "any-better-than", "control": 2}, "none"),
        ({"kind": "best-arm", "goal": "min"}, 0),
    ):
        campaign = place.create({**PAIRED, "question": question})
        while campaign.decision is None:
            tell_rows(campaign, rows, campaign.ask(30))
        assert campaign.decision.answer == answer, question
        agree(campaign, place.open(campaign.name))


PAIRED_CHECKS: tuple[Callable[[Place], None], ...] = (
    check_tickets,
    check_items_count_in_turn,
    check_repeats,
    check_losses,
    check_missing,
    check_decision,
    check_pool,
    check_budget_and_minimum,
    check_together,
    check_questions,
)
