"""How much a conjugate mixture loses against the best fit: r = log p_{mu-hat}(data)/m(data) >= 0.

m is the mixture of the arm's likelihoods over its prior. For any true mean mu the process
m(data)/p_mu(data) is a nonnegative martingale (a supermartingale for Bounded), which is what makes
the threshold log(union bound/delta) + sum of r valid under any sampling rule. The constants of Kaufmann &
Koolen's (2021) mixture martingales, which need no prior, come last.
"""

from __future__ import annotations

import math

from stopwise.core.functions import jitable
from stopwise.core.roots import Equation, newton

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


# --------------------------------------------------------------- Kaufmann & Koolen's martingales


class _LessLogarithm(Equation):
    """x - log x = y, for x >= 1."""

    y: float

    def at(self, x: float) -> tuple[float, float]:
        return (x - math.log(x) - self.y, 1.0 - 1.0 / x) if x > 1.0 else (0.0, 1.0)


def _inverse_of_x_less_log(y: float) -> float:
    """The x >= 1 with x - log x = y."""
    start = y + math.log(y + math.sqrt(2.0 * max(y - 1.0, 0.0)) + 1e-300) if y > 1.0 else 1.0
    return newton(_LessLogarithm(y), start, 1.0, 1e-15)


def general_cost(x: float) -> float:
    """T(x) of Kaufmann & Koolen (2021), Theorem 7."""
    z = 1.5
    y = 0.5 * (_inverse_of_x_less_log(1.0 + x) + math.log(2.0 * math.pi**2 / 6.0))
    turn = 1.0 / math.log(z)
    if y >= turn - math.log(turn):
        u = _inverse_of_x_less_log(y)
        return 2.0 * math.exp(1.0 / u) * u
    return 2.0 * z * (y - math.log(math.log(z)))


def gaussian_cost(x: float) -> float:
    """C(x) of their Corollary 10: the least (g(l) + x)/l over l in (1/2, 1], by golden sections.

    Its numbers are computed here: importing what has them takes longer than a warm run.
    """

    def cost(share: float) -> float:
        g = 2 * share - 2 * share * math.log(4 * share) + math.log(_zeta(2 * share))
        return (g - 0.5 * math.log(1.0 - share) + x) / share

    low, high, golden = 0.5, 1.0, 0.5 * (math.sqrt(5.0) - 1.0)
    left, right = high - golden * (high - low), low + golden * (high - low)
    at_left, at_right = cost(left), cost(right)
    for _ in range(45):  # to 1e-10, where C is flat to the last digit
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - golden * (high - low)
            at_left = cost(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + golden * (high - low)
            at_right = cost(right)
    return min(at_left, at_right)


# the first Bernoulli numbers of even order, each divided by the factorial of its order
_BERNOULLI = (1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000)


def _zeta(s: float) -> float:
    """Riemann's zeta at s > 1, by Euler and Maclaurin: ten terms, and what is left of the sum."""
    first = 10.0
    found = math.fsum(n**-s for n in range(1, 10))
    found += first ** (1.0 - s) / (s - 1.0) + 0.5 * first**-s
    term = s * first ** (-s - 1.0)
    for place, number in enumerate(_BERNOULLI):
        found += number * term
        term *= (s + 2 * place + 1) * (s + 2 * place + 2) / first**2
    return found
