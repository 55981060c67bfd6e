"""One simulated comparison from its first item to its answer: rows of a table, drawn or shuffled."""

from __future__ import annotations

import math

from stopwise.core.arrays import Floats, Ints, Rng
from stopwise.paired.comparison import Comparison, State
from stopwise.paired.step import absorb, duel, everyone


def run_items(
    what: Comparison,
    state: State,
    table: Floats,
    order: Ints,
    rng: Rng,
    duels: bool,
    max_items: int,
    row: Floats,
    asked: Ints,
) -> bool:
    """Whether it is decided. ``order`` has the table's rows; fixed results are shuffled in it."""
    size = table.shape[0]
    for _ in range(max_items):
        done = state.items[0]
        place = int(rng.random() * (size - done if what.kind.fixed else size))
        if what.kind.fixed:  # the next of a shuffle
            place += done
            order[done], order[place] = order[place], order[done]
            place = done
        if duels and done > 0:
            duel(what, state, asked)
        else:
            everyone(what, state, asked)
        for k in range(what.arms):
            row[k] = table[order[place], k] if asked[k] else math.nan
        if absorb(what, state, row):
            return True
    return False
