"""Long answers in pieces, made in a thread, one at a time: in a small share of the time of writers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import BinaryIO

from pydantic_core import to_json
from starlette.concurrency import run_in_threadpool

from stopwise.campaign.campaign import Campaign
from stopwise.web.writer import Writer

EVENTS = 250  # in one piece
BYTES = 64_000
SHARE = 0.1  # of the time that reading may take while somebody writes


class Reading:
    """All who read records, one piece at a time."""

    def __init__(self, writer: Writer) -> None:
        self._writer, self._one = writer, asyncio.Semaphore(1)

    async def events(self, campaign: Campaign, after: int, limit: int) -> AsyncIterator[bytes]:
        """The record from there on as JSON; its first piece comes with the first call."""
        start, left = b"[", limit
        while left > 0:
            text, last, count = await self._piece(campaign, after, min(left, EVENTS))
            if count:
                yield start + text[1:-1]
                start = b","
            after, left = last, left - count if count == min(left, EVENTS) else 0
        yield b"]" if start == b"," else b"[]"

    async def _piece(self, campaign: Campaign, after: int, most: int) -> tuple[bytes, int, int]:
        """Events as JSON, the last one's number, and how many; then a pause, if somebody writes."""
        async with self._one:
            changes, start = self._writer.changes, time.perf_counter()
            found = await run_in_threadpool(_events, campaign, after, most)
            if self._writer.changes != changes or self._writer.waiting:
                await asyncio.sleep((time.perf_counter() - start) * (1.0 / SHARE - 1.0))
            return found


def _events(campaign: Campaign, after: int, most: int) -> tuple[bytes, int, int]:
    found = campaign.events(after, most)
    last = found[-1].number if found else after
    return to_json([event.to_dict() for event in found]), last, len(found)


async def file(opened: BinaryIO) -> AsyncIterator[bytes]:
    """A file from the disk."""
    with opened:
        while piece := await run_in_threadpool(opened.read, BYTES):
            yield piece
