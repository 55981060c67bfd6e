"""The results of a paired campaign item by item, read from its record, and what they bound."""

from __future__ import annotations

import math
import threading
from typing import NamedTuple

import numpy as np

from stopwise.campaign.events import Event, item_of
from stopwise.campaign.item_session import ItemSession
from stopwise.campaign.storage.transaction import Transaction
from stopwise.core.arrays import Floats
from stopwise.paired.bounds import implied, least_difference
from stopwise.paired.comparison import NOBODY

LISTED = 12  # pairs whose difference is bounded


class Lead(NamedTuple):
    """An arm against another: the mean difference so far, and what it is at least; None: not bounded."""

    arm: int
    other: int
    difference: float
    at_least: float | None


class Results:
    """The rows of items, kept up with the record by whoever reads."""

    def __init__(self) -> None:
        self._last, self._lock = 0, threading.Lock()
        self._asked: dict[str, tuple[int, int]] = {}  # token: item and arm, of what has not come
        self._rows: dict[int, Floats] = {}  # by the item's number as people know it

    def leads(self, transaction: Transaction, session: ItemSession) -> list[Lead]:
        """The arms of the answer against others, the closest first; with a control, it against all."""
        rows = self._counted(transaction, session)
        return [_lead(session, rows, *pair) for pair in _pairs(session)[:LISTED]]

    def _counted(self, transaction: Transaction, session: ItemSession) -> Floats:
        """A row for each item that counts, in the order asked; nan where an arm has no result."""
        arms = session.items.what.arms
        with self._lock:
            for event in transaction.since(self._last):
                self._read(event, arms)
                self._last = event.number
            numbers = [session.queue.shown(item) for item in range(session.items.counted)]
            none = np.full(arms, math.nan)
            return np.array([self._rows.get(each, none) for each in numbers]).reshape(-1, arms)

    def _read(self, event: Event, arms: int) -> None:
        if event.kind == "asked":
            self._asked[event.token] = item_of(event) or 0, event.arm or 0
        elif event.kind == "told":
            item, arm = self._asked.pop(event.token, (None, 0))
            if item is not None and not event.late:
                row = self._rows.setdefault(item, np.full(arms, math.nan))
                row[arm] = event.value


def _pairs(session: ItemSession) -> list[tuple[int, int]]:
    what, state = session.items.what, session.items.state
    if not session.started:
        return []
    named = session.standing.named
    if what.control != NOBODY:
        others = [k for k in range(what.arms) if k != what.control]
        return [(k, what.control) if k in named else (what.control, k) for k in others]
    found = [(i, j) for i in named for j in range(what.arms) if j not in named]
    return sorted(found, key=lambda pair: state.evidence[-1][pair])


def _lead(session: ItemSession, rows: Floats, arm: int, other: int) -> Lead:
    """Over the items that both were compared on; a larger difference is better, whatever the goal."""
    what, state = session.items.what, session.items.state
    least = least_difference(what, session.items.worst_differences(rows, arm, other))
    if session.decision is not None:
        least = max(least, implied(what, session.standing.named, arm, other))
    return Lead(
        *(arm, other, float(state.means[arm, other])), least if math.isfinite(least) else None
    )
