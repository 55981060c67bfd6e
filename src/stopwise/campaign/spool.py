"""The outbox: tells that the service has not acknowledged yet, in a file that survives a restart."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from stopwise.campaign.errors import Conflict, StorageError
from stopwise.campaign.storage.address import switch_to_wal

VERSION = 1  # of the file; files of stopwise 0.3.0 have 0
PAGE = 1000  # tells that are read at once
SAME = "service = ? AND campaign = ? AND token = ? AND value = ?"


class Held(NamedTuple):
    """A tell that waits."""

    place: int
    campaign: str
    token: str
    value: float


class Spool:
    """A queue on disk; several processes and threads may share it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._file: sqlite3.Connection | None = None
        with self._opened("opened"):
            pass
        _all.add(self)

    def put(self, service: str, campaign: str, token: str, value: float) -> bool:
        """Keep a tell, which is on disk when this returns; False if it was there already."""
        with self._opened("written") as file, _transaction(file):
            where = "service = ? AND campaign = ? AND token = ? AND refused IS NULL"
            key = (service, campaign, token)
            found = file.execute(f"SELECT value FROM held WHERE {where}", key).fetchone()
            if found is None:
                columns = "service, campaign, token, value"
                file.execute(f"INSERT INTO held ({columns}) VALUES (?, ?, ?, ?)", (*key, value))
                return True
            if found[0] != value:
                raise Conflict(
                    f"token {token!r}: {found[0]!r} was told and waits in the outbox {self.path}; now "
                    f"{value!r}. The first stands; samples are not corrected."
                )
            return False

    def drop(self, service: str, campaign: str, token: str, value: float) -> None:
        """The service has it, or whoever told it knows that it was refused."""
        with suppress(StorageError), self._opened("written") as file:  # else it is sent once more
            file.execute(f"DELETE FROM held WHERE {SAME}", (service, campaign, token, value))

    def refuse(self, service: str, campaign: str, token: str, value: float, why: str) -> None:
        """The service will never take it: kept for somebody to look at, not sent again."""
        with self._opened("written") as file:
            row = (why, service, campaign, token, value)
            file.execute(f"UPDATE held SET refused = ? WHERE {SAME}", row)

    def waiting(self, service: str, most: int = PAGE, after: int = 0) -> list[Held]:
        """Tells that are to be sent, oldest first, from the first after this place."""
        with self._opened("read") as file:
            rows = file.execute(
                "SELECT place, campaign, token, value FROM held WHERE service = ? AND refused IS NULL "
                "AND place > ? ORDER BY place LIMIT ?",
                (service, after, most),
            ).fetchall()
        return [Held(*row) for row in rows]

    def all_waiting(self, service: str) -> Iterator[Held]:
        """The same, page by page: however many there are."""
        page = self.waiting(service)
        while page:
            yield from page
            page = self.waiting(service, after=page[-1].place)

    def count(self, service: str) -> int:
        """How many tells are to be sent."""
        with self._opened("read") as file:
            query = "SELECT COUNT(*) FROM held WHERE service = ? AND refused IS NULL"
            return int(file.execute(query, (service,)).fetchone()[0])

    def refused(self, service: str) -> list[tuple[str, str, float, str]]:
        """Campaign, token, value and reason of what the service would not take."""
        with self._opened("read") as file:
            return file.execute(
                "SELECT campaign, token, value, refused FROM held WHERE service = ? AND refused "
                "IS NOT NULL ORDER BY place",
                (service,),
            ).fetchall()

    def close(self) -> None:
        """Let go of the file; it is opened again when it is needed."""
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None

    @contextmanager
    def _opened(self, done: str) -> Iterator[sqlite3.Connection]:
        """The file, for one thread at a time; ``done`` is for the error if that fails."""
        with self._lock:
            try:
                if self._file is None:
                    self._file = _open(self.path)
                yield self._file
            except (OSError, sqlite3.Error) as error:
                text = f"{self.path}: the outbox cannot be {done} ({error})."
                raise StorageError(text) from error

    def _before_fork(self) -> None:
        """SQLite's locks do not survive a fork: parent and child each open the file again."""
        self._lock.acquire()
        if self._file is not None:
            self._file.close()
            self._file = None


def _open(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))  # nobody else reads what was told
    file = sqlite3.connect(
        path.absolute(), timeout=30, check_same_thread=False, isolation_level=None
    )
    try:
        switch_to_wal(file)
        file.execute("PRAGMA synchronous=FULL")
        with _transaction(file):
            _bring_up_to_date(file, path)
    except BaseException:
        file.close()
        raise
    return file


def _bring_up_to_date(file: sqlite3.Connection, path: Path) -> None:
    """A new file, or one of 0.3.0.

    0.3.0 gave the place of a tell that was gone to the next one, so that one process could delete
    another's tell; and it gave up tells for passing reasons, which are sent again here.
    """
    if file.execute("PRAGMA user_version").fetchone()[0] >= VERSION:
        return
    old = file.execute("SELECT 1 FROM sqlite_master WHERE name = 'held'").fetchone()
    if old:
        file.execute("ALTER TABLE held RENAME TO held_before")
    file.execute(
        "CREATE TABLE held (place INTEGER PRIMARY KEY AUTOINCREMENT, service TEXT NOT NULL, "
        "campaign TEXT NOT NULL, token TEXT NOT NULL, value REAL NOT NULL, refused TEXT)"
    )
    if old:
        columns = "place, service, campaign, token, value"
        file.execute(f"INSERT INTO held ({columns}) SELECT {columns} FROM held_before")
        file.execute("DROP TABLE held_before")
    file.execute("CREATE INDEX held_by_token ON held (token)")
    file.execute(f"PRAGMA user_version = {VERSION}")
    if not path.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH):  # else it is shared on purpose
        with suppress(OSError):
            path.chmod(0o600)


@contextmanager
def _transaction(file: sqlite3.Connection) -> Iterator[None]:
    """All or nothing; other processes wait."""
    file.execute("BEGIN IMMEDIATE")
    try:
        yield
        file.execute("COMMIT")
    except BaseException:
        file.rollback()
        raise


_all: weakref.WeakSet[Spool] = weakref.WeakSet()
_forking: list[Spool] = []


def _before_fork() -> None:
    for each in list(_all):
        each._before_fork()
        _forking.append(each)


def _after_fork() -> None:
    while _forking:
        _forking.pop()._lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork
    )
