"""How many samples every delta-correct method needs on average, at this delta.

Derived in docs/lower-bound.md, whose equations are cited. Two proofs, each for any number of correct
answers: the expected divergence bounds how often a correct answer may be given (1); a mixture of models
of its alternative bounds how often it may be given early (2).
"""

from __future__ import annotations

import math
from itertools import islice
from typing import NamedTuple

import numpy as np

from stopwise.core.arrays import Floats
from stopwise.core.checks import LARGEST
from stopwise.core.roots import When, bisection
from stopwise.families.divergences import coin_divergence
from stopwise.families.family import Family
from stopwise.families.priced import in_money
from stopwise.oracles.solve import Solution, find_witness, solution
from stopwise.oracles.witness import payoff_table
from stopwise.problems.problem import Code, Problem

TILTS = np.geomspace(1e-2, 1e2, 41)  # s of Hoelder's inequality: each of them proves a bound
MOST_ANSWERS = 1000  # that are solved for
HALVINGS = 60
HORIZONS = 2000  # numbers of samples at which the chance of having stopped is bounded


def proven_bound(
    problem: Problem, family: Family, means: Floats, delta: float, costs: Floats | None = None
) -> float:
    """E[tau], or the expected cost, is at least this, for every delta-correct method."""
    view, price = in_money(family, costs)
    if delta >= 0.5:
        return 0.0
    # so many answers may have probability delta each, and then nothing is proven
    most = math.ceil(min((1.0 - delta) / delta, MOST_ANSWERS))
    correct = list(islice(problem.correct_answers(means), most))
    if len(correct) == most:
        return 0.0
    codes = [problem.encode(answer) for answer in correct]
    solved = [solution(problem, view, means, code) for code in codes]
    if all(each.upper == 0.0 for each in solved):
        return math.inf
    found = by_shares(np.array([each.upper for each in solved]), delta)
    if len(correct) > 1 and family.additive():
        early = [
            early_answer(problem, view, means, code, each)
            for code, each in zip(codes, solved, strict=True)
        ]
        found = max(found, by_time(early, delta, whole=view is family))
    return found * price


# --------------------------------------------------------------------- how often each may be given


def kl(p: float, q: float) -> float:
    """The divergence between coins with chances p and q."""
    return coin_divergence(p, 1.0 - p, q - p, q, 1.0 - q)


def by_shares(values: Floats, delta: float) -> float:
    """The least E with sum_i p_i = 1 - delta and kl(p_i, delta) <= E D_i for all correct answers."""
    if values.size == 1:
        return kl(1.0 - delta, delta) / float(values[0])

    def too_few(samples: float) -> bool:
        return sum(_largest_share(samples * value, delta) for value in values) < 1.0 - delta

    most = kl(1.0 - delta, delta) / float(values.max())
    return bisection(When(too_few), 0.0, most, HALVINGS)[0]


def _largest_share(budget: float, delta: float) -> float:
    """An upper bound on the p >= delta with kl(p, delta) <= budget."""
    return bisection(When(lambda p: kl(p, delta) <= budget), delta, 1.0, HALVINGS)[1]


# --------------------------------------------------------------------- how early each may be given


class Early(NamedTuple):
    """For each s the rate r(s) of (2), and the most that a sample earns."""

    rates: Floats
    value: float


def early_answer(
    problem: Problem, family: Family, means: Floats, code: Code, solved: Solution
) -> Early:
    """r(s) = max_k (s c_k + psi_k(s a_k)), where c_k is what arm k pays to the witness."""
    if solved.value == 0.0:  # the means lie in the alternative: no sample tells them apart
        return Early(np.zeros(TILTS.size), 0.0)
    models, shares = find_witness(problem, family, means, code, solved)
    paid = shares @ payoff_table(family, means, models)
    rates = np.zeros(TILTS.size)
    for k, mean in enumerate(means):
        own = family.of_arm(k)
        if paid[k] > 0.0:
            pull = sum(
                q * (own.natural(mean) - own.natural(x[k]))
                for q, x in zip(shares, models, strict=True)
            )
            tilted = [s * paid[k] + log_moment(own, float(mean), s * pull) for s in TILTS]
            rates = np.maximum(rates, tilted)
    return Early(rates, float(paid.max()))


def log_moment(family: Family, mean: float, tilt: float) -> float:
    """psi(u) = log E exp(u (X - mu)) = d(mu, mu'), where u is added to the natural parameter of mu.

    By bisection, and rounded up; infinite beyond the family's last parameter.
    """
    if tilt == 0.0:
        return 0.0
    side, goal = math.copysign(1.0, tilt), family.natural(mean) + tilt
    low, high = family.interval()
    end, near = (high if side > 0.0 else low), mean
    far, step = mean, abs(tilt) * family.variance_at(mean)
    while True:
        far = mean + side * step if math.isinf(end) else end - (end - mean) / (1.0 + step)
        if far == end or not abs(far) < LARGEST:
            return math.inf
        if side * (family.natural(far) - goal) >= 0.0:
            break
        step *= 2.0
    while abs(far - near) > 1e-12 * abs(far - mean):
        middle = 0.5 * (near + far)
        if middle in (near, far):
            break
        if side * (family.natural(middle) - goal) >= 0.0:
            far = middle
        else:
            near = middle
    return float(family.divergence(mean, far))


def by_time(early: list[Early], delta: float, whole: bool) -> float:
    """Sum over n of P(tau > n) >= 1 - delta - sum_i u_i(n), by blocks in which that falls.

    Samples are whole numbers, so that n is at most the block's end less 1; costs need not be.
    """
    last = -math.log(delta) / max(each.value for each in early)
    ends = np.linspace(0.0, last, HORIZONS)[1:]
    if whole:
        ends = np.unique(np.ceil(ends))
    given = np.zeros(ends.size)
    for each in early:
        given += np.exp(_log_chance(each, ends - 1.0 if whole else ends, delta))
    sizes = np.diff(ends, prepend=0.0)
    return float(np.sum(sizes * np.maximum(1.0 - delta - given, 0.0)))


def _log_chance(early: Early, rounds: Floats, delta: float) -> Floats:
    """log u(n) of (2), at the best s."""
    kept = np.isfinite(early.rates)
    s, rates = TILTS[kept], early.rates[kept]
    tables = (s * math.log(delta) + np.multiply.outer(rounds, rates)) / (1.0 + s)
    return np.asarray(np.min(tables, axis=1, initial=0.0))
