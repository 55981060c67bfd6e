"""One thread writes. What waits meanwhile goes together: many changes, one commit."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from stopwise.campaign.campaign import Campaign
from stopwise.campaign.errors import StorageAway
from stopwise.core.errors import StopwiseError

TOGETHER = 512  # changes in one commit, at most
WAITING = 10_000  # changes that may wait; more are refused


class Job(NamedTuple):
    """A change of a campaign that somebody waits for, and the tokens that it will look up."""

    name: str
    work: Callable[[Campaign], Any]
    tokens: Sequence[str]
    done: asyncio.Future[Any]


Result = tuple[Job, Any, Exception | None]


class Writer:
    """Changes of campaigns, in the order in which they come."""

    def __init__(self, campaign: Callable[[str], Campaign]) -> None:
        self._campaign = campaign  # by its name
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self.commits = 0
        self.changes = 0
        self._thread = threading.Thread(target=self._write, name="stopwise-writer", daemon=True)
        self._thread.start()

    async def change(
        self, name: str, work: Callable[[Campaign], Any], tokens: Sequence[str] = ()
    ) -> Any:
        """The work's result, once it is stored."""
        if self.waiting >= WAITING:
            raise StorageAway("too many changes are waiting. Try again.")
        done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._jobs.put(Job(name, work, tokens, done))
        return await done

    @property
    def waiting(self) -> int:
        """Changes that wait."""
        return self._jobs.qsize()

    def close(self) -> None:
        """Finish what waits, and end."""
        self._jobs.put(None)
        self._thread.join()

    def _write(self) -> None:
        while True:
            jobs, over = self._next()
            by_name: dict[str, list[Job]] = {}
            for job in jobs:
                by_name.setdefault(job.name, []).append(job)
            for name, group in by_name.items():
                results = self._together(name, group)
                with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                    group[0].done.get_loop().call_soon_threadsafe(_answer, results)
            if over:
                return

    def _next(self) -> tuple[list[Job], bool]:
        """All that waits, at least one; and whether it was the end."""
        found: list[Job] = []
        job = self._jobs.get()
        while job is not None and len(found) < TOGETHER:
            found.append(job)
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                return found, False
        if job is not None:
            found.append(job)
        return found, job is None

    def _together(self, name: str, group: list[Job]) -> list[Result]:
        """What came of each, stored or refused."""
        results: list[Result] = []
        try:
            campaign = self._campaign(name)
            with campaign.together([token for job in group for token in job.tokens]):
                for job in group:
                    try:
                        results.append((job, job.work(campaign), None))
                    except (StopwiseError, AssertionError) as error:
                        if isinstance(error, StorageAway):
                            raise
                        results.append((job, None, error))
        except Exception as error:  # nothing of the group is stored
            return [(job, None, error) for job in group]
        self.commits += 1
        self.changes += len(group)
        return results


def _answer(results: list[Result]) -> None:
    """Wake up all who wait."""
    for job, result, refused in results:
        if job.done.cancelled():
            continue  # whoever asked has gone
        if refused is None:
            job.done.set_result(result)
        else:
            job.done.set_exception(refused)
