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

LOG_PI = math.log(math.pi)


@verb
def regret(family: Any, count: float, mean: float, center: float, spread: float) -> float:
    """log p_{mu-hat}(data)/m(data) for ``count`` samples with this mean."""
    raise NotDefined(
        f"Mixture with {family!r}: no conjugate mixture is built in for this family. "
        "Use MixtureMartingale(), or register stopwise.stopping.mixtures.regret for it."
    )


@jitable
def _x_log_x(x: float) -> float:
    return x * math.log(x) if x > 0.0 else 0.0


@jitable
def beta_regret(successes: float, failures: float) -> float:
    """Against Jeffreys' Beta(1/2, 1/2): B(1/2, 1/2) = pi."""
    total = successes + failures
    fit = _x_log_x(successes) + _x_log_x(failures) - _x_log_x(total)
    mixed = math.lgamma(successes + 0.5) + math.lgamma(failures + 0.5) - math.lgamma(total + 1.0)
    return fit - (mixed - LOG_PI)


@jitable
def gamma_regret(shape: float, total: float, rate: float) -> float:
    """Likelihood x^shape exp(-x total) in a rate x, against Gamma(1/2, rate); best x = shape/total."""
    fit = _x_log_x(shape) - shape * (math.log(total) if shape > 0.0 else 0.0) - shape
    mixed = 0.5 * math.log(rate) - 0.5 * LOG_PI + math.lgamma(shape + 0.5)
    return fit - (mixed - (shape + 0.5) * math.log(total + rate))


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
