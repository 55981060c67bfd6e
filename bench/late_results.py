"""Delays and losses that have to do with the values: wrong answers, with lost values left out and at
their worst.

    python bench/late_results.py [CAMPAIGNS]

One agent solves 30 % of its tasks; is its rate above 20 %? A failure is known after about 2 seconds, a
success after about 200 (exponential times). delta = 0.05. Docs: docs/missing.md.
"""

from __future__ import annotations

import sys
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
from scipy.stats import beta

from stopwise import Ticket
from stopwise.campaign.spec import CampaignSpec, read

AGENT = {
    "question": "thresholding:threshold=0.2",
    "arms": ["agent"],
    "family": "bernoulli",
    "delta": 0.05,
}
MOST = 1500  # asks


class World(NamedTuple):
    """Workers, their leases in seconds (None: the campaign's own rule), and lost successes."""

    workers: int
    lease: float | None = None
    lost: float = 0.0
    rate: float = 0.3


class Found(NamedTuple):
    """Of one campaign."""

    answer: str
    results: int


WORLDS = (
    *(World(workers) for workers in (1, 16, 64)),
    *(World(workers, 60.0) for workers in (16, 64)),
    *(World(workers, lost=0.2) for workers in (1, 16, 64)),
)


def campaign(made: CampaignSpec, rng: np.random.Generator, world: World) -> Found:
    """Workers ask whenever they are free; who outlives a lease is given up, and tells all the same."""
    session, now, asked, slowest = made.session(), 0.0, 0, 0.0
    events, free, results = list[tuple[float, int, str, Ticket, float]](), world.workers, 0
    begun: dict[Ticket, float] = {}
    while session.decision is None and asked < MOST:
        while free:
            ticket, asked, free = session.ask(), asked + 1, free - 1
            value, begun[ticket] = float(rng.random() < world.rate), now
            ends = now + rng.exponential(200.0 if value else 2.0)
            lease = world.lease or (max(60.0, 10.0 * slowest) if slowest else 3600.0)
            if not (value and rng.random() < world.lost):
                heappush(events, (ends, asked, "tell", ticket, value))
            heappush(events, (now + lease, -asked, "release", ticket, value))
        now, _, what, ticket, value = heappop(events)
        flying = session.queue.is_in_flight(int(ticket.token))
        free += flying
        if what == "release" and flying:
            session.release(ticket)
        elif what == "tell":
            results += 1
            slowest = max(slowest, now - begun[ticket])
            session.tell(ticket, value)
    answer = "undecided" if session.decision is None else str(session.decision.answer)
    return Found(answer, results)


def interval(count: int, runs: int) -> str:
    """The exact 95 % interval of a share."""
    low = beta.ppf(0.025, count, runs - count + 1) if count else 0.0
    high = beta.ppf(0.975, count + 1, runs - count) if count < runs else 1.0
    return f"{low:.3f} to {high:.3f}"


def main(runs: int = 200) -> None:
    print(f"{'world':<44}{'losses':<12}{'wrong':>7}  {'95 %':<16}{'open':>6}{'results':>9}")
    for world in WORLDS:
        for losses in ("at random", "worst case"):
            made, rng = read({**AGENT, "losses": losses}), np.random.default_rng(1)
            found = [campaign(made, rng, world) for _ in range(runs)]
            wrong = sum(each.answer == "(0,)" for each in found)
            still = sum(each.answer == "undecided" for each in found)
            name = ", ".join(f"{key} {value}" for key, value in world._asdict().items())
            used = np.mean([each.results for each in found])
            share = f"{wrong / runs:>7.3f}  {interval(wrong, runs):<16}{still / runs:>6.2f}"
            print(f"{name:<44}{losses:<12}{share}{used:>9,.0f}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
