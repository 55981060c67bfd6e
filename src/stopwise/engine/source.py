"""Where a run's samples come from: the family at the true means, or stacks that its arms' laws fill.

A stack is refilled between two chunks of rounds, in plain Python, so that one compiled loop serves every
law. Arm k's n-th sample depends on the seed, the case, the repetition, k and n alone: each arm has its
own random stream, and blocks of a size that depends on the block's number alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stopwise.core.arrays import Floats, Ints, Rng
from stopwise.engine.design import Design, generator
from stopwise.engine.loop import AtMeans, Source
from stopwise.families.family import Family

FIRST, LAST = 128, 8192  # sizes of an arm's blocks: each twice as large as the one before
ARMS = 2  # the streams of a repetition: 1 is the strategy's, (2, k) that of arm k


class Stacks(Source):
    """Each arm's next samples, and how many of them are used."""

    samples: Floats
    used: Ints

    def next_sample(self, family: Family, arm: int, rng: Rng) -> float:
        place = self.used[arm]
        self.used[arm] = place + 1
        return self.samples[arm, place]


class Supply:
    """The source of one run, chunk after chunk."""

    def __init__(self, design: Design, seed: int, cell: int, repetition: int) -> None:
        self._laws, arms = design.laws, design.truth.size
        self._rngs = [generator(seed, cell, repetition, ARMS, k) for k in range(len(self._laws))]
        self._left = [np.zeros(0) for _ in self._laws]
        self._next = [FIRST] * len(self._laws)
        self.source: Any = empty_source(design)
        self._arms = arms

    def fill(self, rounds: int, most: int) -> int:
        """Have samples ready; returns for how many rounds (one sample a round), at most ``most``."""
        if not self._laws:
            return most
        wanted = min(max(rounds, FIRST), LAST)
        self._left = [left[used:] for left, used in zip(self._left, self.source.used, strict=True)]
        for arm in range(self._arms):
            while self._left[arm].size < wanted:
                self._left[arm] = np.concatenate((self._left[arm], self._block(arm)))
        samples = np.zeros((self._arms, max(each.size for each in self._left)))
        for row, left in zip(samples, self._left, strict=True):
            row[: left.size] = left
        self.source = Stacks(samples, np.zeros(self._arms, dtype=np.int64))
        return min(most, *(each.size for each in self._left))

    def _block(self, arm: int) -> Floats:
        size = self._next[arm]
        self._next[arm] = min(2 * size, LAST)
        return self._laws[arm].draw(size, self._rngs[arm])


def empty_source(design: Design) -> Source:
    """What the loop is compiled for."""
    if not design.laws:
        return AtMeans(design.truth)
    return Stacks(np.zeros((design.truth.size, 0)), np.zeros(design.truth.size, dtype=np.int64))
