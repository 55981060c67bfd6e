"""Comparing prompts with three worker processes, one of which is killed on the way.

    python examples/several_workers.py [FOLDER]

The workers share one SQLite file. One is killed (signal 9) between an ask and its tell; when the
lease has ended, the next ask releases that sample. Nothing that was told is lost: the record verifies.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
import random
import signal
import sys
import time
from collections import Counter
from multiprocessing.synchronize import Barrier
from pathlib import Path

from stopwise import BudgetSpent, Campaign, CampaignDecided, StorageAway, Ticket

NAME = "prompts"
SPEC = {
    "question": {"kind": "best-arm", "epsilon": 0.05},
    "arms": ["plain", "step by step", "with examples", "terse"],
    "family": "bernoulli",
    "delta": 0.05,
    "budget": 5000,
}
RATES = {"plain": 0.5, "step by step": 0.85, "with examples": 0.6, "terse": 0.35}
LEASE = 0.5  # seconds; yours will be minutes
NEVER = -1


def solved(prompt: str) -> int:
    """A model answers a task and a judge looks at it; here both are made up, and quick."""
    time.sleep(0.005)
    return int(random.random() < RATES[prompt])


def work(file: Path, last: int, start: Barrier) -> None:
    """One worker: ask, work, tell, until there is a decision; or until it dies at its last sample."""
    campaign = Campaign.open(NAME, file)
    start.wait()  # for this show only: all begin together
    for number in itertools.count(1):
        try:
            (ticket,) = campaign.ask(lease=LEASE)
        except (CampaignDecided, BudgetSpent):
            return
        if number == last:
            os.kill(os.getpid(), signal.SIGKILL)
        tell_surely(campaign, ticket, solved(ticket.label))


def tell_surely(campaign: Campaign, ticket: Ticket, value: float) -> None:
    """A tell is safe to repeat: its token counts once."""
    while True:
        try:
            campaign.tell(ticket.token, value)
            return
        except StorageAway:
            time.sleep(1)


def main(folder: Path) -> Campaign:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "several_workers.db"
    file.unlink(missing_ok=True)
    campaign = Campaign.create(SPEC, file, name=NAME)
    spawn = multiprocessing.get_context("spawn")
    lasts, start = (3, NEVER, NEVER), spawn.Barrier(3)
    workers = [spawn.Process(target=work, args=(file, last, start)) for last in lasts]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print("exit codes of the workers:", [worker.exitcode for worker in workers])
    print(campaign.status(), "\n")
    print(dict(Counter(event.kind for event in campaign.events())))
    print(campaign.verify())
    return campaign


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("out"))
