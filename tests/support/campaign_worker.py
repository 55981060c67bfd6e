"""Worker processes that may be killed at any moment, and a nursery that starts them quickly.

As a script this is the nursery: it imports everything once, and forks a worker for each line that it
reads. The rest is for tests: ``Nursery`` talks to it, a ``Crew`` works on one campaign, and
``acknowledged`` reads what workers wrote down.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from stopwise import BadArgument, Campaign, CampaignExists, CampaignPaused, Receipt, StorageAway

T = TypeVar("T")
PATIENCE = 120.0
# means that are equal, and a delta so small that there is no decision
SPEC = {"question": "best-arm", "arms": ["a", "b", "c"], "family": "bernoulli", "delta": 1e-12}
PAIRED = {**SPEC, "paired": True}


def patiently(call: Callable[[], T]) -> T:
    """Try again while the storage is away."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return call()
        except StorageAway:
            if time.monotonic() > end:
                raise
            time.sleep(0.02)


def create(storage: str, name: str, gate: str) -> None:
    """All at once: wait for the gate, create, and take one sample."""
    while not os.path.exists(gate):
        time.sleep(0.0005)
    campaign = Campaign.create(SPEC, storage, name)
    (ticket,) = campaign.ask()
    campaign.tell(ticket.token, 1)


def rounds(storage: str, name: str, book: str, stop: str, seed: int) -> None:
    """Ask and tell until told to stop; write down every acknowledged sample, durably."""
    lots = random.Random(seed)
    campaign = patiently(lambda: Campaign.open(name, storage))
    with open(book, "xb", buffering=0) as file:

        def note(receipt: Receipt) -> None:
            file.write(json.dumps(receipt._asdict()).encode() + b"\n")
            os.fsync(file.fileno())

        while not os.path.exists(stop):
            count = lots.choice((1, 1, 2, 3))
            if lots.random() < 0.1:
                manage(campaign, lots)
            try:
                tickets = patiently(lambda count=count: campaign.ask(count))  # type: ignore[misc]
            except CampaignPaused:
                patiently(campaign.resume)
                patiently(campaign.unarchive)
                continue
            lots.shuffle(tickets)
            for ticket in tickets:
                value = float(lots.random() < 0.5)
                receipt = patiently(
                    lambda token=ticket.token, value=value: campaign.tell(token, value)  # type: ignore[misc]
                )
                note(receipt)
                if lots.random() < 0.1:
                    assert patiently(lambda r=receipt: campaign.tell(r.token, r.value)) == receipt  # type: ignore[misc]
            if lots.random() < 0.2 and campaign.spec.pairs is None:
                arm, token = lots.randrange(3), f"own {lots.getrandbits(64):x}"
                note(patiently(lambda arm=arm, token=token: campaign.record(arm, 1, token)))  # type: ignore[misc]


def until_paused(storage: str, name: str, book: str, stop: str, seed: int, done: str) -> None:
    """Ask and tell until somebody pauses the campaign."""
    lots, campaign = random.Random(seed), patiently(lambda: Campaign.open(name, storage))
    with open(book, "xb", buffering=0) as file:
        try:
            while True:
                for ticket in patiently(lambda: campaign.ask(2)):
                    receipt = campaign.tell(ticket.token, float(lots.random() < 0.5))
                    file.write(json.dumps(receipt._asdict()).encode() + b"\n")
        except CampaignPaused:
            with open(done, "ab") as end:
                end.write(b".")


def manage(campaign: Campaign, lots: random.Random) -> None:
    """What people do meanwhile."""
    what: Callable[[], bool] = lots.choice(
        (
            lambda: campaign.pause("for a moment"),
            campaign.resume,
            campaign.archive,
            campaign.unarchive,
            lambda: campaign.note("still here"),
            lambda: campaign.rename(f"crew {lots.randrange(3)}"),
            lambda: campaign.change(budget=lots.randrange(10**6, 10**7), minimum=lots.randrange(5)),
            lambda: campaign.change(labels={campaign.labels[0]: f"a{lots.randrange(100)}"}),
        )
    )
    with suppress(BadArgument, CampaignExists):  # the label has changed; two names at once
        patiently(what)
    if lots.random() < 0.5:
        patiently(campaign.unarchive)


