"""Nothing that returned is lost or doubled, whatever is killed.

Services, their databases, workers, programs that share an outbox, lifecycle commands, imports and
migrations, on SQLite and PostgreSQL: more than 300 kills.
"""

from __future__ import annotations

import random
import shutil
import sqlite3
import time
import warnings
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import stopwise as sw
from campaign_worker import SPEC, wait_until
from kill_crew import NAME, ROWS, Crew, lines
from postgres import Server
from serving import serving
from stopwise.campaign.spool import Spool
from stopwise.campaign.storage.store import Store

QUICK = 6  # kills of each kind in the suite that runs all the time
SHARED = 80  # of a service, its database, its workers and others who share one outbox
MANAGED = 40  # of processes that manage a campaign and import results
MIGRATED = 40  # of migrations of storages
SERVED = 10  # of migrations on a server
OUTBOXES = 20  # of migrations of outboxes
ASSETS = Path(__file__).parents[1] / "assets"
HELD = 20_000  # tells in an outbox of 0.3.0
WORKERS, FLUSHERS = 4, 2


# ---------------------------------------------------------------------------------------------
# one outbox for several processes, and a service that is killed


def kill_all(storage: str, folder: Path, kills: int, server: Server | None) -> None:
    """Kill whoever comes next, 40 % of the time the service: it starts again on the same port."""
    lots, outbox = random.Random(23), str(folder / "outbox.db")
    sw.Campaign.create(SPEC, storage, NAME)._store.close()
    with serving(storage, folder) as service:
        crew, killed = Crew(folder), Counter[str]()

        def hire(work: str) -> int:
            return crew.work(work, url=service.url, outbox=outbox)

        alive = [(work, hire(work)) for work in ["tells"] * WORKERS + ["flushes"] * FLUSHERS]
        for _ in range(kills):
            before = sum(1 for _ in lines(folder))
            wait_until("work", lambda before=before: sum(1 for _ in lines(folder)) > before + 10)
            time.sleep(lots.uniform(0.0, 0.05))
            victim = lots.random()
            if victim < 0.4:
                service.kill()
                time.sleep(lots.uniform(0.0, 0.7))  # longer than the workers' patience, or not
                service.start()
                killed["service"] += 1
            elif victim < 0.5 and server is not None:
                server.kill()
                server.start()
                killed["database"] += 1
            else:
                place = lots.randrange(len(alive))
                work, pid = alive[place]
                crew.kill(pid)
                alive[place] = work, hire(work)
                killed[work] += 1
        codes = crew.join()
        assert Counter(codes) == {0: len(alive), -9: crew.killed}
        with warnings.catch_warnings():  # samples after their lease
            warnings.simplefilter("ignore")
            client = sw.Client(service.url, spool=outbox)
            assert client.flush() == 0
        assert client.spool.refused(service.url) == []
        client.close()
    report(killed, storage, folder)


def report(killed: Counter[str], storage: str, folder: Path, notes_once: bool = False) -> None:
    """Check, and say how much there was to lose."""
    found = check(storage, folder, notes_once)
    print(f"\n{killed.total()} kills {dict(killed)}, {found}: none lost, none doubled")


def check(storage: str, folder: Path, notes_once: bool) -> dict[str, int]:
    """What returned is on record, once, as it was; how much that is."""
    campaign, known = sw.Campaign.open(NAME, storage), list(lines(folder))
    record = campaign.events()
    told = {event.token: event.value for event in record if event.kind == "told"}
    assert len(told) == sum(event.kind == "told" for event in record), "none is doubled"
    returned = {line["token"]: line["value"] for line in known if "token" in line}
    lost = {token for token, value in returned.items() if told.get(token) != value}
    assert not lost, f"{len(lost)} of {len(returned)} tells that returned are lost"
    noted = Counter(event.note for event in record if event.kind == "noted")
    notes = [line["note"] for line in known if "note" in line]
    times = [sum(count for text, count in noted.items() if note in text) for note in notes]
    assert all(count == 1 if notes_once else count >= 1 for count in times)
    imported = sum(event.kind == "recorded" for event in record)
    files = check_imports(campaign, folder, {line["file"] for line in known if "file" in line})
    assert imported == ROWS * files, "a file's rows are on record once, all of them or none"
    verified = campaign.verify()
    assert verified.agrees, verified
    kept = sum(line.get("kept", False) for line in known)
    return {"tells": len(returned), "by the outbox": kept, "notes": len(notes), "imports": files}


def check_imports(campaign: sw.Campaign, folder: Path, returned: set[str]) -> int:
    """Import every file again: how many are known, among them all whose import returned."""
    found = 0
    for path in sorted(folder.glob("results-*.csv")):
        if len(path.read_text().splitlines()) != 1 + ROWS:  # killed while it was written
            assert path.name not in returned
            continue
        known = campaign.import_results(path, id="key").known
        assert known == ROWS if path.name in returned else known in (0, ROWS)
        found += known == ROWS
    return found


def test_kills_around_one_outbox(tmp_path: Path) -> None:
    kill_all(f"sqlite:///{tmp_path}/campaigns.db", tmp_path, QUICK, None)


@pytest.mark.slow
@pytest.mark.parametrize("where", ["sqlite", "postgresql"])
def test_many_kills_around_one_outbox(where: str, server: Server, tmp_path: Path) -> None:
    if where == "sqlite":
        kill_all(f"sqlite:///{tmp_path}/campaigns.db", tmp_path, SHARED, None)
    else:
        kill_all(server.fresh(), tmp_path, SHARED, server)


