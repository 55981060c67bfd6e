"""Rewards that count trials up to the first success."""

from __future__ import annotations

import math

from stopwise.core.arrays import Rng
from stopwise.families import divergences
from stopwise.families.bets import FINE_GAPS, Sloped, coin_bet
from stopwise.families.family import Family
from stopwise.families.mixtures import beta_regret
from stopwise.families.spacings import Spacing, Tails, count_tails


class Geometric(Family):
    """Trials up to and with the first success: values 1, 2, ..., mean in (1, infinity)."""

    title = "Trials up to the first success"

    def interval(self) -> tuple[float, float]:
        return (1.0, math.inf)

    def variance_at(self, mu: float) -> float:
        return mu * (mu - 1.0)

    def variance_slope(self, mu: float) -> float:
        return 2.0 * mu - 1.0

    def natural(self, mu: float) -> float:
        return -math.log1p(1.0 / (mu - 1.0))

    def supports(self, value: float) -> bool:
        return divergences.is_count(value, 1.0)

    def draw(self, mean: float, rng: Rng) -> float:
        return 1.0 * rng.geometric(1.0 / mean)

    def divergence(self, mu: float, lam: float) -> float:
        if lam <= 1.0:
            return 0.0 if mu == lam else math.inf
        return divergences.entropy_gap_difference(mu - 1.0, 1.0, lam - mu, lam - 1.0)

    def posterior_draw(self, count: float, mean: float, rng: Rng) -> float:
        """For a uniform prior on the chance of success."""
        return 1.0 / rng.beta(1.0 + count, 1.0 + count * (mean - 1.0))

    def regret(self, count: float, mean: float, center: float, spread: float) -> float:
        return beta_regret(count, count * (mean - 1.0))

    def bet_sizes(self) -> tuple[float, float, int]:
        return FINE_GAPS

    def bet(self, side: float, count: float, mean: float, c: float, gap: float) -> Sloped:
        # coins that fail with probability (c - 1)/c
        value, slope = coin_bet(count * (mean - 1.0), count * mean, (c - 1.0) / c, side * gap)
        return value, slope / (c * c)

    def spacing_tails(self, spacing: Spacing) -> Tails:
        """Failures before the first success."""
        return count_tails(1.0, spacing._replace(total=spacing.total - 2.0))
