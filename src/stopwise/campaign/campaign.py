"""Ask, tell, and an answer that can be audited: a campaign is events plus replay."""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from os import PathLike
from pathlib import Path
from typing import Any

from stopwise import __version__
from stopwise.campaign import spec as specs
from stopwise.campaign.errors import (
    BudgetSpent,
    CampaignDecided,
    CampaignExists,
    Conflict,
    UnknownToken,
)
from stopwise.campaign.events import Decision, Event, Receipt, Ticket
from stopwise.campaign.explain import Explanation
from stopwise.campaign.names import (
    campaign_name,
    difference,
    is_token,
    new_name,
    refuse_if_absent,
    storage_address,
    token_text,
)
from stopwise.campaign.replay import KINDS
from stopwise.campaign.replica import Replica, Snapshot
from stopwise.campaign.samples import Sample, arm_place, attempt, sample_value
from stopwise.campaign.session import Crossing, Session
from stopwise.campaign.spec import CampaignSpec
from stopwise.campaign.status import Recommendation, Status
from stopwise.campaign.storage.store import Store
from stopwise.campaign.storage.transaction import Past, Transaction
from stopwise.campaign.verify import Verification
from stopwise.core import checks
from stopwise.core.errors import BadArgument, StopwiseError
from stopwise.problems.verbs import in_words

LEASE = 3600.0  # seconds that a sample may take, unless somebody says otherwise
MOST = 10_000  # tickets of one ask
LONGEST_NOTE = 1000
DECISION = "decision"  # the token of that event


