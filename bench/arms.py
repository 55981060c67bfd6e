"""What a round costs against the number of arms: microseconds, and how they grow with K.

``python bench/arms.py [--sizes 10 100 1000] [--cases WORDS] [--against CHECKOUT]``. Every case is timed
in a process of its own; with another checkout the last columns say how many times as fast this one is.

One arm has mean 0.9, the others are uniform in (0.05, 0.6). *In the middle* of a run are the rounds in
which the arms have from 12 to 16 samples on average (12.2 at K = 10,000), at delta = 1e-9, so that no
run is near its end: earlier several arms often share the largest mean, the oracle weights are uniform,
and a round costs next to nothing. Their time is that of runs to the last of them less that of the same
runs to the first. *Whole* runs are those at delta = 0.05 from the first sample to the decision, or to
60 samples an arm; not at K = 10,000. Times are CPU time, the least of several turns. The report never
fails: it says which limits are met.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import stopwise as sw
from stopwise.core.tables import text_table

SIZES = (10, 100, 1_000, 10_000)
BEGIN, END, LARGE_END = 12.0, 16.0, 12.2  # samples of each arm, on average
LARGE = 10_000
TURNS = 3  # one at K = 10,000
BATCH = 0.4  # seconds that timed runs last, about
DELTA, LAST = 1e-9, 0.05  # in the middle of a run, and of whole runs
MOST = 60  # samples of each arm in a whole run
LIMITED = 1_000  # arms at which there are limits
HERE = Path(__file__).resolve().parents[1]


class Case(NamedTuple):
    """What is simulated, and the limit in microseconds a round, of whole runs at K = 1,000."""

    family: Any
    epsilon: float
    strategy: Any  # None: what suits the question
    limit: float


CASES = {
    "best arm": Case(sw.Bernoulli(), 0.0, None, 10.0),
    "best arm, C-tracking": Case(sw.Bernoulli(), 0.0, sw.TrackAndStop(), math.inf),
    "epsilon-best": Case(sw.Bernoulli(), 0.05, None, 45.0),
    "bounded": Case(sw.Bounded(), 0.0, None, 45.0),
    "T3C": Case(sw.Bernoulli(), 0.0, sw.T3c(), 45.0),
}


class Spent(NamedTuple):
    """What runs took: CPU time, and rounds."""

    seconds: float
    rounds: float


class Cost(NamedTuple):
    """Microseconds a round."""

    middle: float
    whole: float  # nan: not measured


def simulate(case: Case, arms: int, rounds: int, repetitions: int, delta: float) -> Spent:
    """Runs that end after so many rounds, if not before."""
    means = np.random.default_rng(arms).uniform(0.05, 0.6, arms)
    means[0] = 0.9
    start = time.process_time()
    results = sw.simulate(
        sw.BestArm(arms, case.epsilon),
        means,
        family=case.family,
        strategy=case.strategy,
        delta=delta,
        repetitions=repetitions,
        seed=1,
        workers=1,
        max_rounds=rounds,
        progress=False,
    )
    return Spent(time.process_time() - start, float(results.counts.sum()))


def best(case: Case, arms: int, rounds: int, repetitions: int, delta: float) -> Spent:
    """The quickest of several turns."""
    turns = range(TURNS if arms < LARGE else 1)
    return min(simulate(case, arms, rounds, repetitions, delta) for _ in turns)


def measure(name: str, arms: int) -> Cost:
    """The cost of a round."""
    case, large = CASES[name], arms >= LARGE
    begin, end = int(BEGIN * arms), int((LARGE_END if large else END) * arms)
    simulate(case, arms, arms, 1, DELTA)  # compile
    runs = 1
    if not large:
        runs = math.ceil(BATCH / max(simulate(case, arms, end, 1, DELTA).seconds, 1e-4))
    before, after = best(case, arms, begin, runs, DELTA), best(case, arms, end, runs, DELTA)
    middle = 1e6 * (after.seconds - before.seconds) / (after.rounds - before.rounds)
    if large:
        return Cost(middle, math.nan)
    whole = best(case, arms, MOST * arms, math.ceil(runs / 2), LAST)
    return Cost(middle, 1e6 * whole.seconds / whole.rounds)


def in_process(name: str, arms: int, checkout: Path) -> Cost:
    """The same with another checkout's package."""
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src"), "STOPWISE_QUIET": "1"}
    command = [sys.executable, str(Path(__file__).resolve()), "--one", name, str(arms)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return Cost(*json.loads(done.stdout))


def rows_of(name: str, sizes: list[int], against: Path | None) -> list[list[str]]:
    """A row for each number of arms."""
    rows: list[list[str]] = []
    last, smaller = Cost(math.nan, math.nan), 0
    for arms in sizes:
        other = in_process(name, arms, against) if against else None
        cost = in_process(name, arms, HERE)
        cells = [name, f"{arms:,}"]
        for now, before in zip(cost, last, strict=True):
            steep = math.log(now / before) / math.log(arms / smaller) if smaller else math.nan
            cells += [shown(now), shown(steep)]
        rows.append([*cells, verdict(name, arms, cost)])
        if other is not None:
            rows[-1] += [shown(their / own) for own, their in zip(cost, other, strict=True)]
        last, smaller = cost, arms
        print("  ".join(rows[-1]), file=sys.stderr, flush=True)
    return rows


def shown(value: float) -> str:
    """Two digits behind the point."""
    return "-" if math.isnan(value) else f"{value:.2f}"


def verdict(name: str, arms: int, cost: Cost) -> str:
    """Whether whole runs keep to the limit."""
    limit = CASES[name].limit
    if arms != LIMITED or limit == math.inf:
        return ""
    return f"<= {limit:g}: {'met' if cost.whole <= limit else 'NOT met'}"


def main() -> None:
    """Measure everything and print the report."""
    parser = argparse.ArgumentParser(description="What a round costs against the number of arms.")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="numbers of arms")
    parser.add_argument("--cases", nargs="+", default=list(CASES), help="words of the cases' names")
    parser.add_argument("--against", type=Path, help="another checkout")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measure(given.one[0], int(given.one[1]))))
        return
    names = [name for name in CASES if any(word in name for word in given.cases)]
    against = given.against.resolve() if given.against else None
    rows = [row for name in names for row in rows_of(name, given.sizes, against)]
    heads = ["case", "K", "us, middle", "exponent", "us, whole", "exponent", "limit"]
    print(text_table([*heads, *(["faster, middle", "whole"] if against else [])], rows))


if __name__ == "__main__":
    main()
