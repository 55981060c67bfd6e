"""Laws of coin tosses: one toss, successes among some, and tosses or failures up to some successes."""

from __future__ import annotations

import math

from stopwise.core.arrays import Rng
from stopwise.core.checks import positive, whole
from stopwise.core.options import COUNT, POSITIVE, Option
from stopwise.families import divergences
from stopwise.families.bets import COARSE_GAPS, FINE_GAPS, Sloped, coin_bet
from stopwise.families.family import Family
from stopwise.families.mixtures import beta_regret
from stopwise.families.spacings import Spacing, Tails, count_tails


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
        return COARSE_GAPS

    def bet(self, side: float, count: float, mean: float, c: float, gap: float) -> Sloped:
        n = 1.0 * self.trials
        value, slope = coin_bet(count * mean, count * n, c / n, side * gap)
        return value, slope / n

    def spacing_tails(self, spacing: Spacing) -> Tails:
        return count_tails(-1.0 * self.trials, spacing)


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


class NegativeBinomial(Family):
    """Failures before the given number of ``successes``: V = mu + mu^2/successes."""

    successes: float
    title = "Failures before some successes"
    options = {"successes": Option(POSITIVE, "Failures are counted up to this many successes")}

    def __init__(self, successes: float) -> None:
        self.successes = positive("successes", successes)

    def interval(self) -> tuple[float, float]:
        return (0.0, math.inf)

    def variance_at(self, mu: float) -> float:
        return mu * (1.0 + mu / self.successes)

    def natural(self, mu: float) -> float:
        return -math.log1p(self.successes / mu)

    def supports(self, value: float) -> bool:
        return divergences.is_count(value)

    def divergence(self, mu: float, lam: float) -> float:
        if lam <= 0.0:
            return 0.0 if mu == lam else math.inf
        return divergences.entropy_gap_difference(mu, self.successes, lam - mu, lam)

    def variance_slope(self, mu: float) -> float:
        return 1.0 + 2.0 * mu / self.successes

    def draw(self, mean: float, rng: Rng) -> float:
        # a Poisson count whose rate is Gamma distributed
        return 1.0 * rng.poisson(mean / self.successes * rng.standard_gamma(self.successes))

    def posterior_draw(self, count: float, mean: float, rng: Rng) -> float:
        """For a uniform prior on the chance of success."""
        chance = rng.beta(1.0 + count * self.successes, 1.0 + count * mean)
        return self.successes * (1.0 - chance) / chance

    def regret(self, count: float, mean: float, center: float, spread: float) -> float:
        return beta_regret(count * self.successes, count * mean)

    def bet_sizes(self) -> tuple[float, float, int]:
        return COARSE_GAPS

    def bet(self, side: float, count: float, mean: float, c: float, gap: float) -> Sloped:
        # coins that fail with probability c/(r + c)
        r = self.successes
        value, slope = coin_bet(count * mean, count * (mean + r), c / (r + c), side * gap)
        return value, slope * r / ((r + c) * (r + c))

    def spacing_tails(self, spacing: Spacing) -> Tails:
        return count_tails(self.successes, spacing)
