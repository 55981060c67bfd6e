"""A comparison in one process: items are asked in order, results come in any order."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from stopwise.core import checks
from stopwise.core.arrays import Floats
from stopwise.core.errors import BadArgument
from stopwise.families.family import Family
from stopwise.paired.bounds import implied, least_difference
from stopwise.paired.comparison import asked_of, comparison
from stopwise.paired.items import Items
from stopwise.paired.status import current_answer, tied
from stopwise.problems.problem import Problem


def same(first: float, second: float) -> bool:
    """Whether two results are one number up to rounding, or the first is missing."""
    return math.isnan(first) or math.isclose(first, second, rel_tol=1e-9, abs_tol=1e-12)


def _is_whole(given: object) -> bool:
    return isinstance(given, int | np.integer) and not isinstance(given, bool)


class Verdict(NamedTuple):
    """Where a comparison stands.

    ``winners`` are the arms that the answer names: one for the best arm, several where ties are an
    answer or several are asked for, or have equal means over a whole pool; none if no arm beats the
    control.
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
    an epsilon and a goal of its own. ``pool``: so many items are all there are, and they are asked in a
    random order. The answer is about items like these, and may still be open at the end of the pool.
    Only if every result is the same whenever it is made (``deterministic``) can the answer be about just
    these items: then the end of the pool decides. ``ties``: the answer may be that those left differ by
    less than epsilon. ``goal`` "min": less is better. Nothing is decided before ``minimum`` items.
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
        deterministic: bool = False,
    ) -> None:
        asked = asked_of(problem, arms, epsilon, ties, goal)
        what = comparison(family, arms, delta, epsilon, pool, ties, minimum, asked, deterministic)
        super().__init__(what, asked.goal_sign)
        self.family, self.delta, self.epsilon = family, float(delta), asked.epsilon
        self.deterministic = deterministic
        self.rows: list[Floats] = []  # of items that count, as told

    @property
    def in_flight(self) -> int:
        """Items that were asked and do not count yet."""
        return len(self.open)

    def ask(self) -> tuple[int, tuple[int, ...]]:
        """The next item, by its number from 0, and the arms that get it."""
        if self.decided or self.exhausted:
            end = (
                "decided" if self.decided else f"at the end of its pool of {self.what.pool:,} items"
            )
            raise BadArgument("ask", self.asked, f"nothing: the comparison is {end}")
        return self.begin(), tuple(arm for arm in range(self.what.arms) if self.is_in(arm))

    def tell(self, item: int, arm: int, value: float) -> bool:
        """One result; whether the comparison is decided now.

        Of several results of an arm on an item the first counts; another value is refused if results are
        deterministic. What comes after the decision, or from an arm that is out, changes nothing.
        """
        self._check_place(item, arm)
        sample = self._sample(value)
        self._refuse_if_random(item, arm, sample)
        self.enter(item, arm, sample)
        return self.decided

    def release(self, item: int, arm: int) -> None:
        """A result will not come, as far as anybody knows: nothing waits for it any more.

        It is not to be made again, unless it is sure to be the same.
        """
        self._check_place(item, arm)
        super().release(item, arm)

    def require(self, minimum: int) -> None:
        """Nobody is chosen or out before so many items; with fewer than before, from the next one on."""
        super().require(checks.whole("minimum", minimum, least=0))

    def is_in(self, arm: int) -> bool:
        """Whether it gets more items."""
        return super().is_in(self._place("arm", arm))

    def _check_place(self, item: int, arm: int) -> None:
        if not _is_whole(item) or not 0 <= item < self.asked:
            allowed = f"an item that was asked; so far there are {self.asked}"
            raise BadArgument("item", item, allowed)
        self._place("arm", arm)

    def _place(self, name: str, arm: int) -> int:
        if not _is_whole(arm) or not 0 <= arm < self.what.arms:
            raise BadArgument(name, arm, f"0 to {self.what.arms - 1}")
        return int(arm)

    def _sample(self, value: float) -> float:
        number = checks.finite("value", float(value) if isinstance(value, bool) else value)
        sample = checks.moderate("value", number)
        if not self.family.supports(sample):
            raise BadArgument("value", value, self.family.unsupported())
        return sample

    def _refuse_if_random(self, item: int, arm: int, value: float) -> None:
        row = self.open.get(item)
        if row is None and item < len(self.rows):
            row = self.rows[item]
        if self.deterministic and row is not None and not same(row[arm], value):
            allowed = (
                f"{row[arm]:g} again, as arm {arm} has on item {item}: results are deterministic"
            )
            raise BadArgument("value", value, allowed, "Compare random ones: deterministic=False.")

    def after(self, row: Floats) -> None:
        """Keep it."""
        self.rows.append(row)

    def verdict(self) -> Verdict:
        """Where it stands now."""
        named, least = current_answer(self.what, self.state)
        winners: tuple[int, ...] = ()
        if self.decided:
            left = tuple(k for k in range(self.what.arms) if self.is_in(k))
            winners = left if self.what.ties else tied(self.what, self.state) or named
        first = named[0] if named else self.what.control
        return Verdict(self.decided, winners, first, self.counted, least, self.what.level)

    @property
    def used_up(self) -> bool:
        """Whether all items of the pool count, and there is no answer."""
        return not self.decided and 0 < self.what.pool <= self.counted

    def differences(self, arm: int, other: int) -> Floats:
        """By how much an arm did better than another, item by item, as far as both were in.

        Where a result is missing: at least.
        """
        rows = np.array(self.rows).reshape(-1, self.what.arms)
        pair = self._place("arm", arm), self._place("other", other)
        return self.worst_differences(rows, *pair)

    def at_least(self, arm: int, other: int) -> float:
        """The mean difference is not below this, for all pairs and times together: docs/claims.md."""
        least = least_difference(self.what, self.differences(arm, other))
        if self.decided:
            least = max(least, implied(self.what, self.verdict().winners, arm, other))
        return least
