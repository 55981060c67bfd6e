"""``verify`` sees whatever is changed of a stored campaign."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import stopwise as sw
from stopwise.campaign.campaign import Campaign
from stopwise.campaign.storage.hashes import add_hashes
from stopwise.campaign.storage.store import Store

NORMAL = {
    "question": "best-arm",
    "arms": ["a", "b"],
    "family": {"kind": "gaussian", "variance": 1},
    "delta": 0.2,
}
COINS = {"question": "best-arm", "arms": ["a", "b", "c"], "family": "bernoulli", "delta": 0.1}
PAIRED = {**COINS, "paired": True}
ASSETS = Path(__file__).parents[1] / "assets"
TABLES = (
    *("stopwise_campaigns", "stopwise_events", "stopwise_leases"),
    *("stopwise_names", "stopwise_states"),
)


def decided(path: Path) -> None:
    """A campaign with a decision, and a sample that came after it."""
    with Campaign.create(NORMAL, path, "audited") as campaign:
        while campaign.decision is None:
            (ticket,) = campaign.ask()
            campaign.tell(ticket.token, 3.0 * ticket.arm + 0.1 * len(campaign.events()))
        campaign.record(0, 1.0)


def busy(path: Path, spec: dict[str, Any]) -> None:
    """A campaign that goes on: with all kinds of events, and samples in flight."""
    now = iter(range(10**6))
    with Campaign.create(spec, path, "first", clock=lambda: 1e9 + next(now)) as campaign:
        tickets = campaign.ask(12, lease=1e6)
        for place, ticket in enumerate(tickets[:8]):
            campaign.tell(ticket.token, place % 2)
        campaign.release(tickets[8].token, "gone")
        campaign.heartbeat(tickets[9].token, 2e6)
        if "paired" not in spec:
            campaign.record("b", 1)
        campaign.pause("lunch")
        campaign.resume()
        campaign.note("remember")
        campaign.change(budget=5000, minimum=3, labels={"a": "A"})
        campaign.rename("second")
        campaign.rename("third")
        campaign.ask(2, lease=1e6)


def problems(path: Path, name: str) -> str:
    """All that ``verify`` finds, or why the campaign cannot be opened."""
    try:
        with Campaign.open(name, path) as campaign:
            found = campaign.verify()
    except sw.StopwiseError as error:
        return str(error)
    return " ".join(found.problems)


def execute(path: Path, statement: str, *values: Any) -> int:
    """Change the file; how many rows."""
    with closing(sqlite3.connect(path)) as connection:
        count = connection.execute(statement, values).rowcount
        connection.commit()
        return count


CHANGES = [  # with hashes as they were, and with hashes that the forger computes anew
    ("UPDATE stopwise_events SET value = value + 1e-9 WHERE number = 2", "not what the events"),
    ("UPDATE stopwise_events SET arm = 1 - arm WHERE number = 1", "would not have made"),
    ("DELETE FROM stopwise_events WHERE number = 2", "event 2 is missing"),
    ("DELETE FROM stopwise_events WHERE kind = 'decided'", "'s decision: stored"),
    ("UPDATE stopwise_events SET late = 0 WHERE late", "should be late"),
    ("UPDATE stopwise_campaigns SET decision = NULL", "no decision is on record"),
    ("UPDATE stopwise_campaigns SET decision = replace(decision, ' 1, ', ' 0, ')", "answer"),
    (
        """UPDATE stopwise_campaigns SET decision = replace(decision, 'text": "', 'text": "not ')""",
        "decision's text: on record",
    ),
    ("UPDATE stopwise_campaigns SET spec = replace(spec, '0.2', '0.3')", "'s key: stored"),
]


@pytest.mark.parametrize("forged", [False, True])
@pytest.mark.parametrize(("statement", "word"), CHANGES)
def test_verify_finds_every_change_of_the_record(
    statement: str, word: str, forged: bool, tmp_path: Path
) -> None:
    path = tmp_path / "store.db"
    decided(path)
    assert problems(path, "audited") == ""
    assert execute(path, statement)
    if forged:
        store = Store(f"sqlite:///{path}")
        with store.engine.begin() as connection:
            add_hashes(connection)
        store.close()
    assert word in problems(path, "audited")


def test_asks_of_another_release_may_differ_where_arms_tie(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    decided(path)
    execute(path, "UPDATE stopwise_campaigns SET version = '0.2.0'")
    execute(path, "UPDATE stopwise_events SET arm = 1 - arm WHERE number = 1")
    with Campaign.open("audited", path) as campaign:
        found = campaign.verify()
    assert "would not have made" not in " ".join(found.problems)
    assert "differ from today's" in " ".join(found.remarks)


def test_the_row_that_was_changed_is_named(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    busy(path, COINS)
    assert problems(path, "third") == ""
    execute(path, "UPDATE stopwise_events SET note = 'forget' WHERE note = 'remember'")
    with Campaign.open("third", path) as campaign:
        (event,) = (each for each in campaign.events() if each.kind == "noted")
        assert campaign.verify().problems == (
            f"event {event.number} was changed after it was written",
        )


def test_a_told_arm_of_a_paired_campaign(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    busy(path, PAIRED)
    assert problems(path, "third") == ""
    execute(
        path, "UPDATE stopwise_events SET arm = (arm + 1) % 3 WHERE kind = 'told' AND number = 14"
    )
    assert "event 14 was changed" in problems(path, "third")


def other(value: Any, rng: random.Random) -> Any:
    """Another value of the same kind, or of none."""
    if value is None or (rng.random() < 0.1 and not isinstance(value, int)):
        return rng.choice(["x", 3, 0.5]) if value is None else None
    if isinstance(value, bytes):
        place = rng.randrange(len(value)) if value else 0
        return value[:place] + bytes([value[place] ^ (1 << rng.randrange(8))]) + value[place + 1 :]
    if isinstance(value, float):
        return rng.choice([value + 1.0, -value - 1.0, value * 1.5 + 1e-6])
    if isinstance(value, int):
        return value + rng.choice([-1, 1, 7])
    place = rng.randrange(len(value) + 1)
    return value[:place] + rng.choice(["x", "1", " ", '"', "é"]) + value[place + 1 :]


def mutate(path: Path, rng: random.Random) -> str | None:
    """Change one cell, or delete one row; what was done, None if the database would not let it."""
    with closing(sqlite3.connect(path)) as connection:
        table = rng.choice([*TABLES, "stopwise_events"])
        rows = connection.execute(f"SELECT rowid, * FROM {table}").fetchall()
        columns = [each[1] for each in connection.execute(f"PRAGMA table_info({table})")]
        row = rng.choice(rows)
        if rng.random() < 0.1:
            connection.execute(f"DELETE FROM {table} WHERE rowid = ?", row[:1])
            connection.commit()
            return f"{table}: row {row[0]} deleted"
        place = rng.randrange(len(columns))
        if columns[place] == "id":  # events belong to it by this number: sqlite3 would refuse it
            return None
        new = other(row[place + 1], rng)
        try:
            change = f"UPDATE {table} SET {columns[place]} = ? WHERE rowid = ?"
            connection.execute(change, (new, row[0]))
            connection.commit()
        except sqlite3.IntegrityError:
            return None
        after = connection.execute(f"SELECT * FROM {table} WHERE rowid = ?", row[:1]).fetchone()
        if after == row[1:]:
            return None
        return f"{table}.{columns[place]}: {row[place + 1]!r} became {new!r}"


@pytest.mark.parametrize(
    ("spec", "count"),
    [(COINS, 120), (PAIRED, 80), pytest.param(COINS, 3000, marks=pytest.mark.slow)],
)
def test_every_change_of_one_row_is_seen(spec: Any, count: int, tmp_path: Path) -> None:
    path, copy, rng = tmp_path / "store.db", tmp_path / "copy.db", random.Random(count)
    busy(path, spec)
    with closing(sqlite3.connect(path)) as connection:  # all of it in one file
        connection.execute("PRAGMA journal_mode=DELETE")
    done = 0
    while done < count:
        shutil.copy(path, copy)
        what = mutate(copy, rng)
        if what is None:
            continue
        done += 1
        for name in names(copy) or ["third"]:  # it may have another one now, or be gone
            assert problems(copy, name), what


def names(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return [name for (name,) in connection.execute("SELECT name FROM stopwise_campaigns")]


@pytest.mark.parametrize("version", ["0.2.0", "0.3.0"])
def test_old_campaigns_get_hashes_when_they_are_opened(version: str, tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    shutil.copy(ASSETS / f"campaigns-{version}.db", path)
    store = Store(f"sqlite:///{path}")
    for name in store.names():
        with Campaign.open(name, store) as campaign:
            assert campaign.verify().agrees
            assert campaign.status().hash == campaign.verify().hash
    store.close()
    execute(path, "UPDATE stopwise_events SET time = time + 1 WHERE number = 1")
    assert all("event 1 was changed" in problems(path, name) for name in names(path))


def test_the_hash_of_the_record_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    busy(path, COINS)
    with Campaign.open("third", path) as campaign:
        shown = campaign.status().hash
        assert shown == campaign.verify().hash
        assert json.loads(json.dumps(campaign.status().to_dict()))["hash"] == shown
        campaign.note("one more")
        assert campaign.status().hash != shown
