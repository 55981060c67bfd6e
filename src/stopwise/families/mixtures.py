"""How much a conjugate mixture loses against the best fit: r = log p_{mu-hat}(data)/m(data) >= 0.

m is the mixture of the arm's likelihoods over its prior. For any true mean mu the process
m(data)/p_mu(data) is a nonnegative martingale (a supermartingale for Bounded), which is what makes
the threshold log(union bound/delta) + sum of r valid under any sampling rule.
"""

from __future__ import annotations

import math
from typing import Any

from stopwise.core.verbs import jitable
from stopwise.families.verbs import regret

LOG_2 = math.log(2.0)
SPREADS = 8  # powers of 8 on either side of 1, where no scale is known


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


@jitable
def over_spreads(family: Any, count: float, mean: float) -> float:
    """Against the mean of the priors with spreads 8^-8 to 8^8, which is a prior again."""
    least, made = math.inf, 0.0
    for j in range(-SPREADS, SPREADS + 1):
        least, made = add_mixture(least, made, regret(family, count, mean, 0.0, 8.0**j))
    return mean_regret(least, made)


@jitable
def add_mixture(least: float, made: float, lost: float) -> tuple[float, float]:
    """One more mixture, e^-lost, to a sum of them, made * e^-least."""
    if lost == math.inf:
        return least, made
    if lost < least:
        return lost, 1.0 + made * math.exp(lost - least)
    return least, made + math.exp(least - lost)


@jitable
def mean_regret(least: float, made: float) -> float:
    """What the mean of all of them loses."""
    return least - math.log(made / (2 * SPREADS + 1)) if made > 0.0 else math.inf
