"""The constant of the paper's threshold."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from stopwise.core.arrays import Floats

TERMS = 4096  # of the sum are added one by one, the others by an integral


@cache
def conservative_constant(arms: int, delta: float) -> float:
    """log of the smallest C with C >= e sum_t (e/K)^K (x (x log t + 1))^K / t^2, x = log(C t^2/delta).

    The inequality counts slices of the numbers of samples: the ceiling of x log t, where the paper has
    x log t and here stands x log t + 1. In b = log(C/delta) the condition is b - log(right side) >=
    log(1/delta). The left side grows wherever b >= 2K, and is negative below (docs/thresholds.md), so
    Newton's method finds the one solution;
    log C is rounded up by 1e-9 of itself, far more than all that is neglected.
    """
    goal, least = -math.log(delta), 2.0 * arms
    b = goal + least
    for _ in range(100):
        log_sum, slope = _log_sum(b, arms)
        excess = b - 1.0 - arms * (1.0 - math.log(arms)) - log_sum - goal
        step = excess / (1.0 - slope)
        b = max(b - step, least)
        if abs(step) <= 1e-13 * b:
            break
    return (b - goal) * (1.0 + 1e-9)


def _log_sum(b: float, arms: int) -> tuple[float, float]:
    """The logarithm of sum_t (x (x log t + 1))^K / t^2, x = b + 2 log t, and its derivative in b."""
    first = _first_logarithms(arms)
    later, log_tail = _tail(b, arms)
    u = np.concatenate([first, later])
    log_terms = np.concatenate([_log_term(first, b, arms), log_tail])
    top = float(log_terms.max())
    terms = np.exp(log_terms - top)
    total = float(terms.sum())
    x = b + 2.0 * u
    slopes = arms * (1.0 / x + u / (x * u + 1.0))
    return top + math.log(total), float((terms * slopes).sum()) / total


def _tail(b: float, arms: int) -> tuple[Floats, Floats]:
    """Places u > log TERMS, and logarithms whose exponentials sum to a bound on all other terms.

    A term f(t) is at most its integral from t - 1/2 to t + 1/2 plus that of |f''|/8. In u = log t
    the integrand e^(g(u) + u) is log-concave, so that it is spent where it has fallen by e^50.
    """
    start, end = _window(b, arms)
    nodes, weights = _rule()
    u = start + (end - start) * nodes
    x = b + 2.0 * u
    slices = x * u + 1.0
    growth = (x + 2.0 * u) / slices
    slope = arms * (2.0 / x + growth) - 2.0
    curvature = arms * (4.0 / slices - 4.0 / x**2 - growth * growth)
    bend = np.abs(slope * slope - slope + curvature) * np.exp(-2.0 * u)  # |f''|/f
    log_weights = np.log((end - start) * weights * (1.0 + bend / 8.0))
    return u, _log_term(u, b, arms) + u + log_weights


def _window(b: float, arms: int) -> tuple[float, float]:
    """Where the tail's integrand is not negligible, around its peak, nearly 2u^2 + (b - 6K)u = bK.

    Its logarithm bends most on the left, where twelve standard deviations are therefore enough.
    """
    first, turn = math.log(TERMS + 0.5), 6.0 * arms - b
    peak = 0.25 * (turn + math.sqrt(turn * turn + 8.0 * arms * b))
    start = max(first, peak)
    width = 1.0 / math.sqrt(arms * (8.0 / (b + 2.0 * start) ** 2 + 1.0 / start**2))
    level = float(_log_term(start, b, arms)) + start - 50.0
    reach = 8.0 * width
    while float(_log_term(start + reach, b, arms)) + start + reach > level:
        reach *= 1.5
    return max(first, start - 12.0 * width), start + reach


def _log_term(u: Floats | float, b: float, arms: int) -> Floats:
    """g(u) = K log(x (x u + 1)) - 2u, x = b + 2u."""
    x = b + 2.0 * np.asarray(u)
    return arms * (np.log(x) + np.log(x * u + 1.0)) - 2.0 * u


@cache
def _first_logarithms(arms: int) -> Floats:
    """From t = 2, as no answer is given before every arm has a sample; of one arm from t = 1."""
    return np.log(np.arange(min(arms, 2.0), TERMS + 1.0))


@cache
def _rule() -> tuple[Floats, Floats]:
    """Nodes and weights on (0, 1): Gauss's rule of 16 points on each of 32 equal pieces."""
    nodes, weights = np.polynomial.legendre.leggauss(16)
    places = np.arange(32.0)[:, None] + 0.5 * (1.0 + nodes)
    return (places / 32.0).ravel(), np.tile(weights / 64.0, 32)
