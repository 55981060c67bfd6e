"""The oracle of one answer: its value, weights and what certifies them."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from stopwise.core.arrays import Floats
from stopwise.core.compile.kernels import compiled
from stopwise.core.data import Data
from stopwise.core.values import overrides
from stopwise.families.family import Family
from stopwise.oracles.saddle import Query, Saddle, solve_saddle
from stopwise.oracles.witness import conceded, mix, natural_shares, payoff_table
from stopwise.problems.problem import Code, Part, Problem

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


def solution(problem: Problem, family: Family, means: Floats, code: Code) -> Solution:
    """Solve for one answer: part by part, by its closed form, or by the generic solver."""
    pieces = problem.independent_parts(family, code)
    if pieces:
        return _joint_solution(pieces, means)
    if not overrides(problem, "optimise", family):
        return generic_solution(problem, family, means, code)
    weights = np.zeros(means.size)
    value = float(_quick(_optimise, means.size)(problem, family, means, code, weights))
    if math.isnan(value):
        return generic_solution(problem, family, means, code)
    if value == 0.0:
        return degenerate(means.size)
    data = Data(weights, means)
    lower = float(
        _quick(_transport_cost, means.size)(problem, family, data, code, np.zeros(means.size))
    )
    upper = _conceded(problem, family, data, code)
    found = Solution(value, lower, upper, weights, "exact")
    if found.gap <= EXACT and abs(value - lower) <= EXACT * upper:
        return found
    # rounding spoilt the closed form (models at the very end of the family's interval)
    return generic_solution(problem, family, means, code)


def generic_solution(problem: Problem, family: Family, means: Floats, code: Code) -> Solution:
    """Solve for one answer by the generic saddle-point solver, whatever closed form there is."""
    uniform = Data(np.full(means.size, 1.0 / means.size), means)
    if problem.transport_cost(family, uniform, code, np.zeros(means.size)) == 0.0:
        return degenerate(means.size)
    lower, upper, weights, found, shares = solve_saddle(Query(problem, family, means, code))
    # bounds that are too far apart, or contradict each other, are said to be so
    status = "converged" if abs(upper - lower) <= TOLERANCE * upper else "inexact"
    return Solution(lower, lower, upper, weights, status, found, shares)


def _joint_solution(pieces: list[Part], means: Floats) -> Solution:
    """Independent questions: 1/D adds, and each part's share of the samples is D/D_part."""
    solved = [solution(part, own, means[arms], code) for part, own, arms, code in pieces]
    if any(each.value == 0.0 for each in solved):
        return degenerate(means.size)

    def combine(values: list[float]) -> float:
        return 1.0 / sum(1.0 / value for value in values)

    value = combine([each.value for each in solved])
    weights = np.zeros(means.size)
    for part, each in zip(pieces, solved, strict=True):
        weights[part.arms] = each.weights * value / each.value
    return Solution(
        value,
        combine([each.lower for each in solved]),
        combine([each.upper for each in solved]),
        weights,
        max((each.status for each in solved), key=STATUSES.index),
    )


def weight_vertices(
    problem: Problem, family: Family, means: Floats, code: Code, solved: Solution
) -> Floats:
    """The corners of an answer's set of oracle weights, one row each."""
    if solved.value == 0.0:
        return np.eye(means.size)  # every weight vector is optimal
    pieces = problem.independent_parts(family, code)
    if pieces:
        return _joint_vertices(pieces, means, solved)
    if solved.models is None or solved.shares is None:
        return np.asarray(problem.vertices(family, Data(solved.weights, means), code))
    from stopwise.oracles.face import corners

    found = Saddle(solved.lower, solved.upper, solved.weights, solved.models, solved.shares)
    return corners(Query(problem, family, means, code), found)


def _joint_vertices(pieces: list[Part], means: Floats, solved: Solution) -> Floats:
    spread = []
    for part, own, arms, code in pieces:
        inner = solution(part, own, means[arms], code)
        rows = weight_vertices(part, own, means[arms], code, inner)
        lifted = np.zeros((len(rows), means.size))
        lifted[:, arms] = rows * solved.value / inner.value
        spread.append(list(lifted))
    return np.array([np.sum(pick, axis=0) for pick in itertools.product(*spread)])


def find_witness(
    problem: Problem, family: Family, means: Floats, code: Code, solved: Solution
) -> tuple[Floats, Floats]:
    """Lemma 2's models and probabilities for an answer with positive value."""
    pieces = problem.independent_parts(family, code)
    if pieces:
        return _joint_witness(pieces, means, solved)
    if solved.models is not None and solved.shares is not None:
        return solved.models, solved.shares
    found = problem.models(family, Data(solved.weights, means), code)
    table = payoff_table(family, means, found)
    shares = min((mix(table), natural_shares(table)), key=lambda q: float(np.max(q @ table)))
    return found[shares > 0.0], shares[shares > 0.0]


def _joint_witness(pieces: list[Part], means: Floats, solved: Solution) -> tuple[Floats, Floats]:
    """Fool one part, chosen with probability D/D_part, by that part's own witness."""
    rows, chances = [], []
    for part, own, arms, code in pieces:
        inner = solution(part, own, means[arms], code)
        found, shares = find_witness(part, own, means[arms], code, inner)
        for model, chance in zip(found, shares, strict=True):
            full = means.copy()
            full[arms] = model
            rows.append(full)
            chances.append(chance * solved.value / inner.value)
    return np.array(rows), np.array(chances) / np.sum(chances)


def _conceded(problem: Problem, family: Family, data: Data, code: Code) -> float:
    """What the witness at these weights concedes: an upper bound on the value."""
    if overrides(problem, "upper_bound", family):
        return float(_quick(_upper_bound, data.means.size)(problem, family, data, code))
    return conceded(payoff_table(family, data.means, problem.models(family, data, code)))[1]


def _optimise(
    problem: Problem, family: Family, means: Floats, code: Code, weights: Floats
) -> float:
    return problem.optimise(family, means, code, weights)


def _transport_cost(
    problem: Problem, family: Family, data: Data, code: Code, closest: Floats
) -> float:
    return problem.transport_cost(family, data, code, closest)


def _upper_bound(problem: Problem, family: Family, data: Data, code: Code) -> float:
    return problem.upper_bound(family, data, code)


_compiled = functools.cache(compiled)


def _quick(function: Callable[..., Any], arms: int) -> Callable[..., Any]:
    """The function itself for few arms, its compiled form for many: both give the same numbers."""
    return function if arms < COMPILE_FROM else _compiled(function)
