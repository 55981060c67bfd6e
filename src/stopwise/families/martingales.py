"""The constants of Kaufmann & Koolen (2021) for one-parameter exponential families."""

from __future__ import annotations

import math


def _h_inverse(x: float) -> float:
    """The u >= 1 with u - log u = x."""
    u = x + math.log(x + math.sqrt(2.0 * max(x - 1.0, 0.0)) + 1e-300) if x > 1.0 else 1.0
    for _ in range(100):
        step = (u - math.log(u) - x) / (1.0 - 1.0 / u) if u > 1.0 else 0.0
        u = max(u - step, 1.0)
        if abs(step) <= 1e-15 * u:
            break
    return u


def general_cost(x: float) -> float:
    """T(x) of Kaufmann & Koolen (2021), Theorem 7."""
    z = 1.5
    y = 0.5 * (_h_inverse(1.0 + x) + math.log(2.0 * math.pi**2 / 6.0))
    turn = 1.0 / math.log(z)
    if y >= turn - math.log(turn):
        u = _h_inverse(y)
        return 2.0 * math.exp(1.0 / u) * u
    return 2.0 * z * (y - math.log(math.log(z)))
