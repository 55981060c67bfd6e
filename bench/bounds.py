"""What a round costs by each strategy of docs/bounds.md, at ten arms: nanoseconds by CPU time.

Each with its own stopping rule, by one worker, the least of several turns; the limit is a microsecond.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import stopwise as sw

LIMIT, TURNS = 1000.0, 3
BEST = sw.BestArm(10), [0.5, *np.linspace(0.45, 0.3, 9)], sw.Bernoulli(), 0.1
LOW = sw.AnyLowArm(10, -0.5), [-0.65] * 10, sw.Gaussian(1.0), 0.001
NONE = sw.AnyLowArm(10, -0.5), [-0.25] * 10, sw.Gaussian(1.0), 0.001
SIDES = sw.Thresholding(10, 0.5), list(np.linspace(0.35, 0.65, 10)), sw.Bernoulli(), 0.1
STYLIZED = "stylized"
ROWS: list[tuple[Any, Any, Any]] = [
    (sw.KLLUCB(STYLIZED), sw.BoundsApart(STYLIZED), BEST),
    (sw.KLLUCB(), sw.BoundsApart(), BEST),
    (sw.UGAPE(STYLIZED), sw.BoundsApart(STYLIZED), BEST),
    (sw.UGAPE(), sw.BoundsApart(), BEST),
    (sw.KLRacing(STYLIZED), sw.LastLeft("kl", STYLIZED), BEST),
    (sw.ChernoffRacing(STYLIZED), sw.LastLeft("chernoff", STYLIZED), BEST),
    (sw.SuccessiveElimination(), sw.LastLeft("elimination"), BEST),
    (sw.LilUCB(), sw.MostSampled(), BEST),
    *((a, b, asked) for asked in (LOW, NONE) for a, b in (
        (sw.SEE(), sw.QualifiedArm()),
        (sw.MurphySampling(), sw.JourdanReda()),
        (sw.APGAI(), sw.JourdanReda()),
        (sw.HDOC(), sw.BeyondLimit()),
        (sw.LUCBG(), sw.BeyondLimit()),
    )),
    (sw.APT(), sw.Stylized(), SIDES),
]  # fmt: skip


def nanoseconds(strategy: Any, stopping: Any, asked: Any, repetitions: int = 40) -> float:
    """A round's CPU time."""
    problem, means, family, delta = asked
    settings: dict[str, Any] = {
        "family": family, "strategy": strategy, "stopping": stopping, "delta": delta, "seed": 1,
        "workers": 1, "progress": False, "max_rounds": 100_000,
    }  # fmt: skip
    sw.simulate(problem, means, repetitions=1, **settings)  # compile
    best = np.inf
    for _ in range(TURNS):
        start = time.process_time()
        found = sw.simulate(problem, means, repetitions=repetitions, **settings)
        best = min(best, (time.process_time() - start) / float(found.counts.sum()))
    return 1e9 * best


def main() -> None:
    """Print the table."""
    for strategy, stopping, asked in ROWS:
        cost = nanoseconds(strategy, stopping, asked)
        name = f"{strategy!r} with {stopping!r}, {'none' if asked is NONE else type(asked[0]).__name__}"
        print(f"{name:75s} {cost:7.0f} ns  {'met' if cost <= LIMIT else 'NOT MET'}", flush=True)


if __name__ == "__main__":
    main()
