"""One campaign in a transaction: what is read and written, in plain statements.

SQLAlchemy writes the statements, once for each kind of database; they run on the driver's own
connection, which takes a tenth of the time. What is added is written together
at the end, or before it is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any, NamedTuple

import sqlalchemy as sa

from stopwise.campaign.events import Event
from stopwise.campaign.tables import campaigns, events, leases

ALL = 2**62  # more rows than there are


class Statement:
    """A statement, compiled once for each kind of database."""

    def __init__(self, clause: Any) -> None:
        self._clause = clause
        self._made: dict[str, tuple[str, list[str] | None, dict[str, Any]]] = {}

    def on(self, dialect: Any, values: Mapping[str, Any]) -> tuple[str, Any]:
        """Its text, and the values as the driver wants them."""
        if dialect.name not in self._made:
            compiled = self._clause.compile(dialect=dialect)
            self._made[dialect.name] = (str(compiled), compiled.positiontup, dict(compiled.params))
        text, places, usual = self._made[dialect.name]
        filled = {**usual, **values}
        return text, filled if places is None else [filled[place] for place in places]


class Line:
    """The driver's connection, in a transaction."""

    def __init__(self, connection: Any, dialect: Any) -> None:
        self.connection, self._dialect = connection, dialect

    def rows(self, statement: Statement, **values: Any) -> list[tuple[Any, ...]]:
        """What a query finds."""
        found: list[tuple[Any, ...]]
        found = self.connection.execute(*statement.on(self._dialect, values)).fetchall()
        return found

    def write(self, statement: Statement, rows: Iterable[Mapping[str, Any]]) -> None:
        """The same change with each of these values."""
        made = [statement.on(self._dialect, values) for values in rows]
        if len(made) == 1:
            self.connection.execute(*made[0])
        elif made:
            self.connection.cursor().executemany(made[0][0], [values for _, values in made])


def _here(table: sa.Table) -> Any:
    return table.c.campaign == sa.bindparam("wanted")


