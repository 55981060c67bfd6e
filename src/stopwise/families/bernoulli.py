"""Rewards 0 or 1."""

from __future__ import annotations

import math

from stopwise.core.arrays import Rng
from stopwise.families import divergences
from stopwise.families.bets import FINE_GAPS, Sloped, coin_bet
from stopwise.families.family import Family
from stopwise.families.mixtures import beta_regret


class Bernoulli(Family):
    """Success or failure, with the success probability as mean in (0, 1)."""

    title = "Yes or no, 1 or 0"

    def least_divergence(self, mu: float, lam: float) -> float:
        return divergences.least_binary_divergence(mu, lam)

    def interval(self) -> tuple[float, float]:
        return (0.0, 1.0)

    def divergence(self, mu: float, lam: float) -> float:
        return divergences.coin_divergence(mu, 1.0 - mu, lam - mu, lam, 1.0 - lam)

    def variance_at(self, mu: float) -> float:
        return mu * (1.0 - mu)

    def variance_slope(self, mu: float) -> float:
        return 1.0 - 2.0 * mu

    def natural(self, mu: float) -> float:
        return math.log(mu / (1.0 - mu))

    def convex(self) -> bool:
        return True

    def tilt(self, mu: float, slope: float) -> float:
        return divergences.binary_tilt(mu, slope)

    def supports(self, value: float) -> bool:
        return value == 0.0 or value == 1.0

    def draw(self, mean: float, rng: Rng) -> float:
        return 1.0 if rng.random() < mean else 0.0

    def posterior_draw(self, count: float, mean: float, rng: Rng) -> float:
        """For a uniform prior."""
        return rng.beta(1.0 + count * mean, 1.0 + count * (1.0 - mean))

    def regret(self, count: float, mean: float, center: float, spread: float) -> float:
        return beta_regret(count * mean, count * (1.0 - mean))

    def bet_sizes(self) -> tuple[float, float, int]:
        return FINE_GAPS

    def bet(self, side: float, count: float, mean: float, c: float, gap: float) -> Sloped:
        return coin_bet(count * mean, count, c, side * gap)
