"""Strategies whose one option is a radius of confidence: the proven one, or the literature's."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

from stopwise.cells.radius import RADIUS, radius_named, spelled
from stopwise.sampling.verbs import Direct


class _WithRadius(NamedTuple):
    radius: Any


class WithRadius(_WithRadius, Direct, listed=False):
    """What they share; each has a stopping rule of its own with the same radius."""

    __slots__ = ()
    options = {"radius": RADIUS}
    looks_at_delta = True

    def __new__(cls, radius: Any = "mixture") -> Self:
        return super().__new__(cls, radius_named(radius))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({spelled(self.radius)!r})"
