"""Whether samples look as their family says: bets against the family, to be looked at at any time.

The samples of an arm go in pairs, in the order in which they count. If the family is right, how unusual
the spacing of a pair is has a uniform law, whatever the arm's mean and whatever came before. What is won
by betting against that law reaches 1/p with probability p at most: docs/continuous-metrics.md.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from stopwise.core.values import overrides
from stopwise.engine.live import RECORDED, TOLD, Record
from stopwise.families.spacings import (
    Spacing,
    Tails,
)

LOUD = 1e-3  # how improbable samples must be for a warning
EDGES = (0.0, 1e-9, 1e-6, 1e-3, 0.03, 0.2, 0.75, 1.0)  # of classes: from unusually far to near
CLASSES = tuple(high - low for low, high in pairwise(EDGES))
# what is bet before the first pair: as if two had been seen, one as expected and one anywhere
PRIOR = tuple(chance + 1.0 / len(CLASSES) for chance in CLASSES)
# of each arm: a sample without a partner (nan: none), pairs, their squared spacings and their totals,
# the logarithms of what the bets have made and of the most they ever had, and the counts of the classes
FIRST, PAIRS, SQUARES, TOTALS, MADE, MOST, COUNTS = range(7)


class Misfit(NamedTuple):
    """Samples that contradict the family: of which arm, how probable if it is right, in words."""

    arm: str
    chance: float  # at most, over the whole campaign, however often somebody looks
    text: str


class Fit:
    """The bets of every arm; none if the family says nothing about spacings."""

    def __init__(self, family: Any, arms: int, subject: str = "samples of {arm}") -> None:
        self.family, self._subject = family, subject
        checked = arms if overrides(family.of_arm(0), "spacing_tails") else 0
        self.kept = np.zeros((checked, COUNTS + len(CLASSES)))
        self.kept[:, FIRST] = math.nan

    def take(self, record: Record, used: int) -> None:
        """The samples among the first ``used`` events of a record, in the order in which they count."""
        if not len(self.kept):
            return
        columns = record.kinds[:used], record.arms[:used], record.samples[:used]
        for kind, arm, sample in zip(*(column.tolist() for column in columns), strict=True):
            if kind in (TOLD, RECORDED):
                self.note(arm, sample)

    def note(self, arm: int, sample: float) -> None:
        """One sample."""
        first = float(self.kept[arm, FIRST])
        if math.isnan(first):
            self.kept[arm, FIRST] = sample
            return
        row = self.kept[arm].tolist()
        unit = min(_unit(first), _unit(sample))
        spacing = Spacing(
            abs(sample - first), sample + first, unit, int(row[PAIRS]), row[SQUARES], row[TOTALS]
        )
        row[FIRST] = math.nan
        row[PAIRS] += 1.0
        row[SQUARES] += spacing.size * spacing.size
        row[TOTALS] += spacing.total
        family = self.family.of_arm(arm)
        for tails in (family.spacing_tails(spacing), family.total_tails(spacing)):
            if tails.at_least - tails.above < 1.0:
                _bet(row, _shares(tails))
        self.kept[arm] = row

    def samples(self, arm: int) -> int:
        """How many samples of an arm were noted."""
        row = self.kept[arm]
        return int(2.0 * row[PAIRS]) + (not math.isnan(row[FIRST]))

    def misfit(self, labels: tuple[str, ...], arms: int) -> Misfit | None:
        """What is loud enough for a warning; ``arms``: so many there may ever be (a union bound)."""
        if not len(self.kept):
            return None
        arm = int(np.argmax(self.kept[:, MOST]))
        chance = arms * math.exp(-float(self.kept[arm, MOST]))
        if chance > LOUD:
            return None
        words = self.family.of_arm(arm).misfit_words(_wide(self.kept[arm, COUNTS:].tolist()))
        seen = "less than 1 in a billion" if chance < 1e-9 else f"at most 1 in {1.0 / chance:,.0f}"
        subject = self._subject.format(arm=labels[arm], first=labels[0])
        text = f"{subject} {words}; the probability of that by chance is {seen}"
        return Misfit(labels[arm], chance, text)


def _unit(sample: float) -> float:
    """Of the last decimal place to which a sample is given: 0.01 for 2.25, 1 for 7."""
    digits, _, power = repr(sample).partition("e")
    places = digits.partition(".")[2].rstrip("0")
    return 10.0 ** (int(power or 0) - len(places))


def _shares(tails: Tails) -> list[tuple[int, float]]:
    """The classes that lie between the tails, and which share of the numbers between them each has."""
    high = max(tails.at_least, 1e-30)
    low = min(tails.above, high * (1.0 - 1e-9))  # a point is an interval too
    first, last = bisect_right(EDGES, low) - 1, bisect_left(EDGES, high) - 1
    if first == last:
        return [(first, 1.0)]
    cuts = [low, *EDGES[first + 1 : last + 1], high]
    return [
        (first + k, (end - start) / (high - low)) for k, (start, end) in enumerate(pairwise(cuts))
    ]


def _bet(row: list[float], shares: list[tuple[int, float]]) -> None:
    """Multiply what was made by the chance of this pair, as those before it suggest, over its own."""
    won, pairs = 0.0, sum(row[COUNTS:])
    for k, share in shares:
        won += share * (row[COUNTS + k] + PRIOR[k]) / CLASSES[k]
    for k, share in shares:
        row[COUNTS + k] += share
    row[MADE] += math.log(won / (pairs + 2.0))
    row[MOST] = max(row[MOST], row[MADE])


def _wide(counts: list[float]) -> bool:
    """Whether there are too many wide spacings, rather than too many narrow ones."""
    pairs = sum(counts)
    *far, near = (
        seen * math.log(seen / (pairs * chance)) if seen > 0.0 else 0.0
        for seen, chance in zip(counts, CLASSES, strict=True)
    )
    return sum(far[:-1]) >= near
