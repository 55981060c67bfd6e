"""The same for Python functions: ``sw.bench({"a": f, "b": g})``."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from stopwise.core import checks
from stopwise.core.errors import BadArgument
from stopwise.core.seeds import RngLike, chosen_seed
from stopwise.timing.race import LARGEST, Contestant, Race, Rules
from stopwise.timing.report import BenchReport

SHORTEST = 1e-3  # seconds that one run takes at least: quicker functions are called several times


def bench(
    functions: Mapping[str, Callable[[], Any]],
    *,
    delta: float = 0.05,
    epsilon: float = 0.02,
    warmup: int = 3,
    minimum: int = 10,
    budget: float = 300.0,
    largest: float = LARGEST,
    seed: int | None = None,
    rng: RngLike | None = None,
    watch: Callable[[BenchReport], None] = lambda report: None,
) -> BenchReport:
    """Which function is fastest: all are called in turn, in random order, until that is clear.

    The answer is one that is proven to be faster than all others, or that those that are left differ by
    less than epsilon, a ratio less 1; all claims hold together with probability 1 - delta. ``budget`` is
    in seconds, ``minimum`` the least number of runs of each; a run counts as at most ``largest`` times
    slower than the fastest of its block; ``watch`` gets a report after each block. The order in a
    block is drawn from ``seed`` (by default 0) or, in its place, ``rng``: a number, a numpy SeedSequence
    or Generator.
    """
    if not isinstance(functions, Mapping) or len(functions) < 2:
        raise BadArgument("functions", functions, "a dict from names to two functions or more")
    checks.function("watch", watch, "a function of a report")
    for name, function in functions.items():
        if not callable(function):
            raise BadArgument(f"functions[{name!r}]", function, "a function without arguments")
    rules = Rules(
        delta, epsilon, warmup, minimum, budget, seed=chosen_seed(seed, rng, 0), largest=largest
    )
    race = Race(list(map(str, functions)), rules)
    timed = [_timed(function) for function in functions.values()]
    return BenchReport(race.run(timed, watch=lambda now: watch(BenchReport(now))))


def _timed(function: Callable[[], Any]) -> Contestant:
    """A run: as many calls as take a millisecond, found at the first run; seconds for one call."""
    calls = 0

    def run() -> float:
        nonlocal calls
        if calls == 0:
            calls = 1
            while _seconds(function, calls) < SHORTEST and calls < 10**7:
                calls *= 2
        return max(_seconds(function, calls), 1e-12) / calls

    return run


def _seconds(function: Callable[[], Any], calls: int) -> float:
    begun = time.perf_counter()
    for _ in range(calls):
        function()
    return time.perf_counter() - begun
