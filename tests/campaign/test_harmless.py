"""No campaign, request or change harms another one; what is refused leaves nothing behind."""

from __future__ import annotations

import json
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import stopwise as sw
from postgres import Server
from stopwise.campaign.campaign import Campaign
from stopwise.campaign.storage.store import Store
from stopwise.campaign.storage.transaction import Transaction

SPEC = {"question": "best-arm", "arms": ["a", "b"], "family": "bernoulli", "delta": 0.01}
GROWS = {**SPEC, "room": 40}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


class Fails(Exception):
    """What a disk might raise."""


# ------------------------------------------------------------------------- changes that fail


def test_a_rename_that_fails_changes_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = Campaign.create(SPEC, path, "old")

    def rename_and_fail() -> None:
        with campaign.together():
            assert campaign.rename("new")
            assert campaign.name == "new", "in the block it has its new name"
            raise Fails

    with pytest.raises(Fails):
        rename_and_fail()
    assert campaign.name == "old"
    assert campaign.status().name == "old"
    assert campaign.rename("new")

    def full(self: Transaction, decision: str | None) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(Transaction, "save", full)
        with pytest.raises(sw.StorageAway, match="disk is full"):
            campaign.rename("newer")
    assert campaign.name == "new"
    assert campaign.status().name == "new"
    assert Store(f"sqlite:///{path}").names() == ["new"]
    assert campaign.rename("newer")
    assert campaign.verify().agrees


def test_what_is_not_committed_nobody_sees(path: Path) -> None:
    """Another thread looks while a group adds arms and changes the budget; then the group fails."""
    campaign = Campaign.create(GROWS, path, "one")
    for ticket in campaign.ask(6):
        campaign.tell(ticket.token, 1)
    seen: list[Any] = []

    def look() -> None:
        status = campaign.status()
        seen.append((campaign.labels, campaign.spec.budget, status.budget, len(status.arms)))

    def look_from_another_thread() -> None:
        thread = threading.Thread(target=look)
        thread.start()
        thread.join(timeout=60)

    before = (("a", "b"), None, None, 2)
    for failing in (True, False):
        try:
            with campaign.together():
                campaign.add_arm("c")
                campaign.change(budget=500)
                look_from_another_thread()
                assert campaign.labels == ("a", "b", "c")
                campaign.tell(campaign.ask()[0].token, 1)
                look_from_another_thread()
                if failing:
                    raise Fails
        except Fails:
            pass
        assert seen == [before, before]
        seen.clear()
    look_from_another_thread()
    assert seen == [(("a", "b", "c"), 500, 500, 3)]
    assert campaign.verify().agrees


def test_a_decision_that_is_not_committed_is_none(path: Path) -> None:
    campaign = Campaign.create({**SPEC, "delta": 0.2}, path, "one")

    def decide_and_fail() -> None:
        with campaign.together():
            for turn in range(200):
                campaign.record(turn % 2, turn % 2)
            assert campaign.decision is not None
            raise Fails

    with pytest.raises(Fails):
        decide_and_fail()
    assert campaign.decision is None
    assert campaign.status().state == "running"


@pytest.mark.parametrize("address", ["file", "memory:"])
def test_readers_beside_groups_that_add_arms(address: str, path: Path) -> None:
    campaign = Campaign.create(GROWS, path if address == "file" else address, "one")
    over, failed = threading.Event(), []

    def read() -> None:
        while not over.is_set():
            try:
                status = campaign.status()
                assert len(status.arms) >= 2
                campaign.recommend()
                campaign.explain()
            except Exception as error:
                failed.append(error)
                return

    readers = [threading.Thread(target=read) for _ in range(3)]
    for thread in readers:
        thread.start()
    try:
        for turn in range(30):
            with campaign.together():
                for ticket in campaign.ask(3):
                    campaign.tell(ticket.token, turn % 2)
                campaign.add_arm(f"arm {turn}")
                campaign.note("and on")
    finally:
        over.set()
        for thread in readers:
            thread.join(timeout=60)
    assert failed == []
    assert len(campaign.status().arms) == 32
    assert campaign.verify().agrees


# --------------------------------------------------------------- campaigns that cannot be opened


