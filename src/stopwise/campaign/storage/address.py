"""From a storage's address to SQLAlchemy's engine; and what drivers say, in words that help."""

from __future__ import annotations

import errno
import os
import random
import re
import select
import sqlite3
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import sqlalchemy as sa
from sqlalchemy import exc

from stopwise.campaign.errors import StorageAway, StorageDamaged, StorageError
from stopwise.core.errors import BadArgument

ADDRESSES = "memory:, FILE.db, sqlite:///FILE or postgresql+psycopg://USER@HOST/DATABASE"
ROOM = 1 << 18  # bytes that must be free for the storage to be ready
PATIENCE = 30  # seconds to wait for another writer
NETWORK = ("nfs", "cifs", "smb", "9p", "afs", "lustre", "ceph", "fuse.sshfs", "fuse.gluster")
# what PostgreSQL says when trying again is no use
REFUSED = ("authentication failed", "does not exist", "permission denied", "no password supplied")


def shown(address: str) -> str:
    """An address without passwords: neither before the host, nor among the settings after it."""
    hidden = re.sub(r"(://[^/:@]*):.*@", r"\1:***@", address)
    return re.sub(r"(?i)([?&;][^=&;]*pass[^=&;]*=)[^&;]*", r"\1***", hidden)


def engine_at(address: Any) -> tuple[sa.Engine, SameFile | None]:
    """The engine for memory:, sqlite:///FILE or postgresql+psycopg://user@host/database; its file."""
    if isinstance(address, str) and address == "memory:":
        return _memory(), None
    scheme = urlsplit(address).scheme if isinstance(address, str) else ""
    if scheme == "sqlite":
        return _sqlite(address)
    if scheme in ("postgresql", "postgresql+psycopg"):
        return _postgresql(address), None
    given = shown(address) if isinstance(address, str) else address
    raise BadArgument("storage", given, ADDRESSES)


def _postgresql(address: str) -> sa.Engine:
    url = address.replace("postgresql://", "postgresql+psycopg://", 1)
    try:
        engine = sa.create_engine(url, pool_size=2, connect_args={"connect_timeout": 5})
    except (exc.ArgumentError, ValueError) as error:
        why = type(error).__name__  # its text may have the password
        raise BadArgument(
            "storage", shown(address), f"an address that can be read ({why})"
        ) from None
    except ImportError as error:
        hint = 'Install "stopwise[postgresql]".'
        raise BadArgument("storage", shown(address), "an environment with psycopg", hint) from error
    sa.event.listen(engine, "connect", _patient)
    sa.event.listen(engine, "checkout", _alive)
    return engine


def _alive(connection: Any, *_: Any) -> None:
    """An idle connection that has something to say is one that the server has closed: take another."""
    if _has_something_to_read(connection):
        raise exc.DisconnectionError


def _has_something_to_read(connection: Any) -> bool:
    if not hasattr(select, "poll"):  # Windows
        return bool(select.select([connection], [], [], 0)[0])
    waiting = select.poll()  # select itself knows files up to number 1023 only
    waiting.register(connection, select.POLLIN)
    return bool(waiting.poll(0))


def _patient(connection: Any, _: Any) -> None:
    """A worker that hangs in the middle of a change must not stop all others for ever."""
    connection.execute(f"SET lock_timeout = '{PATIENCE}s'")
    connection.execute(f"SET idle_in_transaction_session_timeout = '{2 * PATIENCE}s'")
    # whatever is usual on the server: a change waits for the one before it, and is not refused
    connection.execute("SET default_transaction_isolation = 'read committed'")
    connection.commit()


def _sqlite(address: str) -> tuple[sa.Engine, SameFile]:
    try:
        url = sa.engine.make_url(address)
    except exc.ArgumentError:
        raise BadArgument("storage", address, "an address such as sqlite:///stopwise.db") from None
    if not url.database or url.database == ":memory:":
        raise BadArgument("storage", address, "sqlite:///FILE (or memory: to keep nothing)")
    path = Path(url.database).absolute()
    _check_file(path)
    _make_private(path)
    engine = sa.create_engine(url.set(database=str(path)), connect_args={"timeout": PATIENCE})
    file = SameFile(path)
    sa.event.listen(engine, "do_connect", file.check)
    sa.event.listen(engine, "connect", _durable)
    sa.event.listen(engine, "connect", file.opened)
    sa.event.listen(engine, "close", file.closed)
    sa.event.listen(engine, "begin", _begin_immediate)
    return engine, file


NO_FILE = 0, 0


class SameFile:
    """Refuses to go on with a file that somebody has replaced, deleted or cut while it is open.

    SQLite itself would write on, into a file that nobody can open any more, and say that all is well.
    """

    def __init__(self, path: Path) -> None:
        self.path, self._text, self._log = path, str(path), f"{path}-wal"
        self._file, self._size = _identity(self._text), 0
        self._connections, self._log_file = 0, NO_FILE
        self._problem = ""

    def check(self, *_: Any) -> None:
        """StorageDamaged if the file is not the one that was opened, for ever after."""
        if self._problem:
            raise self._replaced(self._problem)
        try:
            now = os.stat(self._text)
        except OSError:
            raise self._replaced("is not there any more") from None
        if (now.st_dev, now.st_ino) != self._file:
            raise self._replaced("was replaced by another file")
        if now.st_size < self._size:
            raise self._replaced("has become shorter")
        self._size = now.st_size

    def check_both(self) -> None:
        """The same for the file beside it, in which SQLite writes first, after a change."""
        self.check()
        found = _identity(self._log)
        if found == NO_FILE or self._log_file not in (NO_FILE, found):
            raise self._replaced("has lost its -wal file")
        self._log_file = found

    def opened(self, *_: Any) -> None:
        """One connection more."""
        self._connections += 1

    def closed(self, *_: Any) -> None:
        """One connection less: with the last one SQLite may delete the file beside it."""
        self._connections -= 1
        if self._connections == 0:
            self._log_file = NO_FILE

    def _replaced(self, what: str) -> StorageDamaged:
        self._problem = what
        return StorageDamaged(
            f"{self.path}: {what} while it was open. Nothing is acknowledged any more. Stop all "
            "processes that use it, put the right file in its place, and start them again."
        )


