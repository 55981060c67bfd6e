"""The library's thresholds; docs/thresholds.md derives each of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from stopwise.core.arrays import Floats
from stopwise.core.checks import finite, positive
from stopwise.core.options import NUMBER, POSITIVE, Option
from stopwise.families.family import Family
from stopwise.problems.problem import Problem
from stopwise.stopping.constants import conservative_constant
from stopwise.stopping.likelihood import Threshold


class Stylized(Threshold):
    """log((1 + log t)/delta): what the literature uses in experiments. Not proven."""

    title = "not proven: the literature's, for experiments"

    def level(self, problem: Problem, family: Family, delta: float) -> float:
        return -math.log(delta)

    def common_growth(self, rounds: float) -> float:
        return math.log(1.0 + math.log(rounds))


class Conservative(Threshold):
    """log(C t^2/delta) with the smallest C that the paper's proof allows for K arms. Proven."""

    title = "proven, the largest"

    def proven(self, problem: Problem, family: Family) -> bool:
        return True

    def level(self, problem: Problem, family: Family, delta: float) -> float:
        family.one_parameter()
        return conservative_constant(problem.arms, delta) - math.log(delta)

    def common_growth(self, rounds: float) -> float:
        return 2.0 * math.log(rounds)


class MixtureMartingale(Threshold):
    """Kaufmann & Koolen (2021): 3 log(1 + log N_k) for each arm, sharper for Gaussian arms. Proven."""

    title = "proven, without a place and a scale"

    def proven(self, problem: Problem, family: Family) -> bool:
        return True

    def level(self, problem: Problem, family: Family, delta: float) -> float:
        arms = problem.rank()
        share = (math.log(problem.union_bound()) - math.log(delta)) / arms
        return float(arms * family.martingale_cost(share))

    def arm_growth(self, family: Family, count: float, mean: float) -> float:
        return family.martingale_growth(count)


class Mixture(Threshold):
    """A mixture e-process over each arm's mean, by Ville's inequality. Proven.

    Priors: Jeffreys' Beta(1/2, 1/2) on the success probability (Bernoulli, Binomial, Bounded,
    Geometric, NegativeBinomial), which needs no scale; Normal(center, spread^2) on a Gaussian mean;
    Gamma(1/2) with mean ``spread`` on a Poisson mean; and on the rate of an Exponential or Gamma
    law, Gamma(1/2) with mean 1/``spread``. Any choice is valid; a far-off one costs samples.
    """

    center: float
    spread: float
    title = "proven, for means about a known place"
    options = {
        "center": Option(NUMBER, "Gaussian arms: about where the means lie; 0 if empty"),
        "spread": Option(POSITIVE, "About how far the means lie apart; 1 if empty"),
    }

    def __init__(self, center: float = 0.0, spread: float = 1.0) -> None:
        self.center = finite("center", center)
        self.spread = positive("spread", spread)

    def level(self, problem: Problem, family: Family, delta: float) -> float:
        family.of_arm(0).regret(1.0, _some_mean(family), self.center, self.spread)  # refuses early
        return math.log(problem.union_bound()) - math.log(delta)

    def arm_growth(self, family: Family, count: float, mean: float) -> float:
        return family.regret(count, mean, self.center, self.spread)

    def misplaced_warning(self, family: Family, means: Sequence[float] | Floats) -> str:
        """By how much the prior adds to an arm's growth, beside one that is where the means are."""
        better, far = _centred(family, means), 0.0
        for k, mean in enumerate(means):
            own = family.of_arm(k)
            lost = own.regret(SAMPLES, mean, *self) - own.regret(SAMPLES, mean, *better)
            far = max(far, lost)
        if far < MUCH:
            return ""
        return (
            f"{self!r} expects other means than these: it adds {far:,.0f} to what the evidence must reach "
            f"for an arm. Use Wealth(), which needs no place and no scale; or, if you knew beforehand where "
            f"the means lie, about {better!r}. The answer is no less sure, but takes more samples."
        )

    def proven(self, problem: Problem, family: Family) -> bool:
        return True


SAMPLES = 1e4  # with which the costs of two priors are compared: both places are known well
MUCH = 5.0  # of the level


def _centred(family: Family, means: Sequence[float] | Floats) -> Mixture:
    """About where the means are, in round numbers; only Gaussian means have a place of their own."""
    low, high = min(means), max(means)
    if math.isfinite(family.interval()[0]):
        return Mixture(0.0, _rounded(max(high, 1e-9)))
    center, apart = 0.5 * (low + high), high - low
    spread = max(apart, math.sqrt(family.of_arm(0).variance_at(center)), 1e-9)
    return Mixture(_rounded(center), _rounded(spread))


def _rounded(value: float) -> float:
    return float(f"{value:.2g}")


def _some_mean(family: Family) -> float:
    low, high = family.interval()
    if math.isinf(low):
        return 0.0
    return float(low + 1.0 if math.isinf(high) else 0.5 * (low + high))
