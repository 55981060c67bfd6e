"""What keeps a campaign's promise and what breaks it, measured: docs/what-the-guarantee-covers.md.

    python examples/guarantee.py [CAMPAIGNS]

Two arms, delta = 0.1, up to 300 samples a campaign; how often is the wrong arm named?
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
from numpy.random import Generator

from stopwise import Campaign, Session, Ticket

World = Callable[[Generator, int, int], float | None]  # a sample of an arm, None if it gets lost
SPEC = {
    "question": "best-arm",
    "arms": ["A", "B"],
    "family": {"kind": "gaussian", "variance": 1},
    "delta": 0.1,
    "strategy": "uniform",
}


def close(random: Generator, arm: int, time: int) -> float:
    """A is a little better: too little for 300 samples."""
    return random.normal([0.05, 0.0][arm])


def lossy(random: Generator, arm: int, time: int) -> float | None:
    """B is better, but poor results of A never arrive."""
    value = random.normal([0.0, 0.5][arm])
    return None if arm == 0 and value < 0.5 else value


def novelty(random: Generator, arm: int, time: int) -> float:
    """A is better for the first 100 samples, and worse ever after."""
    return random.normal([1.0 if time < 100 else -1.0, 0.0][arm])


def wide(random: Generator, arm: int, time: int) -> float:
    """The variance is 4; the spec says 1."""
    return 2 * close(random, arm, time)


def copies() -> World:
    """Each value comes ten times."""
    kept: dict[int, tuple[float, int]] = {}

    def copied(random: Generator, arm: int, time: int) -> float:
        value, left = kept.get(arm, (0.0, 0))
        if left == 0:
            value, left = close(random, arm, time), 10
        kept[arm] = value, left - 1
        return value

    return copied


def one(session: Session, random: Generator, world: World, in_flight: int) -> int | None:
    """The answer of one campaign, if it gives any; samples are told in random order."""
    waiting: list[Ticket] = []
    while session.decision is None and session.samples < 300:
        while len(waiting) < in_flight:
            waiting.append(session.ask())
        ticket = waiting.pop(random.integers(len(waiting)))
        value = world(random, ticket.arm, session.samples)
        if value is None:
            session.release(ticket)
        else:
            session.tell(ticket, value)
    return None if session.decision is None else session.decision.answer


def wrong(
    world: World, best: int, in_flight: int, campaigns: int, losses: str = "worst case"
) -> float:
    """The share of campaigns that name the wrong arm."""
    spec = Campaign.create({**SPEC, "losses": losses}, "memory:", name="demo").spec
    random = np.random.default_rng(1)
    answers = [one(spec.session(), random, world, in_flight) for _ in range(campaigns)]
    return sum(answer is not None and answer != best for answer in answers) / campaigns


def main(campaigns: int = 100) -> dict[str, float]:
    rows: list[tuple[str, World, int, int] | tuple[str, World, int, int, str]] = [
        ("kept    one after another", close, 0, 1),
        ("kept    50 in flight, told in any order", close, 0, 50),
        ("kept    poor results get lost", lossy, 1, 1),
        ("broken  the same, taken for random", lossy, 1, 1, "at random"),
        ("broken  the arms change", novelty, 1, 1),
        ("broken  the variance is wrong", wide, 0, 1),
        ("broken  every value ten times", copies(), 0, 1),
    ]
    found = {}
    for name, world, best, in_flight, *losses in rows:
        found[name] = wrong(world, best, in_flight, campaigns, *losses)
        print(f"{name:<42}{found[name]:>5.0%} wrong")
    return found


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
