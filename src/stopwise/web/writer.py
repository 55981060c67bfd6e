"""One thread writes. What waits meanwhile goes together: many changes, one commit."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, NamedTuple

from stopwise.campaign.campaign import Campaign
from stopwise.campaign.errors import StorageAway
from stopwise.campaign.storage.store import Store
from stopwise.core.errors import StopwiseError

TOGETHER = 512  # changes in one commit, at most
WAITING = 10_000  # changes that may wait; more are refused


class Job(NamedTuple):
    """A change of a campaign that somebody waits for."""

    name: str
    work: Callable[[Campaign], Any]
    done: Future[Any]


class Writer:
    """Changes of campaigns, in the order in which they come."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._jobs: queue.Queue[Job | None] = queue.Queue(WAITING)
        self._campaigns: dict[str, Campaign] = {}
        self.commits = 0
        self.changes = 0
        self._thread = threading.Thread(target=self._write, name="stopwise-writer", daemon=True)
        self._thread.start()

    def submit(self, name: str, work: Callable[[Campaign], Any]) -> Future[Any]:
        """The work's result, once it is stored."""
        done: Future[Any] = Future()
        try:
            self._jobs.put_nowait(Job(name, work, done))
        except queue.Full:
            done.set_exception(StorageAway("too many changes are waiting. Try again."))
        return done

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
                self._together(name, group)
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

    def _together(self, name: str, group: list[Job]) -> None:
        results: list[tuple[Job, Any, Exception | None]] = []
        try:
            if name not in self._campaigns:
                self._campaigns[name] = Campaign.open(name, self._store)
            campaign = self._campaigns[name]
            with campaign.together():
                for job in group:
                    try:
                        results.append((job, job.work(campaign), None))
                    except (StopwiseError, AssertionError) as error:
                        if isinstance(error, StorageAway):
                            raise
                        results.append((job, None, error))
            self.commits += 1
            self.changes += len(group)
        except Exception as error:  # nothing of the group is stored
            results = [(job, None, error) for job in group]
        for job, result, refused in results:
            if not job.done.set_running_or_notify_cancel():
                continue  # whoever asked has gone
            if refused is None:
                job.done.set_result(result)
            else:
                job.done.set_exception(refused)
