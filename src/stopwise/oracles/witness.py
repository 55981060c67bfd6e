"""Lemma 2's witness: at most K models in the alternative, mixed so that no arm tells them apart well.

Any mixture q of models of the alternative bounds the value from above by what its best arm earns,
max_k sum_m q_m d(mu_k, lambda^m_k); at the equilibrium the bound is the value itself.
"""

from __future__ import annotations

import numpy as np

from stopwise.core.arrays import Floats
from stopwise.families.family import Family


def payoff_table(family: Family, means: Floats, models: Floats) -> Floats:
    """d(mu_k, lambda_k) for each model (row) and arm (column)."""
    table = np.zeros(models.shape)
    for row, model in enumerate(models):
        for k in np.flatnonzero(model != means):
            table[row, k] = family.of_arm(int(k)).divergence(means[k], model[k])
    return table


def mix(table: Floats) -> Floats:
    """The mixture of rows whose largest entry is least: a linear program's vertex, <= K models.

    At a vertex at most K + 1 variables are basic, and the bound itself is one of them.
    """
    from scipy.optimize import linprog

    rows, arms = table.shape
    if rows == 1:
        return np.ones(1)
    usable = np.all(np.isfinite(table), axis=1)
    scale = float(np.min(np.max(table[usable], axis=1)))
    goal = np.zeros(int(usable.sum()) + 1)
    goal[-1] = 1.0
    found = linprog(
        goal,
        A_ub=np.hstack([table[usable].T / scale, -np.ones((arms, 1))]),
        b_ub=np.zeros(arms),
        A_eq=np.hstack([np.ones((1, int(usable.sum()))), np.zeros((1, 1))]),
        b_eq=[1.0],
        bounds=[*[(0.0, None)] * int(usable.sum()), (None, None)],
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    shares = np.zeros(rows)
    if found.x is None:  # the program gave up: the best single model is a mixture too
        shares[int(np.argmin(np.where(usable, np.max(table, axis=1), np.inf)))] = 1.0
        return shares
    shares[usable] = np.maximum(found.x[:-1], 0.0)
    shares[shares < 1e-13] = 0.0
    return shares / shares.sum()


def conceded(table: Floats) -> tuple[Floats, float]:
    """That mixture, and its largest entry: an upper bound on the value of the game."""
    shares = mix(table)
    return shares, float(np.max(shares @ np.where(shares[:, None] > 0.0, table, 0.0)))


def natural_shares(table: Floats) -> Floats:
    """Where each model moves an arm that no other model moves: shares that make those arms pay alike.

    This is what certifies the closed forms; it is exact where a linear program is off by its tolerance.
    Otherwise all on the model whose largest payoff is least.
    """
    alone = np.sum(table > 0.0, axis=0) == 1
    own = np.max(np.where(alone, table, 0.0), axis=1)
    if np.all(own > 0.0) and np.all(np.isfinite(own)):
        return (1.0 / own) / np.sum(1.0 / own)
    shares = np.zeros(len(table))
    shares[int(np.argmin(np.max(table, axis=1)))] = 1.0
    return shares


def best_reply(table: Floats) -> Floats:
    """The other side of that game: the weights whose least payoff over the models is largest."""
    from scipy.optimize import linprog

    rows, arms = table.shape
    scale = float(np.max(table[np.isfinite(table)]))
    finite = np.where(np.isfinite(table), table / scale, 1e6)
    goal = np.zeros(arms + 1)
    goal[-1] = -1.0
    found = linprog(
        goal,
        A_ub=np.hstack([-finite, np.ones((rows, 1))]),
        b_ub=np.zeros(rows),
        A_eq=np.hstack([np.ones((1, arms)), np.zeros((1, 1))]),
        b_eq=[1.0],
        bounds=[*[(0.0, None)] * arms, (None, None)],
        method="highs-ds",
    )
    if found.x is None:
        return np.full(arms, 1.0 / arms)
    weights = np.maximum(found.x[:-1], 0.0)
    return np.asarray(weights / weights.sum())
