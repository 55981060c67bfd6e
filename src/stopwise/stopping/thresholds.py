"""The library's thresholds; docs/thresholds.md derives each of them."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from stopwise.core.checks import finite, positive
from stopwise.core.options import NUMBER, POSITIVE, Option
from stopwise.core.values import Empty
from stopwise.families.verbs import (
    interval,
    martingale_cost,
    martingale_growth,
    of_arm,
    one_parameter,
    regret,
    variance,
)
from stopwise.problems.verbs import rank, union_bound
from stopwise.stopping.constants import conservative_constant
from stopwise.stopping.likelihood import Threshold, arm_growth, common_growth
from stopwise.stopping.verbs import level, misplaced, proven


class Stylized(Empty, Threshold):
    """log((1 + log t)/delta): what the literature uses in experiments. Not proven."""

    __slots__ = ()
    title = "not proven: the literature's, for experiments"


@level.register(Stylized)
def _stylized_level(rule: Stylized, problem: Any, family: Any, delta: float) -> float:
    return -math.log(delta)


@common_growth.register(Stylized)
def _stylized_growth(rule: Stylized, rounds: float) -> float:
    return math.log(1.0 + math.log(rounds))


class Conservative(Empty, Threshold):
    """log(C t^2/delta) with the smallest C that the paper's proof allows for K arms. Proven."""

    __slots__ = ()
    title = "proven, the largest"


@level.register(Conservative)
def _conservative_level(rule: Conservative, problem: Any, family: Any, delta: float) -> float:
    one_parameter(family)
    return conservative_constant(problem.arms, delta) - math.log(delta)


@common_growth.register(Conservative)
def _conservative_growth(rule: Conservative, rounds: float) -> float:
    return 2.0 * math.log(rounds)


class MixtureMartingale(Empty, Threshold):
    """Kaufmann & Koolen (2021): 3 log(1 + log N_k) for each arm, sharper for Gaussian arms. Proven."""

    __slots__ = ()
    title = "proven, without a place and a scale"


@level.register(MixtureMartingale)
def _martingale_level(rule: MixtureMartingale, problem: Any, family: Any, delta: float) -> float:
    arms = rank(problem)
    share = (math.log(union_bound(problem)) - math.log(delta)) / arms
    return float(arms * martingale_cost(family, share))


@arm_growth.register(MixtureMartingale)
def _martingale_growth(rule: MixtureMartingale, family: Any, count: float, mean: float) -> float:
    return martingale_growth(family, count)


class _Mixture(NamedTuple):
    center: float
    spread: float


class Mixture(_Mixture, Threshold):
    """A mixture e-process over each arm's mean, by Ville's inequality. Proven.

    Priors: Jeffreys' Beta(1/2, 1/2) on the success probability (Bernoulli, Binomial, Bounded,
    Geometric, NegativeBinomial), which needs no scale; Normal(center, spread^2) on a Gaussian mean;
    Gamma(1/2) with mean ``spread`` on a Poisson mean; and on the rate of an Exponential or Gamma
    law, Gamma(1/2) with mean 1/``spread``. Any choice is valid; a far-off one costs samples.
    """

    __slots__ = ()
    title = "proven, for means about a known place"
    options = {
        "center": Option(NUMBER, "Gaussian arms: about where the means lie; 0 if empty"),
        "spread": Option(POSITIVE, "About how far the means lie apart; 1 if empty"),
    }

    def __new__(cls, center: float = 0.0, spread: float = 1.0) -> Mixture:
        return super().__new__(cls, finite("center", center), positive("spread", spread))


@level.register(Mixture)
def _mixture_level(rule: Mixture, problem: Any, family: Any, delta: float) -> float:
    regret(of_arm(family, 0), 1.0, _some_mean(family), rule.center, rule.spread)  # refuses early
    return math.log(union_bound(problem)) - math.log(delta)


@arm_growth.register(Mixture)
def _mixture_growth(rule: Mixture, family: Any, count: float, mean: float) -> float:
    return regret(family, count, mean, rule.center, rule.spread)


SAMPLES = 1e4  # with which the costs of two priors are compared: both places are known well
MUCH = 5.0  # of the level


@misplaced.register(Mixture)
def _misplaced(rule: Mixture, family: Any, means: Any) -> str:
    """By how much the prior adds to an arm's growth, beside one that is where the means are."""
    better, far = _centred(family, means), 0.0
    for k, mean in enumerate(means):
        own = of_arm(family, k)
        lost = regret(own, SAMPLES, mean, *rule) - regret(own, SAMPLES, mean, *better)
        far = max(far, lost)
    if far < MUCH:
        return ""
    return (
        f"{rule!r} expects other means than these: it adds {far:,.0f} to what the evidence must reach "
        f"for an arm. Use Wealth(), which needs no place and no scale; or, if you knew beforehand where "
        f"the means lie, about {better!r}. The answer is no less sure, but takes more samples."
    )


def _centred(family: Any, means: Any) -> Mixture:
    """About where the means are, in round numbers; only Gaussian means have a place of their own."""
    low, high = min(means), max(means)
    if math.isfinite(interval(family)[0]):
        return Mixture(0.0, _rounded(max(high, 1e-9)))
    center, apart = 0.5 * (low + high), high - low
    spread = max(apart, math.sqrt(variance(of_arm(family, 0), center)), 1e-9)
    return Mixture(_rounded(center), _rounded(spread))


def _rounded(value: float) -> float:
    return float(f"{value:.2g}")


def _some_mean(family: Any) -> float:
    low, high = interval(family)
    if math.isinf(low):
        return 0.0
    return float(low + 1.0 if math.isinf(high) else 0.5 * (low + high))


@proven.register(Conservative)
@proven.register(MixtureMartingale)
@proven.register(Mixture)
def _proven(rule: Any, problem: Any, family: Any) -> bool:
    return True
