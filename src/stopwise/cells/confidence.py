"""The ends of arms' confidence intervals, who has the best one, and from which base on two are apart."""

from __future__ import annotations

import math
from typing import Any

from stopwise.cells.radius import proxy, ruler, sized
from stopwise.core.data import Data
from stopwise.core.verbs import jitable, verb
from stopwise.families.verbs import (
    Quadratic,
    divergence,
    divergence_slope,
    least_divergence,
    space,
    variance,
)


@verb
def reach(family: Any, mean: float, level: float, side: float) -> float:
    """The point on one side of the mean where d(mean, .) reaches the level, or the end of the space.

    Newton's method for sqrt(d), which is nearly linear, in a bracket: three steps, mostly.
    """
    low, high = space(family)
    far = high if side > 0.0 else low
    near = mean
    if level <= 0.0 or mean == far:
        return mean
    goal, x = math.sqrt(level), mean + side * math.sqrt(2.0 * level * variance(family, mean))
    for _ in range(100):
        if not min(near, far) < x < max(near, far):
            x = (
                near + 0.5 * (far - near)
                if math.isfinite(far)
                else mean + 2.0 * (near - mean) + side
            )
        value, slope = divergence(family, mean, x), divergence_slope(family, mean, x)
        if value > level:
            far = x
        else:
            near = x
        if not (math.isfinite(value) and slope != 0.0):
            x = math.nan
            continue
        root = math.sqrt(value)
        step = 2.0 * root * (goal - root) / slope
        x += step
        within = min(near, far) <= x <= max(near, far)
        if within and abs(step) <= 1e-7 * abs(x - mean):  # the next step would be its square
            return x
    return near


@reach.register(Quadratic)
def _reach(family: Any, mean: float, level: float, side: float) -> float:
    return mean + side * math.sqrt(2.0 * variance(family, mean) * max(level, 0.0))


@jitable(inline=True)
def bound(
    radius: Any, family: Any, data: Data, arm: int, side: float, base: float, rounds: float
) -> float:
    """The end of an arm's interval, above (side +1) or below (-1) its mean."""
    own, mean = ruler(radius, family, arm), data.means[arm]
    scale, growth = sized(radius, own, data.counts[arm], mean, rounds)
    return reach(own, mean, (base + growth) / scale, side)


@jitable(inline=True)
def against(radius: Any, family: Any, data: Data, arm: int, q: float, rounds: float) -> float:
    """What the samples have against q as the arm's mean: the base at which its interval ends there."""
    own, mean = ruler(radius, family, arm), data.means[arm]
    scale, growth = sized(radius, own, data.counts[arm], mean, rounds)
    return scale * divergence(own, mean, q) - growth


@jitable(inline=True)
def refuted(
    radius: Any, family: Any, data: Data, arm: int, q: float, base: float, rounds: float
) -> bool:
    """Whether the samples have at least the base against q: mostly seen without the divergence.

    Samples that are s^2-sub-Gaussian at every mean have d(mu, q) >= (mu - q)^2/(2 s^2).
    """
    own, mean = ruler(radius, family, arm), data.means[arm]
    scale, growth = sized(radius, own, data.counts[arm], mean, rounds)
    far = max(0.5 * (mean - q) * (mean - q) / proxy(own), least_divergence(own, mean, q))
    if scale * far - growth >= base * (1.0 + 1e-9):
        return True
    return bool(scale * divergence(own, mean, q) - growth >= base)


@jitable
def best_bound(
    radius: Any,
    family: Any,
    data: Data,
    side: float,
    base: float,
    rounds: float,
    but: int,
    guess: int,
    which: float,
) -> tuple[int, float]:
    """The arm, other than ``but``, with the furthest bound towards this side, and the bound.

    Of each arm the near end (``which`` +1) or the far one (-1) is compared. Another arm's is further
    than ``end`` if it has less (far ends: more) than the base against ``end``: one divergence
    instead of an inversion. The guess is looked at first; of equals the first is taken.
    """
    found, end = -1, 0.0
    for turn in range(-1, data.means.size):
        arm = guess if turn < 0 else turn
        if arm == but or arm == found or arm < 0:
            continue
        if found >= 0:
            if data.counts[arm] == data.counts[found] and data.means[arm] == data.means[found]:
                found = min(arm, found)
                continue
            ahead = side * (data.means[arm] - end) > 0.0
            if ahead == (which < 0.0):  # else it is clear already
                ahead = refuted(radius, family, data, arm, end, base, rounds) == (which < 0.0)
            if not ahead:
                continue
        found, end = arm, bound(radius, family, data, arm, which * side, base, rounds)
    return found, end


@jitable
def apart(
    radius: Any, family: Any, data: Data, arm: int, other: int, side: float, margin: float, t: float
) -> float:
    """The largest base at which ``arm``'s lower bound is above ``other``'s upper one less the margin.

    For side -1 upper and lower change places. The two crossed functions are monotone between the means.
    """
    near, far = data.means[arm], data.means[other] - side * margin
    if side * (near - far) <= 0.0:
        return -math.inf
    x = 0.5 * (near + far)
    while min(near, far) < x < max(near, far):
        mine = against(radius, family, data, arm, x, t)
        if mine > against(radius, family, data, other, x + side * margin, t):
            far = x
        else:
            near = x
        x = 0.5 * (near + far)
    return min(
        against(radius, family, data, arm, x, t),
        against(radius, family, data, other, x + side * margin, t),
    )


@jitable
def leader(means: Any, side: float) -> int:
    """The arm with the largest (side +1) or smallest (-1) mean, the first of equals."""
    found = 0
    for k in range(1, means.size):
        if side * means[k] > side * means[found]:
            found = k
    return found
