"""One thread writes: many changes of one campaign in one commit, and campaigns in turns."""

from __future__ import annotations

import asyncio
import json
import logging
import queue
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import groupby, islice
from typing import Any, NamedTuple

from stopwise.campaign.campaign import Campaign
from stopwise.campaign.errors import StorageAway, StorageError, TooManyWait
from stopwise.campaign.events import Receipt
from stopwise.core.errors import StopwiseError
from stopwise.web.turns import Turns

PAUSE = 0.001  # seconds: where several wait for each commit, those it has just answered come back
WAITING = 10_000  # changes that may wait; more are refused
OF_ONE = 5_000  # of one campaign: a slow one does not use up the places of all others
FAULT = "a fault of the service: nothing was stored. Its log has the details."
log = logging.getLogger("stopwise.web")


class InternalError(StopwiseError):
    """The service has a fault; nothing of the request is stored."""

    http_status = 500


class Job:
    """A change of a campaign that somebody waits for: some work, or else samples that are told."""

    __slots__ = ("done", "name", "place", "tells", "told", "work")

    def __init__(
        self, name: str, work: Callable[[Campaign], Any] | None, tells: Sequence[tuple[str, float]]
    ) -> None:
        self.name, self.work, self.tells = name, work, tells
        self.done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.told: list[Receipt | StopwiseError] = []  # of the first tells, so far
        self.place = 0  # of the next tell


class Part(NamedTuple):
    """What one commit stores of a job: all of it, or some of its tells."""

    job: Job
    tells: Sequence[tuple[str, float]]
    last: bool


Result = tuple[Part, Any, Exception | None]


class Writer:
    """Changes of campaigns: those of one campaign in the order in which they come."""

    def __init__(self, campaign: Callable[[str], Campaign]) -> None:
        self._campaign = campaign  # by its name
        self._inbox: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._queues: dict[str, deque[Job]] = {}  # of campaigns with changes that wait
        self._turns = Turns()
        self._over = False
        self.waiting = 0  # changes that somebody waits for; of each campaign:
        self._waiting: dict[str, int] = {}
        self.commits = 0
        self.changes = 0
        self._thread = threading.Thread(target=self._write, name="stopwise-writer", daemon=True)
        self._thread.start()

    async def change(self, name: str, work: Callable[[Campaign], Any]) -> Any:
        """The work's result, once it is stored."""
        return await self._submit(Job(name, work, ()))

    async def tell(
        self, name: str, tells: Sequence[tuple[str, float]]
    ) -> list[Receipt | StopwiseError]:
        """Tokens and samples: the receipt of each, once it is stored, or why it is refused."""
        found: list[Receipt | StopwiseError] = await self._submit(Job(name, None, tells))
        return found

    async def _submit(self, job: Job) -> Any:
        own = self._waiting.get(job.name, 0)
        if self.waiting >= WAITING or own >= OF_ONE:
            raise StorageAway("too many changes are waiting. Try again.")
        self.waiting += 1
        self._waiting[job.name] = own + 1
        self._inbox.put(job)
        return await job.done

    def close(self) -> None:
        """Finish what waits, and end."""
        self._inbox.put(None)
        self._thread.join()

    def _write(self) -> None:
        seconds: float | None = None
        while not (self._over and not self._queues):
            self._collect(0.0 if self._over else seconds)
            name, seconds = self._turns.next(self._queues)
            if name is None:
                continue
            start, computed = time.monotonic(), time.thread_time()
            parts = self._take(self._queues[name], self._turns.quota(name))
            self._turn(name, parts)
            taken = sum(len(part.tells) or 1 for part in parts)
            self._turns.used(name, taken, time.thread_time() - computed, time.monotonic() - start)
            if not self._queues[name]:
                del self._queues[name]
            seconds = 0.0 if self._queues else None
            if len(parts) > 1 and self._queues.keys() <= {name}:
                time.sleep(PAUSE)  # half of the commits, each with twice the changes

    def _collect(self, seconds: float | None) -> None:
        """Sort what has come by its campaign; wait so long for the first (None: until it comes)."""
        with suppress(queue.Empty):
            job = self._inbox.get(timeout=seconds) if seconds != 0.0 else self._inbox.get_nowait()
            while True:
                if job is None:
                    self._over = True
                else:
                    self._queues.setdefault(job.name, deque()).append(job)
                job = self._inbox.get_nowait()

    def _take(self, waiting: deque[Job], quota: int) -> list[Part]:
        """The next changes of a campaign, so many at most: also a part of the tells of a job."""
        parts: list[Part] = []
        while waiting and quota > 0:
            job = waiting[0]
            tells = job.tells if len(job.tells) == 1 else job.tells[job.place : job.place + quota]
            job.place += len(tells)
            quota -= len(tells) or 1
            last = job.place == len(job.tells)
            parts.append(Part(job, tells, last))
            if last:
                waiting.popleft()
        return parts

    def _turn(self, name: str, parts: list[Part]) -> None:
        results = self._together(name, parts)
        for part, told, refused in results:
            if refused is None and not part.last:
                part.job.told += told
            elif not part.last:  # the rest of a job that has failed
                self._queues[name].popleft()
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            parts[0].job.done.get_loop().call_soon_threadsafe(self._answer, name, results)

    def _answer(self, name: str, results: list[Result]) -> None:
        """Wake up all who wait."""
        finished = 0
        for part, result, refused in results:
            job = part.job
            finished += part.last or refused is not None
            if job.done.done():
                continue  # whoever asked has gone
            if refused is not None:
                job.done.set_exception(refused)
            elif part.last:
                job.done.set_result(job.told + result if job.told else result)
        self.waiting -= finished
        self._waiting[name] -= finished
        if not self._waiting[name]:
            del self._waiting[name]

    def _together(self, name: str, parts: list[Part]) -> list[Result]:
        """What came of each, stored or refused.

        If the storage is away, that is so for all. Any other error is somebody's own: nothing of the
        group is stored, so each goes once more, alone.
        """
        try:
            results = self._stored(self._campaign(name), parts)
        except StorageAway as error:
            return [(part, None, error) for part in parts]
        except Exception as error:
            if len(parts) > 1:
                return [result for part in parts for result in self._together(name, [part])]
            return [(parts[0], None, error if isinstance(error, StopwiseError) else fault(error))]
        self.commits += 1
        self.changes += len(parts)
        return results

    def _stored(self, campaign: Campaign, parts: list[Part]) -> list[Result]:
        results: list[Result] = []
        with campaign.together():
            for telling, some in groupby(parts, lambda part: part.job.work is None):
                results += (_told if telling else _worked)(campaign, list(some))
        return results


def _told(campaign: Campaign, parts: list[Part]) -> list[Result]:
    """Tells that come one after another go through the session together."""
    found = iter(campaign.tell_all([each for part in parts for each in part.tells]))
    return [(part, list(islice(found, len(part.tells))), None) for part in parts]


def _worked(campaign: Campaign, parts: list[Part]) -> Iterator[Result]:
    for part in parts:
        assert part.job.work is not None
        try:
            yield part, part.job.work(campaign), None
        except TooManyWait as error:
            yield part, None, error
        except StorageError:
            raise
        except StopwiseError as error:
            yield part, None, error


def fault(error: Exception) -> InternalError:
    """What nobody expected: logged, and told without its details."""
    log.error(json.dumps({"fault": "".join(traceback.format_exception(error))}))
    return InternalError(FAULT)
