"""Paired campaigns: their specs, their state, and the same decisions as in one process."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stopwise as sw
from stopwise.campaign import spec as specs
from stopwise.campaign.item_session import ItemSession
from stopwise.engine.live import ASKED, RELEASED, TOLD, Record
from store_paired import answer_sheet

SPEC = {
    "question": "best-arm",
    "arms": ["a", "b", "c"],
    "family": "bernoulli",
    "delta": 0.05,
    "paired": True,
}


def made(**more: Any) -> ItemSession:
    """Lost results are asked for again; tests/paired/test_missing_results.py has the worst case."""
    session = specs.read({**SPEC, "losses": "at random", **more}).session()
    assert isinstance(session, ItemSession)
    return session


@pytest.mark.parametrize(
    ("more", "parts"),
    [
        ({"strategy": "uniform"}, ["strategy: got 'uniform'", "paired = true", "same items"]),
        ({"stopping": "wealth"}, ["stopping: got 'wealth'", "paired = true"]),
        ({"threshold": "wealth"}, ["threshold: got 'wealth'", "paired = true"]),
        ({"costs": [1, 2, 3]}, ["costs: got", "paired = true"]),
        ({"room": 5}, ["room: got 5", "paired = true"]),
        ({"order": "told"}, ["order: got 'told'", "'asked'"]),
        ({"paired": 1}, ["paired: got 1", "true or false"]),
        ({"items": 0}, ["items: got 0", "at least 1"]),
        ({"items": 10**7}, ["items: got 10000000", "1 to 1,000,000"]),
        ({"paired": False, "items": 5}, ["items: got 5", "unless paired = true"]),
        ({"paired": False, "deterministic": True}, ["deterministic: got True", "paired = true"]),
        ({"items": 5, "deterministic": 1}, ["deterministic: got 1", "true or false"]),
        ({"question": "thresholding:threshold=0.5"}, ["who beats whom", "Thresholding"]),
        ({"family": "poisson"}, ["paired tests with Poisson", "Bernoulli()"]),
        ({"family": "gaussian"}, ["paired tests with Gaussian", "variance=None"]),
        ({"family": "gaussian:variance=unknown", "items": 9}, ["pool=9", "Bounded(low, high)"]),
        ({"arms": [str(k) for k in range(51)]}, ["arms: got 51", "at most 50"]),
    ],
)
def test_specs_that_are_refused(more: dict[str, Any], parts: list[str]) -> None:
    with pytest.raises(sw.StopwiseError) as refusal:
        specs.read({**SPEC, **more})
    for part in parts:
        assert part in str(refusal.value)


def test_a_spec_is_completed_and_found_again() -> None:
    spec = specs.read({**SPEC, "items": 10})
    said = {"order": "asked", "losses": "worst case", "deterministic": False}
    assert spec.table == {**SPEC, "items": 10, **said}
    assert specs.make(spec.table).key == spec.key != specs.read(SPEC).key
    assert specs.read({**SPEC, "paired": False}).pairs is None


def drive(session: ItemSession, rows: Any, rng: np.random.Generator, losses: float = 0.1) -> Record:
    """Asks, tells in any order, and losses, until it is decided; what happened."""
    events: list[tuple[int, int, float, int]] = []
    flying: list[int] = []
    while session.decision is None:
        if len(flying) < 20 and (found := session.asks(1, len(events))):
            number = len(events) + 1
            events.append((ASKED, found[0], float(session.item(number) or 0), number))
            flying.append(number)
            continue
        number = flying.pop(int(rng.integers(len(flying))))
        _, arm, item, _ = events[number - 1]
        if rng.random() < losses:
            session.give_up(arm, number)
            events.append((RELEASED, arm, 0.0, number))
        else:
            value = rows[int(item), arm]
            session.take(TOLD, [arm], [value], [True], [number])
            events.append((TOLD, arm, value, number))
    kinds, arms, samples, numbers = map(np.array, zip(*events, strict=True))
    return Record(kinds, arms, samples, np.ones(len(events), dtype=np.int64), numbers)


@pytest.mark.parametrize("pool", [None, 300])
def test_delays_and_losses_change_nothing(pool: int | None) -> None:
    """20 in flight, told in any order, one in ten lost: the decision of items told one by one."""
    rows = answer_sheet(2_000 if pool is None else pool, seed=3)
    more = {} if pool is None else {"items": pool, "deterministic": True}
    session = made(**more)
    record = drive(session, rows, np.random.default_rng(4))
    calm = sw.PairedSession(sw.Bernoulli(), 3, pool=pool, deterministic=pool is not None)
    while not calm.decided:
        item, arms = calm.ask()
        for arm in arms:
            calm.tell(item, arm, rows[session.queue.shown(item), arm])
    assert session.decision is not None
    assert session.decision.answer == calm.verdict().winners[0]
    assert session.decision.evidence == calm.verdict().evidence
    assert session.items.counted == calm.verdict().items
    again = made(**more)
    used, chosen = again.replay(record)
    assert used == record.kinds.size
    np.testing.assert_array_equal(chosen[record.kinds == ASKED], record.arms[record.kinds == ASKED])
    assert again.dump() == session.dump()


def test_what_is_dumped_is_loaded_at_any_moment() -> None:
    rows, rng = answer_sheet(500, seed=5), np.random.default_rng(6)
    record = drive(made(delta=1e-3), rows, rng)
    whole = made(delta=1e-3)
    for end in range(0, record.kinds.size, 7):
        part = Record(*(column[end : end + 7] for column in record))
        piece = made(delta=1e-3)
        assert piece.load(whole.dump())
        piece.replay(part)
        whole.replay(part)
        assert piece.dump() == whole.dump()
        assert (piece.decision, piece.evidence) == (whole.decision, whole.evidence)
    assert whole.decision is not None
    content, other = whole.dump(), made(delta=1e-3)
    for broken in (b"", content[:-1], content + b"\0", b"x" + content[1:], content[:40]):
        assert not other.load(broken)
    assert other.dump() == made(delta=1e-3).dump(), "and nothing was changed"


def test_compiled_and_plain_items_have_the_same_digits() -> None:
    rows = answer_sheet(400, seed=7)
    record = drive(made(delta=1e-4), rows, np.random.default_rng(8))
    plain, quick = made(delta=1e-4), made(delta=1e-4)
    quick.items.compile()
    plain.replay(record)
    quick.replay(record)
    assert plain.dump() == quick.dump()


def test_an_ask_that_was_made_otherwise_is_found_by_verify() -> None:
    """A record with another order of arms is followed, and what would have been asked is said."""
    session, rows = made(), answer_sheet(50)
    arms = session.asks(6, 0)
    wrong = [arms[1], arms[0], *arms[2:]]
    items = [0, 0, 0, 1, 1, 1]
    record = Record(
        np.full(6, ASKED), np.array(wrong), np.array(items, float), np.ones(6, int), np.arange(1, 7)
    )
    other = made()
    _, chosen = other.replay(record)
    assert chosen.tolist() != wrong
    for number, (item, arm) in enumerate(zip(items, wrong, strict=True), 1):
        other.take(TOLD, [arm], [rows[item, arm]], [True], [number])
    assert other.items.counted == 2


def test_a_record_of_one_campaign_shows_who_is_out_and_by_how_much() -> None:
    campaign = sw.Campaign.create({**SPEC, "items": 400}, "memory:", "words")
    rows = answer_sheet(400, seed=9)
    while campaign.decision is None:
        for ticket in campaign.ask(12):
            campaign.tell(ticket.token, rows[ticket.item, ticket.arm])
    status = campaign.status()
    assert "items of a pool of 400" in repr(status)
    assert "out after" in repr(status)
    assert sw.Status.from_dict(status.to_dict()) == status
    with campaign.look() as (transaction, seen):
        leads = campaign.leads(transaction, seen)
    best = campaign.decision.answer
    assert {lead.other for lead in leads} == {0, 1, 2} - {best}
    for lead in leads:
        size = min(status.arms[lead.arm].samples, status.arms[lead.other].samples)
        order = [seen.session.queue.shown(item) for item in range(size)]  # type: ignore[union-attr]
        assert lead.difference == pytest.approx(
            np.mean(rows[order, lead.arm] - rows[order, lead.other])
        )
        assert lead.at_least is None or lead.at_least < lead.difference
    pairs = status.pairs
    assert pairs is not None
    for i in range(3):
        assert pairs.evidence[i][i] is None
        for j in range(3):
            both = pairs.differences[i][j], pairs.differences[j][i]
            assert both == (None, None) or both[0] == pytest.approx(-both[1])


def test_constant_results_decide_nothing_and_break_nothing() -> None:
    campaign = sw.Campaign.create({**SPEC, "budget": 60}, "memory:", "constant")
    for ticket in campaign.ask(60):
        campaign.tell(ticket.token, 1)
    status = campaign.status()
    assert (status.state, status.remaining) == ("budget spent", None)
    assert status.evidence == pytest.approx(0.0, abs=1e-12)
    assert campaign.verify().agrees
    assert "next: every item goes to a, b, c" in campaign.explain().text
