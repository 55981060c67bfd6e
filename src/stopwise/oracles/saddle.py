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


class Query(NamedTuple):
    """One answer of a problem, asked about at given means."""

    problem: Problem
    family: Family
    means: Floats
    code: Code

    def payoffs(self, models: Floats) -> Floats:
        """d(mu_k, lambda_k) for each model (row) and arm (column)."""
        return payoff_table(self.family, self.means, models)

    def cell_models(self, weights: Floats) -> tuple[float, Floats]:
        """The least cost over the cells, and each cell's closest model."""
        problem, family, means, code = self
        models = np.zeros((problem.cell_count(code), means.size))
        data = Data(weights, means)
        values = [problem.project(family, data, code, c, each) for c, each in enumerate(models)]
        return float(min(values)), models


class Saddle(NamedTuple):
    """Weights with their certified least cost, and a mixture of models with what it concedes."""

    lower: float
    upper: float
    weights: Floats
    models: Floats
    shares: Floats


def solve_saddle(query: Query, tolerance: float = 1e-10) -> Saddle:
    """The saddle point for one answer at means outside its alternative."""
    path = new_path(query.problem.cell_count(query.code), query.means.size)
    lower, upper = follow_center(*query, tolerance, path)
    best = Saddle(lower, upper, path.weights, path.models, path.shares)
    recent = [models for models in path.recent if models.any()]
    if _gap(best) > tolerance:
        best = _remix(best, recent, query)
    if _gap(best) > max(tolerance, 1e-7):
        best = _cutting_planes(best, recent, query, tolerance)
    return _tidy(best, query)


def _gap(saddle: Saddle) -> float:
    return (saddle.upper - saddle.lower) / saddle.upper


def _remix(best: Saddle, recent: list[Floats], query: Query) -> Saddle:
    """A better mixture of all models seen lately, where a cell has several closest ones."""
    models = np.unique(np.concatenate([best.models, *recent]), axis=0)
    shares, upper = conceded(query.payoffs(models))
    if upper < best.upper:
        best = best._replace(upper=upper, models=models, shares=shares)
    return best


def _cutting_planes(best: Saddle, recent: list[Floats], query: Query, tolerance: float) -> Saddle:
    """For costs with kinks at the optimum: models found at the linear program's weights are added."""
    models = np.unique(np.concatenate([best.models, *recent]), axis=0)
    for step in range(CUTS):
        goal = best_reply(query.payoffs(models))
        # stay near the best weights so far, and come closer to the program's as its cuts improve
        weights = best.weights + (1.0 if step % 2 else 0.3) * (goal - best.weights)
        lower, found = query.cell_models(weights)
        if lower > best.lower:
            best = best._replace(lower=lower, weights=weights)
        models = np.unique(np.concatenate([models, found]), axis=0)
        best = _remix(best, [models], query)
        if _gap(best) <= tolerance:
            break
    return best


def _tidy(best: Saddle, query: Query) -> Saddle:
    """Drop models without a share and weights that the barrier kept from 0; keep at most K models."""
    weights = np.where(best.weights < 1e-8, 0.0, best.weights)
    weights /= weights.sum()
    lower, _ = query.cell_models(weights)
    if lower >= best.lower * (1.0 - 1e-11):
        best = best._replace(lower=lower, weights=weights)
    kept = best.shares > 1e-13
    models, shares = best.models[kept], best.shares[kept] / best.shares[kept].sum()
    if len(models) > query.means.size:
        shares = mix(query.payoffs(models))
        models, shares = models[shares > 0.0], shares[shares > 0.0]
    upper = float(np.max(shares @ query.payoffs(models)))
    return best._replace(upper=upper, models=models, shares=shares)