def nursery(*known: Callable[..., None]) -> None:
    """Fork a worker for each line; at the end of the input say how they ended."""
    works, pids = {work.__name__: work for work in known}, []
    for line in sys.stdin:
        task = json.loads(line)
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                works[task.pop("work")](**task)
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(code)
        pids.append(pid)
        print(pid, flush=True)
    codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]
    print(json.dumps(codes), flush=True)


class Nursery:
    """Starts workers, and kills them."""

    def __init__(self, script: str = __file__) -> None:
        self._process = subprocess.Popen(
            [sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def spawn(self, **task: Any) -> int:
        """A new worker's process number."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(task) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def kill(self, pid: int) -> None:
        """kill -9 of a worker that this nursery started."""
        os.kill(pid, signal.SIGKILL)

    def join(self) -> list[int]:
        """How all workers ended: 0 is well, -9 killed."""
        output, _ = self._process.communicate(timeout=2 * PATIENCE)
        return json.loads(output)


def acknowledged(folder: Path) -> list[Receipt]:
    """All that workers have written down; a last line may be half written."""
    found = []
    for path in folder.glob("book-*"):
        for line in path.read_bytes().split(b"\n")[:-1]:
            found.append(Receipt(**json.loads(line)))
    return found


class Crew:
    """Workers on one campaign, each with a book of its own."""

    def __init__(self, storage: str, folder: Path, spec: dict[str, Any] = SPEC) -> None:
        self.storage, self.folder, self.started = storage, folder, 0
        self.stop = folder / "stop"
        self.campaign = Campaign.create(spec, storage, "crew")
        self.nursery = Nursery()

    def hire(self, work: str = "rounds", **more: Any) -> tuple[int, Path]:
        """Another worker, and its book."""
        self.started += 1
        book = self.folder / f"book-{self.started}"
        pid = self.nursery.spawn(
            work=work, storage=self.storage, name="crew", book=str(book), stop=str(self.stop),
            seed=self.started, **more,
        )  # fmt: skip
        return pid, book

    def finish(self) -> list[int]:
        """Everybody goes home; how they ended."""
        self.stop.touch()
        return self.nursery.join()

    def check(self) -> int:
        """Everything that was acknowledged is on record once, as it was; how much that is."""
        campaign, receipts = Campaign.open("crew", self.storage), acknowledged(self.folder)
        record = campaign.events()
        taken = {event.token: event for event in record if event.kind in ("told", "recorded")}
        assert len(taken) == sum(event.kind in ("told", "recorded") for event in record)
        lost = [receipt for receipt in receipts if receipt.token not in taken]
        assert not lost, f"{len(lost)} acknowledged tells lost: {lost[:3]}"
        assert len({receipt.token for receipt in receipts}) == len(receipts)
        for receipt in receipts:
            event = taken[receipt.token]
            assert (event.number, event.arm, event.value) == receipt[:1] + receipt[2:4]
        asked = {event.token for event in record if event.kind == "asked"}
        gone = {event.token: event.note for event in record if event.kind == "released"}
        assert set(gone.values()) <= {"lease expired"}, "a lease ends by a tell or by time only"
        status, counts = campaign.status(), [event for event in taken.values() if not event.late]
        assert status.samples + status.waiting == len(counts)
        assert {event.token for event in taken.values() if event.late} <= set(gone)
        assert status.in_flight == len(asked - set(taken) - set(gone))
        found = campaign.verify()
        assert found.agrees, found
        return len(receipts)


def wait_until(what: str, true: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, f"waited in vain: {what}"
        time.sleep(0.002)


if __name__ == "__main__":
    nursery(create, rounds, until_paused)
