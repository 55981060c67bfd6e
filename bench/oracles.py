"""What the oracles cost, each against a limit: ratios within one run, so machines compare.

Every timing is the least of several rounds; things that are compared take turns within a round.
Bernoulli arms throughout; arm 0 is the best, with mean 0.6, the others uniform in (0.05, 0.55).
The report never fails: it says which limits are met.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from stopwise import Bernoulli, BestArm
from stopwise.core.arrays import Floats
from stopwise.core.compile.kernels import compiled
from stopwise.oracles.solve import Solution, generic_solution, solution
from stopwise.problems.best_arm_weights import best_arm_optimum

SIZES = (10, 100, 1_000, 10_000, 100_000)
VOLUME = 200_000  # arms per table at every size: else a processor learns the small ones by heart
COUNTED = 8  # rows at which divergences are counted, in plain Python
NOISE = 1e-3  # how far one round of sampling moves a mean, relatively
ROUNDS = 15
BATCH = 5e-3  # seconds that a timed loop lasts at least

Loop = Callable[[int], object]  # does something so many times


class Row(NamedTuple):
    """One line of the report; no limit means that the line is for information."""

    name: str
    measured: str
    limit: str = "-"
    met: bool | None = None


class Counting(NamedTuple):
    """Bernoulli arms, as a user's own family that counts the divergences it is asked for."""

    def divergence(self, mu: float, lam: float) -> float:
        CALLS[0] += 1
        return Bernoulli().divergence(mu, lam)

    def interval(self) -> tuple[float, float]:
        return Bernoulli().interval()

    def variance_at(self, mu: float) -> float:
        return Bernoulli().variance_at(mu)

    def variance_slope(self, mu: float) -> float:
        return Bernoulli().variance_slope(mu)


CALLS = [0]


def _solve_many(
    family: Any, table: Floats, margin: float, starts: Floats, kept: Floats, times: int
) -> float:
    """Solve for arm 0 at one row of means after another, each from its own start."""
    weights, total = np.zeros(table.shape[1]), 0.0
    for turn in range(times):
        row = turn % table.shape[0]
        kept[row] = starts[row]
        total += best_arm_optimum(family, table[row], 0, margin, weights, kept[row])
    return total


def _pass_many(family: Any, table: Floats, times: int) -> float:
    """Sum d(mu_best, mu_j) over the rivals, at one row of means after another."""
    total = 0.0
    for turn in range(times):
        row = turn % table.shape[0]
        for j in range(1, table.shape[1]):
            total += family.divergence(table[row, 0], table[row, j])
    return total


solve_many = compiled(_solve_many)
pass_many = compiled(_pass_many)