# ---------------------------------------------------------------------------------------------
# lifecycle commands and imports


@pytest.mark.slow
@pytest.mark.parametrize("where", ["sqlite", "postgresql"])
def test_kills_of_lifecycle_commands_and_imports(
    where: str, server: Server, tmp_path: Path
) -> None:
    storage = f"sqlite:///{tmp_path}/campaigns.db" if where == "sqlite" else server.fresh()
    sw.Campaign.create(SPEC, storage, NAME)._store.close()
    lots, crew = random.Random(14), Crew(tmp_path)
    alive = [crew.work("manages", storage=storage) for _ in range(3)]
    for _ in range(MANAGED):
        before = sum(1 for _ in lines(tmp_path))
        wait_until("work", lambda before=before: sum(1 for _ in lines(tmp_path)) > before + 6)
        time.sleep(lots.uniform(0.0, 0.03))
        place = lots.randrange(len(alive))
        crew.kill(alive[place])
        alive[place] = crew.work("manages", storage=storage)
    assert Counter(crew.join()) == {0: len(alive), -9: MANAGED}
    report(Counter(manages=MANAGED), storage, tmp_path, notes_once=True)


# ---------------------------------------------------------------------------------------------
# migrations


def kill_a_migration(crew: Crew, folder: Path, lots: random.Random, **task: Any) -> None:
    """Kill it soon after it began, or when it is over."""
    gate = folder / f"gate-{lots.getrandbits(64):x}"
    pid = crew.spawn(gate=str(gate), **task)
    time.sleep(0.02)
    gate.touch()
    time.sleep(lots.uniform(0.0, 0.06))
    crew.kill(pid)


def record(storage: str) -> dict[str, list[tuple[Any, ...]]]:
    """All events of all campaigns of a storage, which all verify."""
    store, found = Store(storage), {}
    for name in store.names():
        campaign = sw.Campaign.open(name, store)
        assert campaign.verify().agrees
        found[name] = [tuple(event) for event in campaign.events()]
    store.close()
    return found


@pytest.mark.slow
def test_kills_of_migrations(tmp_path: Path) -> None:
    """Files of three older versions: killed in the middle, and then as if nothing had been."""
    lots, crew = random.Random(3), Crew(tmp_path)
    names = ("campaign-schema-1.db", "campaigns-0.2.0.db", "campaigns-0.3.0.db")
    expected = {}
    for name in names:
        shutil.copy(ASSETS / name, tmp_path / f"whole-{name}")
        expected[name] = record(f"sqlite:///{tmp_path}/whole-{name}")
        assert expected[name]
    for kill in range(MIGRATED):
        name = names[kill % 3]
        path = tmp_path / f"{kill}-{name}"
        shutil.copy(ASSETS / name, path)
        for _ in range(1 + kill // 3 % 3 // 2):  # some of them twice
            kill_a_migration(crew, tmp_path, lots, work="migrates", storage=f"sqlite:///{path}")
        assert record(f"sqlite:///{path}") == expected[name]
    print(f"\n{crew.killed} kills of migrations")
    assert set(crew.join()) <= {0, -9}


def old_storage(server: Server) -> str:
    """The tables and campaigns of the oldest version's file, on a server."""
    address = server.fresh()
    with (
        closing(sqlite3.connect(ASSETS / "campaign-schema-1.db")) as old,
        server.connect(address.rsplit("/", 1)[1]) as new,
    ):
        tables = old.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
        for name, made in tables:
            new.execute(made.replace("id INTEGER", "id SERIAL").encode())
            rows = old.execute(f"SELECT * FROM {name}").fetchall()
            if name == "stopwise_events":
                rows = [(*row[:7], bool(row[7]), row[8]) for row in rows]
            holes = ", ".join(["%s"] * len(rows[0]))
            new.cursor().executemany(f"INSERT INTO {name} VALUES ({holes})".encode(), rows)
    return address


@pytest.mark.slow
def test_kills_of_migrations_on_a_server(server: Server, tmp_path: Path) -> None:
    lots, crew = random.Random(6), Crew(tmp_path)
    expected = record(old_storage(server))
    assert expected
    for _ in range(SERVED):
        storage = old_storage(server)
        kill_a_migration(crew, tmp_path, lots, work="migrates", storage=storage)
        assert record(storage) == expected
    print(f"\n{crew.killed} kills of migrations on a server")
    assert set(crew.join()) <= {0, -9}


@pytest.mark.slow
def test_kills_of_migrations_of_an_outbox(tmp_path: Path) -> None:
    lots, crew = random.Random(4), Crew(tmp_path)
    rows = [(place, "u", "one", f"t{place}", place / 7, None) for place in range(1, HELD + 1)]
    for kill in range(OUTBOXES):
        path = tmp_path / f"outbox-{kill}.db"
        with closing(sqlite3.connect(path)) as file:
            file.execute("PRAGMA journal_mode=WAL")
            file.execute(
                "CREATE TABLE held (place INTEGER PRIMARY KEY, service TEXT NOT NULL, campaign TEXT "
                "NOT NULL, token TEXT NOT NULL, value REAL NOT NULL, refused TEXT)"
            )
            file.executemany("INSERT INTO held VALUES (?, ?, ?, ?, ?, ?)", rows)
            file.commit()
        kill_a_migration(crew, tmp_path, lots, work="migrates_outbox", outbox=str(path))
        found = [(*held[:1], "u", *held[1:], None) for held in Spool(path).all_waiting("u")]
        assert found == rows
    print(f"\n{crew.killed} kills of migrations of outboxes")
    assert set(crew.join()) <= {0, -9}
