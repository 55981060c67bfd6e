"""Matrix games: the weights that gain the most where they gain the least, by the simplex method."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from stopwise.core.arrays import Floats, Ints, argmin, fill
from stopwise.core.functions import jitable

SMALL = 1e-12


class Tableau(NamedTuple):
    """A condensed tableau, and which variable each column and row stands for."""

    entries: Floats
    columns: Ints
    rows: Ints


def new_tableau(pieces: int, arms: int) -> Tableau:
    """Room for games of at most so many pieces."""
    columns, rows = np.zeros(pieces, dtype=np.int64), np.zeros(arms, dtype=np.int64)
    return Tableau(np.zeros((arms + 1, pieces + 1)), columns, rows)


@jitable
def play(gains: Floats, pieces: int, tableau: Tableau, weights: Floats) -> None:
    """Weights z that maximise the least of <z, gains_j> over the first pieces j.

    With all entries made positive by a shift, the other side's problem is to maximise sum_j y_j with
    sum_j gains_jk y_j <= 1 for every arm k: y = 0 is feasible, and z are the multipliers.
    """
    _set_up(gains, pieces, tableau)
    for _ in range(50 + 4 * (pieces + weights.size)):
        column = _entering(tableau, pieces)
        if column < 0:
            break
        row = _leaving(tableau, pieces, column)
        if row < 0:
            break
        _pivot(tableau, pieces, row, column)
    fill(weights, 0.0)
    whole = 0.0
    for j in range(pieces):
        arm = tableau.columns[j] - pieces
        if arm >= 0:
            weights[arm] = max(tableau.entries[weights.size, j], 0.0)
            whole += weights[arm]
    for k in range(weights.size):
        weights[k] = weights[k] / whole if whole > 0.0 else 1.0 / weights.size


@jitable
def _set_up(gains: Floats, pieces: int, tableau: Tableau) -> None:
    """Entries between 1 and 2: only their order on a line matters."""
    entries, columns, rows = tableau
    low, high = math.inf, -math.inf
    for j in range(pieces):
        for k in range(rows.size):
            low, high = min(low, gains[j, k]), max(high, gains[j, k])
    scale = 1.0 / (high - low) if high > low else 0.0
    for k in range(rows.size):
        rows[k] = pieces + k
        entries[k, pieces] = 1.0
        for j in range(pieces):
            entries[k, j] = 1.0 + (gains[j, k] - low) * scale
    for j in range(pieces):
        columns[j] = j
        entries[rows.size, j] = -1.0
    entries[rows.size, pieces] = 0.0


@jitable
def _entering(tableau: Tableau, pieces: int) -> int:
    last = tableau.entries[tableau.rows.size, :pieces]
    column = argmin(last)
    return column if last[column] < -SMALL else -1


@jitable
def _leaving(tableau: Tableau, pieces: int, column: int) -> int:
    least, row = math.inf, -1
    for k in range(tableau.rows.size):
        entry = tableau.entries[k, column]
        if entry > SMALL and tableau.entries[k, pieces] < least * entry:
            least, row = tableau.entries[k, pieces] / entry, k
    return row


@jitable
def _pivot(tableau: Tableau, pieces: int, row: int, column: int) -> None:
    """Exchange the variables of a row and a column."""
    entries, columns, rows = tableau
    factor = 1.0 / entries[row, column]
    for i in range(rows.size + 1):
        if i != row:
            share = entries[i, column] * factor
            for j in range(pieces + 1):
                if j != column:
                    entries[i, j] -= share * entries[row, j]
            entries[i, column] = -share
    for j in range(pieces + 1):
        entries[row, j] *= factor
    entries[row, column] = factor
    columns[column], rows[row] = rows[row], columns[column]
