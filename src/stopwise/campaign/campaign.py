"""Ask, tell, and an answer that can be audited: a campaign is events plus replay."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

from stopwise import __version__
from stopwise.campaign import spec as specs
from stopwise.campaign.errors import CampaignExists
from stopwise.campaign.events import Decision, Event
from stopwise.campaign.explain import Explanation
from stopwise.campaign.explain_pairs import explain_pairs
from stopwise.campaign.item_session import ItemSession
from stopwise.campaign.names import (
    campaign_name,
    difference,
    new_name,
    refuse_if_absent,
    storage_address,
)
from stopwise.campaign.recording import Recording
from stopwise.campaign.replica import Snapshot, unreadable
from stopwise.campaign.results import Lead, Results
from stopwise.campaign.spec import CampaignSpec
from stopwise.campaign.status import Recommendation, Status
from stopwise.campaign.storage.store import Store
from stopwise.campaign.storage.transaction import Transaction
from stopwise.campaign.verify import Verification, verify
from stopwise.campaign.waiting import wait
from stopwise.core import checks

CLOCK = "a function that gives the time in seconds since 1970"


class Campaign(Recording):
    """A question about real options, asked of any number of workers.

    Make one with ``Campaign.create`` or ``Campaign.open``. All methods are safe to call from several
    processes at once; every change is durable when the method returns.
    """

    def __init__(
        self,
        name: str,
        store: Store,
        spec: CampaignSpec,
        clock: Callable[[], float],
        changed: str | None = None,
    ) -> None:
        super().__init__(name, store, spec, clock, changed)
        self._owns_store = False
        self._decision: Decision | None = None
        self._explaining = threading.Lock()
        self._explained: tuple[Snapshot, Explanation] | None = None
        self._results = Results()

    @classmethod
    def create(
        cls,
        spec: Mapping[str, Any] | str | PathLike[str],
        storage: str | PathLike[str] | Store | None = None,
        name: str | None = None,
        clock: Callable[[], float] = time.time,
    ) -> Campaign:
        """A new campaign; the same one if it is there already, with the same spec."""
        made = specs.new(spec if isinstance(spec, Mapping) else specs.spec_file(spec))
        created = checks.finite("clock", checks.function("clock", clock, CLOCK)())
        default = None if isinstance(spec, Mapping) else Path(spec).stem
        called = campaign_name(default if name is None else name)
        with _store_for(storage) as store:
            there = store.has(called)
            if not there:
                specs.refuse_unsaid(made)
                called = new_name(called)
            found = cls(called, store, made, clock)  # what cannot be opened is not stored
            fresh = (specs.dump(made.table), made.key, __version__, created)
            if there or not store.create(called, *fresh):
                found = cls._open(called, store, clock, made)
            found._owns_store = store is not storage
            return found

    @classmethod
    def open(
        cls,
        name: str,
        storage: str | PathLike[str] | Store | None = None,
        clock: Callable[[], float] = time.time,
    ) -> Campaign:
        """A campaign that is there. Use it in a ``with`` block, or ``disconnect`` it in the end."""
        called = campaign_name(name)
        checks.function("clock", clock, CLOCK)
        if not isinstance(storage, Store):
            refuse_if_absent(called, storage_address(storage))
        with _store_for(storage) as store:
            found = cls._open(called, store, clock)
            found._owns_store = store is not storage
            return found

    @classmethod
    def _open(
        cls,
        name: str,
        store: Store,
        clock: Callable[[], float],
        wanted: CampaignSpec | None = None,
    ) -> Campaign:
        """A campaign that is there; with the spec that is wanted, if one is."""
        with store.look(name) as transaction:
            head = transaction.head
        try:
            stored = json.loads(head.spec)
            found = cls(head.name, store, specs.make(stored), clock, head.changes)
        except Exception as error:  # of another version, or damaged: whatever is wrong with it
            raise unreadable(head, error) from error
        if wanted is not None and head.key != (like := specs.like(wanted, stored)).key:
            raise CampaignExists(
                f"campaign {name!r} in {store.shown} has another spec ({head.key}; "
                f"given {like.key}): {difference(stored, like.table)}. Choose another name."
            )
        return found

    def disconnect(self) -> None:
        """Let go of the storage, if this campaign has opened it; the campaign itself goes on there."""
        if self._owns_store:
            self._store.close()

    def __enter__(self) -> Campaign:
        return self

    def __exit__(self, *_: object) -> None:
        self.disconnect()

    def __repr__(self) -> str:
        return f"Campaign({self.name!r}, {self._store.shown!r}, {self.spec.key})"

    # --------------------------------------------------------------------------------- questions

    @property
    def decision(self) -> Decision | None:
        """The answer, once there is one; it never changes."""
        if self._decision is not None:
            return self._decision
        with self._replica.read() as transaction:
            text = transaction.head.decision
        found = None if text is None else Decision.from_json(text)
        if not self._replica.changing:  # else it may not come to be stored
            self._decision = found
        return found

    def events(self, after: int = 0, limit: int | None = None) -> list[Event]:
        """The record, from the first event after this number; at most ``limit`` events."""
        most = None if limit is None else checks.whole("limit", limit, least=1)
        first = checks.whole("after", after, least=0)
        with self._replica.read() as transaction:
            return transaction.since(first, most)

    def newest(self, after: int, most: int) -> list[Event]:
        """The last of the events after this number."""
        with self._replica.read() as transaction:
            return transaction.newest(after, most)

    def look(self) -> AbstractContextManager[tuple[Transaction, Snapshot]]:
        """A snapshot, and the record at the same moment."""
        return self._replica.look()

    def _snapshot(self) -> Snapshot:
        with self.look() as (_, seen):
            return seen

    def status(self) -> Status:
        """Where the campaign stands."""
        seen = self._snapshot()
        return Status.of(self.name, seen.spec, seen, self.now())

    def recommend(self) -> Recommendation:
        """What the data favour now; proven only if there is a decision."""
        seen = self._snapshot()
        return Recommendation.of(seen.spec, seen)

    def wait(self, timeout: float | None = None, every: float = 1.0) -> Status:
        """The status once it is decided, closed or out of budget, or after ``timeout`` seconds."""
        return wait(self, timeout, every)

    def explain(self) -> Explanation:
        """In plain words: what is pursued and why, the evidence, and what comes next."""
        with self.look() as (transaction, seen), self._explaining:  # once for all who ask
            if self._explained is None or self._explained[0] is not seen:
                self._explained = seen, self._explain(transaction, seen)
            return self._explained[1]

    def _explain(self, transaction: Transaction, seen: Snapshot) -> Explanation:
        about = self.name, seen.spec, seen, self.now()
        if seen.spec.pairs is None:
            return Explanation.of(*about)
        return explain_pairs(*about, self.leads(transaction, seen))

    def leads(self, transaction: Transaction, seen: Snapshot) -> list[Lead]:
        """Of a paired campaign: by how much arms are better, and at least; else none."""
        session = seen.session
        return self._results.leads(transaction, session) if isinstance(session, ItemSession) else []

    def verify(self) -> Verification:
        """Derive everything anew from the events alone, and compare."""
        with self._replica.read() as transaction:
            return verify(self._replica.base, transaction)

    def export(self, path: str | PathLike[str]) -> Path:
        """The record as .csv, .jsonl or .parquet, by the file's ending."""
        from stopwise.campaign.export import export

        with self._replica.read() as transaction:
            return export(transaction.parts(), self.labels, path)

    def _repr_html_(self) -> str:
        return self.status()._repr_html_()

    def plot(self, axes: Any = None) -> Any:
        """Evidence against threshold over the samples."""
        from stopwise.campaign.plot import plot_curve

        return plot_curve(self._snapshot().session, axes)


@contextmanager
def _store_for(storage: str | PathLike[str] | Store | None) -> Iterator[Store]:
    """A storage as given, or by its address; that one is closed again if the block fails."""
    if isinstance(storage, Store):
        yield storage
        return
    store = Store(storage_address(storage))
    try:
        yield store
    except BaseException:
        store.close()
        raise
