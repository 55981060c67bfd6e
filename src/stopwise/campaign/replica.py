"""A session kept in step with the events that a store has."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from stopwise.campaign import spec as specs
from stopwise.campaign.changes import Changes, changes
from stopwise.campaign.events import Decision, Event
from stopwise.campaign.replay import Known, replay
from stopwise.campaign.spec import AnySession, CampaignSpec
from stopwise.campaign.storage.store import Store
from stopwise.campaign.storage.transaction import Head, Transaction
from stopwise.core.arrays import Ints


class Snapshot(NamedTuple):
    """A campaign after its event ``last``, to be read by any number of threads."""

    last: int
    session: AnySession
    decision: Decision | None
    in_flight: Ints  # samples of each arm
    spec: CampaignSpec
    changes: Changes = Changes()
    oldest: float | None = None  # when the sample was asked for which others wait


class Replica:
    """One campaign of a store: a session for changes, and a snapshot for all who read.

    Threads may share a replica; whoever reads does not wait for whoever writes. When another process
    has written, both catch up.
    """

    def __init__(self, name: str, store: Store, spec: CampaignSpec) -> None:
        self.name, self.store = name, store
        self.base = self.spec = spec  # as it was created, and with all changes
        self._changes: str | None = None
        self.session, self._last = spec.session(), 0
        self.decision: Decision | None = None
        self._open: tuple[Transaction, AnySession] | None = None
        self._lock, self._thread = threading.RLock(), 0  # whoever changes something
        self._snapshot = Snapshot(
            0, spec.session(), None, np.zeros(len(spec.labels), dtype=np.int64), spec
        )
        self._loading = threading.Lock()

    @contextmanager
    def together(self) -> Iterator[None]:
        """All changes in this block are stored at its end, with one commit."""
        with self._lock:
            if self._open is not None:  # a block in a block
                yield
                return
            self._thread = threading.get_ident()
            with self.change() as self._open:
                try:
                    yield
                finally:
                    self._open = None

    @contextmanager
    def change(self) -> Iterator[tuple[Transaction, AnySession]]:
        """The campaign, locked; what changes is stored when the block ends."""
        with self._lock:
            if self._open is not None:
                yield self._open
                return
            before = self.decision
            try:
                with self.store.change(self.name) as transaction:
                    self._catch_up(transaction)
                    yield transaction, self.session
                    self._save(transaction)
            except BaseException:  # the session may know what was not stored
                self.session, self._last = self.base.session(), 0
                self.decision = before
                raise

    @contextmanager
    def look(self) -> Iterator[tuple[Transaction, Snapshot]]:
        """The campaign as it is, with a snapshot."""
        with self.read() as transaction:
            yield transaction, self._seen(transaction)

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """The campaign as it is; in a block of ``together``, as it will be."""
        if self._inside():
            assert self._open is not None
            self._save(self._open[0])
            yield self._open[0]
            return
        with self.store.look(self.name) as transaction:
            yield transaction

    def update(self, text: str | None) -> None:
        """The spec with these changes."""
        if text != self._changes:
            self.spec = specs.changed(self.base, dict(changes(text).spec))
            self._changes = text

    def _inside(self) -> bool:
        """Whether this thread is in a block of ``together``."""
        return self._open is not None and self._thread == threading.get_ident()

    def _save(self, transaction: Transaction) -> None:
        if transaction.last != transaction.head.last:
            text = None if self.decision is None else self.decision.to_json()
            transaction.save(text, self.session.dump())
        self._last = transaction.last

    def _catch_up(self, transaction: Transaction) -> None:
        """The session for changes, after the last event."""
        head = transaction.head
        self.update(head.changes)
        self.decision = self.decision or _decision(head)
        if self._last != head.last:
            self.session = self._session(transaction, self.session, self._last)
            self._last = head.last

    def _seen(self, transaction: Transaction) -> Snapshot:
        """The last snapshot, unless there are newer events."""
        head = transaction.head
        if self._inside():
            return self._made(transaction, self.session, self.decision)
        self.update(head.changes)
        with self._loading:  # by one thread for all
            if self._snapshot.last != head.last:
                session = self._session(transaction, self._snapshot.session, self._snapshot.last)
                self._snapshot = self._made(transaction, session, _decision(head))
            return self._snapshot

    def _made(
        self, transaction: Transaction, session: AnySession, decision: Decision | None
    ) -> Snapshot:
        return Snapshot(
            *(transaction.head.last, session, decision),
            *(transaction.in_flight(len(self.spec.labels)), self.spec),
            changes(transaction.head.changes),
            _oldest(transaction, session),
        )

    def _session(self, transaction: Transaction, known: AnySession, last: int) -> AnySession:
        """A session after the last event: as stored, or by replay of what ``known`` does not know."""
        state, session = transaction.state(), self.spec.session()
        if state is not None and session.load(state):
            return session
        other = last > transaction.head.last or known.losses != session.losses
        if other or not session.load(known.dump()):
            return self._derived(transaction)
        fresh = transaction.since(last)
        replay(session, fresh, _asked_before(transaction, fresh, last))
        return session

    def _derived(self, transaction: Transaction) -> AnySession:
        session = self.base.session()
        replay(session, transaction.since(0), spec=self.base)
        return session

    def derive(self, transaction: Transaction) -> None:
        """The session for changes anew from the events: an arm was added."""
        self.session = self._derived(transaction)
        if self._open is not None:
            self._open = transaction, self.session


def _asked_before(transaction: Transaction, fresh: list[Event], last: int) -> dict[str, Known]:
    """The asks up to event ``last`` of the tokens that occur after it."""
    tokens = [event.token for event in fresh if event.kind in ("told", "released")]
    transaction.read_about(tokens)
    found = {}
    for token in tokens:
        events = transaction.about(token).events
        asked, released = events.get("asked"), events.get("released")
        if asked is not None and asked.number <= last:
            found[token] = Known(asked.number, released is None or released.number > last)
    return found


def _oldest(transaction: Transaction, session: AnySession) -> float | None:
    """When the sample was asked that others wait for; None if none waits."""
    if not session.waiting or session.queue.first is None:
        return None
    (event,) = transaction.since(session.queue.first - 1, 1)
    return event.time


def _decision(head: Head) -> Decision | None:
    return None if head.decision is None else Decision.from_json(head.decision)
