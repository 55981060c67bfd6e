"""What a cell constrains, in a few numbers: one arm, two, all of them on one side, or something else."""

from __future__ import annotations

import math
from typing import NamedTuple

from stopwise.cells.half_space import only_arm
from stopwise.core.arrays import Floats
from stopwise.core.verbs import jitable

BOUND, GAP, SIDE, ANY = range(4)


class Shape(NamedTuple):
    """``kind`` says which of the other numbers count."""

    kind: int
    arm: int
    other: int
    side: float
    limit: float


@jitable
def bound_shape(arm: int, side: float, limit: float) -> Shape:
    """lambda_arm >= limit (side +1) or <= limit (side -1)."""
    return Shape(BOUND, arm, arm, side, limit)


@jitable
def gap_shape(arm: int, other: int, margin: float) -> Shape:
    """lambda_other >= lambda_arm + margin, with margin >= 0."""
    return Shape(GAP, arm, other, 1.0, margin)


@jitable
def side_shape(side: float, limit: float) -> Shape:
    """Every arm on this side of the limit."""
    return Shape(SIDE, 0, 0, side, limit)


@jitable
def other_shape() -> Shape:
    """Anything else."""
    return Shape(ANY, 0, 0, 1.0, 0.0)


@jitable
def box_shape(lower: Floats, upper: Floats) -> Shape:
    """lower <= lambda <= upper: a bound where there is one."""
    found, bounds = other_shape(), 0
    for k in range(lower.size):
        if lower[k] > -math.inf:
            found, bounds = bound_shape(k, 1.0, lower[k]), bounds + 1
        if upper[k] < math.inf:
            found, bounds = bound_shape(k, -1.0, upper[k]), bounds + 1
    return found if bounds == 1 else other_shape()


@jitable
def half_space_shape(normal: Floats, side: float, offset: float) -> Shape:
    """side * normal . lambda >= side * offset: a bound where there is one arm in it."""
    arm = only_arm(normal)
    if arm < 0:
        return other_shape()
    sign = side if normal[arm] > 0.0 else -side
    return bound_shape(arm, sign, offset / normal[arm])
