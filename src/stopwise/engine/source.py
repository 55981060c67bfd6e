"""Where a run's samples come from: the family at the true means, or stacks filled by the arms' laws.

A stack is refilled between two chunks of rounds, in plain Python, so that one compiled loop serves every
law. Arm k's n-th sample depends on the seed, the case, the repetition, k and n alone: each arm has its
own random stream, and blocks of a size that depends on the block's number alone.
"""

from __future__ import annotations

import numpy as np

from stopwise.core.arrays import Floats, Ints, Rng
from stopwise.core.errors import MissingMethod
from stopwise.core.functions import inline
from stopwise.core.values import Value
from stopwise.engine.design import Design, generator
from stopwise.families.family import Family

FIRST, LAST = 128, 8192  # sizes of an arm's blocks: each twice as large as the one before
ARMS = 2  # the streams of a repetition: 1 is the strategy's, (2, k) that of arm k


class Source(Value):
    """Where the loop gets its samples."""

    @inline
    def next_sample(self, family: Family, arm: int, rng: Rng) -> float:
        """The next sample of an arm."""
        raise MissingMethod("next_sample", self)


class AtMeans(Source):
    """Samples of the family, at the true means."""

    means: Floats

    def next_sample(self, family: Family, arm: int, rng: Rng) -> float:
        return family.of_arm(arm).draw(self.means[arm], rng)


class Stacks(Source):
    """Each arm's next samples, and how many of them are used."""

    samples: Floats
    used: Ints

    def next_sample(self, family: Family, arm: int, rng: Rng) -> float:
        place = self.used[arm]
        self.used[arm] = place + 1
        return self.samples[arm, place]


class Supply:
    """The source of one run, whose stacks are filled before each chunk of rounds."""

    def __init__(self, design: Design, seed: int, cell: int, repetition: int) -> None:
        self._laws = design.laws
        self._rngs = [generator(seed, cell, repetition, ARMS, k) for k in range(len(self._laws))]
        self._unused = [np.zeros(0) for _ in self._laws]  # samples of each arm
        self._block_sizes = [FIRST] * len(self._laws)
        self.source = empty_source(design)

    def fill(self, rounds: int, most: int) -> int:
        """Have samples for the rounds after so many; returns for how many rounds, at most ``most``."""
        if not isinstance(self.source, Stacks):
            return most
        wanted = min(max(rounds, FIRST), LAST)  # of each arm
        for arm, used in enumerate(self.source.used):
            left = self._unused[arm][used:]
            while left.size < wanted:
                left = np.concatenate((left, self._next_block(arm)))
            self._unused[arm] = left
        sizes = [left.size for left in self._unused]
        samples = np.zeros((len(sizes), max(sizes)))
        for row, left in zip(samples, self._unused, strict=True):
            row[: left.size] = left
        self.source = Stacks(samples, np.zeros(len(sizes), dtype=np.int64))
        return min(most, *sizes)

    def _next_block(self, arm: int) -> Floats:
        size = self._block_sizes[arm]
        self._block_sizes[arm] = min(2 * size, LAST)
        return self._laws[arm].draw(size, self._rngs[arm])


def empty_source(design: Design) -> Source:
    """A source of the design's type without any samples: the loop is compiled for it."""
    if not design.laws:
        return AtMeans(design.truth)
    return Stacks(np.zeros((design.truth.size, 0)), np.zeros(design.truth.size, dtype=np.int64))
