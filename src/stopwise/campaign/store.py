"""Where campaigns live: SQLite, PostgreSQL or memory, through one set of tables.

Every change of a campaign is one transaction that holds the campaign's lock from its first read: in
SQLite BEGIN IMMEDIATE, in PostgreSQL the campaign's row. Events are only ever added. ``state`` is what
the session knows after event ``last``: it saves replaying, and can be derived from the events again.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy import exc

from stopwise.campaign.engines import engine_at, file_system, shown, translated
from stopwise.campaign.errors import NewerSchema, StorageError, UnknownCampaign
from stopwise.campaign.events import Event

__all__ = ["Head", "Lease", "Store", "Transaction", "file_system"]
SCHEMA = 2
DEFAULT = "sqlite:///stopwise.db"

meta = sa.MetaData()
versions = sa.Table("stopwise_schema", meta, sa.Column("version", sa.Integer, nullable=False))
campaigns = sa.Table(
    "stopwise_campaigns",
    meta,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.String(200), nullable=False, unique=True),
    sa.Column("spec", sa.Text, nullable=False),
    sa.Column("key", sa.String(64), nullable=False),
    sa.Column("version", sa.String(40), nullable=False),
    sa.Column("created", sa.Float, nullable=False),
    sa.Column("last", sa.Integer, nullable=False),
    sa.Column("decision", sa.Text),
    sa.Column("state", sa.LargeBinary),
)
events = sa.Table(
    "stopwise_events",
    meta,
    sa.Column("campaign", sa.Integer, sa.ForeignKey(campaigns.c.id), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("kind", sa.String(10), nullable=False),
    sa.Column("token", sa.String(64), nullable=False),
    sa.Column("arm", sa.Integer),
    sa.Column("value", sa.Float(53)),
    sa.Column("time", sa.Float(53), nullable=False),
    sa.Column("late", sa.Boolean, nullable=False),
    sa.Column("note", sa.Text, nullable=False),
    sa.UniqueConstraint("campaign", "token", "kind"),
)
leases = sa.Table(
    "stopwise_leases",
    meta,
    sa.Column("campaign", sa.Integer, sa.ForeignKey(campaigns.c.id), primary_key=True),
    sa.Column("token", sa.String(64), primary_key=True),
    sa.Column("arm", sa.Integer, nullable=False),
    sa.Column("deadline", sa.Float(53), nullable=False),
)
UPGRADES = {1: ["ALTER TABLE stopwise_campaigns ADD COLUMN state {blob}"]}  # from this version on

FIELDS = [events.c[name] for name in Event._fields]
HEAD = [column for column in campaigns.c if column.name != "state"]
HEAD_OF = sa.select(*HEAD).where(campaigns.c.name == sa.bindparam("wanted"))
STATE_OF = sa.select(campaigns.c.state).where(campaigns.c.id == sa.bindparam("wanted"))
BY_TOKEN = sa.select(*FIELDS).where(
    events.c.campaign == sa.bindparam("wanted"), events.c.token == sa.bindparam("under")
)
SINCE = (
    sa.select(*FIELDS)
    .where(events.c.campaign == sa.bindparam("wanted"), events.c.number > sa.bindparam("after"))
    .order_by(events.c.number)
)
ADD_EVENT = sa.insert(events)
ADD_LEASE = sa.insert(leases)
DROP_LEASE = sa.delete(leases).where(
    leases.c.campaign == sa.bindparam("wanted"), leases.c.token == sa.bindparam("under")
)
EXTEND_LEASE = (
    sa.update(leases)
    .where(leases.c.campaign == sa.bindparam("wanted"), leases.c.token == sa.bindparam("under"))
    .values(deadline=sa.bindparam("until"))
)
LEASES_OF = (
    sa.select(leases.c.token, leases.c.arm, leases.c.deadline)
    .where(leases.c.campaign == sa.bindparam("wanted"))
    .order_by(leases.c.deadline, leases.c.token)
)
EXPIRED = LEASES_OF.where(leases.c.deadline < sa.bindparam("now"))
SAVE = (
    sa.update(campaigns)
    .where(campaigns.c.id == sa.bindparam("wanted"))
    .values(
        last=sa.bindparam("new_last"),
        decision=sa.bindparam("new_decision"),
        state=sa.bindparam("new_state"),
    )
)


class Head(NamedTuple):
    """A campaign's row but for its state."""

    id: int
    name: str
    spec: str
    key: str
    version: str
    created: float
    last: int
    decision: str | None


class Lease(NamedTuple):
    """A sample that is under way."""

    token: str
    arm: int
    deadline: float


