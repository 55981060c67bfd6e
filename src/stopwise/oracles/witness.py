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
    if len(table) == 1:
        return np.ones(1)
    usable = np.all(np.isfinite(table), axis=1)
    scale = float(np.min(np.max(table[usable], axis=1)))
    found = _game(table[usable].T / scale, 1.0, tolerance=1e-10)
    shares = np.zeros(len(table))
    if found is None:  # the program gave up: the best single model is a mixture too
        shares[int(np.argmin(np.where(usable, np.max(table, axis=1), np.inf)))] = 1.0
        return shares
    shares[usable] = found
    shares[shares < 1e-13] = 0.0
    return shares / shares.sum()


def _game(costs: Floats, sign: float, tolerance: float | None = None) -> Floats | None:
    """Shares of the columns and a number v with costs @ shares <= sign v, of which sign v is the least.

    None if the program gave up.
    """
    from scipy.optimize import linprog

    rows, columns = costs.shape
    names = "primal_feasibility_tolerance", "dual_feasibility_tolerance"
    found = linprog(
        np.append(np.zeros(columns), sign),
        A_ub=np.hstack([costs, np.full((rows, 1), -sign)]),
        b_ub=np.zeros(rows),
        A_eq=np.append(np.ones(columns), 0.0)[None],
        b_eq=[1.0],
        bounds=[*[(0.0, None)] * columns, (None, None)],
        method="highs-ds",
        options={} if tolerance is None else dict.fromkeys(names, tolerance),
    )
    return None if found.x is None else np.maximum(found.x[:-1], 0.0)


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
    scale = float(np.max(table[np.isfinite(table)]))
    weights = _game(-np.where(np.isfinite(table), table / scale, 1e6), -1.0)
    arms = table.shape[1]
    return np.full(arms, 1.0 / arms) if weights is None else np.asarray(weights / weights.sum())
