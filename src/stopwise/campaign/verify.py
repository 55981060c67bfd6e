"""Whether what is stored of a campaign is as it was written, and follows from its events."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from stopwise import __version__
from stopwise.campaign import spec as specs
from stopwise.campaign.changes import Changes, changes
from stopwise.campaign.events import Decision, Event, from_plain
from stopwise.campaign.imports.order import Shuffles
from stopwise.campaign.pairs import tie_words
from stopwise.campaign.replay import Replay
from stopwise.campaign.spec import CampaignSpec
from stopwise.campaign.storage.hashes import (
    event_hash,
    first_hash,
    head_seal,
    lease_seal,
    opened_state,
)
from stopwise.campaign.storage.rows import Head
from stopwise.campaign.storage.transaction import Transaction

DIGITS = 1e-12
SAME_ASKS = (0, 2)  # versions since which asks are chosen by today's rules
MOST = 10  # problems of one kind that are listed


@dataclass(frozen=True)
class Verification:
    """What the events alone say, beside what is on record."""

    agrees: bool
    events: int
    samples: int
    problems: tuple[str, ...]
    decision: Decision | None
    remarks: tuple[str, ...]  # what could not be checked
    hash: str = ""  # of the last event, and so of the whole record

    def __repr__(self) -> str:
        word = "agrees" if self.agrees else "DOES NOT AGREE"
        lines = [f"{word}: {self.events:,} events, {self.samples:,} samples derived anew"]
        if self.decision is not None:
            lines.append(f"decision: {self.decision.text} (event {self.decision.number})")
        if self.hash:
            lines.append(f"hash of the record: {self.hash}")
        return "\n".join([*lines, *self.problems, *self.remarks])

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values."""
        found = asdict(self)
        found["decision"] = None if self.decision is None else self.decision._asdict()
        return found

    @classmethod
    @from_plain
    def from_dict(cls, found: Mapping[str, Any]) -> Verification:
        """What ``to_dict`` gave, perhaps by way of JSON."""
        decision = found["decision"] and Decision.from_dict(found["decision"])
        lists = {name: tuple(found[name]) for name in ("problems", "remarks")}
        return cls(**{**found, **lists, "decision": decision})


def verify(spec: CampaignSpec, transaction: Transaction) -> Verification:
    """Check all that is stored of a campaign that was created with this spec."""
    checks = _Checks(spec, transaction)
    checks.go_through()
    return checks.result()


class _Checks:
    """One pass over the record, in parts: it may be longer than memory."""

    def __init__(self, spec: CampaignSpec, transaction: Transaction) -> None:
        self._spec, self._transaction, self._head = spec, transaction, transaction.head
        self._session = spec.session()
        self._replay = Replay(self._session, spec=spec)
        self._fold = _Fold(transaction.head)
        self._shuffles = Shuffles()
        self.problems: list[str] = []

    def go_through(self) -> None:
        """All events, in turn."""
        for part in self._transaction.hashed_events():
            self._fold.take(part)
            if not self.problems:
                self._derive([event for event, _ in part])

    def _derive(self, events: list[Event]) -> None:
        try:
            self._replay.take(events)
            self._shuffles.take(events)
        except Exception as error:  # whatever a record may hold that nobody wrote through stopwise
            self.problems.append(
                f"events {events[0].number:,} to {events[-1].number:,} cannot be derived anew "
                f"({type(error).__name__}: {error})"
            )

    def result(self) -> Verification:
        """What was found."""
        head, fold = self._head, self._fold
        derived, remarks = not self.problems, list[str]()
        claimed = _decision(head)
        self.problems = [*fold.problems, *self.problems]
        self.problems += [*self._row_problems(), *self._lease_problems()]
        if derived:
            asks = _ask_problems(self._replay, head.version)
            other = _release(head.version) != _release(__version__)
            remarks = asks if other else []
            self.problems += [] if other else asks
            self.problems += [*self._shuffles.problems, *self._decision_problems(claimed)]
        self.problems += self._state_problems(derived)
        return Verification(
            *(not self.problems, fold.events, self._session.samples, tuple(self.problems)),
            *(claimed, tuple(remarks), fold.hash.hex()),
        )

    def _row_problems(self) -> list[str]:
        """What the campaign's row says that the events do not."""
        head, fold = self._head, self._fold
        derived = {
            "key": hashlib.sha256(head.spec.encode()).hexdigest()[:16],
            "last": fold.events,
            "hash": fold.hash,
            "decision": fold.decided,
            "name": fold.name,
        }
        found = [
            f"the campaign's {name}: stored {_shown(getattr(head, name))}, by the events "
            f"{_shown(value)}"
            for name, value in derived.items()
            if getattr(head, name) != value
        ]
        if changes(head.changes) != fold.changes:
            found.append("the campaign's changes: the events give others")
        if head.seal != head_seal(head):
            found.append("the campaign's row was changed after it was written")
        names = self._transaction.former_names()
        if set(names) != fold.former_names:
            expected = sorted(fold.former_names)
            found.append(f"former names: stored {names}, by the events {expected}")
        return found

    def _lease_problems(self) -> list[str]:
        """Samples in flight: those that were asked for, and neither told nor released."""
        found, there = [], set()
        for lease, seal in self._transaction.sealed_leases():
            there.add(lease.token)
            if seal != lease_seal(lease) or self._fold.in_flight.get(lease.token) != lease.arm:
                found.append(f"sample in flight {lease.token!r}: changed after it was written")
        gone = self._fold.in_flight.keys() - there
        found += [f"sample in flight {token!r}: its row is gone" for token in sorted(gone)]
        return found[:MOST]

    def _state_problems(self, derived: bool) -> list[str]:
        content = self._transaction.state()
        if content is None:
            return ["the stored state is gone"] if self._head.stored else []
        stored = opened_state(content)
        if stored is None or stored[0] != self._head.stored:
            return ["the stored state was changed after it was written"]
        last, state = stored
        comparable = derived and last == self._head.last and self._session.fits(state)
        wrong = comparable and state != self._session.dump()
        return ["the stored state is not what the events give"] if wrong else []

    def _decision_problems(self, claimed: Decision | None) -> list[str]:
        derived, last = self._session.decision, self._replay.last
        if derived is None and claimed is None:
            return []
        if derived is None:
            return ["there is a decision that the events do not give"]
        if claimed is None:
            return ["no decision is on record"]
        spec = specs.changed(self._spec, dict(self._fold.changes.spec))
        usual = spec.design.problem.answer_text(derived.answer, spec.labels)
        pairs = {
            "answer": (claimed.answer, derived.answer),
            "text": (claimed.text, tie_words(self._session, spec.labels) or usual),
            "evidence": (claimed.evidence, derived.evidence),
            "threshold": (claimed.threshold, derived.threshold),
            "samples": (claimed.samples, derived.samples),
            "event": (claimed.number, last + 1),
            "spec": (claimed.key, self._spec.key),
        }
        found = [
            f"decision's {name}: on record {old!r}, derived {new!r}"
            for name, (old, new) in pairs.items()
            if not _same(old, new)
        ]
        if self._replay.unused is not None:
            found.append(f"events after number {last} count, but should be late")
        return found


