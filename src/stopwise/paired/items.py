"""Items that are asked in order and whose results come in any order: they count in the order asked.

An item counts when every arm that is in has told it or lost it, and all earlier items count: so slow
answers cannot bias the test. A lost result counts as the worst that it could be, until it comes
(docs/missing.md); a result that is drawn again would favour what is quick.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from stopwise.core.arrays import Floats
from stopwise.core.compile import kernels
from stopwise.paired.comparison import Comparison, new_state
from stopwise.paired.status import decided, is_open
from stopwise.paired.step import (
    Incomplete,
    count_incomplete,
    count_item,
    enter_late,
    leave_out,
    worst_difference,
)


@cache
def _compiled(function: Callable[..., bool | None]) -> Callable[..., bool | None]:
    """The same digits, sooner."""
    return kernels.compiled(function, allocates=False)


class Items:
    """A comparison, and the items that are under way. ``sense`` -1: less is better."""

    def __init__(self, what: Comparison, sense: int = 1) -> None:
        self.what, self.sense = what, sense
        self.state = new_state(what)
        self.decided = False
        self.asked = 0  # items
        self.open: dict[int, Floats] = {}  # asked and not counted; nan: not told
        self.lost: set[tuple[int, int]] = set()  # items that are open, and arms
        self.incomplete: dict[int, Incomplete] = {}
        self._quick = False

    @property
    def exhausted(self) -> bool:
        """Whether the pool has no item that was not asked."""
        return 0 < self.what.pool <= self.asked

    @property
    def counted(self) -> int:
        """Items that count."""
        return int(self.state.items[0])

    def is_in(self, arm: int) -> bool:
        """Whether it gets more items."""
        return bool(is_open(self.state, arm))

    def compile(self) -> None:
        """Compiled from now on."""
        self._quick = True

    def _run(
        self,
        function: Callable[..., bool | None],
        *given: Incomplete | Floats | float | tuple[float, float],
    ) -> bool:
        run = _compiled(function) if self._quick else function
        return bool(run(self.what, self.state, *given))

    @property
    def _ends(self) -> tuple[float, float]:
        return self.what.kind.ends(self.sense)

    def begin(self) -> int:
        """The next item, by its number from 0."""
        item = self.asked
        self.asked += 1
        self.open[item] = np.full(self.what.arms, math.nan)
        return item

    def enter(self, item: int, arm: int, value: float) -> None:
        """One result. The first counts; none counts of an item that is not under way, or an arm not in."""
        row, known = self.open.get(item), self.incomplete.get(item)
        if self.decided:
            return
        if row is not None and math.isnan(row[arm]):
            row[arm] = value
            self.lost.discard((item, arm))
            self._count()
        elif known is not None and known.gone[arm]:
            self._find(item, known, arm, value)

    def _find(self, item: int, known: Incomplete, arm: int, value: float) -> None:
        signed = Incomplete(self.sense * known.row, known.gone)
        late = arm, float(self.sense * value), self._ends
        self.decided = self._run(enter_late, signed, *late)
        known.row[arm] = value
        if not known.gone.any():
            del self.incomplete[item]

    def release(self, item: int, arm: int) -> None:
        """A result will not come, as far as anybody knows: nothing waits for it any more.

        It is not to be made again, unless it is sure to be the same.
        """
        row = self.open.get(item)
        if row is not None and math.isnan(row[arm]) and not self.decided:
            self.lost.add((item, arm))
            self._count()

    def _count(self) -> None:
        while not self.decided and (row := self.open.get(self.counted)) is not None:
            item = self.counted
            absent = [arm for arm in range(row.size) if math.isnan(row[arm]) and self.is_in(arm)]
            if any((item, arm) not in self.lost for arm in absent):
                return
            del self.open[item]
            self.lost -= {(item, arm) for arm in range(row.size)}
            self._absorb(item, row, absent)
            self.after(row)

    def _absorb(self, item: int, row: Floats, absent: list[int]) -> None:
        signed = self.sense * row
        if absent:
            gone = np.zeros(row.size, dtype=np.int64)
            gone[absent] = 1
            self.incomplete[item] = Incomplete(row, gone)
            self.decided = self._run(count_incomplete, Incomplete(signed, gone), self._ends)
        else:
            self.decided = self._run(count_item, signed)

    def after(self, row: Floats) -> None:
        """An item has counted."""

    def leave_out_missing(self) -> None:
        """Losses have nothing to do with results: what is missing is left out."""
        for row, gone in self.incomplete.values():
            self._run(leave_out, Incomplete(self.sense * row, gone), self._ends)
        self.incomplete = {}

    def worst_differences(self, rows: Floats, arm: int, other: int) -> Floats:
        """By how much an arm did better than another at least, item by item, as far as both were in."""
        span = int(self.state.counts[arm, other] + self.state.missing[arm, other])
        both, ends = self.sense * rows[:span], self._ends
        return np.array([worst_difference(row[arm], row[other], ends) for row in both])

    def require(self, minimum: int) -> None:
        """Nobody is chosen or out before so many items; with fewer than before, from the next one on."""
        self.what = self.what._replace(minimum=minimum)

    def resume(self) -> None:
        """After the state was replaced."""
        self.decided = self.counted > 0 and bool(decided(self.what, self.state))
