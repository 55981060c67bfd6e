"""The oracle of one answer, and of a problem: values, weights and what certifies them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from stopwise.checks import Floats
from stopwise.oracles.closed_forms import models, optimise, upper_bound, vertices
from stopwise.oracles.saddle import solve_saddle
from stopwise.oracles.witness import mix, natural_shares, payoff_table
from stopwise.problems import Product
from stopwise.problems.base import Code, cost
from stopwise.problems.product import factors
from stopwise.verbs import compiled, verb

TOLERANCE = 1e-6  # a certified relative gap above this is reported as "inexact"
EXACT = 1e-9  # what a closed form must certify to be called "exact"
COMPILE_FROM = 2000  # arms from which compiling a closed form pays


def relative_gap(lower: float, upper: float) -> float:
    """|upper - lower|/upper."""
    return abs(upper - lower) / upper if 0.0 < upper < math.inf else abs(upper)


STATUSES = ("exact", "converged", "inexact", "degenerate")  # from best to worst


class Solution(NamedTuple):
    """One answer's value with certified bounds, oracle weights and, if solved for, a witness."""

    value: float
    lower: float
    upper: float
    weights: Floats
    status: str  # "exact" | "converged" | "inexact" | "degenerate"
    models: Floats | None = None
    shares: Floats | None = None

    @property
    def gap(self) -> float:
        """The certified relative gap; bounds that contradict each other are a gap too."""
        return relative_gap(self.lower, self.upper)


def degenerate(arms: int) -> Solution:
    """The means lie in the alternative: D = 0 and all weights are optimal; uniform ones are given."""
    return Solution(0.0, 0.0, 0.0, np.full(arms, 1.0 / arms), "degenerate")


@verb
def solution(problem: Any, family: Any, means: Floats, code: Code) -> Solution:
    """Solve for one answer: by its closed form if there is one, else by the generic solver."""
    if optimise.dispatch(type(problem)) is optimise.dispatch(object):
        return generic_solution(problem, family, means, code)
    weights = np.zeros(means.size)
    value = float(_quick(optimise, means.size)(problem, family, means, code, weights))
    if math.isnan(value):
        return generic_solution(problem, family, means, code)
    if value == 0.0:
        return degenerate(means.size)
    closest = np.zeros(means.size)
    lower = float(_quick(cost, means.size)(problem, family, weights, means, code, closest))
    upper = float(_bound(problem, family, means, code, weights))
    found = Solution(value, lower, upper, weights, "exact")
    if found.gap <= EXACT and abs(value - lower) <= EXACT * upper:
        return found
    # rounding spoilt the closed form (models at the very end of the family's interval)
    return generic_solution(problem, family, means, code)


def _judged(found: Solution) -> Solution:
    """Say so where the certified bounds are too far apart, or contradict each other."""
    sound = abs(found.upper - found.lower) <= TOLERANCE * found.upper
    return found if sound else found._replace(status="inexact")


def generic_solution(problem: Any, family: Any, means: Floats, code: Code) -> Solution:
    """Solve for one answer by the generic saddle-point solver, whatever closed form there is."""
    closest = np.zeros(means.size)
    uniform = np.full(means.size, 1.0 / means.size)
    if cost(problem, family, uniform, means, code, closest) == 0.0:
        return degenerate(means.size)
    saddle = solve_saddle(problem, family, means, code)
    found = Solution(
        saddle.lower,
        saddle.lower,
        saddle.upper,
        saddle.weights,
        "converged",
        saddle.models,
        saddle.shares,
    )
    return _judged(found)


@solution.register(Product)
def _product_solution(problem: Product, family: Any, means: Floats, code: Code) -> Solution:
    """Independent questions: 1/D adds, and each part's share of the samples is D/D_part."""
    arms = means.size
    parts = [
        (solution(part, family, means[group], share), group)
        for part, group, share in factors(problem, code)
    ]
    if any(part.value == 0.0 for part, _ in parts):
        return degenerate(arms)

    def combine(pick: Callable[[Solution], float]) -> float:
        return 1.0 / sum(1.0 / pick(part) for part, _ in parts)

    value = combine(lambda part: part.value)
    weights = sum(_lift(part.weights * value / part.value, group, arms) for part, group in parts)
    return Solution(
        value,
        combine(lambda part: part.lower),
        combine(lambda part: part.upper),
        np.asarray(weights),
        max((part.status for part, _ in parts), key=STATUSES.index),
    )


