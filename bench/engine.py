"""What a round of a simulation costs, each against a limit: ratios within one run.

The yardstick is a bare loop with the same arms: it adds fixed weights to totals, takes the arm that
is the furthest behind, draws one sample of it, and updates its count and mean. Simulations are
timed as users run them, by one worker unless said otherwise, and with the stylized threshold.
Every timing is the least of several turns, by CPU time but for two workers; things that are compared
take turns. The report never fails: it says which limits are met. What compiling costs is in
first_result.py.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import stopwise as sw
from oracles import Row, clock, limited, show
from stopwise.core.arrays import Floats
from stopwise.core.compile.kernels import compiled

TURNS = 5
BATCH = 0.3  # seconds that a timed bare loop lasts, about; simulations last 0.3 to 1
FIGURE_2_RUNS = 150
SEED = 1

Work = Callable[[], float]  # does rounds and says how many


class Case(NamedTuple):
    """What is simulated, and the limit on its time per round, in rounds of the bare loop."""

    name: str
    limit: float
    problem: Any
    strategy: Any
    means: Floats
    family: Any
    delta: float
    repetitions: int


def _bare_rounds(
    family: Any,
    truth: Floats,
    weights: Floats,
    totals: Floats,
    counts: Floats,
    means: Floats,
    rng: np.random.Generator,
    times: int,
) -> None:
    """What no tracking of weights can do without, in one pass over the arms."""
    for _ in range(times):
        most, arm = -math.inf, 0
        for k in range(totals.size):
            totals[k] += weights[k]
            behind = totals[k] - counts[k]
            if behind > most:
                most, arm = behind, k
        sample = family.draw(truth[arm], rng)
        counts[arm] += 1.0
        means[arm] += (sample - means[arm]) / counts[arm]


bare_rounds = compiled(_bare_rounds, allocates=False)


def bare(case: Case) -> Work:
    """Rounds of the bare loop with the case's arms, as many as fill a batch."""
    rng, arms = np.random.default_rng(SEED), case.means.size
    weights = rng.dirichlet(np.ones(arms))
    totals, counts, means = np.zeros((3, arms))

    def loop(times: int) -> None:
        bare_rounds(case.family, case.means, weights, totals, counts, means, rng, times)

    loop(1)  # compile
    size = math.ceil(BATCH / clock(loop, 10_000))

    def work() -> float:
        loop(size)
        return size

    return work


def simulation(case: Case, workers: int = 1) -> Work:
    """All the case's runs, the same at every call."""

    def work(repetitions: int = case.repetitions) -> float:
        results = sw.simulate(
            case.problem,
            case.means,
            family=case.family,
            strategy=case.strategy,
            stopping=sw.Stylized(),
            delta=case.delta,
            repetitions=repetitions,
            seed=SEED,
            workers=workers,
            progress=False,
        )
        return float(results.counts.sum())

    work(1)  # compile
    return work


def take_turns(
    works: list[Work], turns: int = TURNS, now: Callable[[], float] = time.process_time
) -> list[float]:
    """Seconds (of CPU: others may use it too) for each work's one round, the least over the turns."""
    best = [math.inf] * len(works)
    for _ in range(turns):
        for place, work in enumerate(works):
            start = now()
            rounds = work()
            best[place] = min(best[place], (now() - start) / rounds)
    return best


def against_bare(*cases: Case) -> list[Row]:
    """Cases with the same arms, each against the bare loop."""
    arms, family = cases[0].means.size, type(cases[0].family).__name__
    alone, *seconds = take_turns([bare(cases[0]), *(simulation(case) for case in cases)])
    return [
        Row(f"bare loop, K = {arms:,} {family}", f"{1e9 * alone:.4g} ns a round"),
        *(
            limited(case.name, took / alone, case.limit, " times", f" ({1e9 * took:.4g} ns)")
            for case, took in zip(cases, seconds, strict=True)
        ),
    ]


def figure_2(name: str, limit: float, strategy: Any, repetitions: int = FIGURE_2_RUNS) -> Case:
    """The paper's Figure 2: ten planes through 0, each almost about one arm, and equal means."""
    normals = np.full((10, 10), 0.2 / 9)
    np.fill_diagonal(normals, 0.8)
    problem, means = sw.AnyHalfSpace(normals), np.full(10, -0.1)
    return Case(name, limit, problem, strategy, means, sw.Gaussian(), math.exp(-80), repetitions)


def half_spaces() -> list[Row]:
    """1 and 2. Any half-space, K = 10: both strategies on Figure 2's instance."""
    return against_bare(
        figure_2("Sticky Track-and-Stop, Figure 2", 2.8, sw.StickyTrackAndStop()),
        figure_2("Track-and-Stop, Figure 2", 2.6, sw.TrackAndStop()),
    )


def best_arm() -> list[Row]:
    """3. Best arm, K = 4, with D-tracking."""
    name, means = "Track-and-Stop D, best arm, K = 4", np.array([0.5, 0.45, 0.43, 0.4])
    strategy = sw.TrackAndStop("D")
    return against_bare(Case(name, 45, sw.BestArm(4), strategy, means, sw.Bernoulli(), 0.1, 120))


def epsilon_best_arm() -> list[Row]:
    """4. Epsilon-best arm, K = 5."""
    name, means = "Track-and-Stop, epsilon-best, K = 5", np.array([0.5, 0.48, 0.43, 0.4, 0.3])
    problem = sw.BestArm(5, 0.05)
    return against_bare(Case(name, 90, problem, sw.TrackAndStop(), means, sw.Bernoulli(), 0.1, 200))


def many_arms() -> list[Row]:
    """5. Best arm, K = 100."""
    means = np.random.default_rng(100).uniform(-0.5, 0.5, 100)
    means[0] = 1.0
    name, problem = "Track-and-Stop, best arm, K = 100", sw.BestArm(100)
    return against_bare(Case(name, 20, problem, sw.TrackAndStop(), means, sw.Gaussian(), 0.1, 80))


def thresholding() -> list[Row]:
    """6. Thresholding, K = 1,000."""
    rng = np.random.default_rng(1_000)
    means = np.concatenate([rng.uniform(-2.0, -0.5, 500), rng.uniform(0.5, 2.0, 500)])
    name, problem = "Track-and-Stop, thresholding, K = 1,000", sw.Thresholding(1_000, 0.0)
    return against_bare(Case(name, 3, problem, sw.TrackAndStop(), means, sw.Gaussian(), 0.1, 5))


def two_workers() -> Row:
    """7. The same runs by one worker and by two."""
    name, least = "two workers against one, Figure 2", 1.8
    case = figure_2(name, math.nan, sw.StickyTrackAndStop(), 4 * FIGURE_2_RUNS)
    one, two = take_turns([simulation(case), simulation(case, workers=2)], 3, time.perf_counter)
    return Row(name, f"{one / two:.4g} times as fast", f">= {least:g}", one / two >= least)


def machine() -> Row:
    """What else ran in the last minute: a busy machine spoils the ratios with two workers most."""
    busy = f", {os.getloadavg()[0]:.1f} busy before" if hasattr(os, "getloadavg") else ""
    return Row("processors", f"{os.cpu_count()}{busy}")


def main() -> None:
    """Measure everything and print the report."""
    start = time.perf_counter()
    rows = [
        machine(),
        *half_spaces(),
        *best_arm(),
        *epsilon_best_arm(),
        *many_arms(),
        *thresholding(),
        two_workers(),
    ]
    show(rows)
    print(f"took {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
