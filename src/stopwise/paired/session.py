"""A comparison that is fed from outside: items are asked in order, results come in any order.

An item counts when every arm that was asked for it and is still in has told, and all earlier items
count: so slow answers cannot bias the test (docs/paired.md).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from stopwise.core.arrays import Floats
from stopwise.core.errors import BadArgument
from stopwise.core.values import Family
from stopwise.families.verbs import supports, unsupported
from stopwise.paired.bounds import least_difference
from stopwise.paired.comparison import IN, Comparison, comparison, new_state
from stopwise.paired.step import absorb, leader


class Verdict(NamedTuple):
    """Where a comparison stands. ``winners`` has several arms only where ties are an answer."""

    decided: bool
    winners: tuple[int, ...]  # if it is decided
    leader: int
    items: int
    evidence: float  # the least of the leader's over those that are in, and of what put others out
    level: float


class PairedSession:
    """Asks and tells about arms that are numbered from 0.

    ``pool``: the question is about just so many items, which must be asked in a random order. ``ties``:
    the answer may be that those left differ by less than epsilon. ``goal`` "min": less is better.
    Nothing is decided before ``minimum`` items.
    """

    def __init__(
        self,
        family: Family,
        arms: int,
        *,
        delta: float = 0.05,
        epsilon: float = 0.0,
        pool: int | None = None,
        ties: bool = False,
        goal: str = "max",
        minimum: int = 0,
    ) -> None:
        if goal not in ("max", "min"):
            raise BadArgument("goal", goal, '"max" or "min"')
        self.family, self.delta, self.epsilon = family, delta, epsilon
        self.what: Comparison = comparison(family, arms, delta, epsilon, pool, ties, minimum)
        self.state = new_state(self.what)
        self.decided = False
        self.rows: list[Floats] = []  # of items that count, as told
        self._sign = 1.0 if goal == "max" else -1.0
        self._open: dict[int, Floats] = {}  # asked and not counted; nan: not told
        self.asked = 0  # items

    @property
    def exhausted(self) -> bool:
        """Whether the pool has no item that was not asked."""
        return 0 < self.what.pool <= self.asked

    @property
    def in_flight(self) -> int:
        """Items that were asked and do not count yet."""
        return len(self._open)

    def is_in(self, arm: int) -> bool:
        """Whether nobody has put it out."""
        return bool(self.state.out[arm] == IN)

    def ask(self) -> tuple[int, tuple[int, ...]]:
        """The next item, by its number from 0, and the arms that get it."""
        if self.decided or self.exhausted:
            raise BadArgument("ask", self.asked, "an item as long as it is open", "It is over.")
        item = self.asked
        self.asked += 1
        self._open[item] = np.full(self.what.arms, math.nan)
        return item, tuple(arm for arm in range(self.what.arms) if self.is_in(arm))

    def tell(self, item: int, arm: int, value: float) -> bool:
        """One result; whether the comparison is decided now.

        Of several results of an arm on an item the first counts. What comes after the decision, or from
        an arm that is out, changes nothing.
        """
        if not 0 <= item < self.asked:
            raise BadArgument(
                "item", item, f"an item that was asked; so far there are {self.asked}"
            )
        if not 0 <= arm < self.what.arms:
            raise BadArgument("arm", arm, f"0 to {self.what.arms - 1}")
        if not math.isfinite(value) or not supports(self.family, value):
            raise BadArgument("value", value, unsupported(self.family))
        row = self._open.get(item)
        if row is not None and not self.decided and math.isnan(row[arm]):
            row[arm] = value
            self._count()
        return self.decided

    def _count(self) -> None:
        while not self.decided and (row := self._open.get(len(self.rows))) is not None:
            if any(math.isnan(row[arm]) for arm in range(row.size) if self.is_in(arm)):
                return
            del self._open[len(self.rows)]
            self.rows.append(row)
            self.decided = bool(absorb(self.what, self.state, self._sign * row))

    def verdict(self) -> Verdict:
        """Where it stands now."""
        first, _ = leader(self.what, self.state)
        rivals = [k for k in range(self.what.arms) if k != first and self.is_in(k)]
        least = min(self._evidence_over(first, k) for k in range(self.what.arms) if k != first)
        winners: tuple[int, ...] = ()
        if self.decided:
            winners = tuple(sorted([first, *rivals])) if self.what.ties else (first,)
        return Verdict(self.decided, winners, first, len(self.rows), least, self.what.level)

    def _evidence_over(self, arm: int, other: int) -> float:
        if self.is_in(other):
            return float(self.state.evidence[-1, arm, other])
        return float(self.state.evidence[0, self.state.out_by[other], other])

    def differences(self, arm: int, other: int) -> Floats:
        """By how much an arm did better than another, item by item, as far as both were in."""
        rows = np.array(self.rows).reshape(-1, self.what.arms)
        both = rows[: int(self.state.counts[arm, other])]
        return self._sign * (both[:, arm] - both[:, other])

    def at_least(self, arm: int, other: int) -> float:
        """The mean difference is larger than this, at the comparison's level."""
        return least_difference(self.what, self.differences(arm, other))
