"""Memoryless waiting times."""

from __future__ import annotations

import math

from stopwise.core.arrays import Rng
from stopwise.families import divergences
from stopwise.families.bets import FINE_GAPS, Sloped, scale_bet
from stopwise.families.family import WithScale
from stopwise.families.mixtures import gamma_regret
from stopwise.families.spacings import Spacing, Tails, gamma_tails


class Exponential(WithScale):
    """Exponential rewards with mean in (0, infinity): V = mu^2."""

    title = "Waiting times"

    def interval(self) -> tuple[float, float]:
        return (0.0, math.inf)

    def divergence(self, mu: float, lam: float) -> float:
        return divergences.scale_divergence(mu, lam)

    def variance_at(self, mu: float) -> float:
        return mu * mu

    def variance_slope(self, mu: float) -> float:
        return 2.0 * mu

    def natural(self, mu: float) -> float:
        return -1.0 / mu

    def supports(self, value: float) -> bool:
        return 0.0 <= value < math.inf

    def draw(self, mean: float, rng: Rng) -> float:
        return mean * rng.standard_exponential()

    def posterior_draw(self, count: float, mean: float, rng: Rng) -> float:
        """For Jeffreys' prior, 1/mu: sum of the samples by a Gamma variable."""
        return count * mean / rng.standard_gamma(count)

    def regret(self, count: float, mean: float, center: float, spread: float) -> float:
        return gamma_regret(count, count * mean, 0.5 * spread)

    def bet_sizes(self) -> tuple[float, float, int]:
        return FINE_GAPS

    def bet(self, side: float, count: float, mean: float, c: float, gap: float) -> Sloped:
        return scale_bet(count, mean, c, side * gap)

    def spacing_tails(self, spacing: Spacing) -> Tails:
        return gamma_tails(1.0, spacing)

    def total_tails(self, spacing: Spacing) -> Tails:
        """Its share r of all totals has the Beta(2, b) law, b = 2 pairs: P(>= r) = (1 - r)^b (1 + b r)."""
        if spacing.pairs == 0 or spacing.totals <= 0.0:
            return Tails(0.0, 1.0)
        rest, b = spacing.totals / (spacing.totals + spacing.total), 2.0 * spacing.pairs
        tail = min(rest**b * (1.0 + b * (1.0 - rest)), 1.0)
        return Tails(tail, tail)
