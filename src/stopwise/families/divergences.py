"""Divergences of coins, counts and waiting times, to full accuracy where their terms nearly cancel."""

from __future__ import annotations

import math

from stopwise.core.functions import jitable


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


@jitable
def coin_divergence(
    heads: float, tails: float, delta: float, new_heads: float, new_tails: float
) -> float:
    """heads + tails times the divergence between coins whose odds are heads to tails.

    ``delta`` is new_heads - heads and tails - new_tails: all are given, with all their digits. Finite for
    heads or tails of 0.
    """
    if new_heads <= 0.0 or new_tails <= 0.0:
        return 0.0 if delta == 0.0 else math.inf
    return scaled_entropy_gap(heads, delta, new_heads) + scaled_entropy_gap(
        tails, -delta, new_tails
    )


@jitable
def survive_rounding(p: float, q: float) -> bool:
    """Whether rounding p and q does little to the divergence: not near each other, nor near 1."""
    return abs(q - p) > 1e-2 * max(p, q) and max(p, q) < 0.99


@jitable
def binary_tilt(p: float, slope: float) -> float:
    """The q with (q - p)/(q(1 - q)) = slope: the root in [0, 1] of a quadratic, without cancelling.

    Its two forms are exact for slopes below and above 1.
    """
    slope = min(max(slope, -1e150), 1e150)
    root = math.sqrt(max((1.0 - slope) * (1.0 - slope) + 4.0 * slope * p, 0.0))
    if slope > 1.0:
        q = (slope - 1.0 + root) / (2.0 * slope)
    else:
        q = 2.0 * p / (1.0 - slope + root) if p > 0.0 else 0.0
    # the root is never an end that p is not
    return min(max(q, 1e-300 if p > 0.0 else 0.0), 1.0 - 4e-16 if p < 1.0 else 1.0)


@jitable(inline=True)
def least_binary_divergence(p: float, q: float) -> float:
    """(p - q)^2/(2 V(q + (p - q)/3)): nearly all of d where the coins are not far apart.

    d(p, q) is the integral of (p - t)/V(t) from q to p, (p - q)^2/2 times the mean of 1/V under the
    density in proportion to p - t, whose mean is q + (p - q)/3; 1/V is convex (Jensen).
    """
    gap, at = p - q, q + (p - q) / 3.0
    return 0.5 * gap * gap / (at * (1.0 - at)) if gap != 0.0 else 0.0


@jitable
def scale_divergence(mu: float, lam: float) -> float:
    """mu/lambda - 1 - log(mu/lambda): the divergence between two exponential laws."""
    if lam <= 0.0:
        return 0.0 if mu == lam else math.inf
    if mu <= 0.0 or lam == math.inf:
        return math.inf
    if comparable(lam, mu):
        return entropy_gap((mu - lam) / lam)
    return (mu - lam) / lam - (math.log(mu) - math.log(lam))


def is_count(value: float, least: float = 0.0) -> bool:
    """Whether an observation is a whole number of at least ``least``: for ``supports``."""
    return least <= value < math.inf and value == math.floor(value)
