"""Means that a family allows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stopwise.core.arrays import Floats
from stopwise.core.checks import vector
from stopwise.core.errors import BadArgument
from stopwise.core.values import Family, check_role
from stopwise.families.verbs import check_arms, interval


def check_means(given: ArrayLike, size: int, family: Any, closed: bool = False) -> Floats:
    """Means inside the family's interval; ``closed`` also lets in its ends, as data can give."""
    check_role("family", family, Family)
    check_arms(family, size)
    array = vector("means", given, size)
    low, high = interval(family)
    outside = (array < low) | (array > high)
    if not closed:
        outside |= (array <= low) | (array >= high)
    if np.any(outside):
        brackets = "[]" if closed else "()"
        arm = int(np.argmax(outside))
        raise BadArgument(
            f"means[{arm}]",
            float(array[arm]),
            f"means of {family!r} lie in {brackets[0]}{low:g}, {high:g}{brackets[1]}",
        )
    return array
