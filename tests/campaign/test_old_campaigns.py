"""Campaign files of 0.1.0, 0.2.0 and 0.3.0 open, verify, and go on as they would have there."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import old_campaigns
import stopwise as sw
from postgres import Server
from stopwise.campaign.campaign import Campaign
from stopwise.campaign.errors import NewerSchema
from stopwise.campaign.storage.store import Store

ASSETS = Path(__file__).parents[1] / "assets"
# two campaigns, one of them decided, as stopwise left them before it stored ``state``
FIRST = ASSETS / "campaign-schema-1.db"
CAMPAIGNS = ("pages", "limits", "both", "running", "own")  # of 0.2.0
GOLDEN = json.loads((ASSETS / "golden-0.3.0.json").read_text())["campaigns"]


@pytest.mark.parametrize("name", GOLDEN)
def test_campaigns_of_0_3_0_go_on_as_there(name: str, tmp_path: Path) -> None:
    """The same suggestions, evidence and answers for the same samples, to the last digit."""
    shutil.copy(ASSETS / "campaigns-0.3.0.db", tmp_path / "old.db")
    with Campaign.open(name, tmp_path / "old.db", old_campaigns.clock()) as campaign:
        found = campaign.verify()
        assert found.agrees, found
        assert not found.remarks
        assert old_campaigns.go_on(campaign) == GOLDEN[name]
        assert campaign.verify().agrees


def test_the_file_of_0_3_0_has_all_kinds_of_campaigns() -> None:
    assert sorted(GOLDEN) == sorted(old_campaigns.names())
    assert {each["state"] for each in GOLDEN.values()} == {"running", "paused", "decided", "closed"}
    assert [name for name in GOLDEN if GOLDEN[name].get("late")] == ["coins"]
    answers = [each["answer"] for each in GOLDEN.values()]
    assert sum(answer is not None for answer in answers) >= 4


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_campaigns_of_0_2_0_verify(name: str, tmp_path: Path) -> None:
    shutil.copy(ASSETS / "campaigns-0.2.0.db", tmp_path / "old.db")
    campaign = sw.Campaign.open(name, tmp_path / "old.db")
    found = campaign.verify()
    assert found.agrees, found
    assert not found.remarks
    assert (campaign.decision is None) == (name == "running")
    campaign.ask() if campaign.decision is None else None
    assert campaign.verify().agrees


def test_the_same_file_finds_its_old_campaign(tmp_path: Path) -> None:
    """Defaults have changed since, and the key ``threshold`` its name: it is the same question."""
    shutil.copy(ASSETS / "campaigns-0.2.0.db", tmp_path / "old.db")
    old = sw.Campaign.open("limits", tmp_path / "old.db")
    given = {key: old.spec.table[key] for key in ("question", "arms", "family", "delta", "budget")}
    again = sw.Campaign.create(given, tmp_path / "old.db", "limits")
    assert again.spec.key == old.spec.key
    with pytest.raises(sw.CampaignExists, match="stopping"):
        sw.Campaign.create({**given, "stopping": "stylized"}, tmp_path / "old.db", "limits")


def content(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


def test_a_newer_schema_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "newer.db"
    shutil.copy(FIRST, path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE stopwise_schema SET version = 99")
        connection.commit()
    before = content(path)
    with pytest.raises(NewerSchema, match=r"schema 99; this one knows .* Upgrade stopwise"):
        Store(f"sqlite:///{path}")
    assert content(path) == before


def test_an_older_schema_is_brought_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    shutil.copy(FIRST, path)
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT * FROM stopwise_events ORDER BY 1, 2").fetchall()
    goes_on(f"sqlite:///{path}", {1: [row[1:] for row in rows if row[0] == 1]})
    old = Campaign.open("decided", path)
    assert old.verify().agrees
    assert "not compared: stopwise 0.1.0" in repr(old.verify())
    assert old.decision is not None
    assert old.status().events == len([row for row in rows if row[0] == 2])


def goes_on(address: str, rows: dict[int, list[tuple[Any, ...]]]) -> None:
    """The campaign is what it was; and asks and tells go on, with those in flight."""
    campaign = Campaign.open("running", address)
    record = campaign.events()
    assert [tuple(event[:8]) for event in record] == rows[1]
    assert campaign.verify().agrees
    ended = {event.token for event in record if event.kind != "asked"}
    waiting = [event.token for event in record if event.token not in ended]
    status = campaign.status()
    assert (status.in_flight, status.events) == (len(waiting), 60)
    assert status.samples == sum(event.kind in ("told", "recorded") for event in record) > 10
    for token in waiting:
        assert not campaign.tell(token, 1).late
    campaign.tell(campaign.ask()[0].token, 0)
    again = Campaign.open("running", address)
    assert again.status().samples == status.samples + len(waiting) + 1
    assert again.verify().agrees


def test_an_older_schema_on_a_server(server: Server) -> None:
    address = server.fresh()
    Store(address).close()
    with closing(sqlite3.connect(FIRST)) as old, server.connect(address.rsplit("/", 1)[1]) as new:
        for table in ("campaigns", "events", "leases"):
            rows = old.execute(f"SELECT * FROM stopwise_{table}").fetchall()
            if table == "campaigns":
                for column in ("slowest", "changes", "stored", "hash", "seal"):
                    new.execute(f"ALTER TABLE stopwise_campaigns DROP COLUMN {column}".encode())
                new.execute("ALTER TABLE stopwise_events DROP COLUMN actor, DROP COLUMN hash")
                new.execute("ALTER TABLE stopwise_leases DROP COLUMN seal")
                new.execute("DROP TABLE stopwise_names, stopwise_states")
            if table == "events":
                rows = [(*row[:7], bool(row[7]), row[8]) for row in rows]
                events = rows
            holes = ", ".join(["%s"] * len(rows[0]))
            new.cursor().executemany(
                f"INSERT INTO stopwise_{table} VALUES ({holes})".encode(), rows
            )
        new.execute("UPDATE stopwise_schema SET version = 1")
    goes_on(address, {1: sorted(row[1:] for row in events if row[0] == 1)})
