"""From events to what a session knows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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


def replay(session: Session, record: Sequence[Event], waiting: Iterable[str] = ()) -> Replay:
    """Lead a session through the events that come next; ``waiting`` are samples in flight before."""
    counted = [event for event in record if not event.late and event.kind != "decided"]
    known, waited = set(waiting), []
    for event in counted:
        waited.append(event.token in known)
        if event.kind == "asked":
            known.add(event.token)
        else:
            known.discard(event.token)
    events = Record(
        np.array([KINDS[event.kind] for event in counted], dtype=np.int64),
        np.array([event.arm for event in counted], dtype=np.int64),
        np.array([event.value or 0.0 for event in counted], dtype=float),
        np.array(waited, dtype=np.int64),
    )
    return Replay(counted, *session.replay(events))
