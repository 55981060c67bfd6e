"""How much a conjugate mixture loses against the best fit: r = log p_{mu-hat}(data)/m(data) >= 0.

m is the mixture of the arm's likelihoods over its prior. For any true mean mu the process
m(data)/p_mu(data) is a nonnegative martingale (a supermartingale for Bounded), which is what makes
the threshold log(events/delta) + sum of r valid under any sampling rule.
"""

from __future__ import annotations

import math
from typing import Any

from stopwise.errors import NotDefined
from stopwise.families import (
    Bernoulli,
    Binomial,
    Bounded,
    Exponential,
    Gamma,
    Gaussian,
    Geometric,
    NegativeBinomial,
    Poisson,
)
from stopwise.verbs import jitable, verb

LOG_2 = math.log(2.0)


@verb
def regret(family: Any, count: float, mean: float, center: float, spread: float) -> float:
    """log p_{mu-hat}(data)/m(data) for ``count`` samples with this mean."""
    raise NotDefined(
        f"Mixture with {family!r}: no conjugate mixture is built in for this family. "
        "Use MixtureMartingale(), or register stopwise.stopping.mixtures.regret for it."
    )


@jitable
def half_rest(x: float) -> float:
    """log Gamma(x + 1/2) - (x log x - x + (1/2) log 2 pi), for x >= 0: Stirling's series.

    Its terms are B_2j(1/2)/(2j(2j - 1) x^(2j - 1)). Small x are raised to 12 by the recurrence.
    """
    y, product = x, 1.0
    while y < 12.0:
        product *= y + 0.5
        y += 1.0
    z = 1.0 / (y * y)
    inner = 511.0 / 608256.0 - z * (1414477.0 / 738017280.0)
    inner = 127.0 / 215040.0 - z * inner
    inner = 7.0 / 2880.0 - z * (31.0 / 40320.0 - z * inner)
    rest = (z * inner - 1.0 / 24.0) / y
    if y == x:
        return rest
    small = x * math.log(x) if x > 0.0 else 0.0
    return y * math.log(y) - small - (y - x) - math.log(product) + rest


@jitable
def full_rest(n: float) -> float:
    """log Gamma(n + 1) - (n log n - n + (1/2) log 2 pi n), for n > 0."""
    # Gamma(n + 1) = Gamma(y + 1/2) with y = n + 1/2
    y = n + 0.5
    return half_rest(y) + y * math.log1p(0.5 / n) - 0.5


@jitable
def beta_regret(successes: float, failures: float) -> float:
    """Against Jeffreys' Beta(1/2, 1/2): B(1/2, 1/2) = pi. What is large cancels on paper:

    log pi + s log s + f log f - n log n - log Gamma(s + 1/2) - log Gamma(f + 1/2) + log Gamma(n + 1).
    """
    total = successes + failures
    rests = full_rest(total) - half_rest(successes) - half_rest(failures)
    return 0.5 * math.log(0.5 * math.pi * total) + rests


@jitable
def gamma_regret(shape: float, total: float, rate: float) -> float:
    """Likelihood x^shape exp(-x total) in a rate x, against Gamma(1/2, rate); best x = shape/total."""
    if not total > 0.0:
        return math.inf
    lost = shape * math.log1p(rate / total) + 0.5 * math.log((total + rate) / rate)
    return lost - half_rest(shape) - 0.5 * LOG_2


@regret.register(Gaussian)
def _gaussian(family: Gaussian, count: float, mean: float, center: float, spread: float) -> float:
    prior, noise = spread * spread, family.variance / count
    off = mean - center
    return 0.5 * math.log(1.0 + prior / noise) + 0.5 * off * off / (prior + noise)


@regret.register(Bernoulli)
def _bernoulli(family: Bernoulli, count: float, mean: float, center: float, spread: float) -> float:
    return beta_regret(count * mean, count * (1.0 - mean))


@regret.register(Binomial)
def _binomial(family: Binomial, count: float, mean: float, center: float, spread: float) -> float:
    return beta_regret(count * mean, count * (family.trials - mean))


@regret.register(Bounded)
def _bounded(family: Bounded, count: float, mean: float, center: float, spread: float) -> float:
    share = (mean - family.low) / (family.high - family.low)
    return beta_regret(count * share, count * (1.0 - share))


@regret.register(Geometric)
def _geometric(family: Geometric, count: float, mean: float, center: float, spread: float) -> float:
    return beta_regret(count, count * (mean - 1.0))


@regret.register(NegativeBinomial)
def _negative_binomial(
    family: NegativeBinomial, count: float, mean: float, center: float, spread: float
) -> float:
    return beta_regret(count * family.successes, count * mean)


@regret.register(Poisson)
def _poisson(family: Poisson, count: float, mean: float, center: float, spread: float) -> float:
    return gamma_regret(count * mean, count, 0.5 / spread)


@regret.register(Exponential)
def _exponential(
    family: Exponential, count: float, mean: float, center: float, spread: float
) -> float:
    return gamma_regret(count, count * mean, 0.5 * spread)


@regret.register(Gamma)
def _gamma(family: Gamma, count: float, mean: float, center: float, spread: float) -> float:
    # rate = shape/mean
    return gamma_regret(count * family.shape, count * mean, 0.5 * spread / family.shape)
