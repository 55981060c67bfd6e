"""Where two arms meet if d(mu, lambda) = (1/2) log(1 + (mu - lambda)^2/variance).

Let the first arm fall by t times the gap G and the other rise by the rest. With a and b the variances
over G^2 and p the first arm's part of the weights, the cost

    F(t) = p log(1 + t^2/a) + (1 - p) log(1 + (1 - t)^2/b)

(but for a factor) is stationary where t^3 - (1 + p) t^2 + (p (1 + b) + (1 - p) a) t - (1 - p) a = 0.
That has one root in [0, 1] or three, of which the outer two are minima: the lower one is asked for.
"""

from __future__ import annotations

import math

from stopwise.core.functions import jitable


@jitable
def cheapest_share(
    weight: float, other_weight: float, spread: float, other_spread: float, gap: float
) -> float:
    """By what part of the gap the first arm falls; one without weight or spread moves for free."""
    if weight == 0.0 or spread == 0.0:
        return 1.0
    if other_weight == 0.0 or other_spread == 0.0:
        return 0.0
    a, b, p = spread / (gap * gap), other_spread / (gap * gap), weight / (weight + other_weight)
    first, last = minima(p, a, b)
    if first == last or share_cost(first, p, a, b) <= share_cost(last, p, a, b):
        return first
    return last


@jitable
def share_cost(t: float, p: float, a: float, b: float) -> float:
    """F(t)."""
    return p * math.log1p(t * t / a) + (1.0 - p) * math.log1p((1.0 - t) * (1.0 - t) / b)


@jitable
def minima(p: float, a: float, b: float) -> tuple[float, float]:
    """The outer roots of the cubic, which are one where F has one minimum."""
    second, first, free = -(1.0 + p), p * (1.0 + b) + (1.0 - p) * a, -(1.0 - p) * a
    q = (second * second - 3.0 * first) / 9.0
    if q > 0.0:
        r = (2.0 * second * second * second - 9.0 * second * first + 27.0 * free) / 54.0
        root = math.sqrt(q)
        if abs(r) < q * root:  # three real roots
            third = math.acos(r / (q * root)) / 3.0
            low = -2.0 * root * math.cos(third) - second / 3.0
            high = -2.0 * root * math.cos(third + 2.0 * math.pi / 3.0) - second / 3.0
            return (
                _polish(low, second, first, free, 0.0, 1.0),
                _polish(high, second, first, free, 0.0, 1.0),
            )
    start = (1.0 - p) * a / (p * b + (1.0 - p) * a)  # the root for quadratic divergences
    found = _bracketed(start, second, first, free)
    return found, found


@jitable
def _polish(t: float, second: float, first: float, free: float, low: float, high: float) -> float:
    """Newton's method from close by."""
    for _ in range(3):
        slope = (3.0 * t + 2.0 * second) * t + first
        if slope <= 0.0:
            break
        t = min(max(t - (((t + second) * t + first) * t + free) / slope, low), high)
    return t


@jitable
def _bracketed(t: float, second: float, first: float, free: float) -> float:
    """The only root, by Newton's method within a bracket."""
    low, high = 0.0, 1.0
    for _ in range(100):
        value = ((t + second) * t + first) * t + free
        if value == 0.0:
            break
        if value > 0.0:
            high = t
        else:
            low = t
        slope = (3.0 * t + 2.0 * second) * t + first
        new = t - value / slope if slope > 0.0 else math.nan
        if abs(new - t) <= 1e-14 * t:
            return new
        t = new if low < new < high else 0.5 * (low + high)
    return t
