"""The generic saddle-point solver, finished: where problems/central_path.py leaves a gap, linear programs
mix its models better, and add models where costs have kinks at the optimum.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stopwise.core.arrays import Floats
from stopwise.core.data import Data
from stopwise.families.family import Family
from stopwise.oracles.witness import best_reply, conceded, mix, payoff_table
from stopwise.problems.central_path import follow_center, new_path
from stopwise.problems.problem import Code, Problem

CUTS = 150


class Saddle(NamedTuple):
    """Weights with their certified least cost, and a mixture of models with what it concedes."""

    lower: float
    upper: float
    weights: Floats
    models: Floats
    shares: Floats


def solve_saddle(
    problem: Problem, family: Family, means: Floats, code: Code, tolerance: float = 1e-10
) -> Saddle:
    """The saddle point for one answer at means outside its alternative."""
    path = new_path(problem.cell_count(code), means.size)
    lower, upper = follow_center(problem, family, means, code, tolerance, path)
    best = Saddle(lower, upper, path.weights, path.models, path.shares)
    recent = [models for models in path.recent if models.any()]
    if _gap(best) > tolerance:
        best = _remix(best, recent, family, means)
    if _gap(best) > max(tolerance, 1e-7):
        best = _cutting_planes(best, recent, problem, family, means, code, tolerance)
    return _tidy(best, problem, family, means, code)


def _gap(saddle: Saddle) -> float:
    return (saddle.upper - saddle.lower) / saddle.upper


def cell_models(problem: Problem, family: Family, data: Data, code: Code) -> tuple[float, Floats]:
    """The least cost over the cells, and each cell's closest model."""
    cells = problem.cell_count(code)
    models = np.zeros((cells, data.means.size))
    values = [problem.project(family, data, code, c, models[c]) for c in range(cells)]
    return float(min(values)), models


def _remix(best: Saddle, recent: list[Floats], family: Family, means: Floats) -> Saddle:
    """A better mixture of all models seen lately, where a cell has several closest ones."""
    models = np.unique(np.concatenate([best.models, *recent]), axis=0)
    shares, upper = conceded(payoff_table(family, means, models))
    if upper < best.upper:
        best = best._replace(upper=upper, models=models, shares=shares)
    return best


def _cutting_planes(
    best: Saddle,
    recent: list[Floats],
    problem: Problem,
    family: Family,
    means: Floats,
    code: Code,
    tolerance: float,
) -> Saddle:
    """For costs with kinks at the optimum: models found at the linear program's weights are added."""
    models = np.unique(np.concatenate([best.models, *recent]), axis=0)
    for step in range(CUTS):
        table = payoff_table(family, means, models)
        goal = best_reply(table)
        # stay near the best weights so far, and come closer to the program's as its cuts improve
        weights = best.weights + (1.0 if step % 2 else 0.3) * (goal - best.weights)
        lower, found = cell_models(problem, family, Data(weights, means), code)
        if lower > best.lower:
            best = best._replace(lower=lower, weights=weights)
        models = np.unique(np.concatenate([models, found]), axis=0)
        best = _remix(best, [models], family, means)
        if _gap(best) <= tolerance:
            break
    return best


def _tidy(best: Saddle, problem: Problem, family: Family, means: Floats, code: Code) -> Saddle:
    """Drop models without a share and weights that the barrier kept from 0; keep at most K models."""
    weights = np.where(best.weights < 1e-8, 0.0, best.weights)
    weights /= weights.sum()
    lower, _ = cell_models(problem, family, Data(weights, means), code)
    if lower >= best.lower * (1.0 - 1e-11):
        best = best._replace(lower=lower, weights=weights)
    kept = best.shares > 1e-13
    models, shares = best.models[kept], best.shares[kept] / best.shares[kept].sum()
    if len(models) > means.size:
        shares = mix(payoff_table(family, means, models))
        models, shares = models[shares > 0.0], shares[shares > 0.0]
    upper = float(np.max(shares @ payoff_table(family, means, models)))
    return best._replace(upper=upper, models=models, shares=shares)
