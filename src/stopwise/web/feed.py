"""Server-sent events: one ring of messages for all listeners of a campaign, each with its own place.

Nothing is kept for a listener but the number of the last event it has seen, so slow ones cost nothing:
a client that falls behind is told to reload.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from starlette.concurrency import run_in_threadpool

from stopwise.campaign.campaign import Campaign
from stopwise.campaign.errors import StorageDamaged
from stopwise.campaign.events import Event
from stopwise.core.errors import StopwiseError
from stopwise.web.dashboard import Dashboard

TICK = 0.5  # seconds between looks for new events; twice as many while many come
RING = 256  # messages that are kept
MOST = 20  # events in one message
SILENCE = 15.0  # seconds after which a listener hears that the line is alive
CHECKED = 1.5  # seconds after which it is asked again whether a listener may listen
Allowed = Callable[[], Awaitable[bool]]


async def _always() -> bool:
    return True


class Feed:
    """What happens in one campaign, for any number of listeners."""

    def __init__(self, campaign: Campaign) -> None:
        self.campaign, self.dashboard = campaign, Dashboard(campaign)
        self.listeners = 0
        self._last = 0
        self._ring: deque[tuple[int, int, bytes]] = deque(maxlen=RING)  # after, up to, message
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()
        self._ended = False

    async def listen(self, seen: int | None, allowed: Allowed = _always) -> AsyncIterator[bytes]:
        """Messages from the event after ``seen`` on (None: from now on), while that is allowed."""
        self.listeners += 1
        try:
            await self.start()
            place = self._last if seen is None else seen
            yield b"retry: 1000\n\n"
            missed = await run_in_threadpool(self.campaign.events, place, MOST + 1)
            if 0 < len(missed) <= MOST:
                yield _change(missed, place)
                place = missed[-1].number
            silence = 0.0
            while not self._ended and await allowed():
                for after, upto, message in list(self._ring):
                    if after <= place < upto:
                        place = upto
                        yield message
                if place < self._last and not self._reaches(place):
                    place = self._last
                    yield _message("reset", place, {"last": place})
                silence = 0.0 if await self._wait() else silence + CHECKED
                if silence >= SILENCE:
                    silence = 0.0
                    yield b": still here\n\n"
        finally:
            self.listeners -= 1

    async def start(self) -> None:
        """One task looks for all who listen."""
        async with self._starting:
            if self._task is None or self._task.done():
                await run_in_threadpool(self._newest)
                self._task = asyncio.create_task(self._look())

    def end(self) -> None:
        """The service ends, or the store is of no use any more: whoever listens is let go."""
        self._ended = True
        self._wake()

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    def _reaches(self, place: int) -> bool:
        """Whether the ring has what comes after this event."""
        return any(after <= place < upto for after, upto, _ in self._ring)

    async def _wait(self) -> bool:
        try:
            await asyncio.wait_for(self._news.wait(), CHECKED)
        except TimeoutError:
            return False
        return True

    def _newest(self) -> list[Event]:
        """The last of the new events."""
        fresh = self.campaign.newest(self._last, MOST)
        self._last = fresh[-1].number if fresh else self._last
        return fresh

    async def _look(self) -> None:
        """While somebody listens, look for new events."""
        while self.listeners and not self._ended:
            before = self._last
            try:
                fresh = await run_in_threadpool(self._newest)
            except StorageDamaged:
                self.end()
                return
            except StopwiseError:  # the store is away: try again
                await asyncio.sleep(4 * TICK)
                continue
            if fresh:
                message = _change(fresh, before)
                self._ring.append((before, self._last, message))
                self._wake()
            await asyncio.sleep(TICK if len(fresh) < MOST else 2 * TICK)


def _change(newest: list[Event], before: int) -> bytes:
    """The last of the events after ``before``."""
    last = newest[-1].number
    found = {"last": last, "events": [event.to_dict() for event in newest]}
    return _message("change", last, {**found, "left_out": last - before - len(newest)})


def _message(kind: str, number: int, data: Any) -> bytes:
    return f"event: {kind}\nid: {number}\ndata: {json.dumps(data)}\n\n".encode()
