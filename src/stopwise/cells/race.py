"""Races: all that take part are sampled once a round, and whoever is beaten is out.

What a racing strategy and its stopping rule share. Who takes part stands in the record for everybody to
see: the arms with weight in the strategy's pursuit (all of them, if none has any). A round is over
when each of these has a sample since the last one was; then others are compared with the best.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from stopwise.cells.confidence import against, apart, bound
from stopwise.cells.gap import pair_cost
from stopwise.cells.radius import (
    Hoeffding,
    Mixture,
    Stylized,
    radius_named,
    sized,
)
from stopwise.core.arrays import Floats, fill, total
from stopwise.core.checks import choice
from stopwise.core.data import Data
from stopwise.core.options import Option
from stopwise.core.values import Value
from stopwise.core.verbs import jitable, verb
from stopwise.families.verbs import Quadratic, of_arm, variance

RACES = ("kl", "chernoff", "elimination")
RACE = Option(
    {"enum": list(RACES)},
    "What beats an arm: that of KLRacing, ChernoffRacing, SuccessiveElimination",
)


class _Bounds(NamedTuple):
    radius: Any
    every: bool


class Bounds(_Bounds, Value):
    """Beaten is whose interval lies beyond that of the best; looked at is every arm, or the worst."""

    __slots__ = ()


class _Ratio(NamedTuple):
    radius: Any
    every: bool


class Ratio(_Ratio, Value):
    """Beaten is who can be level with the best only at a large likelihood ratio (Chernoff)."""

    __slots__ = ()


def race_named(race: Any, radius: Any) -> Any:
    """What beats an arm in a race of this name; successive elimination has a radius of its own."""
    name = choice("race", race, RACES, f"one of {', '.join(map(repr, RACES))}")
    if name == "elimination":
        return Bounds(Hoeffding(), True)
    return (Bounds if name == "kl" else Ratio)(radius_named(radius), False)


@verb
def beaten_by(
    test: Any, family: Any, data: Data, best: int, other: int, side: float, t: float, least: float
) -> float:
    """By how much the best beats another arm: a base of the radius. Below ``least`` it may be less."""
    if least > -math.inf:  # one inversion and one divergence settle most cases
        end = bound(test.radius, family, data, best, -side, least, t)
        behind = side * (end - data.means[other]) > 0.0
        if not behind or against(test.radius, family, data, other, end, t) < least:
            return -math.inf
    return apart(test.radius, family, data, best, other, side, 0.0, t)


@beaten_by.register(Ratio)
def _by_ratio(
    test: Ratio, family: Any, data: Data, best: int, other: int, side: float, t: float, least: float
) -> float:
    if side * data.means[best] <= side * data.means[other]:
        return -math.inf
    first, second = (best, other) if side > 0.0 else (other, best)
    return pair_against(test.radius, family, data, first, second, t)


@verb(on=2)
def pair_against(radius: Any, family: Any, data: Data, arm: int, other: int, t: float) -> float:
    """What two arms' samples together have against level means, if the first one's is larger."""
    lost = 0.0
    for k in (arm, other):
        lost += sized(radius, of_arm(family, k), data.counts[k], data.means[k], t)[1]
    return pair_cost(family, data, arm, other, 0.0) - lost


@pair_against.register(Stylized)
def _stylized(radius: Any, family: Any, data: Data, arm: int, other: int, t: float) -> float:
    return pair_cost(family, data, arm, other, 0.0) - math.log(1.0 + math.log(t))


@pair_against.register(Mixture, Quadratic)
def _shrunken(radius: Any, family: Any, data: Data, arm: int, other: int, t: float) -> float:
    """The pair's cost at the scales in place of the counts."""
    gap, noise, lost = data.means[arm] - data.means[other], 0.0, 0.0
    for k in (arm, other):
        own = of_arm(family, k)
        scale, growth = sized(radius, own, data.counts[k], data.means[k], t)
        noise += variance(own, data.means[k]) / scale
        lost += growth
    return 0.5 * gap * gap / noise - lost


@jitable
def round_over(fresh: Floats, weights: Floats) -> bool:
    """Whether each arm that takes part has a sample in this round; if so the next one begins."""
    everybody = total(weights) == 0.0
    for k in range(fresh.size):
        if fresh[k] == 0.0 and (everybody or weights[k] > 0.0):
            return False
    fill(fresh, 0.0)
    return True


@jitable
def first_and_last(means: Floats, weights: Floats, side: float) -> tuple[int, int]:
    """The best and the worst of those that take part, the first of equals."""
    best = worst = -1
    everybody = total(weights) == 0.0
    for k in range(means.size):
        if everybody or weights[k] > 0.0:
            if best < 0 or side * means[k] > side * means[best]:
                best = k
            if worst < 0 or side * means[k] < side * means[worst]:
                worst = k
    return best, worst