class Campaign:
    """A question about real options, asked of any number of workers.

    Make one with ``Campaign.create`` or ``Campaign.open``. All methods are safe to call from several
    processes at once; every change is durable when the method returns.
    """

    def __init__(
        self, name: str, store: Store, spec: CampaignSpec, clock: Callable[[], float]
    ) -> None:
        self.name, self.spec, self._store, self._clock = name, spec, store, clock
        self._replica = Replica(name, store, spec)
        self._explaining = threading.Lock()
        self._explained: tuple[Snapshot, Explanation] | None = None

    @classmethod
    def create(
        cls,
        spec: Mapping[str, Any] | str | PathLike[str],
        storage: str | PathLike[str] | Store | None = None,
        name: str | None = None,
        clock: Callable[[], float] = time.time,
    ) -> Campaign:
        """A new campaign; the same one if it is there already, with the same spec."""
        made = specs.new(spec if isinstance(spec, Mapping) else Path(spec))
        default = None if isinstance(spec, Mapping) else Path(spec).stem
        called = campaign_name(default if name is None else name)
        store = storage if isinstance(storage, Store) else Store(storage_address(storage))
        fresh = (specs.dump(made.table), made.key, __version__, clock())
        if store.has(called) or not store.create(called := new_name(called), *fresh):
            with store.look(called) as transaction:
                head = transaction.head
            stored = json.loads(head.spec)
            made = specs.like(made, stored)
            if head.key != made.key:
                raise CampaignExists(
                    f"campaign {called!r} in {store.shown} has another spec ({head.key}; "
                    f"given {made.key}): {difference(stored, made.table)}. Choose another name."
                )
        return cls(called, store, made, clock)

    @classmethod
    def open(
        cls,
        name: str,
        storage: str | PathLike[str] | Store | None = None,
        clock: Callable[[], float] = time.time,
    ) -> Campaign:
        """A campaign that is there."""
        if not isinstance(storage, Store):
            refuse_if_absent(name, storage_address(storage))
        store = storage if isinstance(storage, Store) else Store(storage_address(storage))
        with store.look(campaign_name(name)) as transaction:
            head = transaction.head
        return cls(head.name, store, specs.make(json.loads(head.spec)), clock)

    def __repr__(self) -> str:
        return f"Campaign({self.name!r}, {self._store.shown!r}, {self.spec.key})"

    @property
    def labels(self) -> tuple[str, ...]:
        """The arms' names."""
        return self.spec.labels

    # ------------------------------------------------------------------------------------- work

    def ask(self, n: int = 1, lease: float | None = None) -> list[Ticket]:
        """Tickets for the next samples; each is expected back within ``lease`` seconds."""
        count = checks.whole("n", n, least=1)
        if count > MOST:
            raise BadArgument("n", n, f"at most {MOST:,}")
        until = LEASE if lease is None else checks.positive("lease", lease)
        with self._replica.change() as (transaction, session):
            self._refuse_if_decided()
            now = self._clock()
            for late in transaction.expired(now):
                transaction.close_lease(late.token)
                transaction.add("released", late.token, late.arm, None, now, note="lease expired")
                session.release(late.arm)
            count = self._affordable(session, count)
            tickets = []
            for arm in session.asks(count):
                token = secrets.token_hex(16)
                transaction.add("asked", token, arm, until, now)
                transaction.open_lease(token, arm, now + until)
                tickets.append(Ticket(token, arm, self.labels[arm]))
            return tickets

    def _affordable(self, session: Session, count: int) -> int:
        if self.spec.budget is None:
            return count
        left = self.spec.budget - session.sent
        if left <= 0:
            raise BudgetSpent(
                f"campaign {self.name!r}: its budget of {self.spec.budget:,} samples is taken or in "
                "flight, without a decision. ``status`` says what the data favour."
            )
        return min(count, left)

    def heartbeat(self, token: str, lease: float | None = None) -> bool:
        """More time for a sample; False if it is not in flight any more (its tell still counts)."""
        until = LEASE if lease is None else checks.positive("lease", lease)
        with self._replica.change() as (transaction, _):
            _, waiting = self._asked(transaction, token)
            if waiting:
                transaction.extend(token, self._clock() + until)
            return waiting

    def tell(self, token: str, value: float) -> Receipt:
        """A ticket's sample. The same again gives the same receipt; another value is a conflict."""
        sample = sample_value(self.spec.design.family, value)
        (found,) = self.tell_all([(token, sample)])
        if isinstance(found, StopwiseError):
            raise found
        return found

    def tell_all(self, tells: Sequence[tuple[str, float]]) -> list[Receipt | StopwiseError]:
        """Many tickets' samples with one commit: the receipt of each, or why it is refused."""
        with self._replica.change() as (transaction, session):
            transaction.read_about([token for token, _ in tells if is_token(token)])
            checked = [attempt(self._checked, transaction, *each) for each in tells]
            new: dict[str, Sample] = {}
            for each in checked:
                if isinstance(each, Sample) and "told" not in transaction.about(each.token).events:
                    new.setdefault(each.token, each)
            self._take(transaction, session, "told", list(new.values()))
            return [
                attempt(self._receipt, transaction, "told", each.token, each.value)
                if isinstance(each, Sample)
                else each
                for each in checked
            ]

    def _checked(self, transaction: Transaction, token: str, value: float) -> Sample:
        sample = sample_value(self.spec.design.family, value)
        past, waiting = self._asked(transaction, token)
        arm = past["asked"].arm
        assert arm is not None
        return Sample(token, arm, sample, waiting)

    def record(self, arm: int | str, value: float, token: str | None = None) -> Receipt:
        """A sample that nobody asked for. With a ``token`` of yours it can be told again safely."""
        place, sample = arm_place(self.labels, arm), sample_value(self.spec.design.family, value)
        used = secrets.token_hex(16) if token is None else token_text(token)
        with self._replica.change() as (transaction, session):
            past, _ = transaction.about(used)
            if "asked" in past:
                raise Conflict(f"token {used!r} belongs to an ask: use tell.")
            if "recorded" in past:
                if past["recorded"].arm != place:
                    raise Conflict(
                        f"token {used!r}: recorded for arm {past['recorded'].arm}, given {place}."
                    )
            else:
                new = Sample(used, place, sample, False)
                self._take(transaction, session, "recorded", [new])
            return self._receipt(transaction, "recorded", used, sample)

    def release(self, token: str, reason: str = "") -> bool:
        """The sample will not come; False if it is not in flight. A tell would still count."""
        if not isinstance(reason, str) or len(reason) > LONGEST_NOTE:
            raise BadArgument("reason", reason, f"a text of at most {LONGEST_NOTE:,} characters")
        with self._replica.change() as (transaction, session):
            past, waiting = self._asked(transaction, token)
            if not waiting:
                return False
            transaction.close_lease(token)
            arm = past["asked"].arm
            assert arm is not None
            late = self._replica.decision is not None
            transaction.add("released", token, arm, None, self._clock(), late=late, note=reason)
            if not late:
                session.release(arm)
            return True

    def _take(
        self, transaction: Transaction, session: Session, kind: str, new: list[Sample]
    ) -> None:
        """New samples: each counts, unless there is a decision before it."""
        counted, now = 0, self._clock()
        if new and self._replica.decision is None:
            _, arms, samples, waited = zip(*new, strict=True)
            counted = session.take(KINDS[kind], arms, samples, waited)
        for place, (token, arm, sample, waiting) in enumerate(new):
            if waiting:
                transaction.close_lease(token)
            transaction.add(kind, token, arm, sample, now, late=place >= counted)
            if place == counted - 1 and session.decision is not None:
                self._decide(transaction, session.decision)

    def _decide(self, transaction: Transaction, crossing: Crossing) -> None:
        number = transaction.last + 1
        words = in_words(self.spec.design.problem, crossing.answer, self.labels)
        self._replica.decision = Decision(
            *(crossing.answer, words, crossing.evidence, crossing.threshold, crossing.samples),
            *(number, self.spec.key, __version__),
        )
        text = self._replica.decision.to_json()
        transaction.add("decided", DECISION, None, crossing.evidence, self._clock(), note=text)

    def _receipt(self, transaction: Transaction, kind: str, token: str, sample: float) -> Receipt:
        """For what is on record: the same, however often it is told."""
        event = transaction.about(token).events[kind]
        if event.value != sample:
            raise Conflict(
                f"token {event.token!r}: {event.value!r} was told (event {event.number}); now "
                f"{sample!r}. The first stands; samples are not corrected."
            )
        assert event.arm is not None
        known = self._replica.decision
        decided = known is not None and known.number <= event.number + 1
        return Receipt(event.number, event.token, event.arm, sample, event.late, decided)

    # --------------------------------------------------------------------------------- questions

    @property
    def decision(self) -> Decision | None:
        """The answer, once there is one; it never changes."""
        if self._replica.decision is None:
            with self._replica.read() as transaction:
                if transaction.head.decision is not None:
                    self._replica.decision = Decision.from_json(transaction.head.decision)
        return self._replica.decision

    def events(self, after: int = 0, limit: int | None = None) -> list[Event]:
        """The record, from the first event after this number; at most ``limit`` events."""
        most = None if limit is None else checks.whole("limit", limit, least=1)
        with self._replica.read() as transaction:
            return transaction.since(checks.whole("after", after, least=0), most)

    def look(self) -> AbstractContextManager[tuple[Transaction, Snapshot]]:
        """A snapshot, and the record at the same moment."""
        return self._replica.look()

    def _snapshot(self) -> Snapshot:
        with self.look() as (_, seen):
            return seen

    def status(self) -> Status:
        """Where the campaign stands."""
        return Status.of(self.name, self.spec, self._snapshot())

    def recommend(self) -> Recommendation:
        """What the data favour now; proven only if there is a decision."""
        return Recommendation.of(self.spec, self._snapshot())

    def explain(self) -> Explanation:
        """In plain words: what is pursued and why, the evidence, and what comes next."""
        seen = self._snapshot()
        with self._explaining:  # once for all who ask
            if self._explained is None or self._explained[0] is not seen:
                self._explained = (seen, Explanation.of(self.name, self.spec, seen))
            return self._explained[1]

    def verify(self) -> Verification:
        """Derive everything anew from the events alone, and compare."""
        with self._replica.read() as transaction:
            record, stored, head = transaction.since(0), transaction.state(), transaction.head
        return Verification.of(self.spec, record, stored, head.decision, head.version)

    def export(self, path: str | PathLike[str]) -> Path:
        """The record as .csv, .jsonl or .parquet, by the file's ending."""
        from stopwise.campaign.export import export

        return export(self.events(), self.labels, Path(path))

    def _repr_html_(self) -> str:
        return self.status()._repr_html_()

    def plot(self, axes: Any = None) -> Any:
        """Evidence against threshold over the samples."""
        from stopwise.campaign.plot import plot_curve

        return plot_curve(self._snapshot().session, axes)

    # ------------------------------------------------------------------------------------ inside

    def together(self) -> AbstractContextManager[None]:
        """Everything that is done in this block is stored at its end, with one commit.

        A call that refuses its argument changes nothing, and the block may go on. Nothing is
        acknowledged before the block has ended well.
        """
        return self._replica.together()

    def _refuse_if_decided(self) -> None:
        if self._replica.decision is not None:
            raise CampaignDecided(self.name, self._replica.decision)

    def _asked(self, transaction: Transaction, token: str) -> Past:
        past = transaction.about(token_text(token))
        if "asked" not in past.events:
            raise UnknownToken(
                f"campaign {self.name!r}: no ask gave the token {token!r}. Samples that nobody asked "
                "for are recorded by their arm (record)."
            )
        return past
