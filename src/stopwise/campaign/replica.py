"""A session kept in step with the events that a store has."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from stopwise.campaign import spec as specs
from stopwise.campaign.changes import Changes, changes
from stopwise.campaign.errors import CampaignUnreadable, StorageDamaged
from stopwise.campaign.events import Decision, Event
from stopwise.campaign.replay import Known, replay
from stopwise.campaign.spec import AnySession, CampaignSpec
from stopwise.campaign.storage.hashes import event_hash, opened_state, sealed_state
from stopwise.campaign.storage.rows import Head
from stopwise.campaign.storage.store import Store
from stopwise.campaign.storage.transaction import Transaction
from stopwise.core.arrays import Ints

# the session's state is stored after so many events, and a large one more seldom
EVENTS_PER_STATE, STATE_PER_EVENT = 32, 4096  # events; bytes


class Snapshot(NamedTuple):
    """A campaign after its event ``last``, to be read by any number of threads."""

    last: int
    session: AnySession
    decision: Decision | None
    in_flight: Ints  # samples of each arm
    spec: CampaignSpec
    changes: Changes = Changes()
    oldest: float | None = None  # when the sample was asked for which others wait
    hash: bytes = b""  # of the last event


@dataclass
class Working:
    """A campaign as whoever changes it knows it: others see it only once it is committed."""

    name: str
    spec: CampaignSpec
    session: AnySession
    last: int = 0  # event that the session knows
    hash: bytes = b""  # of that event
    decision: Decision | None = None
    size: int = 0  # of the state that is stored


class Committed(NamedTuple):
    """What others see of it."""

    last: int
    hash: bytes
    name: str
    spec: CampaignSpec
    decision: Decision | None


class Replica:
    """One campaign of a store: a session for changes, and a snapshot for all who read.

    Threads may share a replica; whoever reads does not wait for whoever writes. When another process
    has written, both catch up.
    """

    def __init__(
        self, name: str, store: Store, spec: CampaignSpec, text: str | None = None
    ) -> None:
        self.store, self.base = store, spec  # the spec as the campaign was created with it
        self._specs: dict[str | None, CampaignSpec] = {}
        now = self._spec_after(text)
        self._working = Working(name, now, spec.session())
        self._committed = Committed(0, b"", name, now, None)
        self._open: Transaction | None = None  # of the thread that changes something
        self._thread = 0
        self._lock = threading.RLock()
        nothing = np.zeros(len(spec.labels), dtype=np.int64)
        self._snapshot = Snapshot(0, spec.session(), None, nothing, spec)
        self._loading = threading.Lock()

    @property
    def name(self) -> str:
        """The campaign's name, for whoever asks."""
        return self._working.name if self.changing else self._committed.name

    @property
    def spec(self) -> CampaignSpec:
        """The spec with all changes, for whoever asks."""
        if self.changing:
            return self._working.spec
        seen, known = self._snapshot, self._committed
        return seen.spec if seen.last > known.last else known.spec

    @property
    def decision(self) -> Decision | None:
        """The decision as far as it is known here."""
        return self._working.decision if self.changing else self._committed.decision

    def decide(self, decision: Decision) -> None:
        """There is a decision; to be called in a block of ``change``."""
        self._working.decision = decision

    @contextmanager
    def together(self) -> Iterator[None]:
        """All changes in this block are stored at its end, with one commit."""
        with self.change():
            yield

    @contextmanager
    def change(self) -> Iterator[tuple[Transaction, AnySession]]:
        """The campaign, locked; what changes is stored when the outermost block ends."""
        with self._lock:
            if self._open is not None:  # a block in a block
                yield self._open, self._working.session
                return
            try:
                with self.store.change(self._committed.name) as transaction:
                    self._catch_up(transaction)
                    self._open, self._thread = transaction, threading.get_ident()
                    yield transaction, self._working.session
                    self._save(transaction)
            except BaseException:  # the session may know what was not stored
                known = self._committed
                self._working = Working(known.name, known.spec, self.base.session())
                raise
            else:
                self._publish()
            finally:
                self._open, self._thread = None, 0

    def _publish(self) -> None:
        """The changes are committed: now others may see them."""
        work = self._working
        self._committed = Committed(work.last, work.hash, work.name, work.spec, work.decision)

    @contextmanager
    def look(self) -> Iterator[tuple[Transaction, Snapshot]]:
        """The campaign as it is, with a snapshot."""
        with self.read() as transaction:
            yield transaction, self._seen(transaction)

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """The campaign as it is; in a block of ``change``, as it will be."""
        if self.changing:
            assert self._open is not None
            self._save(self._open)
            yield self._open
            return
        with self.store.look(self._committed.name) as transaction:
            yield transaction

    def update(self, transaction: Transaction) -> None:
        """What the transaction has changed of the name and the spec."""
        self._working.name = transaction.head.name
        self._working.spec = self._spec_after(transaction.changes)

    def _spec_after(self, text: str | None) -> CampaignSpec:
        """The spec with these changes."""
        found = self._specs.get(text)
        if found is None:
            found = specs.changed(self.base, dict(changes(text).spec))
            newest = list(self._specs.items())[-3:]
            self._specs = {**dict(newest), text: found}
        return found

    @property
    def changing(self) -> bool:
        """Whether this thread is in a block of ``change``."""
        return self._thread == threading.get_ident()

    def _save(self, transaction: Transaction) -> None:
        work = self._working
        if transaction.last != transaction.head.last:
            decision = None if work.decision is None else work.decision.to_json()
            self._save_state(transaction)
            transaction.save(decision)
        work.last, work.hash = transaction.last, transaction.hash

    def _save_state(self, transaction: Transaction) -> None:
        """Store the session: after more events, the larger it is, so that all commits are short."""
        work = self._working
        since = transaction.last - transaction.stored
        due = since >= max(EVENTS_PER_STATE, work.size // STATE_PER_EVENT)
        if due or not work.size or work.decision is not None:
            content = sealed_state(transaction.last, work.session.dump())
            transaction.save_state(content)
            work.size = len(content)

    def _catch_up(self, transaction: Transaction) -> None:
        """What is to be changed, after the last event."""
        head, work, known = transaction.head, self._working, self._committed
        other = head.last == known.last and known.hash not in (b"", head.hash)
        if head.last < known.last or other:
            raise StorageDamaged(
                f"{self.store.shown}: campaign {head.name!r} had {known.last:,} events and has "
                f"{head.last:,}, or others: the storage was replaced while it was open. Nothing is "
                "acknowledged any more. Stop all processes that use it, put the right storage in "
                "its place, and start again."
            )
        self.update(transaction)
        if head.last != work.last or not work.hash:
            work.session = self._caught_up(transaction)
            work.last, work.hash, work.decision = head.last, head.hash, _decision(head)
        self._publish()

    def _caught_up(self, transaction: Transaction) -> AnySession:
        """The session for changes, after events of others."""
        work, head = self._working, transaction.head
        if not work.last:
            session, work.size = self._opened(transaction)
            return session
        fresh = transaction.since(work.last)
        found = work.hash
        for event in fresh:
            found = event_hash(found, event)
        if found != head.hash:
            raise _broken(self.store, head)
        if _adds_arms(fresh, work.session):
            return self._derived(transaction)
        replay(work.session, [fresh], _asked_before(transaction, fresh, work.last))
        return work.session

    def _opened(self, transaction: Transaction) -> tuple[AnySession, int]:
        """The session as it is stored, led through the events since; and the size of what is stored."""
        content, session = transaction.state(), self._spec_after(transaction.changes).session()
        stored = None if content is None else opened_state(content)
        if content is None or stored is None or not session.load(stored[1]):
            return self._derived(transaction), 0
        last, _ = stored
        fresh = transaction.since(last) if last < transaction.head.last else []
        if last > transaction.head.last or _changes_losses(fresh):
            return self._derived(transaction), 0
        replay(session, [fresh], _asked_before(transaction, fresh, last))
        return session, len(content)

    def _seen(self, transaction: Transaction) -> Snapshot:
        """The last snapshot, unless there are newer events."""
        head = transaction.head
        if self.changing:
            work = self._working
            return self._made(transaction, work.session, work.decision, work.spec)
        with self._loading:  # by one thread for all
            seen = self._snapshot
            if seen.last != head.last or seen.hash != head.hash:
                spec = self._spec_after(head.changes)
                session = self._read_session(transaction, seen, spec)
                self._snapshot = self._made(transaction, session, _decision(head), spec)
            return self._snapshot

    def _read_session(
        self, transaction: Transaction, seen: Snapshot, spec: CampaignSpec
    ) -> AnySession:
        """For a new snapshot: a copy of the last one's session, led through the events since."""
        if seen.last and seen.last <= transaction.head.last:
            session, fresh = spec.session(), transaction.since(seen.last)
            if not _changes_losses(fresh) and session.load(seen.session.dump()):
                replay(session, [fresh], _asked_before(transaction, fresh, seen.last))
                return session
        return self._opened(transaction)[0]

    def _made(
        self,
        transaction: Transaction,
        session: AnySession,
        decision: Decision | None,
        spec: CampaignSpec,
    ) -> Snapshot:
        return Snapshot(
            *(transaction.head.last, session, decision),
            *(transaction.in_flight(len(spec.labels)), spec),
            changes(transaction.head.changes),
            _oldest(transaction, session),
            transaction.head.hash,
        )

    def _derived(self, transaction: Transaction) -> AnySession:
        """The session as all events give it."""
        session = self.base.session()
        try:
            replay(session, transaction.parts(), spec=self.base)
        except (LookupError, ValueError, TypeError, ArithmeticError) as error:
            raise unreadable(transaction.head, error) from error
        return session

    def derive(self, transaction: Transaction) -> AnySession:
        """The session for changes anew from the events: an arm was added."""
        work = self._working
        work.session, work.size = self._derived(transaction), 0  # to be stored at once
        return work.session


def _changed(record: Sequence[Event]) -> list[dict[str, Any]]:
    """What these events change of the spec."""
    return [json.loads(event.note) for event in record if event.kind == "changed"]


def _adds_arms(record: Sequence[Event], session: AnySession) -> bool:
    return any(len(new.get("arms", ())) > session.counts.size for new in _changed(record))


def _changes_losses(record: Sequence[Event]) -> bool:
    return any("losses" in new for new in _changed(record))


def unreadable(head: Head, error: Exception) -> CampaignUnreadable:
    """Why a campaign cannot be opened, and what can still be done with it."""
    try:
        archived = changes(head.changes).archived
    except (ValueError, TypeError, KeyError):
        archived = False
    why = str(error).rstrip(".") or type(error).__name__
    return CampaignUnreadable(
        f"campaign {head.name!r} cannot be opened: {why}. It was made by stopwise {head.version}; "
        f"another version may open it. `stopwise archive` takes it out of the lists.",
        archived,
    )


def _broken(store: Store, head: Head) -> StorageDamaged:
    return StorageDamaged(
        f"{store.shown}: events of campaign {head.name!r} were changed after they were written. "
        f"`stopwise verify` says which. Put a backup in the storage's place."
    )


def _asked_before(transaction: Transaction, fresh: Sequence[Event], last: int) -> dict[str, Known]:
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
