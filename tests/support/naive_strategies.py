"""Slow, naive and independent versions of the Top-Two parts and the games, for the best arm.

Written from the papers: every quantity is computed anew from counts and means, costs by minimising over
one number, confidence bounds by root finding. Gaussian arms with variance 1 and Bernoulli arms.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, linprog, minimize_scalar
from scipy.special import lambertw, rel_entr
from scipy.stats import norm

Array = NDArray[np.float64]


class Gaussian:
    """Variance 1."""

    low, high = -50.0, 50.0

    @staticmethod
    def d(mean: float, x: float) -> float:
        return 0.5 * (mean - x) ** 2


class Bernoulli:
    """Coins."""

    low, high = 0.0, 1.0

    @staticmethod
    def d(mean: float, x: float) -> float:
        return float(rel_entr(mean, x) + rel_entr(1 - mean, 1 - x))


def meeting(
    law: Any, counts: Array, means: Array, i: int, j: int, margin: float = 0.0
) -> tuple[float, float]:
    """Where arm i and arm j, this much above it, meet at the least cost; and that cost."""
    if means[j] >= means[i] + margin:
        return float(means[i]), 0.0

    def cost(x: float) -> float:
        return float(counts[i] * law.d(means[i], x) + counts[j] * law.d(means[j], x + margin))

    found = minimize_scalar(
        cost, bounds=(means[j] - margin, means[i]), method="bounded", options={"xatol": 1e-13}
    )
    return float(found.x), float(found.fun)


def upper(law: Any, mean: float, level: float) -> float:
    """The largest x with d(mean, x) <= level."""
    if law.d(mean, law.high - 1e-15) <= level:
        return float(law.high)
    return float(brentq(lambda x: law.d(mean, x) - level, mean, law.high - 1e-15, xtol=1e-15))


def lower(law: Any, mean: float, level: float) -> float:
    """The smallest."""
    if law.d(mean, law.low + 1e-15) <= level:
        return float(law.low)
    return float(brentq(lambda x: law.d(mean, x) - level, law.low + 1e-15, mean, xtol=1e-15))


def bonus(t: int) -> float:
    """g(t) of TTUCB with both constants 1.2."""
    y = 2 * 1.2 * 1.2 * math.log(t) + 2 * math.log(2 + 1.2 * math.log(t)) + 2
    return float(-lambertw(-math.exp(-y), -1).real)


def improvement(z: float, v: float) -> float:
    return 0.0 if z == -math.inf else float(v * (z * norm.cdf(z) + norm.pdf(z)))


def deviation(law: Any, count: float, mean: float) -> float:
    return upper(law, mean, 0.5 / count) - mean


def leader(name: str, law: Any, counts: Array, means: Array, t: int) -> int:
    """EB, UCB or EI."""
    if name == "eb":
        return int(np.argmax(means))
    pairs = list(zip(counts, means, strict=True))
    if name == "ucb":
        return int(np.argmax([upper(law, m, bonus(t) / 2 / n) for n, m in pairs]))
    best = means.max()
    scores = [
        improvement(-math.sqrt(2 * n * law.d(m, best)), deviation(law, n, m)) for n, m in pairs
    ]
    return int(np.argmax(scores)) if max(scores) > 0.0 else int(np.argmax(means))


def challenger(
    name: str, law: Any, counts: Array, means: Array, arm: int, margin: float = 0.0
) -> int:
    """TC, TCI or EI."""
    scores = np.full(means.size, np.inf)
    for j in range(means.size):
        if j != arm:
            cost = meeting(law, counts, means, arm, j, margin)[1]
            if name == "ei":
                v = math.hypot(*(deviation(law, counts[k], means[k]) for k in (arm, j)))
                scores[j] = -improvement(-math.sqrt(2 * cost), v)
            else:
                scores[j] = cost + (math.log(counts[j]) if name == "tci" else 0.0)
    tied = np.flatnonzero(scores == scores.min())
    return int(tied[np.argmax(means[tied])])


def information(law: Any, counts: Array, means: Array, arm: int, other: int) -> float:
    """IDS: the leader's share."""
    x, cost = meeting(law, counts, means, arm, other)
    return 0.5 if cost == 0 else float(counts[arm] * law.d(means[arm], x) / cost)


def closest(law: Any, weights: Array, means: Array) -> tuple[int, Array]:
    """The best arm, and the closest model in which it is not."""
    arm = int(np.argmax(means))
    other = challenger("tc", law, weights, means, arm)
    x = meeting(law, weights, means, arm, other)[0]
    model = means.copy()
    model[[arm, other]] = x
    return arm, model


class AdaHedge:
    """De Rooij et al. (2014), for gains, with cumulative mixed gains."""

    def __init__(self, arms: int) -> None:
        self.total, self.gap = np.zeros(arms), 0.0

    def _mixed(self, eta: float, total: Array) -> float:
        if math.isinf(eta):
            return float(total.max())
        return float(total.max() + math.log(np.mean(np.exp(eta * (total - total.max())))) / eta)

    def weights(self) -> Array:
        if self.gap == 0.0:
            top = self.total == self.total.max()
            return top / top.sum()
        eta = math.log(self.total.size) / self.gap
        found = np.exp(eta * (self.total - self.total.max()))
        return np.asarray(found / found.sum())

    def learn(self, gains: Array) -> None:
        eta = math.log(self.total.size) / self.gap if self.gap > 0.0 else math.inf
        before, mean = self._mixed(eta, self.total), float(self.weights() @ gains)
        self.total = self.total + gains
        self.gap += max(self._mixed(eta, self.total) - before - mean, 0.0)


def optimistic(law: Any, counts: Array, means: Array, model: Array, t: int) -> Array:
    """The gains of AdaHedge's game."""
    out = np.log(t) / counts
    for k in np.flatnonzero(model != means):
        level = math.log(t) / counts[k]
        ends = lower(law, means[k], level), upper(law, means[k], level)
        out[k] = max(out[k], *(law.d(end, model[k]) for end in ends))
    return np.asarray(out)


def mirror_step(weights: Array, gains: Array, steps: int, values: float) -> Array:
    """Mirror ascent after so many steps, with this sum of values."""
    arms = weights.size
    rate = math.sqrt(math.log(arms) / steps) / (values / steps)
    moved = weights * np.exp(rate * gains)
    mixed = 1 / (4 * math.sqrt(steps))
    return np.asarray((1 - mixed) * moved / moved.sum() + mixed / arms)


def game_value(payoffs: Array) -> float:
    """max over z of min over rows j of <z, payoffs_j>."""
    rows, arms = payoffs.shape
    found = linprog(
        np.append(np.zeros(arms), -1.0),
        A_ub=np.hstack([-payoffs, np.ones((rows, 1))]),
        b_ub=np.zeros(rows),
        A_eq=[[*np.ones(arms), 0.0]],
        b_eq=[1.0],
        bounds=[*[(0.0, None)] * arms, (None, None)],
    )
    return float(-found.fun)


def pieces(law: Any, x: Array, means: Array, radius: float) -> Array:
    """FWS: what a step towards each arm gains on each cell that is within the radius of the cheapest."""
    arm, found = int(np.argmax(means)), []
    for j in range(means.size):
        if j != arm:
            place, cost = meeting(law, x, means, arm, j)
            slope = np.zeros(means.size)
            slope[arm], slope[j] = law.d(means[arm], place), law.d(means[j], place)
            found.append((cost, slope - cost))
    least = min(cost for cost, _ in found)
    return np.array([slope for cost, slope in found if cost < least + radius])
