"""Rewards that count successes among a fixed number of trials."""

from __future__ import annotations

import math

from stopwise.core.arrays import Rng
from stopwise.core.checks import whole
from stopwise.core.options import COUNT, Option
from stopwise.families import divergences
from stopwise.families.bets import Sloped, coin_bet
from stopwise.families.family import Family
from stopwise.families.mixtures import beta_regret
from stopwise.families.spacings import Spacing, Tails, count_tails


class Binomial(Family):
    """Successes among ``trials`` coins: the mean lies in (0, trials)."""

    trials: int
    title = "Successes among a number of trials"
    options = {"trials": Option(COUNT, "In each sample")}

    def __init__(self, trials: int) -> None:
        self.trials = whole("trials", trials, least=1)

    def interval(self) -> tuple[float, float]:
        return (0.0, 1.0 * self.trials)

    def variance_at(self, mu: float) -> float:
        return mu * (1.0 - mu / self.trials)

    def variance_slope(self, mu: float) -> float:
        return 1.0 - 2.0 * mu / self.trials

    def natural(self, mu: float) -> float:
        return math.log(mu / (self.trials - mu))

    def convex(self) -> bool:
        return True

    def divergence(self, mu: float, lam: float) -> float:
        n = 1.0 * self.trials
        p, q = mu / n, lam / n
        if divergences.survive_rounding(p, q):
            return n * divergences.coin_divergence(p, 1.0 - p, q - p, q, 1.0 - q)
        return divergences.coin_divergence(mu, n - mu, lam - mu, lam, n - lam)

    def tilt(self, mu: float, slope: float) -> float:
        return self.trials * divergences.binary_tilt(mu / self.trials, slope)

    def supports(self, value: float) -> bool:
        return divergences.is_count(value) and value <= self.trials

    def draw(self, mean: float, rng: Rng) -> float:
        return 1.0 * rng.binomial(self.trials, mean / self.trials)

    def posterior_draw(self, count: float, mean: float, rng: Rng) -> float:
        """For a uniform prior."""
        n = 1.0 * self.trials
        return n * rng.beta(1.0 + count * mean, 1.0 + count * (n - mean))

    def regret(self, count: float, mean: float, center: float, spread: float) -> float:
        return beta_regret(count * mean, count * (self.trials - mean))

    def bet_sizes(self) -> tuple[float, float, int]:
        return (3.0, 2.0, 28)

    def bet(self, side: float, count: float, mean: float, c: float, gap: float) -> Sloped:
        n = 1.0 * self.trials
        value, slope = coin_bet(count * mean, count * n, c / n, side * gap)
        return value, slope / n

    def spacing_tails(self, spacing: Spacing) -> Tails:
        return count_tails(-1.0 * self.trials, spacing)
