"""From events to what a session knows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from stopwise.campaign import spec as specs
from stopwise.campaign.events import Event, item_of
from stopwise.campaign.spec import AnySession, CampaignSpec
from stopwise.core.arrays import Ints
from stopwise.engine import live
from stopwise.engine.live import Record

KINDS = {
    "asked": live.ASKED,
    "told": live.TOLD,
    "recorded": live.RECORDED,
    "released": live.RELEASED,
}


class Replay(NamedTuple):
    """What came of leading a session through a record."""

    counted: list[Event]  # events that count: not late, not the decision itself
    used: int  # so many of them, up to the one that decides
    arms: Ints  # which arm each ask would have chosen; -1 for other events


class Known(NamedTuple):
    """A token that was asked before the record begins."""

    number: int  # of its ask
    waiting: bool  # whether its sample was in flight


def replay(
    session: AnySession,
    record: Sequence[Event],
    before: Mapping[str, Known] | None = None,
    spec: CampaignSpec | None = None,
) -> Replay:
    """Lead a session through the events that come next; ``before`` has the asks before them.

    Arms may be added in a record that begins with the first event, of a campaign with this ``spec``.
    """
    counted = [event for event in record if not event.late and (event.kind in KINDS or _new(event))]
    known, arms, used = dict(before or {}), np.full(len(counted), -1), 0
    for requires, group in groupby(counted, _new):  # samples; or a new minimum of them
        part = list(group)
        if requires:
            for event in part:
                _change(session, event, counted[:used], spec)
                used += 1
        else:
            done, found = session.replay(_record(part, known))
            arms[used : used + len(part)] = found
            used += done
        if session.decision is not None:
            break
    return Replay(counted, used, arms)


def _new(event: Event) -> bool:
    """Whether an event changes what has to do with the decision."""
    return event.kind == "changed" and not {"minimum", "arms", "losses"}.isdisjoint(
        json.loads(event.note)
    )


def _change(
    session: AnySession, event: Event, before: Sequence[Event], spec: CampaignSpec | None
) -> None:
    new: dict[str, Any] = json.loads(event.note)
    if spec is not None and len(new.get("arms", ())) > session.counts.size:
        arms, samples = (
            zip(*_samples(session, before), strict=True) if session.samples else ((), ())
        )
        session.grow(specs.changed(spec, {"arms": new["arms"]}).design, arms, samples)
    if "losses" in new:
        session.assume_random()
    if "minimum" in new:
        session.require(new["minimum"])


def _samples(session: AnySession, events: Sequence[Event]) -> list[tuple[int, float]]:
    """What has counted, in its order."""
    told = {event.token: event for event in events if event.kind in ("told", "recorded")}
    wanted = "asked" if session.order == "asked" else "told"
    return [
        (told[e.token].arm or 0, told[e.token].value or 0.0)
        for e in events
        if e.kind in (wanted, "recorded") and e.token in told and e.number not in session.queue
    ]


def _record(events: Sequence[Event], known: dict[str, Known]) -> Record:
    """For the session; ``known`` has the asks before, and gets those of these events."""
    waited, numbers = [], []
    for event in events:
        asked = known.get(event.token, Known(event.number, False))
        waited.append(asked.waiting)
        numbers.append(asked.number)
        known[event.token] = Known(asked.number, event.kind == "asked")
    return Record(
        np.array([KINDS[event.kind] for event in events], dtype=np.int64),
        np.array([event.arm for event in events], dtype=np.int64),
        np.array([_number(event) for event in events], dtype=float),
        np.array(waited, dtype=np.int64),
        np.array(numbers, dtype=np.int64),
    )


def _number(event: Event) -> float:
    """A sample; of an ask the item, if it has one."""
    found = item_of(event) if event.kind == "asked" else event.value
    return float(found or 0.0)
