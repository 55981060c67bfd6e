"""Thresholds: stop with answer i once D(N, mu-hat, not i) >= constant(delta) + growth(data).

Every threshold here splits into a constant, which depends on delta and the problem's rank and
events, and a growth, which depends on the data: a common part in t and one part for each arm, of
which the ``rank`` largest count (a wrong answer is to blame on a cell that constrains at most that
many arms). docs/thresholds.md derives each of them.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from stopwise.arrays import total
from stopwise.checks import Floats, finite, positive
from stopwise.errors import MissingVerb
from stopwise.families import Gaussian
from stopwise.problems import base
from stopwise.stopping.constants import conservative_constant, gaussian_cost, general_cost
from stopwise.stopping.mixtures import regret
from stopwise.values import value
from stopwise.verbs import jitable, verb


@verb
def constant(threshold: Any, problem: Any, family: Any, delta: float) -> float:
    """The part of the threshold that depends on delta."""
    raise MissingVerb("constant", threshold)


@verb(inline=True)
def common_growth(threshold: Any, rounds: float) -> float:
    """The part that grows with the number of rounds; it must never fall."""
    return 0.0


@verb(inline=True)
def arm_growth(threshold: Any, family: Any, count: float, mean: float) -> float:
    """An arm's own part, not negative, given its number of samples (at least 1) and their mean."""
    return 0.0


@verb
def proven(threshold: Any, problem: Any, family: Any) -> bool:
    """Whether stopping by this threshold is proven to be delta-correct for this problem and family."""
    return False


@value
class Stylized(NamedTuple):
    """log((1 + log t)/delta): what the literature uses in experiments. Not proven."""


@value
class Conservative(NamedTuple):
    """log(C t^2/delta) with the smallest C that the paper's theorem allows for K arms. Proven."""


@value
class MixtureMartingale(NamedTuple):
    """Kaufmann & Koolen (2021): 3 log(1 + log N_k) for each arm, sharper for Gaussian arms. Proven."""


class _Mixture(NamedTuple):
    center: float
    spread: float


@value
class Mixture(_Mixture):
    """A mixture e-process over each arm's mean, by Ville's inequality. Proven; the sharpest here.

    Priors: Jeffreys' Beta(1/2, 1/2) on the success probability (Bernoulli, Binomial, Bounded,
    Geometric, NegativeBinomial), which needs no scale; Normal(center, spread^2) on a Gaussian mean;
    Gamma(1/2) with mean ``spread`` on a Poisson mean; and on the rate of an Exponential or Gamma
    law, Gamma(1/2) with mean 1/``spread``. Any choice is valid; a far-off one costs samples.
    """

    __slots__ = ()

    def __new__(cls, center: float = 0.0, spread: float = 1.0) -> Mixture:
        return super().__new__(cls, finite("center", center), positive("spread", spread))


@constant.register(Stylized)
def _stylized_constant(threshold: Stylized, problem: Any, family: Any, delta: float) -> float:
    return -math.log(delta)


@common_growth.register(Stylized)
def _stylized_growth(threshold: Stylized, rounds: float) -> float:
    return math.log(1.0 + math.log(rounds))


@constant.register(Conservative)
def _conservative_constant(
    threshold: Conservative, problem: Any, family: Any, delta: float
) -> float:
    return conservative_constant(base.arm_count(problem)) - math.log(delta)


@common_growth.register(Conservative)
def _conservative_growth(threshold: Conservative, rounds: float) -> float:
    return 2.0 * math.log(rounds)


@proven.register(Conservative)
def _conservative_proven(threshold: Conservative, problem: Any, family: Any) -> bool:
    return True


@constant.register(MixtureMartingale)
def _martingale_constant(
    threshold: MixtureMartingale, problem: Any, family: Any, delta: float
) -> float:
    rank = base.rank(problem)
    level = (math.log(base.events(problem)) - math.log(delta)) / rank
    return rank * (gaussian_cost(level) if isinstance(family, Gaussian) else general_cost(level))


@arm_growth.register(MixtureMartingale)
def _martingale_growth(
    threshold: MixtureMartingale, family: Any, count: float, mean: float
) -> float:
    return martingale_growth(family, count)


@verb
def martingale_growth(family: Any, count: float) -> float:
    """3 log(1 + log N), the general form."""
    return 3.0 * math.log(1.0 + math.log(count))


@martingale_growth.register(Gaussian)
def _gaussian_growth(family: Gaussian, count: float) -> float:
    return 2.0 * math.log(4.0 + math.log(count))


@proven.register(MixtureMartingale)
def _martingale_proven(threshold: MixtureMartingale, problem: Any, family: Any) -> bool:
    return True


@constant.register(Mixture)
def _mixture_constant(threshold: Mixture, problem: Any, family: Any, delta: float) -> float:
    regret(family, 1.0, _some_mean(family), threshold.center, threshold.spread)  # refuses early
    return math.log(base.events(problem)) - math.log(delta)


@arm_growth.register(Mixture)
def _mixture_growth(threshold: Mixture, family: Any, count: float, mean: float) -> float:
    return regret(family, count, mean, threshold.center, threshold.spread)


@proven.register(Mixture)
def _mixture_proven(threshold: Mixture, problem: Any, family: Any) -> bool:
    return True


def _some_mean(family: Any) -> float:
    from stopwise.families.base import interval

    low, high = interval(family)
    if math.isinf(low):
        return 0.0
    return low + 1.0 if math.isinf(high) else 0.5 * (low + high)


@jitable
def largest_sum(values: Floats, count: int) -> float:
    """The sum of the ``count`` largest values."""
    if count >= values.size:
        return total(values)
    found, above, taken = 0.0, math.inf, 0
    while taken < count:  # the next smaller value, as often as it occurs
        top, ties = -math.inf, 0
        for k in range(values.size):
            if values[k] < above:
                if values[k] > top:
                    top, ties = values[k], 1
                elif values[k] == top:
                    ties += 1
        if ties == 0:
            return math.inf  # some are infinite
        ties = min(ties, count - taken)
        found += ties * top
        taken += ties
        above = top
    return found


def growth(threshold: Any, problem: Any, family: Any, counts: Floats, means: Floats) -> float:
    """The data's part of the threshold, for arms that have all been sampled."""
    import numpy as np

    parts = np.array(
        [arm_growth(threshold, family, n, m) for n, m in zip(counts, means, strict=True)]
    )
    return common_growth(threshold, float(np.sum(counts))) + float(
        largest_sum(parts, base.rank(problem))
    )
