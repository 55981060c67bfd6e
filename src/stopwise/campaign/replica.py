"""A session kept in step with the events that a store has."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from stopwise.campaign.events import Decision
from stopwise.campaign.replay import replay
from stopwise.campaign.session import Session
from stopwise.campaign.spec import CampaignSpec
from stopwise.campaign.storage.store import Store
from stopwise.campaign.storage.transaction import Transaction


class Replica:
    """One campaign of a store: transactions, each with a session that knows every event.

    Threads may share a replica; processes have one each, and catch up when another has written.
    """

    def __init__(self, name: str, store: Store, spec: CampaignSpec) -> None:
        self.name, self.store, self.spec = name, store, spec
        self.session, self._last = spec.session(), 0
        self.decision: Decision | None = None
        self._open: tuple[Transaction, Session] | None = None
        self._lock = threading.RLock()

    @contextmanager
    def together(self) -> Iterator[None]:
        """All changes in this block are stored at its end, with one commit."""
        with self._lock:
            if self._open is not None:  # a block in a block
                yield
                return
            with self.change() as self._open:
                try:
                    yield
                finally:
                    self._open = None

    @contextmanager
    def change(self) -> Iterator[tuple[Transaction, Session]]:
        """The campaign, locked; what changes is stored when the block ends."""
        with self._lock:
            if self._open is not None:
                yield self._open
                return
            before = self.decision
            try:
                with self.store.change(self.name) as transaction:
                    session = self._caught_up(transaction)
                    yield transaction, session
                    self._save(transaction, session)
            except BaseException:  # the session may know what was not stored
                self.session, self._last = self.spec.session(), 0
                self.decision = before
                raise

    @contextmanager
    def look(self) -> Iterator[tuple[Transaction, Session]]:
        """The campaign as it is, with its session."""
        with self._lock, self.read() as transaction:
            yield transaction, self._caught_up(transaction)

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """The campaign as it is; in a block of ``together``, as it will be."""
        with self._lock:
            if self._open is not None:
                self._save(*self._open)
                yield self._open[0]
                return
        with self.store.look(self.name) as transaction:
            yield transaction

    def _save(self, transaction: Transaction, session: Session) -> None:
        if transaction.last != transaction.head.last:
            text = None if self.decision is None else self.decision.to_json()
            transaction.save(text, session.dump())
        self._last = transaction.last

    def _caught_up(self, transaction: Transaction) -> Session:
        """The session after the last event: as stored, or by replay where nothing is."""
        head = transaction.head
        if head.decision is not None and self.decision is None:
            self.decision = Decision.from_json(head.decision)
        if self._last != head.last:
            session, state = self.spec.session(), transaction.state()
            if state is None or not session.load(state):
                replay(session, transaction.since(0))
            self.session, self._last = session, head.last
        return self.session
