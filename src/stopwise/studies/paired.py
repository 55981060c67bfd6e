"""Simulate comparisons on shared items: how many items and results they need, and how often they err."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stopwise.core import checks
from stopwise.core.arrays import Floats, Ints
from stopwise.core.compile import kernels
from stopwise.core.errors import BadArgument
from stopwise.core.seeds import RngLike, chosen_seed
from stopwise.core.tables import text_table
from stopwise.core.values import check_role, needs_family
from stopwise.engine.design import generator
from stopwise.families.family import Family
from stopwise.paired.comparison import IN, NOBODY, Comparison, asked_of, comparison, new_state
from stopwise.paired.status import current_answer
from stopwise.paired.step import Table, run_items
from stopwise.problems.problem import Problem
from stopwise.studies.results import binomial_interval
from stopwise.studies.simulation import DELTA, reporter

MAX_ITEMS = 1_000_000
CHANCES = (0.05, 0.5, 0.95)


@dataclass(frozen=True, eq=False)
class PairedResults:
    """An entry, or a row, for each run.

    ``items`` counts shared items, ``used`` the results of each arm; ``named`` says which arms the answer
    names (the best, the m best, those above the control; with ties all that are left). ``correct``: that
    is so, up to epsilon; with ties also: all that is claimed of pairs.
    """

    means: Floats
    delta: float
    epsilon: float
    seed: int
    items: Ints
    used: Ints
    undecided: NDArray[np.bool_]  # runs that reached ``max_items``
    named: NDArray[np.bool_]
    correct: NDArray[np.bool_]
    complete: bool

    def __len__(self) -> int:
        return int(self.items.size)

    @property
    def answers(self) -> Ints:
        """The first arm that is named; -1 where a run ended undecided, or no arm is."""
        some = self.named.any(1) & ~self.undecided
        return np.where(some, self.named.argmax(1), -1)

    @property
    def errors(self) -> int:
        """Runs with a wrong answer."""
        return int(np.sum(~self.correct & ~self.undecided))

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain values."""
        low, high = binomial_interval(self.errors, len(self))
        return {
            "runs": len(self),
            "undecided": int(self.undecided.sum()),
            "items": float(self.items.mean()),
            "quantiles": {str(each): float(np.quantile(self.items, each)) for each in CHANCES},
            "results": self.used.mean(0).tolist(),
            "errors": self.errors,
            "error_rate": [low, high],
            "delta": self.delta,
            "seed": self.seed,
        }

    def __repr__(self) -> str:
        low, high = binomial_interval(self.errors, len(self))
        rate = f"{self.errors / len(self):.4f} ({low:.4f} to {high:.4f})"
        spread = np.quantile(self.items, CHANCES)
        header = [
            "runs",
            "undecided",
            "items",
            "+-",
            "5 %",
            "median",
            "95 %",
            "results",
            "error rate",
        ]
        error = self.items.std(ddof=1) / np.sqrt(len(self)) if len(self) > 1 else np.nan
        numbers = [self.items.mean(), error, *spread, self.used.sum(1).mean()]
        row = [f"{len(self):,}", f"{self.undecided.sum():,}"]
        return text_table(header, [[*row, *(f"{x:,.1f}" for x in numbers), rate]])


@cache
def _compiled() -> Callable[..., bool]:
    return kernels.compiled(run_items, allocates=False)


