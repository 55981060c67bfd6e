"""Planes as a user gives them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stopwise.cells.half_space import only_arm
from stopwise.core.arrays import Floats
from stopwise.core.checks import matrix, vector
from stopwise.core.errors import BadArgument
from stopwise.core.options import NUMBERS, ROWS, Option
from stopwise.families.verbs import interval
from stopwise.problems.limits import needs_convexity

OPTIONS = {
    "normals": Option(ROWS, "A row for each combination: [[1, -1, 0], [0, 1, -1]]"),
    "offsets": Option(NUMBERS, "One for each combination: 0, 0.5; 0 if empty"),
}


def planes(normals: ArrayLike, offsets: ArrayLike | None) -> tuple[Floats, Floats]:
    """Normals (none of them zero) and offsets (zero by default), checked."""
    rows = matrix("normals", normals)
    zero = ~np.any(rows != 0.0, axis=1)
    if zero.any():
        place = int(np.argmax(zero))
        raise BadArgument(f"normals[{place}]", rows[place].tolist(), "a normal that is not zero")
    if offsets is None:
        return rows, np.zeros(len(rows))
    levels = vector("offsets", offsets)
    if levels.size != len(rows):
        raise BadArgument("offsets", offsets, f"{len(rows)} numbers, one for each normal")
    return rows, levels


def check_planes(problem: Any, family: Any) -> None:
    """Each plane must cut the family's means, and general ones need a convex divergence."""
    if any(only_arm(normal) < 0 for normal in problem.normals):
        needs_convexity(type(problem).__name__, family)
    low, high = interval(family)
    for m, (normal, offset) in enumerate(zip(problem.normals, problem.offsets, strict=True)):
        used = normal[normal != 0.0]
        least = float(np.sum(np.where(used > 0.0, used * low, used * high)))
        most = float(np.sum(np.where(used > 0.0, used * high, used * low)))
        if not least < offset < most:
            raise BadArgument(
                f"offsets[{m}]",
                float(offset),
                f"between {least:g} and {most:g}, so that the plane cuts the means of {family!r}",
            )
