"""How many samples Sticky needs where several answers are correct: times T* log 1/delta.

Every question by its strategies: the default, Sticky, Sticky with bounds alone (as up to 0.3.0),
Track-and-Stop and uniform sampling, with the stylized threshold; all deltas are read from the same runs.
``python bench/ratios.py 100 [words of the questions]``; ``python bench/ratios.py errors 1000`` counts
wrong answers with the default stopping rule.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

import stopwise as sw
from stopwise.engine.design import default_strategy

DELTAS = (0.05, math.exp(-50), math.exp(-150))
MOST = 200_000  # rounds, at which a run counts as it stands
COINS, UNEQUAL = sw.Bernoulli(), sw.Gaussian([2.0, 1.0, 0.3, 1.0])
QUESTIONS: dict[str, tuple[Any, Any, list[float]]] = {
    "better than, coins": (sw.BetterThan(3, epsilon=0.2), COINS, [0.3, 0.32, 0.47]),
    "better than the last, coins": (sw.BetterThan(3, 2, 0.2), COINS, [0.3, 0.32, 0.47]),
    "better than, normal": (sw.BetterThan(3, epsilon=0.5), sw.Gaussian(), [0.0, 0.05, 0.45]),
    "any better, none easiest": (sw.AnyBetterThan(3, epsilon=0.2), COINS, [0.3, 0.32, 0.35]),
    "any better, one easiest": (sw.AnyBetterThan(4), COINS, [0.3, 0.4, 0.5, 0.45]),
    "any better, tied": (sw.AnyBetterThan(4), COINS, [0.3, 0.5, 0.5, 0.5]),
    "best arm, unequal": (sw.BestArm(4, epsilon=0.3), UNEQUAL, [0.1, 0.3, 0.2, -0.5]),
    "top arms, coins": (sw.TopArms(4, 2, epsilon=0.2), COINS, [0.3, 0.4, 0.5, 0.6]),
    "top arms, unequal": (sw.TopArms(4, 2, epsilon=0.3), UNEQUAL, [0.5, 0.3, 0.4, 0.1]),
    "minimum, coins": (sw.MinimumThreshold(3, 0.5, 0.1), COINS, [0.56, 0.6, 0.7]),
    "any sign, coins": (sw.AnySign(3, 0.5), COINS, [0.45, 0.3, 0.6]),
    "any low arm, coins": (sw.AnyLowArm(3, 0.5), COINS, [0.45, 0.3, 0.6]),
    "any low arm, tied": (sw.AnyLowArm(3, 0.5), COINS, [0.3, 0.3, 0.7]),
    "product, coins": (
        sw.Product([(sw.BetterThan(2, epsilon=0.2), [0, 1]), (sw.AnyLowArm(2, 0.5), [2, 3])]),
        COINS,
        [0.3, 0.33, 0.45, 0.3],
    ),
}


def ratios(name: str, runs: int) -> None:
    """One row for each strategy."""
    problem, family, means = QUESTIONS[name]
    time = sw.oracle(problem, means, family=family).time
    strategies = {
        "default": default_strategy(problem),
        "Sticky": sw.StickyTrackAndStop(),
        "bounds": sw.StickyTrackAndStop(close="never"),
        "Track-and-Stop": sw.TrackAndStop(),
        "Uniform": sw.Uniform(),
    }
    print(f"{name}: {problem!r}, means {means}, T* = {time:.1f}")
    for label, strategy in strategies.items():
        found = sw.simulate(
            problem, means, family=family, strategy=strategy, stopping=sw.Stylized(),
            delta=list(DELTAS), repetitions=runs if label != "bounds" else max(runs // 5, 10),
            seed=1, workers=1, max_rounds=MOST, progress=False,
        )  # fmt: skip
        times = np.asarray(found.stopping_times, dtype=float).reshape(-1, len(DELTAS))
        times[times <= 0] = MOST
        cells = []
        for place, delta in enumerate(DELTAS):
            share = times[:, place] / (time * math.log(1.0 / delta))
            error = share.std(ddof=1) / math.sqrt(share.size)
            cells.append(f"{share.mean():6.2f} ± {error:.2f}")
        print(f"  {label:15s}" + " | ".join(cells), flush=True)


def errors(runs: int) -> None:
    """Wrong answers of the default at delta .1, with the default stopping rule."""
    for name in ("better than, coins", "any better, none easiest", "top arms, coins"):
        problem, family, means = QUESTIONS[name]
        found = sw.simulate(
            problem, means, family=family, delta=0.1, repetitions=runs, seed=2, workers=1,
            max_rounds=MOST, progress=False,
        )  # fmt: skip
        wrong = int(np.sum(~np.asarray(found.correct)))
        print(f"{name}: {wrong} of {runs} wrong, {np.mean(found.stopping_times):.0f} samples")


def main() -> None:
    """Print what the command line asks for."""
    given = sys.argv[1:] or ["100"]
    if given[0] == "errors":
        errors(int(given[1]))
        return
    for name in QUESTIONS:
        if len(given) == 1 or any(word in name for word in given[1:]):
            ratios(name, int(given[0]))


if __name__ == "__main__":
    main()
