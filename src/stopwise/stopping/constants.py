"""The constants of the proven thresholds, solved for once."""

from __future__ import annotations

import math
from functools import cache


@cache
def conservative_constant(arms: int) -> float:
    """log of the smallest C with C >= e sum_t (e/K)^K (log^2(C t^2) log t)^K / t^2.

    The right side grows more slowly than C, so the crossing is found by bisection on log C.
    """
    low, high = 1.0, 1.0
    while _log_right_side(high, arms) > high:
        low, high = high, 2.0 * high
    for _ in range(100):
        middle = 0.5 * (low + high)
        if _log_right_side(middle, arms) > middle:
            low = middle
        else:
            high = middle
    return high


def _log_right_side(log_c: float, arms: int) -> float:
    """log of e (e/K)^K sum_t ..., as an integral in u = log t: the sum itself converges too slowly.

    The summand's logarithm, K log(log^2(C t^2) log t) - 2 log t, has one maximum; the sum over t is
    taken term by term to 1,000 and by the midpoint rule in u beyond, where it is smooth.
    """
    import numpy as np

    t = np.arange(2.0, 1000.0)
    direct = _log_summand(np.log(t), log_c, arms)
    step = 1e-3
    u = np.arange(math.log(999.5), 40.0 + 40.0 * arms, step) + 0.5 * step
    tail = _log_summand(u, log_c, arms) + u + math.log(step)
    both = np.concatenate([direct, tail])
    top = float(both.max())
    return 1.0 + arms * (1.0 - math.log(arms)) + top + math.log(float(np.sum(np.exp(both - top))))


def _log_summand(log_t, log_c: float, arms: int):  # type: ignore[no-untyped-def]
    import numpy as np

    return arms * (2.0 * np.log(log_c + 2.0 * log_t) + np.log(log_t)) - 2.0 * log_t


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
    """T(x) of Kaufmann & Koolen (2021), Theorem 7, for one-parameter exponential families."""
    z = 1.5
    y = 0.5 * (_h_inverse(1.0 + x) + math.log(2.0 * math.pi**2 / 6.0))
    turn = 1.0 / math.log(z)
    if y >= turn - math.log(turn):
        u = _h_inverse(y)
        return 2.0 * math.exp(1.0 / u) * u
    return 2.0 * z * (y - math.log(math.log(z)))


def gaussian_cost(x: float) -> float:
    """C(x) of Kaufmann & Koolen (2021), Corollary 10: min over l in (1/2, 1] of (g(l) + x)/l."""
    from scipy.optimize import minimize_scalar
    from scipy.special import zeta

    def objective(share: float) -> float:
        g = 2 * share - 2 * share * math.log(4 * share) + math.log(float(zeta(2 * share)))
        return (g - 0.5 * math.log(1.0 - share) + x) / share

    found = minimize_scalar(objective, bounds=(0.5 + 1e-9, 1.0 - 1e-12), method="bounded",
                            options={"xatol": 1e-12})  # fmt: skip
    return float(found.fun)
