"""Whether the evidence survives blocks that depend on each other: the same test on batches of blocks.

Evidence counts every block as news. On a machine that is slow for a while, the blocks of that while say
the same thing several times. So a claim must also hold for the means of batches of 1, 2, 4, ... blocks,
with a variance that allows for what is left of the dependence: docs/which-program-is-faster.md.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from stopwise.core.arrays import Floats
from stopwise.core.spelling import family
from stopwise.paired.differences import Stream, differences_of

FEWEST = 8  # batches; also the number from which on the correlation of neighbours says something
WORTH = 16.0  # independent blocks that all blocks must be worth


@cache
def normal() -> Any:
    """How normal values are bet on, whose variance nobody knows."""
    return differences_of(family("gaussian:variance=unknown"))


def is_steady(differences: Floats, margin: float, level: float) -> bool:
    """Whether a mean above -margin is as evident from batches, the longest an eighth of all blocks."""
    size, blocks = 1, len(differences)
    while size == 1 or blocks // size >= FEWEST:
        batches = _means(differences, size)
        inflation = variance_inflation(batches)
        if size == 1 and blocks < WORTH * inflation:
            return False
        if _evidence(batches, margin, inflation) < level:
            return False
        size *= 2
    return True


def variance_inflation(values: Floats) -> float:
    """(1 + r)/(1 - r), for neighbours that correlate by r: estimated, and a standard error more.

    That is by how much the variance of the mean of an AR(1) series exceeds that of independent values.
    """
    off = values - values.mean()
    squares = float(off @ off)
    found = float(off[1:] @ off[:-1]) / squares if squares > 0.0 else 0.0
    correlation = min(max(found + 1.0 / math.sqrt(len(values)), 0.0), 0.99)
    return (1.0 + correlation) / (1.0 - correlation)


def _means(values: Floats, size: int) -> Floats:
    """Of the latest whole batches."""
    count = len(values) // size
    return np.asarray(values[len(values) - count * size :].reshape(count, size).mean(axis=1))


def _evidence(batches: Floats, margin: float, inflation: float) -> float:
    """The t evidence, as of normal values with a variance so many times as large."""
    mean, squares = float(batches.mean()), float(np.sum((batches - batches.mean()) ** 2))
    if squares == 0.0:  # all alike, to the last digit: nothing varies with the time
        return math.inf if mean > -margin else 0.0
    room = np.zeros(normal().gaps.size)
    stream = Stream(room, float(len(batches)), mean, inflation * squares)
    return float(normal().evidence(stream, margin, 0))
