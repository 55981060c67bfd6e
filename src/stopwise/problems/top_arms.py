"""Which m arms have the highest means, up to epsilon?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from stopwise.cells.gap import Gap, pair_cost
from stopwise.core.arrays import Floats, Ints, assign, total
from stopwise.core.checks import arm_count, margin, whole
from stopwise.core.data import Data
from stopwise.core.errors import BadArgument
from stopwise.core.functions import jitable
from stopwise.core.options import COUNT, NOT_NEGATIVE, Option
from stopwise.families.family import Family
from stopwise.problems.arm_sets import ArmSets, closed_set, listed
from stopwise.problems.limits import arms_in_words, narrow, nearly, up_to
from stopwise.problems.lowest import GOALS, with_goal
from stopwise.problems.problem import BY_VALUE, Answer, Code, Ranking, Search, unknown_answer


class Pairs(NamedTuple):
    """The pair that last kept the evidence low; and scratch."""

    weakest: Ints
    order: Ints  # the arms, from the largest mean to the smallest
    forces: Ints  # 1 where the arm of the row may not be named without that of the column
    trial: Code


@jitable
def best_set(means: Floats, m: int, order: Ints, code: Code) -> None:
    """The arms in the order of their means, and the first m of them."""
    for k in range(means.size):
        place = k
        while place > 0 and means[order[place - 1]] < means[k]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = k
    for place in range(means.size):
        code[order[place]] = 1 if place < m else 0


@jitable
def _set_evidence(
    problem: TopArms, family: Family, data: Data, cache: Pairs, enough: float, code: Code
) -> float:
    """The least over the pairs, or the first that is less than enough."""
    arm, other = cache.weakest[0], cache.weakest[1]
    if code[arm] == 1 and code[other] == 0:
        least = pair_cost(family, data, arm, other, problem.epsilon)
        if least < enough:
            return least
    least = math.inf
    for arm in range(problem.arms):
        if code[arm] == 1:
            for other in range(problem.arms):
                if code[other] == 0:
                    value = pair_cost(family, data, arm, other, problem.epsilon)
                    if not value >= least:  # nan shows
                        least = value
                        cache.weakest[0], cache.weakest[1] = arm, other
                    if value < enough:
                        return value
    return least


@jitable
def _better_set(problem: TopArms, family: Family, data: Data, cache: Pairs, level: float) -> bool:
    """Whether a set has more evidence than this: arms go by their means, each with those it forces.

    Whoever names an arm must name every other that it does not beat by as much.
    """
    for arm in range(problem.arms):
        for other in range(problem.arms):
            weak = arm != other and not (
                pair_cost(family, data, arm, other, problem.epsilon) > level
            )
            cache.forces[arm, other] = 1 if weak else 0
    return closed_set(cache.forces, cache.order, problem.m, cache.trial)


MOST = 64  # sets that are tried: each takes a solution


@jitable
def _easiest(
    problem: TopArms, family: Family, means: Floats, cache: Pairs, weights: Floats
) -> float:
    """The largest value of a set: the m largest means, if arms are alike; else as far as swaps of two
    arms lead from there.
    """
    arms, trial = problem.arms, cache.trial
    best_set(means, problem.m, cache.order, trial)
    best = problem.solve_round(family, means, trial, weights)
    place, since, tried = 0, 0, 1 if not family.arms_alike() else MOST
    while since < arms * arms and tried < MOST:
        arm, other = place // arms, place % arms
        place, since = (place + 1) % (arms * arms), since + 1
        if trial[arm] == 1 and trial[other] == 0:
            trial[arm], trial[other], value = 0, 1, 0.0
            if _correct(problem, means, trial):
                value = problem.solve_round(family, means, trial, weights)
                tried += 1
            if value > best * (1.0 + 1e-9):
                best, since = value, 0
            else:
                trial[arm], trial[other] = 1, 0
    return best


@jitable
def _correct(problem: TopArms, means: Floats, code: Code) -> bool:
    """Whether no arm that is left out is better than one of the set by epsilon."""
    worst, best = math.inf, -math.inf
    for k in range(code.size):
        if code[k] == 1:
            worst = min(worst, means[k])
        else:
            best = max(best, means[k])
    return worst + problem.epsilon > best


class TopArms(ArmSets):
    """The ``m`` arms with the largest means: no other is better than one of them by more than
    ``epsilon``. Answers: tuples of m arms. With ``goal="min"`` the smallest.
    """

    arms: int
    m: int
    epsilon: float
    title = "Which m options have the highest (or lowest) means?"
    options = {
        "m": Option(COUNT, "How many options to name"),
        "epsilon": Option(
            NOT_NEGATIVE, "By how much one that is left out may be better; empty: not at all"
        ),
        "goal": Option({"enum": list(GOALS)}, "max: the highest means; min: the lowest"),
    }

    if TYPE_CHECKING:  # what __new__ takes

        def __init__(self, arms: int, m: int, epsilon: float = 0.0, goal: str = "max") -> None: ...

    def __new__(cls, arms: int, m: int, epsilon: float = 0.0, goal: str = "max") -> TopArms:
        size, named = arm_count(arms, least=2), whole("m", m, least=1)
        if named >= size:
            raise BadArgument(
                "m", m, f"a whole number from 1 to {size - 1}", f"There are {size} arms in all."
            )
        return with_goal(goal, cls._make((size, named, margin(epsilon))))

    def init_cache(self, family: Family) -> Pairs:
        arms = self.arms
        return Pairs(*(np.zeros(size, dtype=np.int64) for size in (2, arms, (arms, arms), arms)))

    def rebuild_cache(self, family: Family, data: Data, cache: Pairs) -> None:
        cache.weakest[0] = cache.weakest[1] = 0

    def first_oracle(
        self, family: Family, data: Data, cache: Pairs, code: Code, weights: Floats
    ) -> None:
        """The m largest means: the oracle's answer if arms are alike, and a correct one if they are not."""
        best_set(data.means, self.m, cache.order, code)
        self.solve_round(family, data.means, code, weights)

    def answer_weights(
        self, family: Family, data: Data, cache: Pairs, code: Code, weights: Floats
    ) -> None:
        """Where the answer is wrong, those of the best arms: the evidence grows for what looks right."""
        assign(cache.trial, code)
        if not _correct(self, data.means, code):
            best_set(data.means, self.m, cache.order, cache.trial)
        self.solve_round(family, data.means, cache.trial, weights)

    def best_evidence(
        self, family: Family, data: Data, cache: Pairs, enough: float, code: Code
    ) -> float:
        """The m largest means have the most, but for arms with few samples that epsilon lets be left out."""
        best_set(data.means, self.m, cache.order, code)
        found = _set_evidence(self, family, data, cache, enough, code)
        if self.epsilon == 0.0:
            return found
        while _better_set(self, family, data, cache, max(found, 0.0)):
            assign(code, cache.trial)
            found = _set_evidence(self, family, data, cache, 0.0, code)
        return found

    def answer_at(self, family: Family, data: Data, cache: Pairs, code: Code) -> None:
        best_set(data.means, self.m, cache.order, code)

    def first_close(self, family: Family, data: Data, cache: Pairs, search: Search) -> bool:
        """The pursued set, while it is close to the easiest; else that one."""
        if self.epsilon == 0.0:
            return False
        best = _easiest(self, family, data.means, cache, search.trial)
        kept = 0.0
        if total(search.code) == self.m:
            kept = self.solve_round(family, data.means, search.code, search.trial)
        if not kept >= (1.0 - search.slack) * best:
            assign(search.code, cache.trial)
        return True

    def first_reachable(
        self, family: Family, data: Data, cache: Pairs, level: float, held: bool, search: Search
    ) -> float:
        """Arms in their order, each with all that are out of its reach: the first set in the order.

        Who is out of whose reach has no circles, so that any such set of fewer arms can be filled up.
        """
        if search.slack >= 0.0 and self.first_close(family, data, cache, search):
            search.point[0] = math.nan
            return BY_VALUE
        barrier = math.inf
        for arm in range(self.arms):
            cache.order[arm] = arm
            for other in range(self.arms):
                price = catching_up(self, family, data, arm, other) if arm != other else 0.0
                cache.forces[arm, other] = 1 if price > level else 0
                if price > level:
                    barrier = min(barrier, price)
        closed_set(cache.forces, cache.order, self.m, search.code)
        search.point[0] = math.nan
        return barrier

    def answers(self) -> Iterator[Answer]:
        return combinations(range(self.arms), self.m)

    def encode(self, answer: Answer) -> Code:
        code = ArmSets.encode(self, answer)
        if code.sum() != self.m:
            raise unknown_answer(self, answer)
        return code

    def several_answers(self) -> bool:
        return self.epsilon > 0.0

    def correct_answers(self, means: Floats) -> Iterator[Answer]:
        """Arm by arm, named before not, wherever the best of the arms that are left make it correct."""
        stack: list[tuple[tuple[int, ...], int]] = [((), 0)]
        while stack:
            named, arm = stack.pop()
            left = self.m - len(named)
            if not 0 <= left <= self.arms - arm:
                continue
            rest = np.sort(means[arm:])[::-1]
            out = [k for k in range(arm) if k not in named]
            worst = min([*means[list(named)], *rest[:left]])
            best = max([*means[out], *rest[left:]], default=-math.inf)
            if worst < best - self.epsilon:
                continue
            if arm == self.arms:
                yield named
            else:  # popped last is what comes later in the order
                stack += [(named, arm + 1), ((*named, arm), arm + 1)]

    def candidates(self, family: Family, means: Floats) -> Iterator[Answer]:
        # swap an arm of the answer with a better one outside, together with their weights: every cost
        # rises or stays, so that among arms that are alike the m largest means win
        if not family.arms_alike():
            return self.correct_answers(means)
        last = np.sort(means)[-self.m]
        tied = nearly(means, last)
        sure = tuple(int(k) for k in np.flatnonzero((means > last) & ~tied))
        some = (int(k) for k in np.flatnonzero(tied))
        return (tuple(sorted(sure + more)) for more in combinations(some, self.m - len(sure)))

    def question_text(self) -> str:
        return f"Which {self.m} options have the highest means{up_to(self.epsilon)}?"

    def answer_text(self, answer: tuple[int, ...], labels: Sequence[str]) -> str:
        verb = "is" if self.m == 1 else "are"
        return f"{listed(answer, labels)} {verb} best{up_to(self.epsilon)}"

    def goal_sign(self) -> int:
        return 1

    def ranking(self) -> Ranking | None:
        return Ranking(1, self.epsilon, self.m)

    def named_arms(self, answer: tuple[int, ...]) -> tuple[int, ...]:
        return answer

    def tie_text(self, means: Floats) -> tuple[str, str]:
        tied = np.flatnonzero(means == np.sort(means)[-self.m])
        return f"{arms_in_words(tied)} tie for the last place among the best {self.m}", (
            "Guess means that differ, or forgive differences of up to epsilon: "
            f"TopArms({means.size}, {self.m}, epsilon=...), on the command line "
            f"top-arms:m={self.m},epsilon=..."
        )

    def check(self, family: Family) -> None:
        narrow(self.epsilon, family)

    def cell_count(self, code: Code) -> int:
        return self.m * (self.arms - self.m)

    def cell(self, code: Code, j: int) -> Gap:
        arm, other = swap(self, code, j)
        return Gap(arm, other, self.epsilon)

    def rank(self) -> int:
        return 2

    def union_bound(self) -> int:
        # docs/thresholds.md: neighbours in the true order, or one of the true best m and one of the others
        return (
            self.arms - 1 if self.epsilon == 0.0 else self.cell_count(np.zeros(0, dtype=np.int64))
        )

    def reach(self, family: Family, data: Data, code: Code, level: float, point: Floats) -> float:
        """No arm of the answer may be below one outside: the dearest of these pairs, a lower bound."""
        most, point[0] = 0.0, math.nan
        for cell in range(self.m * (self.arms - self.m)):
            arm, other = swap(self, code, cell)
            most = max(most, catching_up(self, family, data, arm, other))
        return most


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


@jitable
def catching_up(problem: TopArms, family: Family, data: Data, arm: int, other: int) -> float:
    """What it costs to let ``arm`` catch up with ``other``, but for epsilon if arms are not alike."""
    slack = 0.0 if family.arms_alike() else problem.epsilon
    return pair_cost(family, data, other, arm, -slack)
