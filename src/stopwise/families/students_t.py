"""Student's cdf T_N for any N >= 1, also far out in its lower tail, and bets on t statistics.

With y = log(1 + z^2/N), a = N - 1/2 and x = sqrt(a y), the upper tail is

    1 - T_N(z) = C integral over u > x of exp(-u^2/2) h(u^2/(2a)) du,   h(v) = sqrt(v/sinh v),

an expansion in 1/a^2 by incomplete moments of the normal law; elsewhere the incomplete beta function.
"""

from __future__ import annotations

import math

from stopwise.core.functions import jitable

MANY = 40.0  # degrees of freedom from which the expansion has ten digits
NEAR = 0.25  # up to this y
FAR = 7.5  # where the tail is less than 1e-13
ROOT = math.sqrt(2.0 * math.pi)
H = (1.0, -1.0 / 12.0, 1.0 / 160.0, -61.0 / 120960.0)  # h(v) = sum_k H[k] v^(2k)


@jitable
def twice_student(count: float, z: float, y: float) -> tuple[float, float]:
    """log 2 T_N(z) and its derivative in z, with ``count`` degrees of freedom and y = log(1 + z^2/N)."""
    if count >= MANY and y <= NEAR:
        return _by_moments(count, z, y)
    return _by_beta(count, z, y)


@jitable
def _by_moments(count: float, z: float, y: float) -> tuple[float, float]:
    size = count - 0.5
    x, ratio = math.sqrt(size * y), 0.25 / (size * size)
    if z > 0.0 and x > FAR:
        return math.log(2.0), 0.0
    whole = H[0] + ratio * (3.0 * H[1] + ratio * (105.0 * H[2] + ratio * 10395.0 * H[3]))
    density = math.exp(-0.75 * y) * math.sqrt(size / count) / (ROOT * whole)
    if z < 0.0:
        tail = _tail(x, 1.0, _mills(x), ratio) / (ROOT * whole)
        return math.log(2.0 * tail) - 0.5 * x * x, density / tail
    bell = math.exp(-0.5 * x * x)
    tail = _tail(x, bell, 0.5 * ROOT * math.erfc(x * math.sqrt(0.5)), ratio) / (ROOT * whole)
    return math.log(2.0 - 2.0 * tail), density * bell / (1.0 - tail)


@jitable
def _tail(x: float, bell: float, moment: float, ratio: float) -> float:
    """The integral of exp(-u^2/2) h over u > x, given ``bell``, exp(-x^2/2), and that without h.

    J_n = x^(n-1) exp(-x^2/2) + (n-1) J_(n-2) for the moments; three terms of h are enough.
    """
    total, order, top, power = moment, 1.0, bell * x, 1.0
    for k in range(1, 4):
        moment = top * x * x + (order + 2.0) * (top + order * moment)
        top *= x * x * x * x
        order += 4.0
        power *= ratio
        total += H[k] * power * moment
    return total


@jitable
def _mills(x: float) -> float:
    """exp(x^2/2) times the integral of exp(-u^2/2) over u > x >= 0."""
    if x < 30.0:
        return 0.5 * ROOT * math.exp(0.5 * x * x) * math.erfc(x * math.sqrt(0.5))
    z = 1.0 / (x * x)
    return (1.0 - z * (1.0 - z * (3.0 - 15.0 * z))) / x


@jitable
def _by_beta(count: float, z: float, y: float) -> tuple[float, float]:
    half = 0.5 * count
    outer, inner = math.exp(-y), -math.expm1(-y)  # N/(N + z^2) and the rest
    beta = log_beta(half)
    density = -beta - 0.5 * (count + 1.0) * y - 0.5 * math.log(count)
    total = term = 1.0
    if inner > 0.5 or count >= MANY:  # the tail, by powers of N/(N + z^2)
        for n in range(1, 200):
            term *= outer * (n - 0.5) / n
            total += term * half / (half + n)
            if term < 1e-17:
                break
        tail = -half * y - beta - math.log(2.0 * half) + math.log(total)
        if z < 0.0:
            return tail + math.log(2.0), math.exp(density - tail)
        tail = math.exp(tail)
        return math.log(2.0) + math.log1p(-tail), math.exp(density) / (1.0 - tail)
    for n in range(1, 400):
        term *= inner * (half + n - 0.5) / (n + 0.5)
        total += term
        if term < 1e-17 * total:
            break
    middle = 2.0 * math.sqrt(inner) * math.exp(-half * y - beta) * total
    twice = 1.0 - middle if z < 0.0 else 1.0 + middle
    return math.log(twice), 2.0 * math.exp(density) / twice


@jitable
def log_beta(half: float) -> float:
    """log B(half, 1/2): a series, above 15; B(h, 1/2) = B(h + 1, 1/2) (h + 1/2)/h."""
    ratio = 1.0
    while half < 15.0:
        ratio *= (half + 0.5) / half
        half += 1.0
    z = 1.0 / half
    series = z * (0.125 - z * z * (1.0 / 192.0 - z * z * (1.0 / 640.0 - z * z * 17.0 / 14336.0)))
    return 0.5 * math.log(math.pi * z) + series + math.log(ratio)


@jitable
def t_bet(count: float, ratio: float, gap: float) -> tuple[float, float]:
    """log W+ at (mean - c)/s = ``ratio``, kappa = 1/gap^2, and its derivative: docs/thresholds.md.

    With k = kappa/(N + kappa): y = log(1 + r^2) - log(1 + k r^2), log W+ = (N/2) y + log 2 T_N(z) -
    log(1 + N/kappa)/2, and z = r sqrt(N (1 - k)/(1 + k r^2)), for which 1 + z^2/N = e^y.
    """
    growth = 1.0 + count * gap * gap  # 1 + N/kappa
    ratio = min(max(ratio, -1e150), 1e150)  # beyond, nothing changes but that squares overflow
    square, less = ratio * ratio, 1.0 / growth
    shrunken = 1.0 + less * square
    y = math.log1p((1.0 - less) * square / shrunken)
    z_slope = math.sqrt(count * (1.0 - less) / shrunken)
    value, slope = twice_student(count, ratio * z_slope, y)
    steep = count * ratio * (1.0 - less) / ((1.0 + square) * shrunken)
    return (
        0.5 * count * y + value - 0.5 * math.log(growth),
        steep + slope * z_slope / shrunken,
    )