class _Fold:
    """What the events say of the campaign's other rows, and whether their hashes fit."""

    def __init__(self, head: Head) -> None:
        self.events = 0
        self.hash = first_hash(head.spec, head.key, head.version, head.created)
        self.changes = Changes()
        self.name, self.former_names = head.name, set[str]()
        self.decided: str | None = None
        self.in_flight: dict[str, int | None] = {}
        self.problems: list[str] = []

    def take(self, part: list[tuple[Event, bytes]]) -> None:
        """The next events, with their hashes as they are stored."""
        for event, stored in part:
            self.events += 1
            if event.number != self.events:
                self._add(f"event {self.events:,} is missing")
                self.events = event.number
            if event_hash(self.hash, event) != stored:
                self._add(f"event {event.number:,} was changed after it was written")
            self.hash = stored if isinstance(stored, bytes) else b""
            try:
                self._take(event)
            except (ValueError, TypeError, KeyError):
                self._add(f"event {event.number:,} cannot be read")

    def _take(self, event: Event) -> None:
        self.changes = self.changes.after(event)
        if event.kind == "asked":
            self.in_flight[event.token] = event.arm
        elif event.kind in ("told", "released"):
            self.in_flight.pop(event.token, None)
        elif event.kind == "renamed":
            note = json.loads(event.note)
            self.name = note["to"]
            self.former_names = {*self.former_names, note["from"]} - {self.name}
        elif event.kind == "decided":
            if self.decided is not None:
                self._add(f"event {event.number:,}: a second decision")
            self.decided = event.note

    def _add(self, problem: str) -> None:
        if len(self.problems) < MOST:
            self.problems.append(problem)


def _decision(head: Head) -> Decision | None:
    try:
        return None if head.decision is None else Decision.from_json(head.decision)
    except (ValueError, TypeError, KeyError):  # the row's problems say so
        return None


def _shown(value: Any) -> str:
    text = value.hex() if isinstance(value, bytes) else repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(part) if part.isdecimal() else -1 for part in version.split(".")[:2])


def _ask_problems(seen: Replay, version: str) -> list[str]:
    """Every ask must have given the arm that the strategy chooses.

    Where arms tie the last digits decide, and those are another release's own. No guarantee rests on it.
    """
    if _release(version) < SAME_ASKS:
        return [f"asks were not compared: stopwise {version} chose by another rule"]
    wrong = seen.other_asks
    if wrong and _release(version) != _release(__version__):
        return [f"asks that differ from today's, as with ties in stopwise {version}: {wrong[:10]}"]
    return [f"asks that the strategy would not have made: events {wrong[:10]}"] if wrong else []


def _same(old: Any, new: Any) -> bool:
    """Equal, but for the last digits of numbers that are not whole: those are a release's own."""
    if isinstance(old, float) and isinstance(new, float):
        return math.isclose(old, new, rel_tol=DIGITS)
    return bool(old == new)