def weight_vertices(
    problem: Any, family: Any, means: Floats, code: Code, solved: Solution
) -> Floats:
    """The corners of an answer's set of oracle weights, one row each."""
    if solved.value == 0.0:
        return np.eye(means.size)  # every weight vector is optimal
    if isinstance(problem, Product):
        return _product_vertices(problem, family, means, code, solved)
    if solved.models is None:
        return np.asarray(vertices(problem, family, means, code, solved.weights))
    from stopwise.oracles.face import corners

    return corners(problem, family, means, code, solved)


def _product_vertices(
    problem: Product, family: Any, means: Floats, code: Code, solved: Solution
) -> Floats:
    spread = []
    for part, group, share in factors(problem, code):
        inner = solution(part, family, means[group], share)
        rows = weight_vertices(part, family, means[group], share, inner)
        spread.append([_lift(row * solved.value / inner.value, group, means.size) for row in rows])
    return np.array([np.sum(pick, axis=0) for pick in itertools.product(*spread)])


def _lift(values: Floats, group: Any, arms: int) -> Floats:
    full = np.zeros(arms)
    full[group] = values
    return full


def find_witness(
    problem: Any, family: Any, means: Floats, code: Code, solved: Solution
) -> tuple[Floats, Floats]:
    """Lemma 2's models and probabilities for an answer with positive value."""
    if isinstance(problem, Product):
        return _product_witness(problem, family, means, code, solved)
    if solved.models is not None and solved.shares is not None:
        return solved.models, solved.shares
    found = models(problem, family, means, code, solved.weights)
    table = payoff_table(family, means, found)
    shares = min((mix(table), natural_shares(table)), key=lambda q: float(np.max(q @ table)))
    return found[shares > 0.0], shares[shares > 0.0]


def _product_witness(
    problem: Product, family: Any, means: Floats, code: Code, solved: Solution
) -> tuple[Floats, Floats]:
    """Fool one part, chosen with probability D/D_part, by that part's own witness."""
    rows, chances = [], []
    for part, group, share in factors(problem, code):
        inner = solution(part, family, means[group], share)
        own, shares = find_witness(part, family, means[group], share, inner)
        for model, chance in zip(own, shares, strict=True):
            full = means.copy()
            full[group] = model
            rows.append(full)
            chances.append(chance * solved.value / inner.value)
    return np.array(rows), np.array(chances) / np.sum(chances)


def _bound(problem: Any, family: Any, means: Floats, code: Code, weights: Floats) -> float:
    """The witness's bound; those that need a linear program stay in plain Python."""
    plain = upper_bound.dispatch(type(problem)) is upper_bound.dispatch(object)
    function = upper_bound if plain else _quick(upper_bound, means.size)
    return float(function(problem, family, means, code, weights))


_kernels: dict[Callable[..., Any], Callable[..., Any]] = {}


def _quick(function: Callable[..., Any], arms: int) -> Callable[..., Any]:
    """The verb itself for few arms, its compiled form for many: both give the same numbers."""
    if arms < COMPILE_FROM:
        return function
    if function not in _kernels:
        _kernels[function] = compiled(_callers()[function])
    return _kernels[function]


def _callers() -> dict[Callable[..., Any], Callable[..., Any]]:
    return {optimise: _optimise, cost: _cost, upper_bound: _upper_bound}


def _optimise(problem: Any, family: Any, means: Floats, code: Code, weights: Floats) -> float:
    return optimise(problem, family, means, code, weights)


def _cost(
    problem: Any, family: Any, weights: Floats, means: Floats, code: Code, closest: Floats
) -> float:
    return cost(problem, family, weights, means, code, closest)


def _upper_bound(problem: Any, family: Any, means: Floats, code: Code, weights: Floats) -> float:
    return upper_bound(problem, family, means, code, weights)


__all__ = ["Solution", "find_witness", "generic_solution", "solution", "weight_vertices"]
