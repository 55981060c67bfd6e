"""A file that is replaced, deleted or cut while it is open: nothing is acknowledged any more."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
from contextlib import closing, suppress
from pathlib import Path

import pytest

import stopwise as sw
from serving import send, serving
from stopwise.campaign.campaign import Campaign
from stopwise.campaign.storage.store import Store

SPEC = {"question": "best-arm", "arms": ["a", "b"], "family": "bernoulli", "delta": 0.01}


def copied(path: Path, backup: Path) -> None:
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(backup)) as target:
        source.backup(target)


def restore_by_move(path: Path, backup: Path) -> None:
    shutil.move(backup, path)


def restore_by_hand(path: Path, backup: Path) -> None:
    """As people do who know that the files beside it belong to it."""
    for each in path.parent.glob(f"{path.name}*"):
        each.unlink()
    shutil.copy(backup, path)


def delete(path: Path, backup: Path) -> None:
    path.unlink()


def delete_log(path: Path, backup: Path) -> None:
    path.with_name(f"{path.name}-wal").unlink()


@pytest.mark.parametrize("harm", [restore_by_move, restore_by_hand, delete, delete_log])
def test_nothing_is_acknowledged_any_more(harm: object, tmp_path: Path) -> None:
    path, backup = tmp_path / "store.db", tmp_path / "backup.db"
    store = Store(f"sqlite:///{path}")
    campaign = Campaign.create(SPEC, store, "one")
    for ticket in campaign.ask(5):
        campaign.tell(ticket.token, 1)
    copied(path, backup)
    tickets = campaign.ask(10)
    assert callable(harm)
    harm(path, backup)
    for ticket in tickets:
        with pytest.raises(sw.StorageDamaged, match=r"while it was open\. Nothing is acknowledged"):
            campaign.tell(ticket.token, 1)
    if harm is not delete_log:
        with pytest.raises(sw.StorageDamaged):
            store.check_room()
    store.close()
    if harm in (restore_by_move, restore_by_hand):  # the file that was put there is whole
        with Campaign.open("one", path) as again:
            assert again.status().samples == 5
            assert again.verify().agrees


def test_a_campaign_that_goes_back(tmp_path: Path) -> None:
    """Older content under the same file: the next change sees that events are gone."""
    path = tmp_path / "store.db"
    campaign = Campaign.create(SPEC, path, "one")
    for ticket in campaign.ask(3):
        campaign.tell(ticket.token, 1)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DELETE FROM stopwise_events WHERE number > 4")
        connection.execute("UPDATE stopwise_campaigns SET last = 4")
        connection.commit()
    for _ in range(2):
        with pytest.raises(sw.StorageDamaged, match="had 6 events and has 4"):
            campaign.ask()


def test_connections_may_come_and_go(tmp_path: Path) -> None:
    """SQLite deletes the -wal file with the last connection, and makes another: no harm is seen."""
    path = tmp_path / "store.db"
    campaign = Campaign.create(SPEC, path, "one")
    for _ in range(3):
        campaign.tell(campaign.ask()[0].token, 1)
        campaign.disconnect()
        assert not path.with_name("store.db-wal").exists()
    assert campaign.verify().agrees


def test_files_are_their_owners(tmp_path: Path) -> None:
    os.umask(0o022)
    path = tmp_path / "store.db"
    campaign = Campaign.create(SPEC, path, "one")
    campaign.ask()
    made = {each.name: stat.S_IMODE(each.stat().st_mode) for each in tmp_path.iterdir()}
    assert set(made) >= {"store.db", "store.db-wal", "store.db-shm", "store.db-turn"}
    assert set(made.values()) == {0o600}


def test_a_campaign_lets_go_of_its_storage(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with Campaign.create(SPEC, path, "one") as campaign:
        campaign.ask()
        assert path.with_name("store.db-wal").exists()
    assert not path.with_name("store.db-wal").exists()
    store = Store(f"sqlite:///{path}")
    with Campaign.open("one", store) as campaign:
        campaign.ask()
    assert path.with_name("store.db-wal").exists(), "whoever opened the store closes it"
    store.close()


def test_a_service_whose_file_is_restored(tmp_path: Path) -> None:
    """It acknowledges nothing that it cannot keep, is not ready, and is right again after a restart."""
    path, backup = tmp_path / "store.db", tmp_path / "backup.db"
    with serving(f"sqlite:///{path}", tmp_path) as service:
        client = sw.Client(service.url, spool=tmp_path / "spool.db", patience=0.1)
        campaign = client.create(SPEC, "one")
        tickets = campaign.ask(60)
        for ticket in tickets[:20]:
            assert campaign.tell(ticket.token, 1) is not None
        copied(path, backup)
        for ticket in tickets[20:40]:
            assert campaign.tell(ticket.token, 1) is not None
        restore_by_hand(path, backup)
        kept = tickets[40:50]
        for ticket in kept:
            with suppress(sw.StorageDamaged):  # or it says that it is away
                assert campaign.tell(ticket.token, 1) is None
        status, _, answer = send(service, "GET", "/ready")
        assert (status, "damaged" in answer["message"]) == (503, True)
        service.kill()
        service.start()
        assert send(service, "GET", "/ready")[0] == 200
        client.close()
        client = sw.Client(service.url, spool=tmp_path / "spool.db")
        assert client.flush() == 0, "what was not acknowledged is sent again"
        status = client.open("one").status()
        assert (status.samples + status.waiting, status.events) == (30, 90)
        assert client.open("one").verify().agrees
        client.close()
