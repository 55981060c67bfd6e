"""Where campaigns live: SQLite, PostgreSQL or memory, through one set of tables.

Every change of a campaign is one transaction that holds the campaign's lock from its first read: in
SQLite BEGIN IMMEDIATE, in PostgreSQL the campaign's row. Events are only ever added. A state is what
the session knew after one of the last events: it saves replaying, and can be derived from the events.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import exc

from stopwise.campaign.errors import (
    CampaignExists,
    NewerSchema,
    StorageError,
    UnknownCampaign,
)
from stopwise.campaign.spelling import alike, normalised
from stopwise.campaign.storage.address import (
    PATIENCE,
    check_room,
    damaged,
    engine_at,
    shown,
    translated,
)
from stopwise.campaign.storage.hashes import add_hashes, first_hash, head_seal
from stopwise.campaign.storage.rows import Head
from stopwise.campaign.storage.statements import (
    ALL,
    HEAD_OF,
    HEAD_ONCE,
    LOCKED_HEAD_OF,
    LOCKED_HEAD_ONCE,
    NAMES,
    Connection,
    Statement,
)
from stopwise.campaign.storage.tables import (
    HASHED,
    SCHEMA,
    UPGRADES,
    campaigns,
    former_names,
    meta,
    versions,
)
from stopwise.campaign.storage.transaction import Transaction
from stopwise.campaign.storage.turns import Turnstile
from stopwise.core.waiting import waiting

DEFAULT = "sqlite:///stopwise.db"
RENAMED = 3  # looks for a campaign that may be renamed between two of them
FIRST = {  # the first statement of a transaction, to change and to read; psycopg says BEGIN itself
    "sqlite": ("BEGIN IMMEDIATE", "BEGIN"),
    "postgresql": (None, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"),
}


class Store:
    """A place for campaigns, by its address."""

    def __init__(self, address: str) -> None:
        self.engine, self._file = engine_at(address)
        self._turnstile = None if self._file is None else Turnstile(self._file.path)
        self.address = address
        self._memory = address == "memory:"
        self._lock = threading.RLock()
        self._inside: Connection | None = None  # memory has one connection only
        self._driver: Any = self.engine.dialect.dbapi
        self._lock_row = self.engine.dialect.name == "postgresql"
        with self.guarded():
            self._prepare()
        _open_stores.add(self)

    def create(self, name: str, spec: str, key: str, version: str, now: float) -> bool:
        """A new campaign; False if one of this name is there already.

        Another whose name differs in capitals, spaces or the codes of letters only: CampaignExists.
        """
        head = Head(0, name, spec, key, version, now, 0, None, None, None, 0, b"", b"")
        head = head._replace(hash=first_hash(spec, key, version, now))
        head = head._replace(seal=head_seal(head))
        row = {key: value for key, value in head._asdict().items() if key != "id"}
        try:
            with self.guarded(), self.engine.begin() as connection:
                wanted = sa.select(former_names).where(former_names.c.name == name)
                if connection.execute(wanted).first() is not None:
                    return False
                self._refuse_if_alike(connection, name)
                connection.execute(sa.insert(campaigns), row)
        except exc.IntegrityError:
            return False
        return True

    def _refuse_if_alike(self, connection: sa.Connection, name: str) -> None:
        if self._lock_row:  # SQLite: whoever writes is alone anyway
            connection.execute(sa.text("SELECT pg_advisory_xact_lock(7261969)"))
        there = [row.name for row in connection.execute(sa.select(campaigns.c.name))]
        close = [each for each in there if alike(each) == alike(name)]
        if close and name not in close:
            raise CampaignExists(
                f"campaign {close[0]!r} in {self.shown} has a name that could be mistaken for "
                f"{name!r}. Choose another name, or use that campaign by its own."
            )

    def has(self, name: str) -> bool:
        """Whether a campaign has, or had, exactly this name."""
        with self.guarded(), self._begin(reads=True) as connection:
            return any(connection.rows(query, wanted=name) for query in (HEAD_OF, HEAD_ONCE))

    def names(self) -> list[str]:
        """All campaigns, oldest first."""
        return list(self.last_events())

    def last_events(self) -> dict[str, int]:
        """All campaigns, oldest first, each with the number of its last event."""
        with self.guarded(), self._begin(reads=True) as connection:
            return dict(connection.rows(NAMES, most=ALL))

    @contextmanager
    def change(self, name: str) -> Iterator[Transaction]:
        """A campaign to change: wholly or not at all, and nobody else meanwhile."""
        with self.guarded():
            if self._inside is not None:
                raise StorageError(f"{self.shown}: a transaction is open already.")
            with self._begin(reads=False) as connection:
                yield Transaction(connection, self._head(connection, LOCKED_HEAD_OF, name))

    @contextmanager
    def look(self, name: str) -> Iterator[Transaction]:
        """A campaign to read, as it was at one moment."""
        with self.guarded(), self._begin(reads=True) as connection:
            yield Transaction(connection, self._head(connection, HEAD_OF, name))

    @contextmanager
    def _begin(self, reads: bool) -> Iterator[Connection]:
        """A transaction; in memory, inside another one, that one."""
        if self._inside is not None:
            yield self._inside
            return
        if self._file is not None:
            self._file.check()
        first = FIRST[self.engine.dialect.name][reads]
        pooled = self.engine.raw_connection()
        raw: Any = pooled.dbapi_connection
        connection = Connection(raw, self.engine.dialect)
        self._inside = connection if self._memory else None
        try:
            # PostgreSQL: statements whose results nobody reads are sent together with the next one
            with raw.pipeline() if self._lock_row else nullcontext():
                if first is not None:
                    with self._turn(reads):
                        raw.execute(first)
                yield connection
                raw.commit()
            if not reads and self._file is not None:  # else what is written nobody may find again
                self._file.check_both()
        except BaseException as error:
            try:
                raw.rollback()
            except self._driver.Error:
                pooled.invalidate(error)
            raise
        finally:
            self._inside = None
            pooled.close()

    def _turn(self, reads: bool) -> AbstractContextManager[None]:
        """Whoever changes a file waits for its turn."""
        if reads or self._turnstile is None:
            return nullcontext()
        return self._turnstile.turn(PATIENCE)

    def _head(self, connection: Connection, query: Statement, name: str) -> Head:
        once = LOCKED_HEAD_ONCE if query is LOCKED_HEAD_OF else HEAD_ONCE
        for _ in range(RENAMED):
            for spelled in (name, normalised(name)):
                rows = connection.rows(query, wanted=spelled) or connection.rows(
                    once, wanted=spelled
                )
                if rows:
                    return Head(*rows[0])
        listed = ", ".join(repr(row[0]) for row in connection.rows(NAMES, most=20)) or "none yet"
        raise UnknownCampaign(f"no campaign {name!r} in {self.shown}; there are: {listed}.")

    @property
    def shown(self) -> str:
        """The address without a password."""
        return shown(self.address)

    def check_file(self) -> None:
        """Read the whole SQLite file; StorageDamaged if it is not as SQLite left it."""
        if self.engine.dialect.name != "sqlite":
            return
        with self.guarded(), self.engine.connect() as connection:
            reading = connection.execution_options(reads=True)
            (found,) = reading.exec_driver_sql("PRAGMA quick_check(1)").one()
        if found != "ok":
            raise damaged(self.shown, found.splitlines()[0])

    def check_room(self) -> None:
        """StorageAway if it does not answer, or if there is no room to write."""
        self.last_events()
        if self.address.startswith("sqlite:"):
            check_room(Path(str(self.engine.url.database)).parent, self.shown)

    def close(self) -> None:
        """Let go of connections."""
        self.engine.dispose()

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Errors of the library below as ours; in memory one thread at a time."""
        if self._memory:
            self._lock.acquire()
        try:
            yield
        except exc.IntegrityError:
            raise
        except (exc.DBAPIError, exc.TimeoutError, self._driver.Error) as error:
            raise translated(self.shown, error) from error
        finally:
            if self._memory:
                self._lock.release()

    def _prepare(self) -> None:
        """Make the tables, or bring older ones up to date."""
        with self.engine.connect() as connection:  # nobody need wait for a lock if all is well
            if self._schema(connection.execution_options(reads=True)) == SCHEMA:
                return
        with self.engine.begin() as connection:
            if self._lock_row:  # one process at a time
                connection.execute(sa.text("SELECT pg_advisory_xact_lock(7261968)"))
            found = self._schema(connection)
            if found is None:
                meta.create_all(connection)
                connection.execute(sa.insert(versions), {"version": SCHEMA})
                return
            blob = "BYTEA" if self._lock_row else "BLOB"
            for version in range(found, SCHEMA):
                for statement in UPGRADES[version]:
                    connection.execute(sa.text(statement.format(blob=blob)))
            if found < HASHED:
                with waiting(
                    f"{self.shown}: all events get hashes, once; a million take about 15 s"
                ):
                    add_hashes(connection)
            if found < SCHEMA:
                connection.execute(sa.update(versions).values(version=SCHEMA))

    def _schema(self, connection: sa.Connection) -> int | None:
        """The version of the tables; None if there are none."""
        if not sa.inspect(connection).has_table(versions.name):
            return None
        found = connection.execute(sa.select(versions.c.version)).scalar()
        if found is None or not 1 <= found <= SCHEMA:
            raise NewerSchema(
                f"{self.shown}: made by a newer stopwise (schema {found}; this one knows {SCHEMA}). "
                "Upgrade stopwise."
            )
        return int(found)


_open_stores: weakref.WeakSet[Store] = weakref.WeakSet()


def _let_go() -> None:
    """Neither SQLite's nor PostgreSQL's connections may be used on both sides of a fork."""
    for store in list(_open_stores):
        if not store._memory:
            store.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_let_go)
