"""Delays that have to do with the value break the promise, measured: docs/what-the-guarantee-covers.md.

    python examples/delays.py [CAMPAIGNS]

One arm, exponential with mean 1.01. Is its mean at most 1? delta = 0.1, up to 300 samples a campaign;
how often is the answer yes, which is wrong? A sample of 0.3 takes 0.3 seconds of a made-up clock.
"""

from __future__ import annotations

import sys
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from stopwise import Campaign, Session

SPEC = {
    "question": "thresholding:threshold=1",
    "arms": ["A"],
    "family": "exponential",
    "delta": 0.1,
    "strategy": "uniform",
}
MEAN = 1.01


class World(NamedTuple):
    """How samples are taken and told."""

    in_flight: int
    by_value: bool = True  # a sample takes as long as it is large; else its time is drawn apart
    in_order: bool = False  # told in the order asked; else when it is finished
    batches: bool = False  # nothing is asked before the whole batch is told


ROWS = {
    "kept    one at a time": World(1),
    "kept    50 in flight, delays that ignore the value": World(50, by_value=False),
    "kept    batches of 50, told in the order asked": World(50, in_order=True, batches=True),
    "kept    50 in flight, told in the order asked": World(50, in_order=True),
    "broken  5 in flight, told when finished": World(5),
    "broken  20 in flight, told when finished": World(20),
    "broken  50 in flight, told when finished": World(50),
}


def says_yes(session: Session, random: Generator, world: World) -> bool:
    """Whether one campaign decides that the mean is at most 1."""
    now, asked, told = 0.0, 0, 0
    running: list[tuple[float, int, float]] = []  # when it ends, its number, its value
    finished: dict[int, float] = {}  # but not told yet
    while session.decision is None and session.samples < 300:
        wait = world.batches and bool(running)  # for the rest of the batch
        while len(running) < world.in_flight and not wait:
            session.ask()
            value = random.exponential(MEAN)
            delay = value if world.by_value else random.exponential(MEAN)
            heappush(running, (now + delay, asked, value))
            asked += 1
        now, number, value = heappop(running)
        finished[number if world.in_order else told] = value
        while told in finished and session.decision is None:
            session.tell(0, finished.pop(told))
            told += 1
    return session.decision is not None and session.decision.answer == (0,)


def wrong(world: World, campaigns: int) -> float:
    """The share of campaigns that are wrong."""
    spec = Campaign.create(SPEC, "memory:", name="demo").spec
    random = np.random.default_rng(1)
    return sum(says_yes(spec.session(), random, world) for _ in range(campaigns)) / campaigns


def main(campaigns: int = 300) -> dict[str, float]:
    found = {}
    for name, world in ROWS.items():
        found[name] = wrong(world, campaigns)
        print(f"{name:<54}{found[name]:>5.0%} wrong")
    return found


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
