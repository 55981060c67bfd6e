"""Whether the events alone give what is on record."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from stopwise import __version__
from stopwise.campaign.changes import all_changes, changes
from stopwise.campaign.events import Decision, Event
from stopwise.campaign.imports.order import order_problems
from stopwise.campaign.replay import Replay, replay
from stopwise.campaign.spec import AnySession, CampaignSpec
from stopwise.campaign.storage.transaction import Head
from stopwise.campaign.view import Crossing

DIGITS = 1e-12
SAME_ASKS = (0, 2)  # versions since which asks are chosen by today's rules


@dataclass(frozen=True)
class Verification:
    """What the events alone say, beside what is on record."""

    agrees: bool
    events: int
    samples: int
    problems: tuple[str, ...]
    decision: Decision | None
    remarks: tuple[str, ...]  # what could not be checked

    def __repr__(self) -> str:
        word = "agrees" if self.agrees else "DOES NOT AGREE"
        lines = [f"{word}: {self.events:,} events, {self.samples:,} samples derived anew"]
        if self.decision is not None:
            lines.append(f"decision: {self.decision.text} (event {self.decision.number})")
        return "\n".join([*lines, *self.problems, *self.remarks])

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values."""
        found = asdict(self)
        found["decision"] = None if self.decision is None else self.decision._asdict()
        return found

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Verification:
        """What ``to_dict`` gave, perhaps by way of JSON."""
        decision = found["decision"] and Decision.from_dict(found["decision"])
        lists = {name: tuple(found[name]) for name in ("problems", "remarks")}
        return cls(**{**found, **lists, "decision": decision})

    @classmethod
    def of(
        cls,
        spec: CampaignSpec,
        record: Sequence[Event],
        state: bytes | None,
        head: Head,
    ) -> Verification:
        """Replay the record of a campaign with this spec, as it was created, from nothing."""
        session, version = spec.session(), head.version
        seen = replay(session, record, spec=spec)
        claimed = None if head.decision is None else Decision.from_json(head.decision)
        asks = _arm_problems(seen, version)
        remarks = asks if _release(version) != _release(__version__) else []
        problems = [
            *_numbering(record),
            *order_problems(record),
            *([] if remarks else asks),
            *_decision_problems(spec, session, seen, claimed, record),
        ]
        if state is not None and session.fits(state) and state != session.dump():
            problems.append("the stored state is not what the events give")
        if changes(head.changes) != all_changes(record):
            problems.append("the stored changes are not what the events give")
        return cls(
            *(not problems, len(record), session.samples, tuple(problems), claimed),
            tuple(remarks),
        )


def _numbering(record: Sequence[Event]) -> list[str]:
    if [event.number for event in record] != list(range(1, len(record) + 1)):
        return ["event numbers have gaps"]
    return []


def _release(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")[:2]))


def _arm_problems(seen: Replay, version: str) -> list[str]:
    """Every ask must have given the arm that the strategy chooses.

    Where arms tie the last digits decide, and those are another release's own. No guarantee rests on it.
    """
    if _release(version) < SAME_ASKS:
        return [f"asks were not compared: stopwise {version} chose by another rule"]
    wrong = [
        event.number
        for place, event in enumerate(seen.counted[: seen.used])
        if event.kind == "asked" and seen.arms[place] != event.arm
    ]
    if wrong and _release(version) != _release(__version__):
        return [f"asks that differ from today's, as with ties in stopwise {version}: {wrong[:10]}"]
    return [f"asks that the strategy would not have made: events {wrong[:10]}"] if wrong else []


def _decision_problems(
    spec: CampaignSpec,
    session: AnySession,
    seen: Replay,
    claimed: Decision | None,
    record: Sequence[Event],
) -> list[str]:
    derived = session.decision
    if derived is None and claimed is None:
        return []
    if derived is None:
        return ["there is a decision that the events do not give"]
    if claimed is None:
        return ["no decision is on record"]
    last = seen.counted[seen.used - 1].number
    found = _differences(claimed, derived, last + 1, spec.key)
    if seen.used != len(seen.counted):
        found.append(f"events after number {last} count, but should be late")
    if sum(event.kind == "decided" for event in record) != 1:
        found.append("there is not exactly one decision event")
    return found


def _differences(claimed: Decision, derived: Crossing, number: int, key: str) -> list[str]:
    pairs = {
        "answer": (claimed.answer, derived.answer),
        "evidence": (claimed.evidence, derived.evidence),
        "threshold": (claimed.threshold, derived.threshold),
        "samples": (claimed.samples, derived.samples),
        "event": (claimed.number, number),
        "spec": (claimed.key, key),
    }
    return [
        f"decision's {name}: on record {old!r}, derived {new!r}"
        for name, (old, new) in pairs.items()
        if not _same(old, new)
    ]


def _same(old: Any, new: Any) -> bool:
    """Equal, but for the last digits of numbers that are not whole: those are a release's own."""
    if isinstance(old, float) and isinstance(new, float):
        return math.isclose(old, new, rel_tol=DIGITS)
    return bool(old == new)
