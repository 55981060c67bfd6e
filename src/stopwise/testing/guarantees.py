"""What a problem's guarantee rests on: its rank and its union bound, tried numerically.

A wrong answer i is given only if D(N, mu-hat, not i) is large although the truth lies in one of the
cells of not i. So at each truth there must be a choice of at most ``union_bound`` different cells that
holds, for every wrong answer, one cell around the truth; and none of them may constrain more than
``rank`` arms. General cells that constrain all arms count as one: the evidence against each is at most
the logarithm of one martingale, that of all arms at the truth.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np

from stopwise.core.arrays import Floats
from stopwise.core.data import Data
from stopwise.families.family import Family
from stopwise.problems.problem import Problem

MOST_ANSWERS = 60
PROBES = 12
TRUTHS = 4


def check_guarantee(
    problem: Problem, family: Family, means: Floats, rng: np.random.Generator
) -> None:
    """At these means, and at the same means in other orders."""
    rank, most = int(problem.rank()), int(problem.union_bound())
    assert rank >= 1, f"rank of {problem} is {rank}"
    assert most >= 1, f"union bound of {problem} is {most}"
    listed = list(islice(problem.answers(), MOST_ANSWERS + 1))
    if len(listed) > MOST_ANSWERS:
        return
    for turn in range(TRUTHS):
        truth = means if turn == 0 else rng.permutation(means)
        if problem.is_model(truth):
            blamed = _blamed(problem, family, truth, listed, rng)
            events = _fewest([{cell for cell, wide in cells if wide <= rank} for cells in blamed])
            assert events <= most, (
                f"union bound of {problem} is {most}, its rank {rank}; but at the means "
                f"{truth.tolist()} it takes {events} cells of that rank to blame every wrong answer"
            )


def _blamed(
    problem: Problem, family: Family, truth: Floats, listed: list[Any], rng: np.random.Generator
) -> list[set[tuple[bytes, int]]]:
    """For each wrong answer the cells around the truth: what identifies each, and its arms."""
    correct = set(problem.correct_answers(truth))
    probes = [
        Data(rng.dirichlet(np.ones(truth.size)), truth[rng.permutation(truth.size)])
        for _ in range(PROBES)
    ]
    uniform, found = Data(np.full(truth.size, 1.0 / truth.size), truth), []
    for answer in listed:
        if answer in correct:
            continue
        code, cells = problem.encode(answer), set()
        for cell in range(problem.cell_count(code)):
            if problem.project(family, uniform, code, cell, np.zeros(truth.size)) == 0.0:
                cells.add(_fingerprint(problem, family, code, cell, probes))
        found.append(cells)
    return found


def _fingerprint(
    problem: Problem, family: Family, code: Any, cell: int, probes: list[Data]
) -> tuple[bytes, int]:
    """Equal sets have equal closest models; the arms that ever move are those it constrains.

    Bets on one arm, a pair or one side are the cell's own; all others are on the arms it constrains.
    """
    moved, models = np.zeros(probes[0].means.size, dtype=bool), []
    for data in probes:
        closest = np.zeros(data.means.size)
        problem.project(family, data, code, cell, closest)
        moved |= closest != data.means
        models.append(np.round(closest, 6))
    if moved.all() and not problem.cell(code, cell).simplest().pairwise():
        return b"all arms", moved.size
    return np.array(models).tobytes(), int(moved.sum())


def _fewest(groups: list[set[bytes]]) -> int:
    """The least number of elements that meets every group; more than there are if one is empty."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    elements = sorted(set().union(*groups)) if groups else []
    if not all(groups):
        return len(groups) + len(elements) + 1
    if not groups:
        return 0
    table = np.array([[element in group for element in elements] for group in groups], dtype=float)
    found = milp(
        np.ones(len(elements)),
        constraints=LinearConstraint(table, lb=1.0),
        bounds=Bounds(0.0, 1.0),
        integrality=np.ones(len(elements)),
    )
    return round(found.fun)
