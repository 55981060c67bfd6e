"""The order in which rows count. By time; else shuffled, so that the order of the file has no say.

docs/past-results.md has the proof that a shuffled sample keeps the guarantee, and what that needs of
the data.
"""

from __future__ import annotations

import hashlib
import json
import math
from array import array
from collections.abc import Sequence

import numpy as np

from stopwise.campaign.events import Event
from stopwise.campaign.imports.rows import Rows
from stopwise.core.arrays import Floats, Ints
from stopwise.core.errors import BadArgument

SHUFFLED, BY_TIME, AS_GIVEN = "shuffled", "by time", "as in the file"
FEW = 8  # values of an arm, of which no order is too unlikely
BY_ACCIDENT = 1e-4  # how often the test for sorted rows refuses rows that are not


def shuffled(arms: Ints, values: Floats) -> tuple[Ints, str]:
    """Places in a random order, and the seed of that order.

    Both depend on which rows there are, not on their order: rows are sorted first, and the seed is a
    hash of the sorted rows. So nobody chooses an order by sorting a file, or by trying again.
    """
    by_content = np.lexsort((values, arms))
    content = hashlib.sha256(arms[by_content].astype("<i8").tobytes())
    content.update(values[by_content].astype("<f8").tobytes())
    seed = content.hexdigest()[:32]
    # raw numbers, whose stream NumPy promises to keep
    keys = np.random.PCG64(int(seed, 16)).random_raw(arms.size)
    return by_content[np.argsort(keys, kind="stable")], seed


def arranged(rows: Rows, in_order: bool) -> tuple[Ints, str, str]:
    """Places of the rows in the order in which they count; which order it is; and its seed."""
    if in_order:
        refuse_if_sorted(rows.arms, rows.values)
        return np.arange(len(rows)), AS_GIVEN, ""
    order, seed = shuffled(rows.arms, rows.values) if len(rows) else (np.arange(0), "")
    if rows.times is None:
        return order, SHUFFLED, seed
    rank = np.empty(len(rows), dtype=np.int64)
    rank[order] = np.arange(len(rows))
    return np.lexsort((rank, rows.times)), BY_TIME, seed  # shuffled where times are the same


def refuse_if_sorted(arms: Ints, values: Floats) -> None:
    """Refuse rows whose order has to do with their values, as in a file that is sorted by value."""
    for arm in np.unique(arms):
        chance = order_chance(values[arms == arm])
        if chance < BY_ACCIDENT / np.unique(arms).size:
            raise BadArgument(
                "in_order",
                True,
                "rows whose order has nothing to do with their values",
                f"The values of arm {arm} rise, fall or cluster along the file (by accident in one "
                f"file of {1 / max(chance, 1e-99):.0e}): by its order alone a sorted file decides for "
                "some arm. Leave in_order out (the rows are shuffled), or give the column of times.",
            )


def order_chance(values: Floats) -> float:
    """How likely rows in random order show so strong a trend, or such clusters: by the normal law."""
    if values.size < FEW or np.all(values == values[0]):
        return 1.0
    trend, cluster = order_scores(values)
    return min(1.0, math.erfc(abs(trend) / math.sqrt(2)) + math.erfc(cluster / math.sqrt(2)) / 2)


def order_scores(values: Floats) -> tuple[float, float]:
    """Trend, the sum of place times rank; and clusters, the sum of products of neighbours' ranks.

    Both less their means and over their standard deviations under all orders (Wald & Wolfowitz 1943).
    """
    n = values.size
    _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2.0)[codes]
    x = (ranks - ranks.mean()) / ranks.std()  # sum x = 0, sum x^2 = n
    places = np.arange(n) - (n - 1) / 2.0
    # sum of place x: mean 0, variance sum(place^2) sum(x^2)/(n - 1)
    trend = float(places @ x) / math.sqrt(float(places @ places) * n / (n - 1))
    # sum of x_i x_(i + 1) around the circle, with s4 = sum x^4: mean -n/(n - 1),
    # variance (n^2 - s4)/(n - 1) + (n^2 - 2 s4)/((n - 1)(n - 2)) - mean^2
    s4, mean = float((x**4).sum()), -n / (n - 1)
    variance = (n**2 - s4) / (n - 1) + (n**2 - 2 * s4) / ((n - 1) * (n - 2)) - mean**2
    return trend, (float(x @ np.roll(x, 1)) - mean) / math.sqrt(variance)


class Shuffles:
    """Whether imported rows are on record in the order that the seed of their shuffle gives."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self._number, self._seed, self._left = 0, "", 0  # of the import whose rows come now
        self._arms, self._values = array("q"), array("d")

    def take(self, events: Sequence[Event]) -> None:
        """The next events of the record."""
        for event in events:
            if event.kind == "imported":
                self._begin(event)
            elif self._left and event.kind == "recorded":
                self._arms.append(event.arm or 0)
                self._values.append(event.value or 0.0)
                self._left -= 1
                if not self._left:
                    self._compare()

    def _begin(self, event: Event) -> None:
        note = json.loads(event.note)
        if note.get("order") == SHUFFLED:
            self._number, self._seed, self._left = event.number, note["seed"], note["new"]
            self._arms, self._values = array("q"), array("d")

    def _compare(self) -> None:
        arms, values = np.array(self._arms, dtype=np.int64), np.array(self._values, dtype=float)
        order, seed = shuffled(arms, values)
        same = np.array_equal(arms[order], arms) and np.array_equal(values[order], values)
        if seed != self._seed or not same:
            number = self._number
            self.problems.append(f"event {number}: imported rows are not in their shuffled order")