def draw_means(arms: int) -> Floats:
    """Rows of random means, the same in every run."""
    table = np.random.default_rng(arms).uniform(0.05, 0.55, (VOLUME // arms, arms))
    table[:, 0] = 0.6
    return table


def moved(table: Floats) -> Floats:
    """The means after one more round of sampling."""
    return table * (1.0 + NOISE * np.random.default_rng(1).standard_normal(table.shape))


def cold(table: Floats, margin: float = 0.0) -> Loop:
    """Solves that start from nothing."""
    starts = np.zeros_like(table)
    return lambda times: solve_many(Bernoulli(), table, margin, starts, np.zeros_like(table), times)


def warm(table: Floats) -> Loop:
    """Solves at moved means that start from the states kept at the means before."""
    starts, after = np.zeros_like(table), moved(table)
    solve_many(Bernoulli(), table, 0.0, np.zeros_like(table), starts, len(table))
    return lambda times: solve_many(Bernoulli(), after, 0.0, starts, np.zeros_like(table), times)


def one_pass(table: Floats) -> Loop:
    """Passes over the divergences of the arms."""
    return lambda times: pass_many(Bernoulli(), table, times)


def plainly(function: Callable[[], object]) -> Loop:
    """A call from plain Python."""

    def loop(times: int) -> None:
        for _ in range(times):
            function()

    return loop


def clock(loop: Loop, times: int) -> float:
    """Seconds for one of so many times."""
    start = time.perf_counter()
    loop(times)
    return (time.perf_counter() - start) / times


def take_turns(loops: list[tuple[Loop, int]], rounds: int = ROUNDS) -> list[float]:
    """Seconds for each loop's one time, the least over the rounds; times are a multiple of rows."""
    sizes = []
    for loop, rows in loops:
        loop(1)  # compile
        sizes.append(rows * math.ceil(BATCH / (rows * clock(loop, rows))))
    best = [math.inf] * len(loops)
    for _ in range(rounds):
        for place, (loop, _rows) in enumerate(loops):
            best[place] = min(best[place], clock(loop, sizes[place]))
    return best


def limited(name: str, measured: float, limit: float, unit: str, note: str = "") -> Row:
    """A line with its verdict."""
    return Row(name, f"{measured:.4g}{unit}{note}", f"{limit:g}{unit}", measured <= limit)


def count(table: Floats, starts: Floats) -> tuple[float, Floats]:
    """The most divergences that a solve asks for over the rows, per rival, and the kept states."""
    kept, most = starts.copy(), 0
    for means, state in zip(table, kept, strict=True):
        CALLS[0] = 0
        best_arm_optimum(Counting(), means, 0, 0.0, np.zeros(means.size), state)
        most = max(most, CALLS[0])
    return most / (table.shape[1] - 1), kept


def growth() -> list[Row]:
    """1. The time of one cold solve against K: the slope in logarithms."""
    tables = [draw_means(arms) for arms in SIZES]
    seconds = take_turns([(cold(table), len(table)) for table in tables])
    across, up = np.log(SIZES), np.log(seconds)
    steps = np.diff(up) / np.diff(across)
    rows = []
    for arms, table, took in zip(SIZES, tables, seconds, strict=True):
        asked = count(table[:1], np.zeros((1, arms)))[0]
        each = f"{1e9 * took / arms:.0f} ns and {asked:.0f} divergences per arm"
        rows.append(Row(f"cold solve, K = {arms:,}", f"{1e6 * took:,.1f} us: {each}"))
    return [
        *rows,
        limited("growth in K: exponent, fitted", float(np.polyfit(across, up, 1)[0]), 1.1, ""),
        limited("growth in K: steepest step from K = 100", float(steps[1:].max()), 1.1, ""),
    ]


def passes() -> list[Row]:
    """2 and 3. A solve at K = 1,000, cold and warm, against one pass over the divergences."""
    table = draw_means(1_000)
    loops = [cold(table), warm(table), one_pass(table)]
    from_cold, from_warm, single = take_turns([(loop, len(table)) for loop in loops])
    few = table[:COUNTED]
    cold_count, kept = count(few, np.zeros_like(few))
    warm_count, _ = count(moved(few), kept)
    worst = f", worst of {COUNTED} draws"
    return [
        Row("one pass over the divergences, K = 1,000", f"{1e6 * single:.1f} us"),
        limited("cold solve, K = 1,000: time", from_cold / single, 60, " passes"),
        limited("cold solve, K = 1,000: divergences", cold_count, 60, " per arm", worst),
        limited("warm solve, K = 1,000: time", from_warm / single, 10, " passes"),
        limited("warm solve, K = 1,000: divergences", warm_count, 10, " per arm", worst),
    ]


def epsilon_best(arms: int) -> Row:
    """4. Epsilon-best arm, epsilon = 0.05, against best arm, both cold."""
    table = draw_means(arms)
    loose, strict = take_turns([(cold(table, 0.05), len(table)), (cold(table), len(table))])
    name = f"epsilon-best against best arm, K = {arms}"
    return limited(name, loose / strict, 5, " times", f" ({1e6 * loose:.3g} us)")


def ask(solver: Callable[..., Solution], means: Floats) -> Solution:
    """Solve for arm 0 as a user does, from plain Python."""
    code = np.zeros(1, dtype=np.int64)
    return solver(BestArm(means.size), Bernoulli(), means, code)


def generic() -> list[Row]:
    """5. The generic solver against the special one, both in plain Python, at K = 10."""
    table = draw_means(10)[:COUNTED]
    pairs = []
    for means in table:
        loops = [
            plainly(functools.partial(ask, way, means)) for way in (generic_solution, solution)
        ]
        pairs.append(take_turns([(loop, 1) for loop in loops], rounds=5))
    slow, quick = 1e3 * np.array(pairs).T
    note = f", worst of {COUNTED} draws"
    return [
        limited("generic against special, K = 10", (slow / quick).max(), 300, " times", note),
        Row("generic, K = 10: time", f"{slow.min():.3g} to {slow.max():.3g} ms"),
        Row("special, K = 10: time", f"{quick.min():.3g} to {quick.max():.3g} ms"),
    ]


def information() -> list[Row]:
    """6. Absolute numbers without a limit."""
    four = moved(np.tile([0.5, 0.45, 0.43, 0.4], (1_000, 1)))  # no two solves quite the same
    from_cold, from_warm = take_turns([(cold(four), len(four)), (warm(four), len(four))])
    large = ask(solution, draw_means(100_000)[0])
    means = draw_means(50)[0]
    (took,) = take_turns([(plainly(functools.partial(ask, generic_solution, means)), 1)], rounds=3)
    fifty = ask(generic_solution, means)
    return [
        Row("cold solve, K = 4", f"{1e6 * from_cold:.3g} us"),
        Row("warm solve, K = 4", f"{1e6 * from_warm:.3g} us"),
        Row("special, K = 100,000: certified gap", f"{large.gap:.1e}, {large.status}"),
        Row("generic, K = 50: time", f"{1e3 * took:.0f} ms"),
        Row("generic, K = 50: certified gap", f"{fifty.gap:.1e}, {fifty.status}"),
    ]


def show(rows: list[Row]) -> None:
    """Print the table, then the limits that are not met."""
    verdicts = {True: "met", False: "NOT met", None: ""}
    lines = [Row("name", "measured", "limit"), *rows]
    first = max(len(line.name) for line in lines)
    second = max(len(line.measured) for line in lines)
    for name, measured, limit, met in lines:
        print(f"{name:{first}}  {measured:{second}}  {limit:10}  {verdicts[met]}".rstrip())
    missed = [row.name for row in rows if row.met is False]
    print()
    print(f"limits NOT met: {'; '.join(missed)}" if missed else "all limits are met")


def main() -> None:
    """Measure everything and print the report."""
    start = time.perf_counter()
    rows = [
        *growth(),
        *passes(),
        epsilon_best(10),
        epsilon_best(100),
        *generic(),
        *information(),
    ]
    show(rows)
    print(f"took {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
