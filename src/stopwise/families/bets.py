"""Bets on one arm: what families share of the log wealth made by betting on another mean than c.

Each is the logarithm of a likelihood ratio, or of an integral of them, with its derivative.
"""

from __future__ import annotations

import math

from stopwise.core.functions import jitable

Sloped = tuple[float, float]  # a value and its derivative

# the largest gap of a bet, the ratio between neighbours, and how many there are. Fine: 3, 3/sqrt 2, ...
# 3/2^16: of any gap between, the nearest keeps at least .97 of what it would earn
FINE_GAPS = (3.0, math.sqrt(2.0), 33)
COARSE_GAPS = (3.0, 2.0, 28)
NORMAL_GAPS = (math.sqrt(8.0), math.sqrt(8.0), 8)
BOUNDED_GAPS = (0.995, 2.0, 12)


@jitable
def coin_bet(heads: float, tosses: float, p: float, u: float) -> Sloped:
    """log of e^(u heads)/(1 + p(e^u - 1))^tosses: the odds e^u times those of p; and its slope in p."""
    more = math.expm1(u)
    return u * heads - tosses * math.log1p(p * more), -tosses * more / (1.0 + p * more)


@jitable
def scale_bet(count: float, mean: float, c: float, u: float) -> Sloped:
    """Exponential rewards: the rate e^-u/c against 1/c."""
    if not mean > 0.0:
        return -count * u, 0.0
    less, ratio = -math.expm1(-u), mean / c
    return count * (less * ratio - u), -count * less * ratio / c


@jitable
def half_normal(x: float) -> Sloped:
    """x^2/2 + log 2 Phi(x), what a half-normal prior makes of a z-score; and its derivative."""
    y = -x * math.sqrt(0.5)
    if y < -20.0:  # Phi is 1
        return 0.5 * x * x + math.log(2.0), x
    if y < 25.0:
        scaled = math.exp(y * y) * math.erfc(y)
    elif y == math.inf:
        return -math.inf, 0.0
    else:  # both factors leave the range of floats: four terms of the series
        z = 0.5 / (y * y)
        scaled = (1.0 - z * (1.0 - z * (3.0 - 15.0 * z))) / (y * math.sqrt(math.pi))
    return math.log(scaled), x + math.sqrt(2.0 / math.pi) / scaled
