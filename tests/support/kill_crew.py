"""Processes that work until they are killed, and write down durably what has returned to them.

Run as a script it is a nursery: a process that has loaded everything, and forks a worker for each line.
"""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import stopwise as sw
from campaign_worker import Nursery, nursery, patiently
from stopwise.campaign.spool import Spool
from stopwise.campaign.storage.store import Store

NAME = "crew"
ROWS = 20  # of a file that is imported
LEASE = 20.0  # seconds: tickets whose worker was killed hold up the others no longer


def write_down(book: BinaryIO, **line: Any) -> None:
    """On disk when this returns."""
    book.write(json.dumps(line).encode() + b"\n")
    os.fsync(book.fileno())


def lines(folder: Path) -> Iterator[dict[str, Any]]:
    """Everything that was written down; a last line may be half written."""
    for path in folder.glob("book-*"):
        yield from map(json.loads, path.read_bytes().split(b"\n")[:-1])


def results(folder: Path, lots: random.Random) -> Path:
    """A file of results that nobody else has."""
    path = folder / f"results-{lots.getrandbits(64):016x}.csv"
    rows = [
        f"{'ab'[lots.randrange(2)]},{lots.randrange(2)},{path.stem} {row}" for row in range(ROWS)
    ]
    path.write_text("\n".join(["arm,value,key", *rows]) + "\n")
    return path


def manage(campaign: Any, lots: random.Random, folder: Path, book: BinaryIO) -> None:
    """What people do meanwhile: lifecycle commands and imports."""
    what = lots.choice(("pause", "archive", "rename", "note", "note", "import", "import"))
    if what == "pause":
        campaign.pause("for a moment")
    elif what == "archive":
        campaign.archive()
    elif what == "rename":
        with suppress(sw.CampaignExists):  # two names at once
            campaign.rename(f"{NAME} {lots.randrange(3)}")
    elif what == "note":
        text = f"note {lots.getrandbits(64):x}"
        campaign.note(text)
        write_down(book, note=text)
    else:
        path = results(folder, lots)
        campaign.import_results(path, id="key")
        write_down(book, file=path.name)
    campaign.resume()
    campaign.unarchive()


def tells(url: str, outbox: str, folder: str, book: str, stop: str, seed: int) -> None:
    """Ask and tell over HTTP; ``tell`` returns a receipt, or None: then the outbox has it."""
    lots = random.Random(seed)
    client = sw.Client(url, spool=outbox, patience=0.5, timeout=5)
    campaign = sw.RemoteCampaign(client, NAME)
    with open(book, "xb", buffering=0) as file:
        while not os.path.exists(stop):
            try:
                if lots.random() < 0.1:
                    manage(campaign, lots, Path(folder), file)
                tickets = campaign.ask(lots.choice((1, 1, 2, 3)), LEASE)
            except sw.StorageAway:
                continue
            except sw.CampaignPaused:
                with suppress(sw.StorageAway):
                    campaign.resume()
                    campaign.unarchive()
                continue
            for ticket in tickets:
                value = float(lots.random() < 0.5)
                found = campaign.tell(ticket.token, value)
                write_down(file, token=ticket.token, value=value, kept=found is None)


def flushes(url: str, outbox: str, folder: str, book: str, stop: str, seed: int) -> None:
    """Another program of the same user, which shares the outbox: it sends what waits."""
    lots, client = random.Random(seed), sw.Client(url, spool=outbox, patience=0, timeout=5)
    with open(book, "xb", buffering=0):
        while not os.path.exists(stop):
            client.flush()
            time.sleep(lots.uniform(0.0, 0.01))


def manages(storage: str, folder: str, book: str, stop: str, seed: int) -> None:
    """Lifecycle commands and imports, and samples between them, without a service."""
    lots, campaign = random.Random(seed), patiently(lambda: sw.Campaign.open(NAME, storage))
    with open(book, "xb", buffering=0) as file:
        while not os.path.exists(stop):
            with suppress(sw.StorageAway, sw.CampaignPaused):
                manage(campaign, lots, Path(folder), file)
                for ticket in campaign.ask(2, LEASE):
                    value = float(lots.random() < 0.5)
                    campaign.tell(ticket.token, value)
                    write_down(file, token=ticket.token, value=value)


def migrates(storage: str, gate: str) -> None:
    """Bring a storage of an older version up to date."""
    _wait(gate)
    Store(storage).close()


def migrates_outbox(outbox: str, gate: str) -> None:
    """Bring an outbox of 0.3.0 up to date."""
    _wait(gate)
    Spool(Path(outbox)).close()


def _wait(gate: str) -> None:
    while not os.path.exists(gate):
        time.sleep(0.0005)


class Crew(Nursery):
    """Workers that share a folder, each with a book of its own."""

    def __init__(self, folder: Path) -> None:
        super().__init__(__file__)
        self.folder, self.started, self.killed = folder, 0, 0

    def work(self, work: str, **task: Any) -> int:
        """A new worker; its process number."""
        self.started += 1
        book = str(self.folder / f"book-{self.started}")
        more = {"folder": str(self.folder), "book": book, "stop": str(self.folder / "stop")}
        return self.spawn(work=work, seed=self.started, **more, **task)

    def kill(self, pid: int) -> None:
        """kill -9 of a worker, counted."""
        super().kill(pid)
        self.killed += 1

    def join(self) -> list[int]:
        """Everybody goes home; how all workers ended: 0 is well, -9 killed."""
        (self.folder / "stop").touch()
        return super().join()


if __name__ == "__main__":
    nursery(tells, flushes, manages, migrates, migrates_outbox)
