"""Delays that have to do with the value, measured: docs/what-the-guarantee-covers.md.

    python examples/delays.py [CAMPAIGNS]

One arm, exponential with mean 1.01. Is its mean at most 1? delta = 0.1, up to 200 samples a campaign;
how often is the answer yes, which is wrong? A sample of 0.3 takes 0.3 seconds of a made-up clock.
Samples count in the order asked, as in every new campaign, or as told, as in those of 0.2.0. A sample
that gets lost counts as the worst that it could be, or is left out ("at random").
"""

from __future__ import annotations

import sys
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from stopwise import Campaign, Session, Ticket

SPEC = {
    "question": "thresholding:threshold=1",
    "arms": ["A"],
    "family": "exponential",
    "delta": 0.1,
    "strategy": "uniform",
}
MEAN = 1.01
LEASE = 20.0
MOST = 200


class World(NamedTuple):
    """How samples are taken and told."""

    in_flight: int
    order: str = "asked"
    losses: str = "worst case"
    lost: float = 0.0  # the chance that a sample never comes
    deaths: float = 0.0  # or that its worker dies, in each second
    batches: bool = False  # nothing is asked before the whole batch is told
    crashes: bool = False  # now and then the campaign's process dies, and another one goes on


ROWS = {
    "kept    5 in flight": World(5),
    "kept    20 in flight": World(20),
    "kept    50 in flight": World(50),
    "kept    50 in flight, one in ten lost": World(50, lost=0.1),
    "kept    50 in flight, workers die at work": World(50, deaths=0.3),
    "kept    50 in flight, the campaign's process crashes": World(50, crashes=True),
    "kept    batches of 50, one in ten lost": World(50, lost=0.1, batches=True),
    "broken  50 in flight, workers die, losses at random": World(
        50, losses="at random", deaths=0.3
    ),
    "broken  5 in flight, counted as told": World(5, "told", "at random"),
    "broken  20 in flight, counted as told": World(20, "told", "at random"),
    "broken  50 in flight, counted as told": World(50, "told", "at random"),
}


class Running(NamedTuple):
    """A sample in flight: when it ends, its ticket, and its value (None: it gets lost)."""

    end: float
    number: int
    ticket: Ticket
    value: float | None


def begin(session: Session, random: Generator, world: World, now: float) -> Running:
    """Ask, and set to work."""
    ticket, value = session.ask(), random.exponential(MEAN)
    dies = random.random() < -np.expm1(-world.deaths * value)
    if random.random() < world.lost or dies:
        return Running(now + LEASE, session.number, ticket, None)
    return Running(now + value, session.number, ticket, value)


def says_yes(session: Session, random: Generator, world: World) -> bool:
    """Whether one campaign decides that the mean is at most 1."""
    now, running = 0.0, list[Running]()
    while session.decision is None and session.samples < MOST:
        wait = world.batches and bool(running)  # for the rest of the batch
        while len(running) < world.in_flight and not wait:
            heappush(running, begin(session, random, world, now))
        now, _, ticket, value = heappop(running)
        if value is None:
            session.release(ticket)
        else:
            session.tell(ticket, value)
        if world.crashes and random.random() < 0.05:
            session = resumed(session)
    return session.decision is not None and session.decision.answer == (0,)


def resumed(session: Session) -> Session:
    """The same in another process."""
    other = Session(session.design, session.seed, session.order, losses=session.losses)
    assert other.load(session.dump())
    return other


def wrong(world: World, campaigns: int) -> float:
    """The share of campaigns that are wrong."""
    given = {**SPEC, "order": world.order, "losses": world.losses}
    spec = Campaign.create(given, "memory:", name="demo").spec
    random = np.random.default_rng(1)
    return sum(says_yes(spec.session(), random, world) for _ in range(campaigns)) / campaigns


def main(campaigns: int = 100) -> dict[str, float]:
    found = {}
    for name, world in ROWS.items():
        found[name] = wrong(world, campaigns)
        print(f"{name:<54}{found[name]:>5.0%} wrong")
    return found


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