class Transaction:
    """One campaign, locked until the block ends."""

    def __init__(self, connection: sa.Connection, head: Head) -> None:
        self._connection, self.head, self.last = connection, head, head.last

    def state(self) -> bytes | None:
        """What the session knew after the last event."""
        return self._connection.execute(STATE_OF, {"wanted": self.head.id}).scalar()

    def since(self, number: int, limit: int | None = None) -> list[Event]:
        """All events after this number, or the first of them."""
        query = SINCE if limit is None else SINCE.limit(limit)
        rows = self._connection.execute(query, {"wanted": self.head.id, "after": number})
        return [Event(*row) for row in rows]

    def under(self, token: str) -> dict[str, Event]:
        """The events of a token, by kind."""
        rows = self._connection.execute(BY_TOKEN, {"wanted": self.head.id, "under": token})
        return {row.kind: Event(*row) for row in rows}

    def add(
        self,
        kind: str,
        token: str,
        arm: int | None,
        value: float | None,
        time: float,
        late: bool = False,
        note: str = "",
    ) -> Event:
        """The next event."""
        self.last += 1
        event = Event(self.last, kind, token, arm, value, time, late, note)
        self._connection.execute(ADD_EVENT, {"campaign": self.head.id, **event._asdict()})
        return event

    def lend(self, token: str, arm: int, deadline: float) -> None:
        """A sample is under way until its deadline."""
        row = {"campaign": self.head.id, "token": token, "arm": arm, "deadline": deadline}
        self._connection.execute(ADD_LEASE, row)

    def extend(self, token: str, deadline: float) -> bool:
        """Another deadline; False if the sample is not under way."""
        values = {"wanted": self.head.id, "under": token, "until": deadline}
        return bool(self._connection.execute(EXTEND_LEASE, values).rowcount)

    def settle(self, token: str) -> bool:
        """The sample is under way no more; whether it was."""
        values = {"wanted": self.head.id, "under": token}
        return bool(self._connection.execute(DROP_LEASE, values).rowcount)

    def leases(self, before: float | None = None) -> list[Lease]:
        """Samples under way; or only those whose deadline has passed."""
        values = {"wanted": self.head.id, "now": before}
        if before is None:
            del values["now"]
        rows = self._connection.execute(LEASES_OF if before is None else EXPIRED, values)
        return [Lease(*row) for row in rows]

    def save(self, decision: str | None, state: bytes | None) -> None:
        """What the session knows after the last event."""
        self.head = self.head._replace(last=self.last, decision=decision)
        self._connection.execute(
            SAVE,
            {
                "wanted": self.head.id,
                "new_last": self.last,
                "new_decision": decision,
                "new_state": state,
            },
        )


class Store:
    """A place for campaigns, by its address."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._memory = address == "memory:"
        self._lock = threading.RLock()
        self._inside: sa.Connection | None = None  # memory has one connection only
        self.engine = engine_at(address)
        self._lock_row = self.engine.dialect.name == "postgresql"
        with self.guarded():
            self._prepare()
        _open_stores.add(self)

    def create(self, name: str, spec: str, key: str, version: str, now: float) -> bool:
        """A new campaign; False if one of this name is there already."""
        row = {"name": name, "spec": spec, "key": key, "version": version, "created": now}
        try:
            with self.guarded(), self.engine.begin() as connection:
                connection.execute(sa.insert(campaigns), {**row, "last": 0})
        except exc.IntegrityError:
            return False
        return True

    def names(self) -> list[str]:
        """All campaigns, oldest first."""
        order = sa.select(campaigns.c.name).order_by(campaigns.c.id)
        with self.guarded(), self._reading() as connection:
            return list(connection.execute(order).scalars())

    @contextmanager
    def change(self, name: str) -> Iterator[Transaction]:
        """A campaign to change: wholly or not at all, and nobody else meanwhile."""
        with self.guarded():
            if self._inside is not None:
                raise StorageError(f"{self.shown}: there is a change or a look under way already.")
            with self.engine.begin() as connection, self._entered(connection):
                query = HEAD_OF.with_for_update() if self._lock_row else HEAD_OF
                yield Transaction(connection, self._head(connection, query, name))

    @contextmanager
    def look(self, name: str) -> Iterator[Transaction]:
        """A campaign to read, as it was at one moment."""
        with self.guarded(), self._reading() as connection:
            yield Transaction(connection, self._head(connection, HEAD_OF, name))

    @contextmanager
    def _reading(self) -> Iterator[sa.Connection]:
        if self._inside is not None:
            yield self._inside
            return
        with self.engine.connect() as connection:
            if self._lock_row:  # else every statement would see another moment
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            with self._entered(connection):
                yield connection.execution_options(reads=True)

    @contextmanager
    def _entered(self, connection: sa.Connection) -> Iterator[None]:
        """In memory: what is done inside this block, by the same thread, uses its connection."""
        self._inside = connection if self._memory else None
        try:
            yield
        finally:
            self._inside = None

    def _head(self, connection: sa.Connection, query: Any, name: str) -> Head:
        row = connection.execute(query, {"wanted": name}).first()
        if row is None:
            known = list(connection.execute(sa.select(campaigns.c.name).limit(20)).scalars())
            listed = ", ".join(map(repr, known)) or "none yet"
            raise UnknownCampaign(f"no campaign {name!r} in {self.shown}; there are: {listed}.")
        return Head(*row)

    @property
    def shown(self) -> str:
        """The address without a password."""
        return shown(self.address)

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
        except (exc.DBAPIError, exc.TimeoutError) as error:
            raise translated(self.shown, error) from error
        finally:
            if self._memory:
                self._lock.release()

    def _prepare(self) -> None:
        """Make the tables, or bring older ones up to date."""
        with self._reading() as connection:  # nobody need wait for a lock if all is well
            if self._schema(connection) == SCHEMA:
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
