"""Questions about pairs of an arm and the control: what they share.

An arm that is named is not worse than the control, and one that is not named is not better by more than
epsilon: differences between 0 and epsilon may be decided either way. Each claim about an arm is refuted
by one pair, the arm and the control.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from stopwise.cells.gap import Gap, balanced, pair_cost, separation_beyond
from stopwise.core.arrays import Floats, Ints, argmax, assign, fill
from stopwise.core.checks import arm_count, margin, whole
from stopwise.core.data import Data
from stopwise.core.errors import BadArgument
from stopwise.core.functions import jitable, variant, variants
from stopwise.core.options import NOT_NEGATIVE, Option
from stopwise.families.family import Family, Logarithmic, Quadratic
from stopwise.problems.arm_sets import ArmSets, listed
from stopwise.problems.best_arm_weights import ROOM, best_arm_bound, best_arm_optimum
from stopwise.problems.limits import arms_in_words, narrow, nearly, up_to
from stopwise.problems.lowest import GOALS, with_goal
from stopwise.problems.problem import (
    BY_VALUE,
    OFF_THE_BOUNDARY,
    Answer,
    Code,
    Problem,
    Ranking,
    Scratch,
    Search,
    close_of_listed,
    unknown_answer,
)


class AgainstControl(Problem, listed=False):
    """Questions about pairs of an arm and the ``control``."""

    arms: int
    control: int
    epsilon: float
    options = {
        "control": Option(
            {"type": "integer", "minimum": 0}, "Which option is the control: 0 is the first"
        ),
        "epsilon": Option(
            NOT_NEGATIVE, "By how much one that is not named may be better; empty: not at all"
        ),
        "goal": Option({"enum": list(GOALS)}, "max: better is higher; min: better is lower"),
    }

    if TYPE_CHECKING:  # what __new__ takes

        def __init__(
            self, arms: int, control: int = 0, epsilon: float = 0.0, goal: str = "max"
        ) -> None: ...

    def __new__(cls, arms: int, control: int = 0, epsilon: float = 0.0, goal: str = "max") -> Self:
        size, place = arm_count(arms, least=2), whole("control", control, least=0)
        if place >= size:
            raise BadArgument("control", control, f"an arm, a whole number from 0 to {size - 1}")
        return with_goal(goal, cls._make((size, place, margin(epsilon))))

    def check(self, family: Family) -> None:
        narrow(self.epsilon, family)

    def rank(self) -> int:
        return 2

    def goal_sign(self) -> int:
        return 1

    def union_bound(self) -> int:
        return self.arms - 1

    def tie_text(self, means: Floats) -> tuple[str, str]:
        tied = np.flatnonzero(
            (means == means[self.control]) & (np.arange(self.arms) != self.control)
        )
        if self.epsilon > 0.0 or tied.size == 0:
            return f"the means lie on the boundary of {self!r}", OFF_THE_BOUNDARY
        verb = "equals" if tied.size == 1 else "equal"
        return f"{arms_in_words(tied)} {verb} the control", (
            "Guess means that differ, or let differences of up to epsilon be decided either way: "
            f"{type(self).__name__}({means.size}, epsilon=...)"
        )

    def answer_text(self, answer: Answer, labels: Sequence[str]) -> str:
        named, control = self.named_arms(answer), labels[self.control]
        if not named:
            return f"no option is better than {control}{up_to(self.epsilon)}"
        verb = "is" if len(named) == 1 else "are"
        found = f"{listed(named, labels)} {verb} better than {control}"
        if isinstance(self, ArmSets) and len(named) < self.arms - 1:
            return f"{found}, the others are not{up_to(self.epsilon)}"
        return found


@jitable
def arm_of(problem: AgainstControl, place: int) -> int:
    """The arm in this place, the control left out."""
    return place if place < problem.control else place + 1


@jitable
def refuting_cell(problem: AgainstControl, arm: int, better: bool) -> Gap:
    """The cell in which a claim about an arm is false."""
    if better:
        return Gap(arm, problem.control, 0.0)
    return Gap(problem.control, arm, problem.epsilon)


@jitable
def refutation_cost(
    problem: AgainstControl, family: Family, data: Data, arm: int, better: bool
) -> float:
    """What it costs to refute a claim about an arm."""
    first, second, margin = refuting_cell(problem, arm, better)
    return pair_cost(family, data, first, second, margin)


@variants
def gap_decides(family: Family) -> bool:
    """Whether of two gaps between the same arms the larger one costs more, whatever the weights."""
    return False


variant(gap_decides, Quadratic)(lambda family: True)
variant(gap_decides, Logarithmic)(lambda family: True)


@jitable
def claim_price(
    problem: AgainstControl, family: Family, data: Data, arm: int, better: bool, halved: bool
) -> float:
    """A lower bound on what it costs to make a claim about an arm true; with ``halved`` the better one
    of the two claims, where gaps decide that: half of epsilon is where they are alike.
    """
    slack = problem.epsilon
    if halved and gap_decides(family):
        slack = 0.5 * problem.epsilon
        if better:
            return pair_cost(family, data, problem.control, arm, slack)
    elif better:
        return pair_cost(family, data, problem.control, arm, 0.0)
    if slack == 0.0 or gap_decides(family):
        return pair_cost(family, data, arm, problem.control, -slack)
    return separation_beyond(family, data, arm, problem.control, slack)


# Which claims about all arms are close to the easiest to prove, where they may be made either way?
#
# With weight 1 for the control let z_k(y) be the least weight of arm k with which one of its claims costs
# y to refute. Then max_i D(mu, not i) = max_y y/T(y) with T(y) = 1 + sum_k z_k(y): for each y every arm
# has its own best claim. T rises, so that y/T(y) < v for all y between some y_0 and v T(y_0), and a search
# for a value v may go on at v T(y_0).

FREE = 2  # in place of a claim: either
HEAVY = 1e9  # times the control's weight: no claim of the arm costs as much
NEAR = 0.01  # of the largest value
TURNS = 1000


@jitable
def _least_weight(
    family: Family, means: Floats, cell: Gap, arm: int, y: float, room: Data
) -> float:
    """z(y) of one claim, which a pair of the arm and the control refutes.

    Its cost is concave in z, so that Newton's method comes from below.
    """
    weights, closest = room
    own, z = family.of_arm(arm), 0.0
    for _ in range(60):
        weights[cell.arm] = weights[cell.other] = 1.0
        weights[arm] = z
        data = Data(weights, means)
        paid = cell.project(family, data, closest)
        slope = own.divergence(means[arm], closest[arm])
        if paid >= y * (1.0 - 1e-9) or not slope > 0.0:
            break
        z += (y - paid) / slope
        if z > HEAVY:
            break
    return z if paid >= y * (1.0 - 1e-6) and z <= HEAVY else math.inf


@jitable
def total_weight(
    problem: AgainstControl, family: Family, means: Floats, claims: Code, y: float, room: Data
) -> float:
    """T(y), where some claims are settled and others free."""
    total = 1.0
    for place in range(problem.arms - 1):
        arm = arm_of(problem, place)
        least = math.inf
        for named in range(2):
            if claims[arm] == named or claims[arm] == FREE:
                cell = refuting_cell(problem, arm, named == 1)
                least = min(least, _least_weight(family, means, cell, arm, y, room))
        total += least
    return total


@jitable
def has_value(
    problem: AgainstControl, family: Family, means: Floats, claims: Code, value: float, room: Data
) -> bool:
    """Whether some answer with these claims has this value, nearly."""
    y = value
    for _ in range(TURNS):
        total = total_weight(problem, family, means, claims, y, room)
        if total == math.inf:
            return False
        if y >= (1.0 - 0.1 * NEAR) * value * total:
            return True
        y = value * total
    return True


@jitable
def largest_value(
    problem: AgainstControl, family: Family, means: Floats, claims: Code, start: float, room: Data
) -> float:
    """The largest value of an answer with these claims, given a smaller one; too low by NEAR at most."""
    best = y = start
    for _ in range(TURNS):
        total = total_weight(problem, family, means, claims, y, room)
        if total == math.inf:
            break
        best = max(best, y / total)
        y = (1.0 + NEAR) * best * total
    return best


# ------------------------------------------------------- Which arms beat the control? All of them


class BetterThan(AgainstControl, ArmSets):
    """Every arm that beats the ``control``. Answers: tuples of arms, 2^(K-1) of them, never listed.

    Arms that are better by at most ``epsilon`` may be named or not. With ``goal="min"`` lower is better.
    """

    title = "Which options beat the control? All of them"

    def first_close(self, family: Family, data: Data, cache: Claims, search: Search) -> bool:
        """Arm by arm, named where an answer with the claims so far is close."""
        means, at_once, claims = data.means, Data(cache.ones, data.means), cache.trial
        room = Data(cache.weights, search.trial)
        if self.epsilon == 0.0:
            return False
        least = math.inf
        fill(claims, 0)
        for place in range(self.arms - 1):
            arm = arm_of(self, place)
            named = refutation_cost(self, family, at_once, arm, True)
            other = refutation_cost(self, family, at_once, arm, False)
            least = min(least, max(named, other))
            claims[arm] = FREE if named > 0.0 and other > 0.0 else 1 if named > 0.0 else 0
        if not 0.0 < least < math.inf:
            return False
        enough = least / self.arms  # at equal weights
        enough = (1.0 - search.slack) * largest_value(self, family, means, claims, enough, room)
        for place in range(self.arms - 1):
            arm = arm_of(self, place)
            if claims[arm] == FREE:
                claims[arm] = 1
                if not has_value(self, family, means, claims, enough, room):
                    claims[arm] = 0
        assign(search.code, claims)
        return True

    def answers(self) -> Iterator[Answer]:
        return _sets(self, [[1, 0]] * (self.arms - 1))

    def encode(self, answer: Answer) -> Code:
        code = ArmSets.encode(self, answer)
        if code[self.control] == 1:
            raise unknown_answer(self, answer)
        return code

    def several_answers(self) -> bool:
        return self.epsilon > 0.0

    def correct_answers(self, means: Floats) -> Iterator[Answer]:
        return _between(self, means, 0.0, self.epsilon)

    def candidates(self, family: Family, means: Floats) -> Iterator[Answer]:
        # each arm's cell depends on the claim about it alone: where gaps decide, the larger one
        if not gap_decides(family):
            return self.correct_answers(means)
        middle, tied = 0.5 * self.epsilon, 1e-9 * max(1.0, float(np.abs(means).max()))
        return _between(self, means, max(0.0, middle - tied), min(self.epsilon, middle + tied))

    def question_text(self) -> str:
        return f"Which options are higher than the control{up_to(self.epsilon)}?"

    def ranking(self) -> Ranking:
        return Ranking(1, self.epsilon, control=self.control)

    def named_arms(self, answer: tuple[int, ...]) -> tuple[int, ...]:
        return answer

    def cell_count(self, code: Code) -> int:
        return self.arms - 1

    def cell(self, code: Code, j: int) -> Gap:
        arm = arm_of(self, j)
        return refuting_cell(self, arm, code[arm] == 1)

    def reach(self, family: Family, data: Data, code: Code, level: float, point: Floats) -> float:
        """The dearest of the claims, a lower bound."""
        most, point[0] = 0.0, math.nan
        for place in range(self.arms - 1):
            arm = arm_of(self, place)
            most = max(most, claim_price(self, family, data, arm, code[arm] == 1, True))
        return most

    def reachable(self, family: Family, data: Data, level: float) -> Iterator[Answer]:
        sides = []
        for place in range(self.arms - 1):
            arm = arm_of(self, place)
            prices = {n: claim_price(self, family, data, arm, n == 1, True) for n in (1, 0)}
            sides.append([named for named, price in prices.items() if price <= level])
        return _sets(self, sides)

    def init_cache(self, family: Family) -> Claims:
        arms = self.arms
        weakest, trial = (np.zeros(size, dtype=np.int64) for size in (1, arms))
        return Claims(weakest, trial, np.ones(arms), np.zeros(arms))

    def rebuild_cache(self, family: Family, data: Data, cache: Claims) -> None:
        cache.weakest[0] = 0

    def first_oracle(
        self, family: Family, data: Data, cache: Claims, code: Code, weights: Floats
    ) -> None:
        """Claims by their costs at equal weights: exact where gaps decide, and where epsilon is 0."""
        _best_claims(self, family, Data(cache.ones, data.means), code)
        self.solve_round(family, data.means, code, weights)

    def answer_weights(
        self, family: Family, data: Data, cache: Claims, code: Code, weights: Floats
    ) -> None:
        """Where a claim is wrong, those of the other: the evidence grows for what looks right."""
        at_once = Data(cache.ones, data.means)
        _best_claims(self, family, at_once, cache.trial)
        for place in range(self.arms - 1):
            arm = arm_of(self, place)
            if refutation_cost(self, family, at_once, arm, code[arm] == 1) > 0.0:
                cache.trial[arm] = code[arm]
        self.solve_round(family, data.means, cache.trial, weights)

    def best_evidence(
        self, family: Family, data: Data, cache: Claims, enough: float, code: Code
    ) -> float:
        """The least over the arms of what its better claim has."""
        least = math.inf
        for turn in range(-1, self.arms - 1):
            place = cache.weakest[0] if turn < 0 else turn
            arm = arm_of(self, place)
            value = refutation_cost(self, family, data, arm, True)
            value = max(value, refutation_cost(self, family, data, arm, False))
            if not value >= least:
                least = value
            if value < enough:
                cache.weakest[0] = place
                break
        _best_claims(self, family, data, code)
        return least

    def answer_at(self, family: Family, data: Data, cache: Claims, code: Code) -> None:
        _best_claims(self, family, data, code)

    def first_reachable(
        self, family: Family, data: Data, cache: Claims, level: float, held: bool, search: Search
    ) -> float:
        """Arm by arm, named where that can be reached: the first in the order."""
        barrier, search.point[0] = math.inf, math.nan
        if search.slack >= 0.0 and self.first_close(family, data, cache, search):
            return BY_VALUE
        search.code[self.control] = 0
        for place in range(self.arms - 1):
            arm = arm_of(self, place)
            price = claim_price(self, family, data, arm, True, True)
            search.code[arm] = 1 if price <= level else 0
            if price > level:
                barrier = min(barrier, price)
        return barrier


def _between(problem: BetterThan, means: Floats, low: float, high: float) -> Iterator[Answer]:
    """Answers that name only arms ``low`` above the control, and all that are more than ``high``."""
    ahead = np.delete(means - means[problem.control], problem.control)
    return _sets(
        problem, [[n for n in (1, 0) if (gap >= low if n else gap <= high)] for gap in ahead]
    )


def _sets(problem: BetterThan, sides: list[list[int]]) -> Iterator[Answer]:
    """All ways to choose one of each arm's sides, named before not."""
    for code in product(*sides):
        yield tuple(arm_of(problem, k) for k, named in enumerate(code) if named)


