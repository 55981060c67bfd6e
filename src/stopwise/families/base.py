"""What a family of reward distributions knows: the verbs, and what follows from them.

A family is a one-parameter exponential family on an open interval of means, determined by its
variance function V: d(mu, lambda) = integral from mu to lambda of (x - mu)/V(x) dx. Each family
is an immutable value; adding one is one file that registers ``interval``, ``divergence``,
``variance``, ``variance_slope``, ``natural`` and ``draw`` (and ``tilt`` if V is concave).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stopwise.errors import MissingVerb
from stopwise.verbs import jitable, verb


@verb
def interval(family: Any) -> tuple[float, float]:
    """The open interval of means, as (low, high)."""
    raise MissingVerb("interval", family)


@verb(inline=True)
def divergence(family: Any, mu: float, lam: float) -> float:
    """d(mu, lambda); mu may lie on the boundary, as empirical means do (all-zero data)."""
    raise MissingVerb("divergence", family)


@verb(inline=True)
def variance(family: Any, mu: float) -> float:
    """V(mu), the variance of the distribution with mean mu."""
    raise MissingVerb("variance", family)


@verb(inline=True)
def variance_slope(family: Any, mu: float) -> float:
    """V'(mu)."""
    raise MissingVerb("variance_slope", family)


@verb
def natural(family: Any, mu: float) -> float:
    """The natural parameter of the distribution with mean mu: a primitive of 1/V."""
    raise MissingVerb("natural", family)


@verb(inline=True)
def draw(family: Any, mean: float, rng: np.random.Generator) -> float:
    """One sample with this mean, the same number in compiled code and in plain Python."""
    raise MissingVerb("draw", family)


@verb
def supports(family: Any, value: float) -> bool:
    """Whether a single observation may have this value."""
    return math.isfinite(value)


@verb
def convex(family: Any) -> bool:
    """Whether lambda -> d(mu, lambda) is convex for every mu; true when V is concave.

    Proof: V(lambda)^2 times its second derivative is V(lambda) + V'(lambda)(mu - lambda), the
    tangent of V at lambda taken at mu, which lies above V(mu) > 0 when V is concave.
    """
    return False


@verb
def tilt(family: Any, mu: float, slope: float) -> float:
    """The lambda at which lambda -> d(mu, lambda) has this slope; convex families only."""
    raise MissingVerb("tilt", family)


@verb
def upper(family: Any, mu: float, level: float) -> float:
    """The largest lambda >= mu with d(mu, lambda) <= level."""
    return inverse(family, mu, level, 1.0)


@verb
def lower(family: Any, mu: float, level: float) -> float:
    """The smallest lambda <= mu with d(mu, lambda) <= level."""
    return inverse(family, mu, level, -1.0)


@jitable
def divergence_slope(family: Any, mu: float, lam: float) -> float:
    """The derivative of lambda -> d(mu, lambda): (lambda - mu)/V(lambda)."""
    if lam == mu:
        return 0.0
    spread = variance(family, lam)
    if spread <= 0.0:
        return math.inf if lam > mu else -math.inf
    return (lam - mu) / spread


@jitable
def divergence_curvature(family: Any, mu: float, lam: float) -> float:
    """The second derivative of lambda -> d(mu, lambda)."""
    if math.isinf(lam):
        return 0.0
    spread = variance(family, lam)
    if spread <= 0.0:
        return math.inf
    return (spread - (lam - mu) * variance_slope(family, lam)) / (spread * spread)


@jitable
def entropy_gap(u: float) -> float:
    """u - log(1 + u), to full relative accuracy near 0, where most divergences are needed."""
    if u <= -1.0:
        return math.inf
    if abs(u) > 0.1:
        return u - math.log1p(u)
    # log(1+u) = 2 artanh(s) with s = u/(2+u), and u - 2s = u s
    s = u / (2.0 + u)
    q = s * s
    tail = 1 / 3 + q * (1 / 5 + q * (1 / 7 + q * (1 / 9 + q * (1 / 11 + q * (1 / 13 + q / 15)))))
    return u * s - 2.0 * s * q * tail


@jitable
def scaled_entropy_gap(x: float, delta: float) -> float:
    """x * entropy_gap(delta/x), with its limit at x = 0: the common part of many divergences."""
    if x <= 0.0:
        return delta if delta >= 0.0 else math.inf
    return x * entropy_gap(delta / x)


@jitable
def entropy_gap_difference(x: float, more: float, delta: float) -> float:
    """scaled_entropy_gap(x, delta) - scaled_entropy_gap(x + more, delta), also for more << x.

    Its derivative in x is -entropy_gap(-delta/(x + delta)); where the two terms would cancel it is
    integrated instead, by the two-point Gauss rule (error of the order (more/x)^4).
    """
    if more > 1e-3 * x:
        return scaled_entropy_gap(x, delta) - scaled_entropy_gap(x + more, delta)
    total = 0.0
    for place in (0.5 - 0.28867513459481287, 0.5 + 0.28867513459481287):
        total += entropy_gap(-delta / (x + place * more + delta))
    return 0.5 * more * total


@jitable
def inverse(family: Any, mu: float, level: float, side: float) -> float:
    """The point beyond mu, on one side, where d(mu, .) reaches the level: safeguarded Newton."""
    low, high = interval(family)
    far = high if side > 0 else low
    mu, level = float(mu), float(level)  # plain numbers grow to infinity without a warning
    if level <= 0.0 or mu == far:
        return mu
    if level == math.inf:
        return far
    near = mu
    step = math.sqrt(2.0 * level * variance(family, mu))
    x = mu + side * (step if step > 0.0 else level)
    if (x - far) * side >= 0.0:
        x = 0.5 * (near + far)
    for _ in range(400):
        excess = divergence(family, mu, x) - level
        if excess == 0.0:
            return x
        if excess > 0.0:
            far = x
        else:
            near = x
        slope = divergence_slope(family, mu, x)
        steep = slope != 0.0 and math.isfinite(slope)
        y = x - excess / slope if steep and math.isfinite(excess) else far
        if not min(near, far) < y < max(near, far):
            y = 0.5 * (near + far) if math.isfinite(far) else mu + 2.0 * (x - mu)
        if abs(y - x) <= 1e-16 * abs(y) or not math.isfinite(y):
            return y
        x = y
    return x
