"""Items that are asked in order and whose results come in any order: they count in the order asked.

An item counts when every arm that is in has told it, and all earlier items count: so slow answers
cannot bias the test (docs/paired.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from stopwise.core import kernels
from stopwise.core.arrays import Floats
from stopwise.paired.comparison import Comparison, State, new_state
from stopwise.paired.settle import decided, is_open
from stopwise.paired.step import absorb


@cache
def quick_absorb() -> Callable[[Comparison, State, Floats], bool]:
    """``absorb``, compiled: the same digits."""
    return kernels.compiled(absorb, allocates=False)


class Items:
    """A comparison, and the items that are under way. ``sense`` -1: less is better."""

    def __init__(self, what: Comparison, sense: int = 1) -> None:
        self.what, self.sense = what, sense
        self.state = new_state(what)
        self.decided = False
        self.asked = 0  # items
        self.open: dict[int, Floats] = {}  # asked and not counted; nan: not told
        self._absorb: Callable[[Comparison, State, Floats], bool] = absorb

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
        self._absorb = quick_absorb()

    def begin(self) -> int:
        """The next item, by its number from 0."""
        item = self.asked
        self.asked += 1
        self.open[item] = np.full(self.what.arms, math.nan)
        return item

    def enter(self, item: int, arm: int, value: float) -> None:
        """One result. The first counts; of what is not under way, or a settled arm, none does."""
        row = self.open.get(item)
        if row is not None and not self.decided and math.isnan(row[arm]):
            row[arm] = value
            self._count()

    def _count(self) -> None:
        while not self.decided and (row := self.open.get(self.counted)) is not None:
            if any(math.isnan(row[arm]) for arm in range(row.size) if self.is_in(arm)):
                return
            del self.open[self.counted]
            self.decided = bool(self._absorb(self.what, self.state, self.sense * row))
            self.after(row)

    def after(self, row: Floats) -> None:
        """An item has counted."""

    def require(self, minimum: int) -> None:
        """Nobody is settled before so many items; with fewer than before, from the next one on."""
        self.what = self.what._replace(minimum=minimum)

    def resume(self) -> None:
        """After the state was replaced."""
        self.decided = self.counted > 0 and bool(decided(self.what, self.state))
