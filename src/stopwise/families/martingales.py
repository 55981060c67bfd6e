"""The constants of Kaufmann & Koolen (2021): exponential families of one parameter, and normal arms."""

from __future__ import annotations

import math


def _h_inverse(x: float) -> float:
    """The u >= 1 with u - log u = x."""
    u = x + math.log(x + math.sqrt(2.0 * max(x - 1.0, 0.0)) + 1e-300) if x > 1.0 else 1.0
    for _ in range(100):
        step = (u - math.log(u) - x) / (1.0 - 1.0 / u) if u > 1.0 else 0.0
        u = max(u - step, 1.0)
        if abs(step) <= 1e-15 * u:
            break
    return u


def general_cost(x: float) -> float:
    """T(x) of Kaufmann & Koolen (2021), Theorem 7."""
    z = 1.5
    y = 0.5 * (_h_inverse(1.0 + x) + math.log(2.0 * math.pi**2 / 6.0))
    turn = 1.0 / math.log(z)
    if y >= turn - math.log(turn):
        u = _h_inverse(y)
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
