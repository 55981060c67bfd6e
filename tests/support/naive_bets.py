"""Bets on bounded samples by brute force: products over the samples, grids for minima.

Nothing here is shared with the package but the numbers that define the rule: bets and their weights.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import logsumexp

from naive_wealth import least

BETS = 0.995 * 0.5 ** np.arange(12)
WEIGHTS = np.array([max(q - 5, 1) ** -1.5 for q in range(12)])
WEIGHTS = WEIGHTS / WEIGHTS.sum()
SHARES = np.sqrt(np.outer(WEIGHTS, WEIGHTS)) * 0.8 ** np.abs(
    np.subtract.outer(range(12), range(12))
)
SHARES = 0.95 * SHARES / SHARES.sum()


def log_products(side: int, samples: Any, c: float, low: float, high: float) -> Any:
    """log prod_s (1 + l (X_s - c)/(c - low)) for each bet l; for side -1 the mirror image."""
    x = np.asarray(samples, dtype=float)
    gain = (x - c) / (c - low) if side > 0 else (c - x) / (high - c)
    return np.array([np.sum(np.log1p(bet * gain)) for bet in BETS])


def log_arm(side: int, samples: Any, c: float, low: float, high: float) -> float:
    """log W(c)."""
    return float(logsumexp(log_products(side, samples, c, low, high), b=WEIGHTS))


def log_pair(samples: Any, other: Any, c: float, margin: float, low: float, high: float) -> float:
    """log M(c), term by term."""
    above = log_products(1, samples, c, low, high)
    below = log_products(-1, other, c + margin, low, high)
    both = logsumexp(above[:, None] + below[None], b=SHARES)
    singles = logsumexp(np.concatenate([above, below]), b=0.025 * np.tile(WEIGHTS, 2))
    return float(np.logaddexp(both, singles))


def pair_evidence(samples: Any, other: Any, margin: float, low: float, high: float) -> float:
    """The least log M(c), c and c + margin inside; not below 0."""
    edge = 1e-9 * (high - low)
    found = least(
        lambda c: log_pair(samples, other, c, margin, low, high), low + edge, high - margin - edge
    )
    return max(found, 0.0)


def side_evidence(arms: Any, limit: float, low: float, high: float) -> float:
    """Against all arms at or above the limit."""
    made = np.array([log_arm(-1, each, limit, low, high) for each in arms])
    share = 1 / len(arms)
    one = logsumexp(made, b=share)
    some = np.sum(np.logaddexp(math.log(1 - share), made + math.log(share)))
    return max(float(np.logaddexp(one, some) - math.log(2)), 0.0)
