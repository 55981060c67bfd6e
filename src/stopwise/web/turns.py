"""Whose turn it is: campaigns share the writer's time, and a slow one does not hold up the others."""

from __future__ import annotations

import time
from collections.abc import Collection

TOGETHER = 512  # changes in one commit, at most
FIRST = 16  # changes of a campaign's first turn
PIECE = 0.05  # seconds of computing that a turn should take
OTHERS = 6.0  # times as long as its turn a campaign leaves to others, if they use it
SLOW = 0.02  # seconds from which on a turn holds others up: shorter ones are followed at once
GAP = 0.03  # seconds in which those who were just answered come back
REMEMBERED = 1000  # campaigns


class Turns:
    """How much each campaign may do at once, and when it may go on.

    After a slow turn of t seconds a campaign waits for ``OTHERS * t``, as long as others have something
    to write. They have if one of them waits, or was served within ``GAP``: clients that send the next
    change when the last one is answered do not wait here while their answers are on the way.
    """

    def __init__(self) -> None:
        self._quota: dict[str, int] = {}
        self._due: dict[str, float] = {}  # when a campaign may go on
        self._last, self._ended = "", 0.0  # whose turn was the last, and its end
        self._others_ended = 0.0  # the last turn of any other campaign

    def quota(self, name: str) -> int:
        """How many changes one turn may have."""
        return self._quota.get(name, FIRST)

    def next(self, waiting: Collection[str]) -> tuple[str | None, float | None]:
        """Of those that wait, whose turn it is; if nobody's, after how many seconds to look again."""
        if not waiting:
            return None, None
        if len(waiting) > 1:  # whoever has waited for longest, if nobody was slow
            return min(waiting, key=lambda each: self._due.get(each, 0.0)), None
        (name,) = waiting
        others = self._others_ended if name == self._last else self._ended
        wait = min(self._due.get(name, 0.0), others + GAP) - time.monotonic()
        return (name, None) if wait <= 0.0 else (None, wait)

    def used(self, name: str, changes: int, computed: float, seconds: float) -> None:
        """A turn is over: its changes, and its time of computing and in all.

        Waiting for a disk or a network does not make turns smaller: it takes as long for one change.
        """
        self._quota[name] = max(1, min(TOGETHER, int(PIECE * changes / max(computed, 1e-6))))
        end = time.monotonic()
        self._due[name] = end + OTHERS * seconds if seconds > SLOW else end
        for table in (self._quota, self._due):
            if len(table) > REMEMBERED:
                del table[next(iter(table))]
        if name != self._last:
            self._last, self._others_ended = name, self._ended
        self._ended = end
