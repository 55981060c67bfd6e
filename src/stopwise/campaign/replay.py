"""From events to what a session knows."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from stopwise.campaign import spec as specs
from stopwise.campaign.events import Event, item_of
from stopwise.campaign.spec import AnySession, CampaignSpec
from stopwise.engine import live
from stopwise.engine.live import Record

KINDS = {
    "asked": live.ASKED,
    "told": live.TOLD,
    "recorded": live.RECORDED,
    "released": live.RELEASED,
}


class Known(NamedTuple):
    """A token that was asked before the record begins."""

    number: int  # of its ask
    waiting: bool  # whether its sample was in flight


def replay(
    session: AnySession,
    parts: Iterable[Sequence[Event]],
    before: Mapping[str, Known] | None = None,
    spec: CampaignSpec | None = None,
) -> Replay:
    """Lead a session through the events that come next; ``before`` has the asks before them.

    Arms may be added in a record that begins with the first event, of a campaign with this ``spec``.
    """
    found = Replay(session, before, spec)
    for part in parts:
        found.take(part)
    return found


class Replay:
    """Leads a session through a record, part by part, and notes what came of it."""

    def __init__(
        self,
        session: AnySession,
        before: Mapping[str, Known] | None = None,
        spec: CampaignSpec | None = None,
    ) -> None:
        self.session, self._spec = session, spec
        self._known = dict(before or {})  # asks whose samples have not come
        self._samples = _Samples() if spec is not None and "room" in spec.table else None
        self.last = 0  # number of the last event that was used, up to the one that decides
        self.unused: int | None = None  # number of the first event after it that should not count
        self.other_asks: list[
            int
        ] = []  # numbers of asks that gave an arm of somebody else's choice

    def take(self, events: Sequence[Event]) -> None:
        """The next events."""
        counted = [
            event for event in events if not event.late and (event.kind in KINDS or _new(event))
        ]
        for changes, group in groupby(counted, _new):  # samples; or what has to do with deciding
            part = list(group)
            if self.session.decision is not None:
                self.unused = self.unused or part[0].number
            elif changes:
                self._change(part)
            else:
                self._replay(part)

    def _change(self, events: list[Event]) -> None:
        for event in events:
            if self.session.decision is None:
                self._apply(json.loads(event.note))
                self.last = event.number
            else:
                self.unused = self.unused or event.number

    def _apply(self, new: dict[str, Any]) -> None:
        session, spec = self.session, self._spec
        if spec is not None and len(new.get("arms", ())) > session.counts.size:
            samples = self._samples or _Samples()
            design = specs.changed(spec, {"arms": new["arms"]}).design
            session.grow(design, *samples.counted(session))
        if "losses" in new:
            session.assume_random()
        if "minimum" in new:
            session.require(new["minimum"])

    def _replay(self, events: list[Event]) -> None:
        record = self._record(events)
        used, arms = self.session.replay(record)
        self.other_asks += [
            event.number
            for event, arm in zip(events[:used], arms, strict=False)
            if event.kind == "asked" and event.arm != arm
        ]
        if used:
            self.last = events[used - 1].number
        if used < len(events):
            self.unused = self.unused or events[used].number

    def _record(self, events: Sequence[Event]) -> Record:
        """For the session."""
        waited, numbers = [], []
        for event in events:
            asked = self._known.pop(event.token, None) or Known(event.number, False)
            waited.append(asked.waiting)
            numbers.append(asked.number)
            if event.kind in ("asked", "released"):  # a sample may still come
                self._known[event.token] = Known(asked.number, event.kind == "asked")
            elif self._samples is not None:
                self._samples.add(asked.number, event)
        arms = np.array([event.arm for event in events], dtype=np.int64)
        if np.any((arms < 0) | (arms >= self.session.counts.size)):  # compiled code does not look
            raise ValueError(f"arms of events {events[0].number} to {events[-1].number}")
        return Record(
            np.array([KINDS[event.kind] for event in events], dtype=np.int64),
            arms,
            np.array([_number(event) for event in events], dtype=float),
            np.array(waited, dtype=np.int64),
            np.array(numbers, dtype=np.int64),
        )


class _Samples:
    """All samples so far, for sessions that may get more arms."""

    def __init__(self) -> None:
        self._numbers, self._arms, self._values = array("q"), array("q"), array("d")

    def add(self, number: int, event: Event) -> None:
        """A sample that was asked for by the event of this number, or is that event."""
        self._numbers.append(number)
        self._arms.append(event.arm or 0)
        self._values.append(event.value or 0.0)

    def counted(self, session: AnySession) -> tuple[list[int], list[float]]:
        """Arms and values of what has counted, in its order."""
        places = list(range(len(self._numbers)))
        if session.order == "asked":
            places.sort(key=self._numbers.__getitem__)
        here = [place for place in places if self._numbers[place] not in session.queue]
        return [self._arms[place] for place in here], [self._values[place] for place in here]


def _new(event: Event) -> bool:
    """Whether an event changes what has to do with the decision."""
    return event.kind == "changed" and not {"minimum", "arms", "losses"}.isdisjoint(
        json.loads(event.note)
    )


def _number(event: Event) -> float:
    """A sample; of an ask the item, if it has one."""
    found = item_of(event) if event.kind == "asked" else event.value
    return float(found or 0.0)
