"""Paired comparisons by brute force: products over items, elimination by the book.

Nothing here is shared with the package but the numbers that define the rule: bets and their weights.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import logsumexp

import naive_students
from naive_bets import BETS, WEIGHTS


def log_wealth(differences: Any, margin: float, width: float, pool: int = 0) -> float:
    """Against a mean of at most -margin: log sum_q a_q prod_t (1 + l_q (D_t - c_t)/(c_t + width))."""
    logs, total = np.zeros(BETS.size), 0.0
    for done, x in enumerate(differences):
        c = (-pool * margin - total) / (pool - done) if pool else -margin
        if c <= -width * (1 - 1e-9):
            return math.inf if x > c else float(logsumexp(logs, b=WEIGHTS))
        logs += [math.log(1.0 + bet * (x - c) / (c + width)) for bet in BETS]
        total += x
    if pool and total - (pool - len(differences)) * width > -pool * margin + 1e-9 * pool * width:
        return math.inf
    return float(logsumexp(logs, b=WEIGHTS))


def log_t_wealth(differences: Any, margin: float) -> float:
    """The t wealth of one stream, which may be below 1."""
    x = np.asarray(differences)
    if x.std() == 0.0:
        return 0.0
    bets = [naive_students.log_bet(x, -margin, 1.0, kappa) for kappa in naive_students.KAPPAS]
    return float(logsumexp(bets, b=naive_students.SHARES))


def best_arm(rows: Any, wealth: Any, level: float, margin: float) -> tuple[int, int]:
    """Item by item: (items, answer), or (items, -1) if the rows end before.

    ``wealth(differences, margin)`` is the log wealth of a pair's differences so far.
    """
    rows = np.asarray(rows, dtype=float)
    inside, near = set(range(rows.shape[1])), set()
    for n in range(1, len(rows) + 1):
        made = {}
        for i in inside:
            for j in inside - {i}:
                made[i, j] = wealth(rows[:n, i] - rows[:n, j], 0.0)
                if margin == 0.0:
                    value = made[i, j]
                else:
                    value = wealth(rows[:n, i] - rows[:n, j], margin)
                if value >= level:
                    near.add((i, j))
        for (i, j), value in sorted(made.items(), key=lambda each: -each[1]):
            if value >= level and {i, j} <= inside:
                inside.remove(j)
        for i in inside:
            if all((i, j) in near for j in inside - {i}):
                return n, i
    return len(rows), -1


def top_arms(rows: Any, wealth: Any, level: float, margin: float, m: int) -> tuple[int, Any]:
    """The m best arms item by item: (items, answer), or (items, None) if the rows end before."""
    rows = np.asarray(rows, dtype=float)
    arms = range(rows.shape[1])
    better: set[tuple[int, int]] = set()  # i has passed j by 0, and by the margin
    near: set[tuple[int, int]] = set()
    chosen: set[int] = set()
    out: set[int] = set()
    for n in range(1, len(rows) + 1):
        inside = set(arms) - chosen - out
        for i in inside:
            for j in inside - {i}:
                x = rows[:n, i] - rows[:n, j]
                better |= {(i, j)} if wealth(x, 0.0) >= level else set()
                near |= {(i, j)} if wealth(x, margin) >= level else set()
        found = True
        while found:
            inside = set(arms) - chosen - out
            lost = {k for k in inside if len(chosen | {i for i in inside if (i, k) in better}) >= m}
            won = {
                k
                for k in inside
                if len(out | {j for j in inside if (k, j) in better}) >= len(arms) - m
            }
            found = bool(lost | won) and not lost & won
            out, chosen = out | lost, chosen | won
        inside = set(arms) - chosen - out
        order = sorted(inside, key=lambda k: (-rows[:n, k].sum(), k))
        named = chosen | set(order[: m - len(chosen)])
        if all((i, j) in near for i in named & inside for j in inside - named):
            return n, tuple(sorted(named))
    return len(rows), None


def above_control(
    rows: Any, wealth: Any, level: float, margin: float, control: int, one: bool
) -> tuple[int, Any]:
    """Which arms beat the control, item by item; each claim by its own pair, as if it were alone."""
    rows = np.asarray(rows, dtype=float)
    claims: dict[int, tuple[int, bool]] = {}
    for arm in set(range(rows.shape[1])) - {control}:
        for n in range(1, len(rows) + 1):
            x = rows[:n, arm] - rows[:n, control]
            if wealth(x, 0.0) >= level:
                claims[arm] = n, True
                break
            if wealth(-x, margin) >= level:
                claims[arm] = n, False
                break
    named = sorted((n, arm) for arm, (n, above) in claims.items() if above)
    if one and named:
        return named[0]
    if len(claims) < rows.shape[1] - 1:
        return len(rows), None
    items = max(n for n, _ in claims.values())
    return items, -1 if one else tuple(sorted(arm for _, arm in named))