class Claims(NamedTuple):
    """The arm that last kept the evidence low; and scratch."""

    weakest: Ints
    trial: Code
    ones: Floats
    weights: Floats


@jitable
def _best_claims(problem: BetterThan, family: Family, data: Data, code: Code) -> None:
    """For each arm the claim that is dearer to refute."""
    code[problem.control] = 0
    for place in range(problem.arms - 1):
        arm = arm_of(problem, place)
        named = refutation_cost(problem, family, data, arm, True)
        code[arm] = 1 if named >= refutation_cost(problem, family, data, arm, False) else 0


# ---------------------------------- Find an arm that beats the control, or say that there is none


class AnyBetterThan(AgainstControl):
    """Any arm that beats the ``control``, or "none". Answers: the other arms, then "none".

    An arm that is named is not worse; "none" means that none is better by more than ``epsilon``.
    """

    title = "Does any option beat the control? Name one"

    def answers(self) -> Iterator[Answer]:
        yield from (arm for arm in range(self.arms) if arm != self.control)
        yield "none"

    def correct_answers(self, means: Floats) -> Iterator[Answer]:
        level = means[self.control]
        yield from (int(k) for k in np.flatnonzero(means >= level) if k != self.control)
        if means.max() <= level + self.epsilon:
            yield "none"

    def candidates(self, family: Family, means: Floats) -> Iterator[Answer]:
        # the farther an arm is above the control the less it takes to show that, if arms are alike
        best = nearly(means, np.delete(means, self.control).max())
        for answer in self.correct_answers(means):
            if not isinstance(answer, int) or not family.arms_alike() or best[answer]:
                yield answer

    def question_text(self) -> str:
        return f"Is any option higher than the control{up_to(self.epsilon)}?"

    def ranking(self) -> Ranking:
        return Ranking(1, self.epsilon, control=self.control, one=True)

    def named_arms(self, answer: int | str) -> tuple[int, ...]:
        return (answer,) if isinstance(answer, int) else ()

    def cell_count(self, code: Code) -> int:
        return self.arms - 1 if _is_none(self, code) else 1

    def cell(self, code: Code, j: int) -> Gap:
        if _is_none(self, code):
            return refuting_cell(self, arm_of(self, j), False)
        return refuting_cell(self, arm_of(self, code[0]), True)

    def optimise(self, family: Family, means: Floats, code: Code, weights: Floats) -> float:
        """ "None" says that the control is the best arm, up to epsilon."""
        control = self.control
        if _is_none(self, code):
            state = np.zeros(ROOM * means.size)
            return best_arm_optimum(family, means, control, self.epsilon, weights, state)
        return two_arms(family, means, arm_of(self, code[0]), control, weights)

    def upper_bound(self, family: Family, data: Data, code: Code) -> float:
        if _is_none(self, code):
            return best_arm_bound(family, data, self.control, self.epsilon)
        arm = arm_of(self, code[0])
        x = balanced(family, Data(np.ones(data.means.size), data.means), arm, self.control, 0.0)
        control = family.of_arm(self.control).divergence(data.means[self.control], x)
        return max(family.of_arm(arm).divergence(data.means[arm], x), control)

    def reach(self, family: Family, data: Data, code: Code, level: float, point: Floats) -> float:
        """An arm must be above the control, and the best if arms are alike; "none" be correct."""
        most, point[0] = 0.0, math.nan
        if _is_none(self, code):
            for place in range(self.arms - 1):
                arm = arm_of(self, place)
                most = max(most, claim_price(self, family, data, arm, False, False))
            return most
        arm = arm_of(self, code[0])
        for other in range(self.arms):
            if other == self.control or (family.arms_alike() and other != arm):
                most = max(most, pair_cost(family, data, other, arm, 0.0))
        return most

    first_close = close_of_listed

    def answer_weights(
        self, family: Family, data: Data, cache: Scratch, code: Code, weights: Floats
    ) -> None:
        """Where the answer is wrong: those of the best arm, or of "none"."""
        value = self.solve_round(family, data.means, code, weights)
        if value == 0.0:
            best, none = argmax(data.means), self.arms - 1
            place = best if best < self.control else best - 1
            cache.code[0] = place if data.means[best] > data.means[self.control] else none
            self.solve_round(family, data.means, cache.code, weights)


