"""A comparison in one process: items are asked in order, results come in any order."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from stopwise.core.arrays import Floats
from stopwise.core.errors import BadArgument
from stopwise.core.values import Family, Problem
from stopwise.families.verbs import supports, unsupported
from stopwise.paired.bounds import implied, least_difference
from stopwise.paired.comparison import asked_of, comparison
from stopwise.paired.items import Items
from stopwise.paired.standing import standing


class Verdict(NamedTuple):
    """Where a comparison stands.

    ``winners`` are the arms that the answer names: one for the best arm, several where ties are an
    answer or several are asked for, none if no arm beats the control.
    """

    decided: bool
    winners: tuple[int, ...]  # if it is decided
    leader: int
    items: int
    evidence: float  # the least that any claim of the answer has
    level: float


class PairedSession(Items):
    """Asks and tells about arms that are numbered from 0.

    ``problem``: another question than for the best arm (TopArms, BetterThan, AnyBetterThan), which has
    an epsilon and a goal of its own. ``pool``: the question is about just so many items, which must be
    asked in a random order. ``ties``: the answer may be that those left differ by less than epsilon.
    ``goal`` "min": less is better. Nothing is decided before ``minimum`` items.
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
        problem: Problem | None = None,
    ) -> None:
        asked = asked_of(problem, arms, epsilon, ties, goal)
        what = comparison(family, arms, delta, epsilon, pool, ties, minimum, asked)
        super().__init__(what, asked.sense)
        self.family, self.delta, self.epsilon = family, delta, asked.epsilon
        self.rows: list[Floats] = []  # of items that count, as told

    @property
    def in_flight(self) -> int:
        """Items that were asked and do not count yet."""
        return len(self.open)

    def ask(self) -> tuple[int, tuple[int, ...]]:
        """The next item, by its number from 0, and the arms that get it."""
        if self.decided or self.exhausted:
            raise BadArgument("ask", self.asked, "an item as long as it is open", "It is over.")
        return self.begin(), tuple(arm for arm in range(self.what.arms) if self.is_in(arm))

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
        self.enter(item, arm, value)
        return self.decided

    def after(self, row: Floats) -> None:
        """Keep it."""
        self.rows.append(row)

    def verdict(self) -> Verdict:
        """Where it stands now."""
        named, least = standing(self.what, self.state)
        winners: tuple[int, ...] = ()
        if self.decided:
            left = tuple(k for k in range(self.what.arms) if self.is_in(k))
            winners = left if self.what.ties else named
        first = named[0] if named else self.what.control
        return Verdict(self.decided, winners, first, len(self.rows), least, self.what.level)

    def differences(self, arm: int, other: int) -> Floats:
        """By how much an arm did better than another, item by item, as far as both were in."""
        rows = np.array(self.rows).reshape(-1, self.what.arms)
        both = rows[: int(self.state.counts[arm, other])]
        return self.sense * (both[:, arm] - both[:, other])

    def at_least(self, arm: int, other: int) -> float:
        """The mean difference is not below this, for all pairs and times together: docs/claims.md."""
        least = least_difference(self.what, self.differences(arm, other))
        if self.decided:
            least = max(least, implied(self.what, self.verdict().winners, arm, other))
        return least
