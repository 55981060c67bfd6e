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
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import sqlalchemy as sa
from sqlalchemy import exc

from stopwise.campaign.errors import StorageAway, StorageDamaged, StorageError
from stopwise.core.errors import BadArgument

ROOM = 1 << 18  # bytes that must be free for the storage to be ready
PATIENCE = 30  # seconds to wait for another writer
NETWORK = ("nfs", "cifs", "smb", "9p", "afs", "lustre", "ceph", "fuse.sshfs", "fuse.gluster")
# what PostgreSQL says when trying again is no use
REFUSED = ("authentication failed", "does not exist", "permission denied", "no password supplied")


def shown(address: str) -> str:
    """An address without its password."""
    return re.sub(r"(://[^/:@]*):[^@]*@", r"\1:***@", address)


def engine_at(address: Any) -> sa.Engine:
    """The engine for memory:, sqlite:///FILE or postgresql+psycopg://user@host/database."""
    if address == "memory:":
        return _memory()
    scheme = urlsplit(address).scheme if isinstance(address, str) else ""
    if scheme == "sqlite":
        return _sqlite(address)
    if scheme in ("postgresql", "postgresql+psycopg"):
        return _postgresql(address)
    allowed = "memory:, FILE.db, sqlite:///FILE or postgresql+psycopg://USER@HOST/DATABASE"
    given = shown(address) if isinstance(address, str) else address
    raise BadArgument("storage", given, allowed)


def _postgresql(address: str) -> sa.Engine:
    url = address.replace("postgresql://", "postgresql+psycopg://", 1)
    try:
        engine = sa.create_engine(url, pool_size=2, connect_args={"connect_timeout": 5})
    except (exc.ArgumentError, ValueError) as error:
        raise BadArgument("storage", shown(address), f"an address ({error})") from None
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
    connection.commit()


def _sqlite(address: str) -> sa.Engine:
    try:
        url = sa.engine.make_url(address)
    except exc.ArgumentError:
        raise BadArgument("storage", address, "an address such as sqlite:///stopwise.db") from None
    if not url.database or url.database == ":memory:":
        raise BadArgument("storage", address, "sqlite:///FILE (or memory: to keep nothing)")
    path = Path(url.database).absolute()
    _check_file(path)
    engine = sa.create_engine(url.set(database=str(path)), connect_args={"timeout": PATIENCE})
    sa.event.listen(engine, "connect", _durable)
    sa.event.listen(engine, "begin", _begin_immediate)
    return engine


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
    _switch_to_wal(connection)
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA foreign_keys=ON")


def _switch_to_wal(connection: Any) -> None:
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