@jitable
def _is_none(problem: AnyBetterThan, code: Code) -> bool:
    return code[0] == problem.arms - 1


# ---------------------------------------------------------------------------------- closed forms


@variants(allocates=True)
def two_arms(family: Family, means: Floats, arm: int, other: int, weights: Floats) -> float:
    """Weights on two arms that tell best that the first is above the other; nan: no closed form.

    Where the model x costs both arms the same, d(mu_i, x) = d(mu_j, x), more weight on neither helps.
    """
    fill(weights, 0.0)
    if not means[arm] > means[other]:
        fill(weights, 1.0 / means.size)
        return 0.0
    own, rival = family.of_arm(arm), family.of_arm(other)
    x = balanced(family, Data(np.ones(means.size), means), arm, other, 0.0)
    pull = (means[arm] - x) / own.variance_at(x)  # w_i (mu_i - x)/V_i = w_j (x - mu_j)/V_j
    push = (x - means[other]) / rival.variance_at(x)
    weights[arm], weights[other] = push / (pull + push), pull / (pull + push)
    paid = weights[arm] * own.divergence(means[arm], x)
    return paid + weights[other] * rival.divergence(means[other], x)


@variant(two_arms, Logarithmic)
def _no_closed_form(family: Family, means: Floats, arm: int, other: int, weights: Floats) -> float:
    return math.nan