FIELDS = [events.c[name] for name in Event._fields]
HEAD = [column for column in campaigns.c if column.name != "state"]
HEAD_OF = Statement(sa.select(*HEAD).where(campaigns.c.name == sa.bindparam("wanted")))
LOCKED_HEAD_OF = Statement(
    sa.select(*HEAD).where(campaigns.c.name == sa.bindparam("wanted")).with_for_update()
)
NAMES = Statement(sa.select(campaigns.c.name).order_by(campaigns.c.id).limit(sa.bindparam("most")))
STATE_OF = Statement(sa.select(campaigns.c.state).where(campaigns.c.id == sa.bindparam("wanted")))
SAME_LEASE = sa.and_(leases.c.campaign == events.c.campaign, leases.c.token == events.c.token)
BY_TOKEN = Statement(
    sa.select(*FIELDS, leases.c.deadline)
    .select_from(events.outerjoin(leases, SAME_LEASE))
    .where(_here(events), events.c.token == sa.bindparam("under"))
)
SINCE = Statement(
    sa.select(*FIELDS)
    .where(_here(events), events.c.number > sa.bindparam("after"))
    .order_by(events.c.number)
    .limit(sa.bindparam("most"))
)
LEASES_OF = sa.select(leases.c.token, leases.c.arm, leases.c.deadline).where(_here(leases))
ORDER = (leases.c.deadline, leases.c.token)
ALL_LEASES = Statement(LEASES_OF.order_by(*ORDER))
EXPIRED = Statement(LEASES_OF.where(leases.c.deadline < sa.bindparam("now")).order_by(*ORDER))
ADD_EVENT = Statement(sa.insert(events))
ADD_LEASE = Statement(sa.insert(leases))
ONE_LEASE = (_here(leases), leases.c.token == sa.bindparam("under"))
DROP_LEASE = Statement(sa.delete(leases).where(*ONE_LEASE))
EXTEND_LEASE = Statement(sa.update(leases).where(*ONE_LEASE).values(deadline=sa.bindparam("until")))
SAVE = Statement(
    sa.update(campaigns)
    .where(campaigns.c.id == sa.bindparam("wanted"))
    .values({name: sa.bindparam(f"new_{name}") for name in ("last", "decision", "state")})
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


class Past(NamedTuple):
    """What is on record about a token: its events by kind, and whether its sample is under way."""

    events: dict[str, Event]
    waiting: bool


class Transaction:
    """One campaign, locked until the block ends."""

    def __init__(self, line: Line, head: Head) -> None:
        self._line, self.head, self.last = line, head, head.last
        self._events: dict[str, dict[str, Event]] = {}  # not written yet, by token and kind
        self._lent: dict[str, Lease] = {}
        self._settled: set[str] = set()
        self._swept = False

    def state(self) -> bytes | None:
        """What the session knew after the last event."""
        ((found,),) = self._line.rows(STATE_OF, wanted=self.head.id)
        return None if found is None else bytes(found)

    def since(self, number: int, limit: int | None = None) -> list[Event]:
        """All events after this number, or the first of them."""
        self._write()
        most = ALL if limit is None else limit
        rows = self._line.rows(SINCE, wanted=self.head.id, after=number, most=most)
        return [_event(row) for row in rows]

    def under(self, token: str) -> Past:
        """What is on record about a token."""
        rows = self._line.rows(BY_TOKEN, wanted=self.head.id, under=token)
        found = {row[1]: _event(row) for row in rows}
        stored = any(row[-1] is not None for row in rows)
        found.update(self._events.get(token, {}))
        waiting = token in self._lent or (stored and token not in self._settled)
        return Past(found, waiting)

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
        self._events.setdefault(token, {})[kind] = event
        return event

    def lend(self, token: str, arm: int, deadline: float) -> None:
        """A sample is under way until its deadline."""
        self._lent[token] = Lease(token, arm, deadline)

    def extend(self, token: str, deadline: float) -> None:
        """Another deadline for a sample that is under way."""
        self._write()
        row = {"wanted": self.head.id, "under": token, "until": deadline}
        self._line.write(EXTEND_LEASE, [row])

    def settle(self, token: str) -> None:
        """The sample is under way no more."""
        if self._lent.pop(token, None) is None:
            self._settled.add(token)

    def leases(self) -> list[Lease]:
        """Samples under way."""
        self._write()
        return [Lease(*row) for row in self._line.rows(ALL_LEASES, wanted=self.head.id)]

    def expired(self, now: float) -> list[Lease]:
        """Samples whose deadline had passed when this was first asked for; then none."""
        if self._swept:
            return []
        self._swept = True
        self._write()
        return [Lease(*row) for row in self._line.rows(EXPIRED, wanted=self.head.id, now=now)]

    def save(self, decision: str | None, state: bytes | None) -> None:
        """What the session knows after the last event."""
        self._write()
        self.head = self.head._replace(last=self.last, decision=decision)
        new = {"new_last": self.last, "new_decision": decision, "new_state": state}
        self._line.write(SAVE, [{"wanted": self.head.id, **new}])

    def _write(self) -> None:
        """What was added."""
        here = self.head.id
        added = chain.from_iterable(kinds.values() for kinds in self._events.values())
        self._line.write(ADD_EVENT, ({"campaign": here, **event._asdict()} for event in added))
        self._line.write(
            ADD_LEASE, ({"campaign": here, **lease._asdict()} for lease in self._lent.values())
        )
        self._line.write(DROP_LEASE, ({"wanted": here, "under": t} for t in self._settled))
        self._events, self._lent, self._settled = {}, {}, set()


def _event(row: tuple[Any, ...]) -> Event:
    number, kind, token, arm, value, time, late, note = row[: len(Event._fields)]
    return Event(number, kind, token, arm, value, time, bool(late), note)
