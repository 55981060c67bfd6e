"""One campaign in a transaction: what is read and written.

What is added is written together at the end, or before it is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from stopwise.campaign.events import Event
from stopwise.campaign.spelling import alike
from stopwise.campaign.storage.hashes import event_hash, lease_seal, row_seal
from stopwise.campaign.storage.rows import Head, Lease
from stopwise.campaign.storage.statements import (
    ADD_EVENT,
    ADD_LEASE,
    ADD_NAME,
    ADD_STATE,
    ALL,
    ALL_LEASES,
    BY_TOKENS,
    DROP_LEASE,
    DROP_NAME,
    DROP_STATE,
    EVENT_ROW,
    EXPIRED,
    EXTEND_LEASE,
    FORMER_NAMES_OF,
    HEAD_ONCE,
    IN_FLIGHT,
    LEASE_ROW,
    MOST_TOKENS,
    NAMES,
    RENAME,
    SAMPLES,
    SAVE,
    SAVE_ROW,
    SEALED_LEASES,
    SINCE,
    STATE_OF,
    TOKENS,
    Connection,
)
from stopwise.core.arrays import Ints

AT_ONCE = 20_000  # rows of a long read


class Past(NamedTuple):
    """What is on record about a token: its events by kind, and whether its sample is in flight."""

    events: dict[str, Event]
    waiting: bool


class Transaction:
    """One campaign, locked until the block ends."""

    def __init__(self, connection: Connection, head: Head) -> None:
        self._connection, self.head, self.last, self.hash = connection, head, head.last, head.hash
        self._past: dict[str, Past] = {}  # by token, with what this transaction did
        self._added: list[tuple[Event, bytes]] = []  # not written yet, like these leases
        self._opened: dict[str, Lease] = {}
        self._closed: set[str] = set()
        self._swept = False
        self.slowest, self.changes, self.stored = head.slowest, head.changes, head.stored

    def state(self) -> bytes | None:
        """What ``save_state`` stored last."""
        found = self._connection.rows(STATE_OF, wanted=self.head.id)
        return bytes(found[0][0]) if found else None

    def save_state(self, content: bytes) -> None:
        """Keep what a session knows after the last event, in place of what was kept before."""
        self.stored = self.last
        self._connection.write(DROP_STATE, ("wanted",), [(self.head.id,)])
        self._connection.write(ADD_STATE, ("campaign", "content"), [(self.head.id, content)])

    def since(self, number: int, limit: int | None = None) -> list[Event]:
        """All events after this number, or the first of them."""
        self._write()
        most = ALL if limit is None else limit
        rows = self._connection.rows(SINCE, wanted=self.head.id, after=number, most=most)
        return [_event(row) for row in rows]

    def hashed_events(self) -> Iterator[list[tuple[Event, bytes]]]:
        """The whole record with its hashes, in parts: it may be longer than memory."""
        self._write()
        after = 0
        while rows := self._connection.rows(SINCE, wanted=self.head.id, after=after, most=AT_ONCE):
            after = rows[-1][0]
            yield [(_event(row), row[-1]) for row in rows]

    def parts(self) -> Iterator[list[Event]]:
        """The whole record, in parts."""
        return ([event for event, _ in part] for part in self.hashed_events())

    def newest(self, after: int, most: int) -> list[Event]:
        """The last events after this number."""
        return self.since(max(after, self.last - most))

    def about(self, token: str) -> Past:
        """What is on record about a token."""
        if token not in self._past:
            self.read_about([token])
        return self._past[token]

    def expect_new(self, tokens: Sequence[str]) -> None:
        """There is nothing on record about these tokens: nobody need look."""
        self._past.update({token: Past({}, False) for token in tokens})

    def samples(self) -> Iterator[tuple[str, int, float, bool]]:
        """All samples on record, in turn: token, arm, value, and whether it is late."""
        self._write()
        after = 0
        while rows := self._connection.rows(
            SAMPLES, wanted=self.head.id, after=after, most=AT_ONCE
        ):
            after = rows[-1][0]
            for _, kind, token, arm, value, late in rows:
                if kind in ("told", "recorded"):
                    yield token, arm, value, bool(late)

    def flush(self) -> None:
        """Write what was added, and forget it: a long transaction takes no more memory."""
        self._write()
        self._past.clear()

    def read_about(self, tokens: Sequence[str]) -> None:
        """What is on record about these tokens, to be asked for one by one."""
        wanted = [token for token in dict.fromkeys(tokens) if token not in self._past]
        for first in range(0, len(wanted), MOST_TOKENS[-1]):
            self._read_some(wanted[first : first + MOST_TOKENS[-1]])

    def _read_some(self, tokens: list[str]) -> None:
        count = next(most for most in MOST_TOKENS if most >= len(tokens))
        filled = tokens + tokens[:1] * (count - len(tokens))
        under = dict(zip(TOKENS, filled, strict=False))
        rows = self._connection.rows(BY_TOKENS[count], wanted=self.head.id, **under)
        self._past.update({token: Past({}, False) for token in tokens})
        for row in rows:
            event = _event(row)
            events = self._past[event.token].events
            events[event.kind] = event
            self._past[event.token] = Past(events, row[-1] is not None)

    def add(
        self,
        kind: str,
        token: str,
        arm: int | None,
        value: float | None,
        time: float,
        late: bool = False,
        note: str = "",
        actor: str = "",
    ) -> Event:
        """The next event."""
        self.last += 1
        event = Event(self.last, kind, token, arm, value, time, late, note, actor)
        self.hash = event_hash(self.hash, event)
        self._added.append((event, self.hash))
        if kind == "asked":  # a new token: nothing to read
            self._past[token] = Past({kind: event}, False)
        else:
            self.about(token).events[kind] = event
        return event

    def open_lease(self, token: str, arm: int, deadline: float) -> None:
        """A sample is in flight until its deadline."""
        self._opened[token] = Lease(token, arm, deadline)
        self._past[token] = Past(self.about(token).events, True)

    def extend(self, token: str, deadline: float) -> None:
        """Another deadline for a sample in flight."""
        self._write()
        arm = self.about(token).events["asked"].arm
        assert arm is not None
        row = (self.head.id, token, deadline, lease_seal(Lease(token, arm, deadline)))
        self._connection.write(EXTEND_LEASE, ("wanted", "under", "until", "new_seal"), [row])

    def close_lease(self, token: str) -> None:
        """The sample is not in flight any more."""
        self._past[token] = Past(self.about(token).events, False)
        if self._opened.pop(token, None) is None:
            self._closed.add(token)

    def leases(self, most: int) -> list[Lease]:
        """Samples in flight, those first that will be late."""
        rows = self._connection.rows(ALL_LEASES, wanted=self.head.id, most=most)
        return [Lease(*row) for row in rows]

    def in_flight(self, arms: int) -> Ints:
        """How many samples of each arm are in flight."""
        self._write()
        found = np.zeros(arms, dtype=np.int64)
        for arm, count in self._connection.rows(IN_FLIGHT, wanted=self.head.id):
            found[arm] = count
        return found

    def expired(self, now: float) -> list[Lease]:
        """Samples whose deadline had passed when this was first asked for; then none."""
        if self._swept:
            return []
        self._swept = True
        rows = self._connection.rows(EXPIRED, wanted=self.head.id, now=now)
        found = [Lease(*row) for row in rows if row[0] not in self._closed]
        self.read_about([lease.token for lease in found])
        return found

    def rename(self, name: str) -> bool:
        """Another name, the old one still leads here; False if it is, or looks like, another's."""
        here, there = self.head.id, self._connection.rows(NAMES, most=ALL)
        close = [each for each, _ in there if alike(each) == alike(name)]
        former = self._connection.rows(HEAD_ONCE, wanted=name)
        if set(close) - {self.head.name} or any(Head(*row).id != here for row in former):
            return False
        self._connection.write(DROP_NAME, ("wanted",), [(name,)])
        self._connection.write(ADD_NAME, ("name", "campaign"), [(self.head.name, here)])
        self._connection.write(RENAME, ("wanted", "new_name"), [(here, name)])
        self.head = self.head._replace(name=name)
        return True

    def sealed_leases(self) -> list[tuple[Lease, bytes]]:
        """All samples in flight, with the seals of their rows."""
        self._write()
        rows = self._connection.rows(SEALED_LEASES, wanted=self.head.id)
        return [(Lease(*row[:-1]), row[-1]) for row in rows]

    def former_names(self) -> list[str]:
        """The names that lead here beside the campaign's own."""
        return [name for (name,) in self._connection.rows(FORMER_NAMES_OF, wanted=self.head.id)]

    def save(self, decision: str | None) -> None:
        """The campaign's row after the last event."""
        self._write()
        saved = self.last, decision, self.slowest, self.changes, self.stored, self.hash
        seal = row_seal(self.head.name, *saved)
        self.head = Head(*self.head[:6], *saved, seal)
        self._connection.write(SAVE, SAVE_ROW, [(self.head.id, *saved, seal)])

    def _write(self) -> None:
        """What was added."""
        here, write = self.head.id, self._connection.write
        write(ADD_EVENT, EVENT_ROW, [(here, *event, hashed) for event, hashed in self._added])
        opened = [(here, *lease, lease_seal(lease)) for lease in self._opened.values()]
        write(ADD_LEASE, LEASE_ROW, opened)
        write(DROP_LEASE, ("wanted", "under"), [(here, token) for token in self._closed])
        self._added, self._opened, self._closed = [], {}, set()


def _event(row: tuple[Any, ...]) -> Event:
    number, kind, token, arm, value, time, late, note, actor = row[: len(Event._fields)]
    return Event(number, kind, token, arm, value, time, bool(late), note, actor)