def _identity(path: str) -> tuple[int, int]:
    """Device and number of a file."""
    try:
        found = os.stat(path)
    except OSError:
        return NO_FILE
    return found.st_dev, found.st_ino


def _make_private(path: Path) -> None:
    """A new file is its owner's: whoever may read it could hold up all writers with a lock."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def _check_file(path: Path) -> None:
    """Refuse what SQLite cannot lock or write."""
    kind = file_system(path.resolve(), _mounts())
    if kind.startswith(NETWORK):
        raise StorageError(
            f"{path}: on a network file system ({kind}), where SQLite's locks do not hold. "
            "Use a local disk, or PostgreSQL."
        )
    if not path.parent.is_dir():
        raise StorageError(f"{path}: the folder {path.parent} does not exist.")
    if path.is_dir():
        raise StorageError(f"{path}: a folder. Name a file in it, such as {path}/stopwise.db.")
    closed = [
        each for each in (path.parent, path) if each.exists() and not os.access(each, os.W_OK)
    ]
    if closed or _read_only(path):
        raise StorageError(
            f"{path}: read-only. Campaigns need a file, in a folder, that can be written to."
        )


def _memory() -> sa.Engine:
    from sqlalchemy.pool import StaticPool

    engine = sa.create_engine(
        "sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False}
    )
    sa.event.listen(engine, "connect", _own_transactions)
    sa.event.listen(engine, "begin", _begin_immediate)
    return engine


def _own_transactions(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # no BEGIN of the driver's own


def _durable(connection: Any, record: Any) -> None:
    _own_transactions(connection, record)
    switch_to_wal(connection)
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA foreign_keys=ON")


def switch_to_wal(connection: Any) -> None:
    """Several processes may do it to a new file at once, and SQLite itself does not wait for that."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > end:
                raise
            time.sleep(random.uniform(0.005, 0.05))


def _begin_immediate(connection: sa.Connection) -> None:
    reads = connection.get_execution_options().get("reads", False)
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")


def _mounts() -> str:
    try:
        return Path("/proc/mounts").read_text()
    except OSError:
        return ""


def file_system(path: Path, mounts: str) -> str:
    """The kind of file system that a file is on, by a table of mounts; "" if it does not say."""
    best, found = -1, ""
    for line in mounts.splitlines():
        parts = line.split()
        if len(parts) >= 3:
            place = parts[1].replace("\\040", " ")
            inside = str(path).startswith(place.rstrip("/") + "/")
            if inside and len(place) >= best:  # of two at one place the later one is seen
                best, found = len(place), parts[2]
    return found


def _read_only(path: Path) -> bool:
    """Whether the file system is read-only (its owner may be allowed to write everywhere)."""
    try:
        return bool(os.statvfs(path.parent).f_flag & os.ST_RDONLY)
    except OSError as error:
        return error.errno == errno.EROFS


def check_room(folder: Path, where: str) -> None:
    """StorageAway if the next changes would not find room: reserved, and given back."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, ROOM)
            else:
                file.write(bytes(ROOM))
                file.flush()
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise _full(where) from error
        raise StorageAway(f"{where}: cannot be written to ({error.strerror}).") from error


def _full(where: str) -> StorageAway:
    return StorageAway(
        f"{where}: the disk is full; nothing was written. Free some space and retry."
    )


def damaged(where: str, text: str) -> StorageDamaged:
    """Said as it is: not a fault that passes."""
    return StorageDamaged(
        f"{where}: not a SQLite database, or damaged ({text}). Trying again does not help: put a "
        "backup in its place."
    )


def translated(where: str, error: Exception) -> StorageError:
    """What the driver says, in words that help."""
    cause = getattr(error, "orig", None) or error
    text = (str(cause).strip().splitlines() or [type(cause).__name__])[0]
    low = text.lower()
    if "disk is full" in low or "no space" in low:
        return _full(where)
    if "readonly" in low or "read-only" in low:
        return StorageError(f"{where}: read-only. Campaigns need a storage that can be written to.")
    if "locked" in low or "lock timeout" in low:
        return StorageAway(f"{where}: locked by another process for {PATIENCE} s. Try again.")
    if "not a database" in low or "malformed" in low:
        return damaged(where, text)
    if any(word in low for word in REFUSED):
        return StorageError(f"{where}: refused ({text}).")
    kinds = {kind.__name__ for kind in type(error).__mro__}  # of SQLAlchemy or of the driver
    if kinds & {"OperationalError", "InterfaceError", "TimeoutError"}:
        return StorageAway(
            f"{where}: does not answer ({text}). Nothing was acknowledged: try again."
        )
    return StorageError(f"{where}: {text}.")