@pytest.mark.parametrize("key", ["minimum", "budget", "room"])
@pytest.mark.parametrize("value", [10**30, 2**63, 10**12 + 1, -(10**30)])
def test_numbers_that_nothing_can_hold_are_not_stored(key: str, value: int, path: Path) -> None:
    with pytest.raises(sw.BadArgument, match=f"^{key}: "):
        Campaign.create({**SPEC, key: value}, path, "huge")
    campaign = Campaign.create(GROWS, path, "fine")
    if key != "room":
        with pytest.raises(sw.BadArgument, match=f"^{key}: "):
            campaign.change(**{key: value})
    assert Store(f"sqlite:///{path}").names() == ["fine"]
    assert campaign.verify().agrees


BROKEN = [
    (
        "UPDATE stopwise_campaigns SET spec = replace(spec, '\"delta\"', '\"of a newer version\"')",
        "newer",
    ),
    ("UPDATE stopwise_campaigns SET spec = '{' || spec", "Expecting"),
    ("UPDATE stopwise_campaigns SET changes = 'x'", "Expecting"),
    (
        "UPDATE stopwise_campaigns SET spec = replace(spec, 'bernoulli', 'not-installed')",
        "installed",
    ),
]


@pytest.mark.parametrize(("statement", "word"), BROKEN)
def test_a_campaign_that_cannot_be_opened_says_why(statement: str, word: str, path: Path) -> None:
    Campaign.create(SPEC, path, "broken").ask()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
        connection.commit()
    with pytest.raises(
        sw.CampaignUnreadable, match=f"'broken' cannot be opened: .*{word}"
    ) as found:
        Campaign.open("broken", path)
    assert not found.value.archived


# ------------------------------------------------------------------------------------- odd texts


@pytest.mark.parametrize(
    "odd", ["a\0b", "one\n7\tforged", "\x1b[2J", "\u202eevil", "\ud800", b"me", 3]
)
def test_texts_that_forge_lines_are_refused(odd: Any, path: Path) -> None:
    campaign = Campaign.create(SPEC, path, "one")
    (ticket,) = campaign.ask()
    for work in (
        lambda: campaign.release(ticket.token, odd),
        lambda: campaign.pause(odd),
        lambda: campaign.close(odd),
        lambda: campaign.note(odd),
        lambda: campaign.note("fine", actor=odd),
    ):
        with pytest.raises(sw.BadArgument, match=r"^(reason|text|actor): got .*without control"):
            work()
    assert len(campaign.events()) == 1
    campaign.note("Zoë: 👩‍💻 says “fine”")


@pytest.mark.parametrize("family", ["exponential", "bounded-coin", "bounded"])
def test_tiny_samples(family: str, path: Path) -> None:
    campaign = Campaign.create({**SPEC, "family": family}, path, "tiny")
    for value in (5e-324, 1e-200, 0.0, 3e-310):
        for arm in ("a", "b", "a"):
            if value > 0.0 or family != "exponential":
                campaign.record(arm, value)
    assert json.dumps(campaign.status().to_dict())
    assert campaign.explain().text


# --------------------------------------------------------------------------------------- servers


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_a_server_with_another_usual_isolation(level: str, server: Server) -> None:
    """Changes wait for each other, and are not refused, whatever is usual on the server."""
    address = server.fresh()
    name = address.rsplit("/", 1)[1]
    with server.connect() as connection:
        connection.execute(f"ALTER DATABASE {name} SET default_transaction_isolation = '{level}'")
    campaigns = [Campaign.create(SPEC, address, "one") for _ in range(3)]
    failed: list[Exception] = []

    def work(campaign: Campaign) -> None:
        try:
            for _ in range(20):
                campaign.tell(campaign.ask()[0].token, 1)
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(each,)) for each in campaigns]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert failed == []
    assert campaigns[0].verify().agrees
    assert campaigns[0].status().samples == 60
    for each in campaigns:
        each.disconnect()


def test_passwords_are_never_shown() -> None:
    for address in (
        "postgresql+psycopg://me:secret@127.0.0.1:1/x",
        "postgresql+psycopg://127.0.0.1:1/x?user=me&password=secret",
        "postgresql://127.0.0.1:1/x?sslpassword=secret&connect_timeout=1",
        "mysql://me:secret@host/x?password=secret",
        "postgresql://me:sec/secret@127.0.0.1:1/x",
    ):
        with pytest.raises(sw.StopwiseError) as found:
            Campaign.open("one", address)
        assert "secret" not in str(found.value)
        assert "***" in str(found.value)