@needs_family
def simulate_paired(
    table: ArrayLike,
    *,
    family: Family,
    delta: float = DELTA,
    epsilon: float = 0.0,
    pool: bool = False,
    deterministic: bool = False,
    ties: bool = False,
    duels: bool = False,
    minimum: int = 0,
    problem: Problem | None = None,
    repetitions: int = 1000,
    seed: int | None = None,
    rng: RngLike | None = None,
    max_items: int = MAX_ITEMS,
    progress: bool | Callable[[int], None] | None = None,
) -> PairedResults:
    """Many independent runs on the items of a table: a row an item, a column an arm, larger is better.

    Items are drawn from the table with replacement: it is the population. With ``pool`` a run has as
    many items as the table has rows, and ends undecided if they are not enough; if results are
    ``deterministic`` too, each run shuffles the table and the question is about just its items.
    ``ties``: the answer may be that arms differ by less than epsilon. ``duels``: an item goes to the
    leader and one challenger, not to all arms that are in. ``minimum``: items before any decision.
    ``problem``: another question than for the best arm, with its own epsilon and goal: TopArms,
    BetterThan, AnyBetterThan. ``seed`` and ``rng`` as in ``simulate``. Ctrl-C returns the runs that have
    finished.
    """
    rows = _check_table(table, family)
    size, arms = len(rows) if checks.truth("pool", pool) else None, rows.shape[1]
    asked = asked_of(problem, arms, epsilon, ties)
    what = comparison(family, arms, delta, epsilon, size, ties, minimum, asked, deterministic)
    if checks.truth("duels", duels) and (pool or problem is not None):
        hint = "Results of others tell about items that a pair left out: docs/paired.md."
        raise BadArgument("duels", True, "False with a pool, and only for the best arm", hint)
    rows = asked.goal_sign * rows
    count, used = checks.repetitions(repetitions), chosen_seed(seed, rng)
    limit = min(checks.whole("max_items", max_items, least=1), what.pool or max_items)
    found: list[tuple[Any, ...]] = []
    try:
        with reporter(progress, count) as report:
            for place in range(count):
                found.append(_one_run(what, rows, used, place, duels, limit))
                report(place + 1)
    except KeyboardInterrupt:
        pass
    means = rows.mean(0)
    named = np.array([each[3] for each in found], dtype=bool).reshape(-1, arms)
    right = [
        each[2] and _correct(what, means, code) for each, code in zip(found, named, strict=True)
    ]
    return PairedResults(
        means=asked.goal_sign * means,
        delta=delta,
        epsilon=asked.epsilon,
        seed=used,
        items=np.array([each[0] for each in found], dtype=np.int64),
        used=np.array([each[1] for each in found], dtype=np.int64),
        undecided=np.array([not each[2] for each in found], dtype=bool),
        named=named,
        correct=np.array(right, dtype=bool),
        complete=len(found) == count,
    )


def _check_table(table: ArrayLike, family: Family) -> Floats:
    check_role("family", family, Family)
    rows = checks.matrix("table", table)
    if rows.shape[1] < 2:
        raise BadArgument(
            "table", f"{rows.shape[1]} column", "a column for each of two arms or more"
        )
    for value in np.unique(rows):
        if not family.supports(value):
            raise BadArgument("table", float(value), family.unsupported())
    return rows


def _one_run(
    what: Comparison, rows: Floats, seed: int, place: int, duels: bool, limit: int
) -> tuple[int, Ints, bool, NDArray[np.bool_]]:
    state, rng, asked = new_state(what), generator(seed, 0, place), np.zeros(what.arms, np.int64)
    table = Table(rows, np.arange(len(rows)), np.zeros(what.arms), asked)
    decided = bool(_compiled()(what, state, table, rng, bool(duels), limit))
    named = np.zeros(what.arms, dtype=bool)
    named[list(current_answer(what, state).named)] = True
    return int(state.items[0]), state.used, decided, state.out == IN if what.ties else named


def _correct(what: Comparison, means: Floats, named: NDArray[np.bool_]) -> bool:
    """Whether what a run claims is so at the true means, where more is better."""
    epsilon = what.margins[-1]
    if what.control != NOBODY:
        ahead = means - means[what.control]
        above = ahead[named].min(initial=0.0) >= 0.0
        return bool(above and ((what.one and named.any()) or ahead[~named].max() <= epsilon))
    apart = means[~named].max(initial=-np.inf) - means[named].min()
    if not what.ties:
        return bool(apart <= epsilon)
    spread = means[named].max() - means[named].min()
    near = spread < epsilon or spread == 0.0
    return bool(near and means[~named].max(initial=-np.inf) < means[named].max())
