"""From events to what a session knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from stopwise.campaign.events import Event
from stopwise.campaign.session import Session
from stopwise.core.arrays import Ints
from stopwise.engine import live
from stopwise.engine.live import History, Record

KINDS = {"asked": live.ASKED, "told": live.TOLD, "recorded": live.TOLD, "released": live.RELEASED}


class Replay(NamedTuple):
    """What came of leading a session through a record."""

    counted: list[Event]  # events that count: not late, not the decision itself
    used: int  # so many of them, up to the one that decides
    arms: Ints  # which arm each ask would have chosen; -1 for other events
    past: History


class Reader:
    """Leads a session through a record, piece by piece."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._waiting: set[str] = set()

    def read(self, record: Sequence[Event], remember: bool = False) -> Replay:
        """The next events; with ``remember`` keep what held after each."""
        counted = [event for event in record if not event.late and event.kind != "decided"]
        waited = []
        for event in counted:
            waited.append(event.token in self._waiting)
            if event.kind == "asked":
                self._waiting.add(event.token)
            else:
                self._waiting.discard(event.token)
        past = live.new_history(self.session.design, len(counted) if remember else 0)
        events = Record(
            np.array([KINDS[event.kind] for event in counted], dtype=np.int64),
            np.array([event.arm for event in counted], dtype=np.int64),
            np.array([event.value or 0.0 for event in counted], dtype=float),
            np.array(waited, dtype=np.int64),
        )
        used, arms = self.session.replay(events, past)
        return Replay(counted, used, arms, past)


def replay(session: Session, record: Sequence[Event], remember: bool = False) -> Replay:
    """Lead a new session through a whole record."""
    return Reader(session).read(record, remember)
