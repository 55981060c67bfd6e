"""What a round costs with each strategy: best arm, K = 10, stylized threshold, no run ever stops.

Every strategy by its name with its usual options, and those of the command line:
``python bench/strategies.py t3c:share=ids``. Seconds are the process's own, the least of several turns.
The limit is for strategies that solve for no oracle weights.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

import stopwise as sw
from oracles import Row, limited, show
from stopwise.core import registry, spelling
from stopwise.engine.design import Setting, prepare

ARMS, ROUNDS, TURNS = 10, 100_000, 3
LIMIT = 1.0  # microseconds
# those with an oracle, and those whose arms or order somebody has to give
WITHOUT_LIMIT = ("track-and-stop", "sticky-track-and-stop", "oracle-weights")
NEEDS_OPTIONS = ("fixed-weights",)
INSTANCES = [
    (sw.Gaussian(), np.array([1.0, *np.linspace(0.9, 0.1, ARMS - 1)])),
    (sw.Bernoulli(), np.array([0.6, *np.linspace(0.55, 0.2, ARMS - 1)])),
]


def nanoseconds(family: Any, means: Any, strategy: Any) -> float:
    """Of one round, the least over the turns; compiled before."""

    def seconds(rounds: int) -> float:
        start = time.process_time()
        sw.simulate(
            sw.BestArm(ARMS), means, family=family, strategy=strategy, stopping=sw.Stylized(),
            delta=1e-300, repetitions=1, seed=1, workers=1, max_rounds=rounds, progress=False,
        )  # fmt: skip
        return time.process_time() - start

    seconds(ARMS)
    few, many = (min(seconds(rounds) for _ in range(TURNS)) for rounds in (ARMS, ROUNDS))
    return 1e9 * (many - few) / (ROUNDS - ARMS)


def row(family: Any, means: Any, name: str) -> Row:
    """One strategy."""
    took = 1e-3 * nanoseconds(family, means, spelling.strategy(name))
    what, unit = f"{name}, {type(family).__name__}", " microseconds a round"
    if name.partition(":")[0] in WITHOUT_LIMIT:
        return Row(what, f"{took:.4g}{unit}")
    return limited(what, took, LIMIT, unit)


def is_for_best_arms(name: str) -> bool:
    """Whether the question is one of the strategy's: those of bench/bounds.py and others may refuse."""
    family, means = INSTANCES[0]
    setting = Setting(sw.BestArm(ARMS), family, spelling.strategy(name), sw.Stylized())
    try:
        prepare(setting, means, (0.1,), ROUNDS)
    except sw.NotDefined:
        return False
    return True


def main() -> None:
    """Measure everything and print the report."""
    known = [name for name in registry.names("strategy") if name not in NEEDS_OPTIONS]
    names = sys.argv[1:] or list(filter(is_for_best_arms, known))
    show([row(family, means, name) for family, means in INSTANCES for name in names])


if __name__ == "__main__":
    main()
