"""One thread writes. What waits meanwhile goes together: many changes, one commit."""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import groupby, islice
from typing import Any, NamedTuple

from stopwise.campaign.campaign import Campaign
from stopwise.campaign.errors import StorageAway
from stopwise.campaign.events import Receipt
from stopwise.core.errors import StopwiseError

TOGETHER = 512  # changes in one commit, at most
PAUSE = 0.001  # seconds: where several wait for each commit, those it has just answered come back
WAITING = 10_000  # changes that may wait; more are refused


class Job(NamedTuple):
    """A change of a campaign that somebody waits for: some work, or else samples that are told."""

    name: str
    work: Callable[[Campaign], Any] | None
    tells: Sequence[tuple[str, float]]
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

    async def change(self, name: str, work: Callable[[Campaign], Any]) -> Any:
        """The work's result, once it is stored."""
        return await self._submit(name, work, ())

    async def tell(
        self, name: str, tells: Sequence[tuple[str, float]]
    ) -> list[Receipt | StopwiseError]:
        """Tokens and samples: the receipt of each, once it is stored, or why it is refused."""
        found: list[Receipt | StopwiseError] = await self._submit(name, None, tells)
        return found

    async def _submit(self, name: str, work: Any, tells: Sequence[tuple[str, float]]) -> Any:
        if self.waiting >= WAITING:
            raise StorageAway("too many changes are waiting. Try again.")
        done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._jobs.put(Job(name, work, tells, done))
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
        jobs: list[Job] = []
        over = False
        while not over:
            if len(jobs) > 1:  # half of the commits, each with twice the changes
                time.sleep(PAUSE)
            jobs, over = self._next()
            by_name: dict[str, list[Job]] = {}
            for job in jobs:
                by_name.setdefault(job.name, []).append(job)
            for name, group in by_name.items():
                results = self._together(name, group)
                with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                    group[0].done.get_loop().call_soon_threadsafe(_answer, results)

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
            with campaign.together():
                for telling, jobs in groupby(group, lambda job: job.work is None):
                    results += (_told if telling else _worked)(campaign, list(jobs))
        except Exception as error:  # nothing of the group is stored
            return [(job, None, error) for job in group]
        self.commits += 1
        self.changes += len(group)
        return results


def _told(campaign: Campaign, jobs: list[Job]) -> list[Result]:
    """Tells that come one after another go through the session together."""
    found = iter(campaign.tell_all([each for job in jobs for each in job.tells]))
    return [(job, list(islice(found, len(job.tells))), None) for job in jobs]


def _worked(campaign: Campaign, jobs: list[Job]) -> Iterator[Result]:
    for job in jobs:
        assert job.work is not None
        try:
            yield job, job.work(campaign), None
        except StorageAway:
            raise
        except (StopwiseError, AssertionError) as error:
            yield job, None, error


def _answer(results: list[Result]) -> None:
    """Wake up all who wait."""
    for job, result, refused in results:
        if job.done.cancelled():
            continue  # whoever asked has gone
        if refused is None:
            job.done.set_result(result)
        else:
            job.done.set_exception(refused)
