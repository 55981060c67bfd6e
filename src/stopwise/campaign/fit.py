"""Whether samples look as their family says: bets against the family, to be looked at at any time.

The samples of an arm go in pairs, in the order in which they count. If the family is right, how unusual
the spacing of a pair is has a uniform law, whatever the arm's mean and whatever came before. What is won
by betting against that law reaches 1/p with probability p at most: docs/continuous-metrics.md.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from stopwise.core.verbs import registered
from stopwise.engine.live import RECORDED, TOLD, Record
from stopwise.families.spacings import Spacing, Tails, misfit_words, spacing_tails
from stopwise.families.verbs import of_arm

LOUD = 1e-3  # how improbable samples must be for a warning
EDGES = (0.0, 1e-9, 1e-6, 1e-3, 0.03, 0.2, 0.75, 1.0)  # of classes: from unusually far to near
CLASSES = tuple(high - low for low, high in pairwise(EDGES))
# what is bet before the first pair: as if two had been seen, one as expected and one anywhere
PRIOR = tuple(chance + 1.0 / len(CLASSES) for chance in CLASSES)
# of each arm: a sample without a partner (nan: none), pairs, their squared spacings, the logarithms of
# what the bets have made and of the most that they had ever made, and how many pairs are in each class
FIRST, PAIRS, SQUARES, MADE, MOST, COUNTS = range(6)


class Misfit(NamedTuple):
    """Samples that contradict the family: of which arm, how probable if it is right, in words."""

    arm: str
    chance: float  # at most, over the whole campaign, however often somebody looks
    text: str


class Fit:
    """The bets of every arm; none if the family says nothing about spacings."""

    def __init__(self, family: Any, arms: int) -> None:
        self.family = family
        checked = arms if registered(spacing_tails, type(of_arm(family, 0))) else 0
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
        spacing = Spacing(abs(sample - first), sample + first, unit, int(row[PAIRS]), row[SQUARES])
        tails = spacing_tails(of_arm(self.family, arm), spacing)
        row[FIRST] = math.nan
        row[PAIRS] += 1.0
        row[SQUARES] += spacing.size * spacing.size
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
        words = misfit_words(of_arm(self.family, arm), _wide(self.kept[arm, COUNTS:].tolist()))
        seen = "less than 1 in a billion" if chance < 1e-9 else f"at most 1 in {1.0 / chance:,.0f}"
        text = f"samples of {labels[arm]} {words}; the probability of that by chance is {seen}"
        return Misfit(labels[arm], chance, text)


def _unit(sample: float) -> float:
    """Of the last decimal place to which a sample is given: 0.01 for 2.25, 1 for 7."""
    digits, _, power = repr(sample).partition("e")
    places = digits.partition(".")[2].rstrip("0")
    return 10.0 ** (int(power or 0) - len(places))


def _shares(tails: Tails) -> list[float]:
    """Of each class, the share of a uniform number between the tails that lies in it."""
    high = max(tails.at_least, 1e-30)
    low = min(tails.above, high * (1.0 - 1e-9))  # a point is an interval too
    return [
        max(min(high, end) - max(low, start), 0.0) / (high - low) for start, end in pairwise(EDGES)
    ]


def _bet(row: list[float], shares: list[float]) -> None:
    """Multiply what was made by the chance of this pair, as those before it suggest, over its own."""
    counts = [seen + prior for seen, prior in zip(row[COUNTS:], PRIOR, strict=True)]
    terms = zip(shares, counts, CLASSES, strict=True)
    won = sum(share * count / chance for share, count, chance in terms) / sum(counts)
    row[MADE] += math.log(won)
    row[MOST] = max(row[MOST], row[MADE])
    row[COUNTS:] = [seen + share for seen, share in zip(row[COUNTS:], shares, strict=True)]


def _wide(counts: list[float]) -> bool:
    """Whether there are too many wide spacings, rather than too many narrow ones."""
    pairs = sum(counts)
    *far, near = (
        seen * math.log(seen / (pairs * chance)) if seen > 0.0 else 0.0
        for seen, chance in zip(counts, CLASSES, strict=True)
    )
    return sum(far[:-1]) >= near
