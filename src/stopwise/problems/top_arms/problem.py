"""The value, its answers and costs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from stopwise.cells.gap import add_gap_hessian, pair_cost, project_gap
from stopwise.cells.shape import Shape, gap_shape
from stopwise.core.arrays import Floats
from stopwise.core.checks import arm_count, margin, whole
from stopwise.core.data import Curve, Data
from stopwise.core.errors import BadArgument
from stopwise.core.options import COUNT, NOT_NEGATIVE, Option
from stopwise.core.verbs import jitable
from stopwise.families.verbs import arms_alike
from stopwise.problems import verbs
from stopwise.problems.arm_sets import ArmSets, encode_arms, listed
from stopwise.problems.limits import arms_in_words, narrow, nearly, up_to
from stopwise.problems.lowest import GOALS, asked_for, lowest_in_words
from stopwise.problems.ranking import Ranking, ranking
from stopwise.problems.verbs import Answer, Code


class _TopArms(NamedTuple):
    arms: int
    m: int
    epsilon: float


class TopArms(_TopArms, ArmSets):
    """The ``m`` arms with the largest means: no other is better than one of them by more than
    ``epsilon``. Answers: tuples of m arms. With ``goal="min"`` the smallest.
    """

    __slots__ = ()
    title = "Which m options have the highest (or lowest) means?"
    options = {
        "m": Option(COUNT, "How many options to name"),
        "epsilon": Option(
            NOT_NEGATIVE, "By how much one that is left out may be better; empty: not at all"
        ),
        "goal": Option({"enum": list(GOALS)}, "max: the highest means; min: the lowest"),
    }

    def __new__(cls, arms: int, m: int, epsilon: float = 0.0, goal: str = "max") -> TopArms:
        size, named = arm_count(arms, least=2), whole("m", m, least=1)
        if named >= size:
            raise BadArgument(
                "m", m, f"a whole number from 1 to {size - 1}", f"There are {size} arms in all."
            )
        close = margin(epsilon)
        found: TopArms = asked_for(goal, super().__new__(cls, size, named, close))
        return found


@verbs.answers.register(TopArms)
def _answers(problem: TopArms) -> Iterator[Answer]:
    return combinations(range(problem.arms), problem.m)


@verbs.encode.register(TopArms)
def _encode(problem: TopArms, answer: Any) -> Code:
    code = encode_arms(problem, answer)
    if code.sum() != problem.m:
        raise verbs.unknown_answer(problem, answer)
    return code


verbs.several_answers.register(TopArms)(lambda problem: problem.epsilon > 0.0)


@verbs.correct_answers.register(TopArms)
def _correct_answers(problem: TopArms, means: Floats) -> Iterator[Answer]:
    """Arm by arm, named before not, wherever the best of the arms that are left make it correct."""
    stack: list[tuple[tuple[int, ...], int]] = [((), 0)]
    while stack:
        named, arm = stack.pop()
        left = problem.m - len(named)
        if not 0 <= left <= problem.arms - arm:
            continue
        rest = np.sort(means[arm:])[::-1]
        out = [k for k in range(arm) if k not in named]
        worst = min([*means[list(named)], *rest[:left]])
        best = max([*means[out], *rest[left:]], default=-math.inf)
        if worst < best - problem.epsilon:
            continue
        if arm == problem.arms:
            yield named
        else:  # popped last is what comes later in the order
            stack += [(named, arm + 1), ((*named, arm), arm + 1)]


@verbs.candidates.register(TopArms)
def _candidates(problem: TopArms, family: Any, means: Floats) -> Iterator[Answer]:
    # swap an arm of the answer with a better one outside, together with their weights: every cost
    # rises or stays, so that among arms that are alike the m largest means win
    if not arms_alike(family):
        return _correct_answers(problem, means)
    last = np.sort(means)[-problem.m]
    tied = nearly(means, last)
    sure = tuple(int(k) for k in np.flatnonzero((means > last) & ~tied))
    some = (int(k) for k in np.flatnonzero(tied))
    return (tuple(sorted(sure + more)) for more in combinations(some, problem.m - len(sure)))


@verbs.asked.register(TopArms)
def _asked(problem: TopArms) -> str:
    return f"Which {problem.m} options have the highest means{up_to(problem.epsilon)}?"


@verbs.in_words.register(TopArms)
def _in_words(problem: TopArms, answer: Any, labels: Sequence[str]) -> str:
    return _said(problem, answer, labels, "best")


@lowest_in_words.register(TopArms)
def _lowest_in_words(problem: TopArms, answer: Any, labels: Sequence[str]) -> str:
    return _said(problem, answer, labels, "lowest")


def _said(problem: TopArms, answer: Any, labels: Sequence[str], what: str) -> str:
    verb = "is" if problem.m == 1 else "are"
    return f"{listed(answer, labels)} {verb} {what}{up_to(problem.epsilon)}"


verbs.sense.register(TopArms)(lambda problem: 1)
ranking.register(TopArms)(lambda problem: Ranking(1, problem.epsilon, problem.m))
verbs.named.register(TopArms)(lambda problem, answer: answer)


@verbs.tie.register(TopArms)
def _tie(problem: TopArms, means: Floats) -> tuple[str, str]:
    tied = np.flatnonzero(means == np.sort(means)[-problem.m])
    return f"{arms_in_words(tied)} tie for the last place among the best {problem.m}", (
        "Guess means that differ, or forgive differences of up to epsilon: "
        f"TopArms({means.size}, {problem.m}, epsilon=...), on the command line "
        f"top-arms:m={problem.m},epsilon=..."
    )


verbs.check.register(TopArms)(narrow)


# ----------------------------------------------------------------------------------------- costs


@verbs.cell_count.register(TopArms)
def _cell_count(problem: TopArms, code: Code) -> int:
    return problem.m * (problem.arms - problem.m)


@jitable
def swap(problem: TopArms, code: Code, cell: int) -> tuple[int, int]:
    """An arm of the answer and one outside, which beats it in this cell."""
    outside = problem.arms - problem.m
    return _member(code, 1, cell // outside), _member(code, 0, cell % outside)


@jitable
def _member(code: Code, mark: int, place: int) -> int:
    """The arm in this place among those with this mark."""
    for k in range(code.size):
        if code[k] == mark:
            if place == 0:
                return k
            place -= 1
    return -1


@verbs.shape.register(TopArms)
def _shape(problem: TopArms, code: Code, cell: int) -> Shape:
    arm, other = swap(problem, code, cell)
    return gap_shape(arm, other, problem.epsilon)


verbs.simple.register(TopArms)(lambda problem: True)


@verbs.project.register(TopArms)
def _project(
    problem: TopArms, family: Any, data: Data, code: Code, cell: int, closest: Floats
) -> float:
    arm, other = swap(problem, code, cell)
    return project_gap(family, data, arm, other, problem.epsilon, closest)


@verbs.add_hessian.register(TopArms)
def _add_hessian(
    problem: TopArms, family: Any, data: Data, code: Code, cell: int, closest: Floats, curve: Curve
) -> None:
    arm, other = swap(problem, code, cell)
    add_gap_hessian(family, data, arm, other, closest, curve)


verbs.rank.register(TopArms)(lambda problem: 2)


@verbs.union_bound.register(TopArms)
def _union_bound(problem: TopArms) -> int:
    # docs/thresholds.md: neighbours in the true order, or one of the true best m and one of the others
    return problem.arms - 1 if problem.epsilon == 0.0 else _cell_count(problem, np.zeros(0))


@jitable
def catching_up(problem: TopArms, family: Any, data: Data, arm: int, other: int) -> float:
    """What it costs to let ``arm`` catch up with ``other``, but for epsilon if arms are not alike."""
    slack = 0.0 if arms_alike(family) else problem.epsilon
    return pair_cost(family, data, other, arm, -slack)


@verbs.reach.register(TopArms)
def _reach(
    problem: TopArms, family: Any, data: Data, code: Code, level: float, point: Floats
) -> float:
    """No arm of the answer may be below one outside: the dearest of these pairs, a lower bound."""
    most, point[0] = 0.0, math.nan
    for cell in range(problem.m * (problem.arms - problem.m)):
        arm, other = swap(problem, code, cell)
        most = max(most, catching_up(problem, family, data, arm, other))
    return most
