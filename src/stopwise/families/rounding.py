"""Numbers: parts of divergences, to full accuracy where their terms nearly cancel; counts."""

from __future__ import annotations

import math

from stopwise.core.verbs import jitable


@jitable
def entropy_gap(u: float) -> float:
    """u - log(1 + u), to full relative accuracy near 0, where most divergences are needed."""
    if u <= -1.0:
        return math.inf
    if abs(u) > 0.1:
        return u - math.log1p(u)
    # log(1+u) = 2 artanh(s) with s = u/(2+u), and u - 2s = u s
    s = u / (2.0 + u)
    return u * s - 2.0 * s * (s * s * _tail(s * s))


@jitable(inline=True)
def _tail(q: float) -> float:
    """(artanh(s) - s)/s^3 for q = s^2, by its series; in pairs, as additions wait for each other."""
    r = q * q
    head, rest = 1 / 3 + q * (1 / 5), 1 / 7 + q * (1 / 9)
    return head + r * (rest + r * (1 / 11 + q * (1 / 13) + r * (1 / 15)))


@jitable
def comparable(x: float, y: float) -> bool:
    """Whether y/x is so moderate that log(y/x) is well computed from the difference y - x."""
    return 1e-3 * x <= y <= 1e3 * x


@jitable
def scaled_entropy_gap(x: float, delta: float, end: float) -> float:
    """x * entropy_gap(delta/x), with its limit at x = 0: the common part of many divergences.

    ``end`` is x + delta, which would lose its digits where the two nearly cancel.
    """
    if x <= 0.0:
        return delta if delta >= 0.0 else math.inf
    if abs(delta) <= 0.1 * x:
        s = delta / (2.0 * x + delta)
        return delta * s - 2.0 * x * s * (s * s * _tail(s * s))
    if -0.999 * x < delta < 999.0 * x:
        return x * entropy_gap(delta / x)
    if end <= 0.0 or end == math.inf:
        return math.inf
    # delta is x or end but for a thousandth
    return delta - x * (math.log(end) - math.log(x))


@jitable
def entropy_gap_difference(x: float, more: float, delta: float, end: float) -> float:
    """scaled_entropy_gap(x, delta, end) - scaled_entropy_gap(x + more, delta, end + more).

    Its derivative in x is -entropy_gap(-delta/(x + delta)); for small ``more`` that is integrated,
    by the two-point Gauss rule (error of the order (more/x)^4 + (more/end)^4). Elsewhere, where the
    two terms would cancel, it is a sum of gaps: (x + more) times the divergence between the coins
    that show heads with probability x/(x + more) and end/(end + more).
    """
    if end == math.inf:
        return math.inf
    if more <= 1e-3 * min(x, end) and comparable(x, end):
        total = 0.0
        for place in (0.5 - 0.28867513459481287, 0.5 + 0.28867513459481287):
            total += entropy_gap(-delta / (x + place * more + delta))
        return 0.5 * more * total
    first = scaled_entropy_gap(x, delta, end)
    difference = first - scaled_entropy_gap(x + more, delta, end + more)
    if difference > first * max(1e-2, 1e-3 * x / end):
        return difference
    ratio = (x + more) / (end + more)
    moved = more * (delta / (end + more))
    return scaled_entropy_gap(more, -moved, more * ratio) + scaled_entropy_gap(
        x, moved, end * ratio
    )


@jitable
def square_ratio(factor: float, x: float, over: float) -> float:
    """factor * x^2/over, also where the numerator is too large or too small for a float."""
    top = factor * x * x
    if 1e-290 < top < math.inf or x == 0.0:
        return top / over
    return factor / over * x * x


def is_count(value: float, least: float = 0.0) -> bool:
    """Whether an observation is a whole number of at least ``least``: for ``supports``."""
    return least <= value < math.inf and value == math.floor(value)
