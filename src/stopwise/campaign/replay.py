"""From events to what a session knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from stopwise.campaign.events import Event
from stopwise.campaign.session import Session
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
    session: Session, record: Sequence[Event], before: Mapping[str, Known] | None = None
) -> Replay:
    """Lead a session through the events that come next; ``before`` has the asks before them."""
    counted = [event for event in record if not event.late and event.kind in KINDS]
    known, waited, numbers = dict(before or {}), [], []
    for event in counted:
        asked = known.get(event.token, Known(event.number, False))
        waited.append(asked.waiting)
        numbers.append(asked.number)
        known[event.token] = Known(asked.number, event.kind == "asked")
    events = Record(
        np.array([KINDS[event.kind] for event in counted], dtype=np.int64),
        np.array([event.arm for event in counted], dtype=np.int64),
        np.array([event.value or 0.0 for event in counted], dtype=float),
        np.array(waited, dtype=np.int64),
        np.array(numbers, dtype=np.int64),
    )
    return Replay(counted, *session.replay(events))
