"""Unknown variances, slowly: the formulas of docs/thresholds.md, from the samples."""

from __future__ import annotations

import math

import numpy as np
from scipy.integrate import dblquad, quad
from scipy.special import logsumexp
from scipy.stats import t

from stopwise.core.arrays import Floats

KAPPAS = 8.0 ** np.arange(-1, 7)
SHARES = np.maximum(np.arange(8) - 5 + 1.0, 1.0) ** -1.5
SHARES /= SHARES.sum()


def log_bet(samples: Floats, c: float, side: float, kappa: float) -> float:
    """log W+ (side 1) or W- (side -1) by the formula with V, q and z."""
    count, off = samples.size, side * (samples.mean() - c)
    squares = float(np.sum((samples - c) ** 2))
    q = count**2 * off**2 / (count + kappa)
    z = off * count / math.sqrt((count + kappa) * (squares - q) / count)
    value = -0.5 * math.log(1.0 + count / kappa) - 0.5 * count * math.log(1.0 - q / squares)
    return value + math.log(2.0) + float(t.logcdf(z, count))


def bet_by_integrals(samples: Floats, c: float, side: float, kappa: float) -> float:
    """W by integrals over the right-Haar prior ds/s and the half-normal prior for (m - c)/s."""
    count, off = samples.size, side * (samples.mean() - c)
    squares = float(np.sum((samples - c) ** 2))
    ratio = count * off / math.sqrt(squares)

    def density(v: float, theta: float) -> float:  # v = sqrt(squares)/s
        prior = 2.0 * math.sqrt(kappa / (2.0 * math.pi)) * math.exp(-0.5 * kappa * theta**2)
        exponent = -0.5 * v * v + theta * ratio * v - 0.5 * count * theta**2
        return prior * v ** (count - 1) * math.exp(exponent)

    top, _ = dblquad(density, 0.0, 8.0 / math.sqrt(kappa) + 8.0, 0.0, 40.0)
    bottom, _ = quad(lambda v: v ** (count - 1) * math.exp(-0.5 * v * v), 0.0, 40.0)
    return top / bottom


def log_wealth(samples: Floats, c: float, side: float) -> float:
    """Averaged over kappa; not less than 1."""
    bets = [log_bet(samples, c, side, kappa) for kappa in KAPPAS]
    return max(float(logsumexp(bets, b=SHARES)), 0.0)


def least_of_pair(one: Floats, other: Floats, margin: float, points: int = 801) -> float:
    """The minimum over c of log W+ of one and log W- of the other at c + margin, on a fine grid."""
    left, right = other.mean() - margin, one.mean()
    steps = np.geomspace(1e-6, 0.5, points // 2)
    grid = left + (right - left) * np.concatenate((steps, 1.0 - steps))
    return min(log_wealth(one, c, 1.0) + log_wealth(other, c + margin, -1.0) for c in grid)


def pair_evidence(one: Floats, other: Floats, margin: float) -> float:
    """x - log(1 + x) of that."""
    x = least_of_pair(one, other, margin)
    return x - math.log1p(x)


def samples_of(count: int, mean: float, deviation: float, seed: int) -> Floats:
    """So many samples with exactly this mean and mean squared deviation."""
    raw = np.random.default_rng(seed).standard_normal(count)
    raw = (raw - raw.mean()) / raw.std()
    return mean + deviation * raw
