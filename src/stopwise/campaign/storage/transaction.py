"""One campaign in a transaction: what is read and written.

What is added is written together at the end, or before it is read.
"""

from __future__ import annotations

from itertools import chain
from typing import Any, NamedTuple

from stopwise.campaign.events import Event
from stopwise.campaign.storage.statements import (
    ADD_EVENT,
    ADD_LEASE,
    ALL,
    ALL_LEASES,
    BY_TOKEN,
    DROP_LEASE,
    EXPIRED,
    EXTEND_LEASE,
    SAVE,
    SINCE,
    STATE_OF,
    Connection,
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
    """A sample in flight."""

    token: str
    arm: int
    deadline: float


class Past(NamedTuple):
    """What is on record about a token: its events by kind, and whether its sample is in flight."""

    events: dict[str, Event]
    waiting: bool


class Transaction:
    """One campaign, locked until the block ends."""

    def __init__(self, connection: Connection, head: Head) -> None:
        self._connection, self.head, self.last = connection, head, head.last
        self._events: dict[str, dict[str, Event]] = {}  # not written yet, by token and kind
        self._opened: dict[str, Lease] = {}
        self._closed: set[str] = set()
        self._swept = False

    def state(self) -> bytes | None:
        """What the session knew after the last event."""
        ((found,),) = self._connection.rows(STATE_OF, wanted=self.head.id)
        return None if found is None else bytes(found)

    def since(self, number: int, limit: int | None = None) -> list[Event]:
        """All events after this number, or the first of them."""
        self._write()
        most = ALL if limit is None else limit
        rows = self._connection.rows(SINCE, wanted=self.head.id, after=number, most=most)
        return [_event(row) for row in rows]

    def about(self, token: str) -> Past:
        """What is on record about a token."""
        rows = self._connection.rows(BY_TOKEN, wanted=self.head.id, under=token)
        found = {row[1]: _event(row) for row in rows}
        stored = any(row[-1] is not None for row in rows)
        found.update(self._events.get(token, {}))
        waiting = token in self._opened or (stored and token not in self._closed)
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

    def open_lease(self, token: str, arm: int, deadline: float) -> None:
        """A sample is in flight until its deadline."""
        self._opened[token] = Lease(token, arm, deadline)

    def extend(self, token: str, deadline: float) -> None:
        """Another deadline for a sample in flight."""
        self._write()
        row = {"wanted": self.head.id, "under": token, "until": deadline}
        self._connection.write(EXTEND_LEASE, [row])

    def close_lease(self, token: str) -> None:
        """The sample is not in flight any more."""
        if self._opened.pop(token, None) is None:
            self._closed.add(token)

    def leases(self) -> list[Lease]:
        """Samples in flight."""
        self._write()
        return [Lease(*row) for row in self._connection.rows(ALL_LEASES, wanted=self.head.id)]

    def expired(self, now: float) -> list[Lease]:
        """Samples whose deadline had passed when this was first asked for; then none."""
        if self._swept:
            return []
        self._swept = True
        self._write()
        return [Lease(*row) for row in self._connection.rows(EXPIRED, wanted=self.head.id, now=now)]

    def save(self, decision: str | None, state: bytes | None) -> None:
        """What the session knows after the last event."""
        self._write()
        self.head = self.head._replace(last=self.last, decision=decision)
        new = {"new_last": self.last, "new_decision": decision, "new_state": state}
        self._connection.write(SAVE, [{"wanted": self.head.id, **new}])

    def _write(self) -> None:
        """What was added."""
        here = self.head.id
        added = chain.from_iterable(kinds.values() for kinds in self._events.values())
        self._connection.write(
            ADD_EVENT, ({"campaign": here, **event._asdict()} for event in added)
        )
        self._connection.write(
            ADD_LEASE, ({"campaign": here, **lease._asdict()} for lease in self._opened.values())
        )
        self._connection.write(DROP_LEASE, ({"wanted": here, "under": t} for t in self._closed))
        self._events, self._opened, self._closed = {}, {}, set()


def _event(row: tuple[Any, ...]) -> Event:
    number, kind, token, arm, value, time, late, note = row[: len(Event._fields)]
    return Event(number, kind, token, arm, value, time, bool(late), note)
