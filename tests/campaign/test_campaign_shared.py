"""One open campaign for whoever reads and whoever writes; and its history, kept with its state."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import stopwise as sw
from postgres import Server
from stopwise import Campaign, Conflict, Event, Receipt, UnknownToken
from stopwise.campaign.storage.hashes import sealed_state
from stopwise.campaign.storage.store import Store
from stopwise.campaign.storage.transaction import Transaction
from stopwise.web import dashboard

SPEC = {"question": "best-arm", "arms": ["a", "b", "c"], "family": "bernoulli", "delta": 1e-9}
EASY = {**SPEC, "delta": 0.3, "stopping": "stylized"}
OLD = Path(__file__).parents[1] / "assets" / "campaign-schema-1.db"
FOREIGN = """
from stopwise import Campaign
campaign = Campaign.open("one", {address!r})
campaign.record("b", 1)
print(campaign.ask()[0].token)
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def durable(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/campaigns.db"
    server: Server = request.getfixturevalue("server")
    return server.fresh()


def work(campaign: Campaign, rounds: int) -> None:
    """Asks and tells, some of them lost."""
    with campaign.together():
        for place in range(rounds):
            (ticket,) = campaign.ask()
            if place % 7 == 6:
                campaign.release(ticket.token)
            else:
                campaign.tell(ticket.token, float(place * (ticket.arm + 2) % 5 < 2))


def told(campaign: Campaign) -> Any:
    """All that comes from the history."""
    seen = campaign.explain()
    with campaign.look() as (_, found):
        curve = [column.tolist() for column in found.session.curve]
    return seen.to_dict(), curve, dashboard.page(campaign)["lost"]


def test_another_process_is_noticed(durable: str) -> None:
    held = Campaign.create(SPEC, durable, "one")
    work(held, 20)
    before = held.status()
    done = subprocess.run(
        [sys.executable, "-c", FOREIGN.format(address=durable)],
        check=True,
        capture_output=True,
        text=True,
    )
    after = held.status()
    assert (after.samples, after.in_flight) == (before.samples + 1, 1)
    assert after.events == before.events + 2
    assert held.tell(done.stdout.strip(), 1).number == after.events + 1
    assert held.verify().agrees
    assert told(held) == told(Campaign.open("one", durable))
    held._store.close()


def test_who_reads_does_not_wait_for_who_writes(durable: str) -> None:
    """And sees nothing of what is not stored yet; in the block itself one sees what will be."""
    campaign = Campaign.create(SPEC, durable, "one")
    work(campaign, 10)
    before, seen = campaign.status(), []
    with campaign.together():
        campaign.record("a", 1)
        reader = threading.Thread(
            target=lambda: seen.append((campaign.status(), campaign.explain()))
        )
        reader.start()
        reader.join(60)
        assert campaign.status().samples == before.samples + 1
    assert seen[0][0] == before
    assert campaign.status().samples == before.samples + 1
    campaign._store.close()


def test_what_does_not_change_is_made_once(tmp_path: Path) -> None:
    campaign = Campaign.create(SPEC, tmp_path / "x.db", "one")
    work(campaign, 10)
    first = campaign.explain()
    assert campaign.explain() is first
    campaign.record("a", 1)
    assert campaign.explain() is not first


def test_a_state_that_others_wrote_is_replayed_from_where_one_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another version of stopwise goes on: only its events are read, not the whole record."""
    path = tmp_path / "campaigns.db"
    held, other = (Campaign.create(SPEC, path, "one") for _ in range(2))
    read: list[int] = []  # the events after which something was read
    since = Transaction.since

    def noted(self: Transaction, number: int, limit: int | None = None) -> list[Event]:
        read.append(number)
        return since(self, number, limit)

    monkeypatch.setattr(Transaction, "since", noted)
    kept, lost, late = held.ask(3)
    held.release(late.token)
    work(held, 30)
    held.status()
    for turn in range(2):
        last = held.status().events
        if turn == 0:
            other.tell(kept.token, 1)
            other.release(lost.token)
        other.tell((late if turn == 0 else lost).token, 0)
        work(other, 12)
        with closing(sqlite3.connect(path)) as connection:
            ((stored,),) = connection.execute("SELECT stored FROM stopwise_campaigns").fetchall()
            content = sealed_state(stored, b"of another version")
            connection.execute("UPDATE stopwise_states SET content = ?", (content,))
            connection.commit()
        read.clear()
        held.status()
        if turn:
            held.record("a", 1)  # the session for changes catches up, too
        assert min(read) >= (last if turn == 0 else 1)
        assert told(held) == told(Campaign.open("one", path))
    assert held.verify().agrees


def test_an_old_file_has_its_history_without_being_changed(tmp_path: Path) -> None:
    shutil.copy(OLD, tmp_path / "old.db")
    Store(f"sqlite:///{tmp_path}/old.db").close()  # the column for states
    before = (tmp_path / "old.db").read_bytes()
    campaign = Campaign.open("running", tmp_path / "old.db")
    explained, page = campaign.explain(), dashboard.page(campaign)
    record = campaign.events()
    came = {event.token for event in record if event.kind == "told"}
    for k, arm in enumerate(campaign.labels):
        asked = sum(event.kind == "asked" and event.arm == k for event in record)
        lost = [e for e in record if e.kind == "released" and e.arm == k and e.token not in came]
        assert explained.lost[arm] == (len(lost), asked) == tuple(page["lost"][k])
    assert page["series"]["samples"][-1] == campaign.status().samples
    assert all(record[number - 1].kind == "asked" for number, _ in explained.changes)
    campaign._store.close()
    assert (tmp_path / "old.db").read_bytes() == before


def test_many_tells_each_for_itself(durable: str) -> None:
    """Unknown and impossible ones are refused, repeated ones get the receipt of the first."""
    campaign = Campaign.create(SPEC, durable, "one")
    a, b, c = campaign.ask(3)
    before = campaign.tell(a.token, 1)
    given = [(a.token, 1), (b.token, 0), ("?", 1), (c.token, 0.5), (b.token, 0), (b.token, 1)]
    found = campaign.tell_all([*given, ("\0", 1), (c.token, 1)])
    assert found[0] == before
    assert found[1] == found[4] == campaign.tell(b.token, 0)
    kinds = [type(each) for each in found]
    wrong = [UnknownToken, sw.BadArgument, Receipt, Conflict, sw.BadArgument]
    assert kinds == [Receipt, Receipt, *wrong, Receipt]
    assert campaign.status().samples == 3
    assert campaign.verify().agrees
    campaign._store.close()


def test_many_tells_with_the_decision_among_them(tmp_path: Path) -> None:
    """The same receipts and record as of tells one by one."""
    together, single = (
        Campaign.create(EASY, tmp_path / f"{k}.db", "one", clock=lambda: 0.0) for k in range(2)
    )
    receipts = []
    for campaign in (together, single):
        tells = [(each.token, float(each.arm == 1)) for each in campaign.ask(60)]
        found = (
            campaign.tell_all(tells)
            if campaign is together
            else [campaign.tell(*tell) for tell in tells]
        )
        receipts.append([each[0:1] + each[2:] for each in found])  # but for the tokens
        assert campaign.verify().agrees
    assert receipts[0] == receipts[1]
    assert [receipt[-2] for receipt in receipts[0]].index(True) > 3, "some are late"
    records = [[(e.number, e.kind, e.arm, e.late) for e in c.events()] for c in (together, single)]
    assert records[0] == records[1]


@pytest.mark.parametrize(
    ("question", "arms", "others"),
    [("best-arm", 30, "; and 10 others"), ("best-arm", 20, ""),
     ({"kind": "thresholding", "threshold": 0.5}, 16, "; and more than 1,000 others")],
)  # fmt: skip
def test_explain_lists_a_screenful_of_answers(question: Any, arms: int, others: str) -> None:
    labels = [f"arm {k}" for k in range(arms)]
    spec = {"question": question, "arms": labels, "family": "bernoulli", "delta": 1e-9}
    campaign = Campaign.create(spec, "memory:", "one")
    with campaign.together():
        for k in range(4 * arms):
            campaign.record(k % arms, float(k % arms == 17 or k % 3 == 0))
    said = campaign.explain()
    assert len(said.evidence) == 20
    assert list(said.evidence.values()) == sorted(said.evidence.values(), reverse=True)
    assert next(iter(said.evidence)) == campaign.status().leading
    line = next(line for line in said.text.splitlines() if line.startswith("evidence by"))
    assert line.endswith(others or f"{list(said.evidence.values())[-1]:.3f}")
    assert len(line) < 10_000
