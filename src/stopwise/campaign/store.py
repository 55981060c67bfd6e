"""Where campaigns live: SQLite, PostgreSQL or memory, through one set of tables.

Every change of a campaign is one transaction that holds the campaign's lock from its first read: in
SQLite BEGIN IMMEDIATE, in PostgreSQL the campaign's row. Events are only ever added. ``state`` is what
the session knows after event ``last``: it saves replaying, and can be derived from the events again.
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import sqlalchemy as sa
from sqlalchemy import exc

from stopwise.campaign.errors import NewerSchema, StorageAway, StorageError, UnknownCampaign
from stopwise.campaign.events import Event
from stopwise.errors import BadArgument

SCHEMA = 2
DEFAULT = "sqlite:///stopwise.db"
PATIENCE = 30  # seconds to wait for another writer
NETWORK = ("nfs", "cifs", "smb", "9p", "fuse.sshfs", "afs", "lustre", "gluster")

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

    def since(self, number: int) -> list[Event]:
        """All events after this number."""
        rows = self._connection.execute(SINCE, {"wanted": self.head.id, "after": number})
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
        self.engine = _memory_engine() if self._memory else _engine(address)
        with self._guarded():
            self._prepare()

    def create(self, name: str, spec: str, key: str, version: str, now: float) -> bool:
        """A new campaign; False if one of this name is there already."""
        row = {"name": name, "spec": spec, "key": key, "version": version, "created": now}
        try:
            with self._guarded(), self.engine.begin() as connection:
                connection.execute(sa.insert(campaigns), {**row, "last": 0})
        except exc.IntegrityError:
            return False
        return True

    def names(self) -> list[str]:
        """All campaigns, oldest first."""
        order = sa.select(campaigns.c.name).order_by(campaigns.c.id)
        with self._guarded(), self._reading() as connection:
            return list(connection.execute(order).scalars())

    @contextmanager
    def change(self, name: str) -> Iterator[Transaction]:
        """A campaign to change: wholly or not at all, and nobody else meanwhile."""
        with self._guarded(), self.engine.begin() as connection:
            query = HEAD_OF if self.engine.dialect.name == "sqlite" else HEAD_OF.with_for_update()
            yield Transaction(connection, self._head(connection, query, name))

    @contextmanager
    def look(self, name: str) -> Iterator[Transaction]:
        """A campaign to read."""
        with self._guarded(), self._reading() as connection:
            yield Transaction(connection, self._head(connection, HEAD_OF, name))

    def _reading(self) -> sa.Connection:
        return self.engine.connect().execution_options(reads=True)

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
        return (
            self.address if self._memory else self.engine.url.render_as_string(hide_password=True)
        )

    def close(self) -> None:
        """Let go of connections."""
        self.engine.dispose()

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Errors of the library below as ours; in memory one thread at a time."""
        if self._memory:
            self._lock.acquire()
        try:
            yield
        except exc.IntegrityError:
            raise
        except exc.DBAPIError as error:
            raise _translated(self.shown, error) from error
        finally:
            if self._memory:
                self._lock.release()

    def _prepare(self) -> None:
        """Make the tables, or bring older ones up to date."""
        with self.engine.begin() as connection:
            if self.engine.dialect.name == "postgresql":  # one process at a time
                connection.execute(sa.text("SELECT pg_advisory_xact_lock(7261968)"))
            if not sa.inspect(connection).has_table(versions.name):
                meta.create_all(connection)
                connection.execute(sa.insert(versions), {"version": SCHEMA})
                return
            found = connection.execute(sa.select(versions.c.version)).scalar() or 0
            if found > SCHEMA:
                raise NewerSchema(
                    f"{self.shown}: made by a newer stopwise (schema {found}; this one knows {SCHEMA}). "
                    "Upgrade stopwise."
                )
            blob = "BLOB" if self.engine.dialect.name == "sqlite" else "BYTEA"
            for version in range(found, SCHEMA):
                for statement in UPGRADES[version]:
                    connection.execute(sa.text(statement.format(blob=blob)))
            if found < SCHEMA:
                connection.execute(sa.update(versions).values(version=SCHEMA))


def _engine(address: str) -> sa.Engine:
    scheme = urlsplit(address).scheme
    if scheme == "sqlite":
        return _sqlite_engine(address)
    if scheme not in ("postgresql", "postgresql+psycopg"):
        allowed = "memory:, sqlite:///file or postgresql+psycopg://user@host/database"
        raise BadArgument("storage", address, allowed)
    url = address.replace("postgresql://", "postgresql+psycopg://", 1)
    try:
        return sa.create_engine(
            url, pool_pre_ping=True, pool_size=2, connect_args={"connect_timeout": 5}
        )
    except (exc.ArgumentError, ValueError) as error:
        raise BadArgument("storage", address, f"an address ({error})") from None
    except ImportError as error:
        hint = 'Install "stopwise[postgresql]".'
        raise BadArgument("storage", address, "an environment with psycopg", hint) from error


def _sqlite_engine(address: str) -> sa.Engine:
    try:
        url = sa.engine.make_url(address)
    except exc.ArgumentError:
        raise BadArgument("storage", address, "an address such as sqlite:///stopwise.db") from None
    if not url.database or url.database == ":memory:":
        raise BadArgument("storage", address, "sqlite:///file (or memory: to keep nothing)")
    path = Path(url.database).absolute()
    kind = file_system(path, _mounts())
    if kind.startswith(NETWORK):
        raise StorageError(
            f"{path}: on a network file system ({kind}), where SQLite's locks do not hold. "
            "Use a local disk, or PostgreSQL."
        )
    if not path.parent.is_dir():
        raise StorageError(f"{path}: the folder {path.parent} does not exist.")
    if (path.exists() and not os.access(path, os.W_OK)) or _read_only(path):
        raise StorageError(f"{path}: read-only. Campaigns need a file that can be written to.")
    engine = sa.create_engine(url, connect_args={"timeout": PATIENCE})
    sa.event.listen(engine, "connect", _durable)
    sa.event.listen(engine, "begin", _begin_immediate)
    return engine


def _memory_engine() -> sa.Engine:
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
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA foreign_keys=ON")


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
            if inside and len(place) > best:
                best, found = len(place), parts[2]
    return found


def _read_only(path: Path) -> bool:
    """Whether the file system is read-only (its owner may be allowed to write everywhere)."""
    try:
        return bool(os.statvfs(path.parent).f_flag & os.ST_RDONLY)
    except OSError as error:
        return error.errno == errno.EROFS


def _translated(shown: str, error: exc.DBAPIError) -> StorageError:
    """What the driver says, in words that help."""
    text = str(error.orig).strip().splitlines()[0] if error.orig else str(error)
    low = text.lower()
    if "disk is full" in low or "no space" in low:
        return StorageAway(
            f"{shown}: the disk is full; nothing was written. Free some space and retry."
        )
    if "readonly" in low or "read-only" in low:
        return StorageError(f"{shown}: read-only. Campaigns need a storage that can be written to.")
    if "locked" in low:
        return StorageAway(f"{shown}: locked by another process for {PATIENCE} s. Try again.")
    if "not a database" in low or "malformed" in low:
        return StorageError(f"{shown}: not a SQLite database, or damaged ({text}).")
    if isinstance(error, exc.OperationalError | exc.InterfaceError):
        return StorageAway(
            f"{shown}: does not answer ({text}). Nothing was acknowledged: try again."
        )
    return StorageError(f"{shown}: {text}.")
