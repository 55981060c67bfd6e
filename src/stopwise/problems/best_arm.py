"""Which arm is best, up to epsilon?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from stopwise.cells.bound import precision, total_divergence
from stopwise.cells.gap import Gap, pair_bound, pair_cost, pair_floor, screened
from stopwise.cells.two_minima import minima
from stopwise.core.arrays import Floats, Ints, assign, fill, largest, place_of_largest
from stopwise.core.checks import arm_count, margin
from stopwise.core.data import Data
from stopwise.core.functions import inline, jitable, variant, variants
from stopwise.core.options import NOT_NEGATIVE, Option
from stopwise.families.family import Family, Logarithmic
from stopwise.problems.best_arm_weights import (
    ROOM,
    answer_part,
    best_arm_bound,
    best_arm_optimum,
)
from stopwise.problems.limits import arms_in_words, narrow, nearly, up_to
from stopwise.problems.lowest import GOALS, asked_for
from stopwise.problems.problem import Code, Problem, Ranking, Refutation, Search, first_of_values


class Start(NamedTuple):
    """Where Newton's method left off, and places: whose state it is (plus 1; 0: nobody's), and, for
    each arm, the rival that last kept its evidence low.
    """

    state: Floats
    places: Ints
    weights: Floats  # scratch
    memo: Floats  # what the pairs of the leader cost


OWNER, WEAKEST = 0, 1

# rows of the memo: what each pair with the leader costs, and at which count and mean of the rival; in
# the leader's own column its own. The last row begins with the leader's number plus 1 and the epsilon
COST, COUNT, MEAN, LEADER = range(4)


class BestArm(Problem):
    """An arm whose mean is within ``epsilon`` of the largest. Answers: the arms, 0 to K - 1.

    With ``goal="min"`` of the smallest: which is fastest, or cheapest?
    """

    arms: int
    epsilon: float
    title = "Which option has the highest (or lowest) mean?"
    options = {
        "epsilon": Option(
            NOT_NEGATIVE, "How far from the best is still good enough; empty: not at all"
        ),
        "goal": Option({"enum": list(GOALS)}, "max: the highest mean; min: the lowest"),
    }

    if TYPE_CHECKING:  # what __new__ takes

        def __init__(self, arms: int, epsilon: float = 0.0, goal: str = "max") -> None: ...

    def __new__(cls, arms: int, epsilon: float = 0.0, goal: str = "max") -> BestArm:
        size, close = arm_count(arms, least=2), margin(epsilon)
        found: BestArm = asked_for(goal, cls._make((size, close)))
        return found

    def optimise(self, family: Family, means: Floats, code: Code, weights: Floats) -> float:
        state = np.zeros(ROOM * means.size)
        return best_arm_optimum(family, means, code[0], self.epsilon, weights, state)

    def solve_round(self, family: Family, means: Floats, code: Code, weights: Floats) -> float:
        return self.optimise(family, means, code, weights)

    def upper_bound(self, family: Family, data: Data, code: Code) -> float:
        return best_arm_bound(family, data, code[0], self.epsilon)

    models = variants(Problem.models)

    @variant(models, Logarithmic)
    def models_logarithmic(self, family: Family, data: Data, code: Code) -> Floats:
        """Both closest models of every rival."""
        arm, means = code[0], data.means
        found = np.zeros((2 * (means.size - 1), means.size))
        row = 0
        for j in range(means.size):
            if j != arm:
                gap = means[arm] - means[j] + self.epsilon
                own, spread = family.of_arm(arm).variance_at(0.0), family.of_arm(j).variance_at(0.0)
                p = answer_part(family, data, arm, j)
                for share in minima(p, own / (gap * gap), spread / (gap * gap)):
                    found[row] = means
                    found[row, arm] = means[arm] - share * gap
                    found[row, j] = means[arm] - share * gap + self.epsilon
                    row += 1
        return found

    @variants
    def reach(self, family: Family, data: Data, code: Code, level: float, point: Floats) -> float:
        """The answer must have the largest mean; among arms that are not alike, be correct.

        It is pooled with every arm above the common value x (of which a slack is forgiven).
        """
        arm, means = code[0], data.means
        slack = 0.0 if family.arms_alike() else self.epsilon
        x = means[arm]
        for _ in range(means.size + 1):
            mass = precision(family, data, arm)
            total = mass * means[arm]
            for k in range(means.size):
                if k != arm and means[k] - slack > x:
                    total += precision(family, data, k) * (means[k] - slack)
                    mass += precision(family, data, k)
            pooled = total / mass if mass > 0.0 else largest(means) - slack
            # Newton on a concave function, from the left: it rises and ends exactly
            if pooled <= x:
                break
            x = pooled
        for k in range(means.size):
            point[k] = x if k == arm else min(means[k], x + slack)
        price = total_divergence(family, data, point)
        if slack > 0.0:  # correct, but perhaps not an oracle answer: the price is a lower bound
            point[0] = math.nan
        return price

    @variant(reach, Logarithmic)
    def reach_logarithmic(
        self, family: Family, data: Data, code: Code, level: float, point: Floats
    ) -> float:
        """The answer must be at most epsilon below every arm: the dearest of these, a lower bound."""
        arm, most = code[0], 0.0
        point[0] = math.nan
        for k in range(data.means.size):
            if k != arm:
                most = max(most, pair_cost(family, data, k, arm, -self.epsilon))
        return most

    def init_cache(self, family: Family) -> Start:
        arms = self.arms
        places, memo = np.zeros(1 + arms, dtype=np.int64), np.zeros((4, arms))
        return Start(np.zeros(ROOM * arms), places, np.zeros(arms), memo)

    def rebuild_cache(self, family: Family, data: Data, cache: Start) -> None:
        fill(cache.places, 0)
        cache.memo[LEADER, 0] = 0.0

    def first_oracle(
        self, family: Family, data: Data, cache: Start, code: Code, weights: Floats
    ) -> None:
        code[0] = place_of_largest(data.means)
        if self.epsilon > 0.0 and not family.arms_alike():
            self.best_of_several(family, data, cache, code, weights)
        else:
            self.answer_weights(family, data, cache, code, weights)

    def best_of_several(
        self, family: Family, data: Data, cache: Start, code: Code, weights: Floats
    ) -> None:
        """The arm within epsilon of the largest mean that is the cheapest to prove."""
        best, top = -1.0, largest(data.means)
        for arm in range(data.means.size):
            if data.means[arm] >= top - self.epsilon:
                cache.state[arm] = 0.0
                value = best_arm_optimum(
                    family, data.means, arm, self.epsilon, cache.weights, cache.state
                )
                if value > best:
                    best, code[0] = value, arm
                    assign(weights, cache.weights)
        cache.places[OWNER] = 0

    def first_close(self, family: Family, data: Data, cache: Start, search: Search) -> bool:
        """Where a quieter arm within epsilon may be easier to prove than the best one."""
        if self.epsilon == 0.0 or family.arms_alike():
            return False
        values, top = search.trial, largest(data.means)
        for arm in range(data.means.size):
            values[arm] = -1.0
            if data.means[arm] >= top - self.epsilon:
                cache.state[arm] = 0.0
                values[arm] = best_arm_optimum(
                    family, data.means, arm, self.epsilon, cache.weights, cache.state
                )
        cache.places[OWNER] = 0
        first_of_values(values, search)
        return True

    def answer_weights(
        self, family: Family, data: Data, cache: Start, code: Code, weights: Floats
    ) -> None:
        """Where the answer is wrong, those of the best arm: the evidence grows for what looks right."""
        means = data.means
        arm, best = code[0], place_of_largest(means)
        if not means[arm] + self.epsilon > means[best]:
            arm = best
        if cache.places[OWNER] != arm + 1:
            cache.places[OWNER] = arm + 1
            cache.state[arm] = 0.0  # a cold start
        best_arm_optimum(family, means, arm, self.epsilon, weights, cache.state)

    def best_evidence(
        self, family: Family, data: Data, cache: Start, enough: float, code: Code
    ) -> float:
        """Only arms within epsilon of the largest mean have any; one cheap rival shows it is too little."""
        best, top = 0.0, largest(data.means)
        for arm in range(data.means.size):
            if data.means[arm] >= top - self.epsilon:
                value = self.arm_evidence(family, data, cache, enough, arm)
                if arm == 0 or not value <= best:
                    best = value
                    code[0] = arm
        return best

    def arm_evidence(
        self, family: Family, data: Data, cache: Start, enough: float, arm: int
    ) -> float:
        """The least over the rivals, or a bound on it that is less than enough."""
        least, weakest, memo = math.inf, WEAKEST + arm, cache.memo
        last = cache.places[weakest]
        if self.epsilon > 0.0 and last != arm:  # else the costs are as cheap as their bounds
            bound = pair_bound(family, data, arm, last, self.epsilon)
            if bound < enough:  # before the memo, which may be another arm's
                return bound
        self.recall(data, arm, memo)
        if self.epsilon > 0.0:
            for other in range(data.means.size):
                if other != arm and self.cost_bound(family, data, arm, other, memo) < enough:
                    cache.places[weakest] = other
                    return self.cost_bound(family, data, arm, other, memo)
        for turn in range(-1, data.means.size):
            other = last if turn < 0 else turn
            if other != arm:
                value = self.remembered_cost(family, data, arm, other, memo)
                if not value >= least:
                    least = value
                if value < enough:
                    cache.places[weakest] = other
                    break
        return least

    def sole_answer(self, family: Family, data: Data, cache: Start, code: Code) -> bool:
        """Without epsilon an arm whose mean is larger than any other."""
        best, ties = place_of_largest(data.means), 0
        for k in range(data.means.size):
            ties += data.means[k] == data.means[best]
        if self.epsilon > 0.0 or ties != 1:
            return False
        code[0] = best
        return True

    def leading_answer(self, family: Family, data: Data, cache: Start, code: Code) -> bool:
        code[0] = place_of_largest(data.means)
        return True  # the best arms are all correct

    def answer_at(self, family: Family, data: Data, cache: Start, code: Code) -> None:
        code[0] = place_of_largest(data.means)

    def refute(
        self,
        family: Family,
        data: Data,
        cache: Start,
        code: Code,
        penalty: float,
        found: Refutation,
    ) -> float:
        """The penalty is for the rival's samples alone; of rivals at the same price, the best one."""
        arm, best, other = code[0], math.inf, 1 if code[0] == 0 else 0
        memo = cache.memo if self.is_about(arm, cache.memo) else found.memo
        self.recall(data, arm, memo)
        most = self.ceiling(family, data, arm, penalty, found.arms, memo)
        for k in range(data.means.size):
            if k == arm or _dearer(family, data, arm, k, most, memo):
                continue
            price = self.remembered_cost(family, data, arm, k, memo)
            if penalty > 0.0:
                price += penalty * math.log(data.counts[k])
            if price < best or (price == best and data.means[k] > data.means[other]):
                best, other = price, k
        fill(found.arms, 0.0)
        found.arms[arm] = found.arms[other] = 1.0
        return Gap(arm, other, self.epsilon).project(family, data, found.model)

    def ceiling(
        self, family: Family, data: Data, arm: int, penalty: float, last: Floats, memo: Floats
    ) -> float:
        """The price of the rival that was the cheapest before: dearer ones can be skipped."""
        if self.epsilon > 0.0 or not screened(family):
            return math.inf
        for k in range(data.means.size):
            if k != arm and last[k] > 0.0:
                price = self.remembered_cost(family, data, arm, k, memo)
                return price + penalty * math.log(data.counts[k]) if penalty > 0.0 else price
        return math.inf

    @inline
    def remembered_cost(
        self, family: Family, data: Data, arm: int, other: int, memo: Floats
    ) -> float:
        """``pair_cost``, computed anew where the rival's data have changed: it takes most of a round."""
        if not _remembers(family, data, other, memo):
            memo[COST, other] = pair_cost(family, data, arm, other, self.epsilon)
            memo[COUNT, other], memo[MEAN, other] = data.counts[other], data.means[other]
        return memo[COST, other]

    @inline
    def cost_bound(self, family: Family, data: Data, arm: int, other: int, memo: Floats) -> float:
        """An upper bound on ``pair_cost`` that is cheap: the cost itself where it is remembered."""
        if _remembers(family, data, other, memo):
            return memo[COST, other]
        return pair_bound(family, data, arm, other, self.epsilon)

    @inline
    def is_about(self, arm: int, memo: Floats) -> bool:
        """Whether a memo has the costs of this leader's pairs, with this epsilon."""
        return bool(memo[LEADER, 0] == arm + 1 and memo[LEADER, 1] == self.epsilon)

    def recall(self, data: Data, arm: int, memo: Floats) -> None:
        """Forget all costs if the leader is another one, or has another sample."""
        same = memo[COUNT, arm] == data.counts[arm] and memo[MEAN, arm] == data.means[arm]
        if not (same and self.is_about(arm, memo)):
            fill(memo[COUNT], 0.0)
            memo[LEADER, 0], memo[LEADER, 1] = arm + 1, self.epsilon
            memo[COUNT, arm], memo[MEAN, arm] = data.counts[arm], data.means[arm]

    def answers(self) -> Iterator[int]:
        return iter(range(self.arms))

    def answer_count(self) -> int:
        return self.arms

    def correct_answers(self, means: Floats) -> Iterator[int]:
        return (int(k) for k in np.flatnonzero(means >= means.max() - self.epsilon))

    def several_answers(self) -> bool:
        return self.epsilon > 0.0

    def answer_text(self, answer: int, labels: Sequence[str]) -> str:
        return f"{labels[answer]} is best{up_to(self.epsilon)}"

    def lowest_answer_text(self, answer: int, labels: Sequence[str]) -> str:
        return f"{labels[answer]} is lowest{up_to(self.epsilon)}"

    def question_text(self) -> str:
        return f"Which option has the highest mean{up_to(self.epsilon)}?"

    def goal_sign(self) -> int:
        return 1

    def contest_sign(self) -> float:
        return 1.0

    def ranking(self) -> Ranking | None:
        return Ranking(1, self.epsilon)

    def with_slack(self, slack: float) -> Problem:
        return BestArm(self.arms, self.epsilon + slack)

    def named_arms(self, answer: Any) -> tuple[int, ...]:
        return (answer,)

    def tie_text(self, means: Floats) -> tuple[str, str]:
        tied = np.flatnonzero(means == means.max())
        return f"{arms_in_words(tied)} tie for the best", (
            "Guess means that differ, or accept any arm within epsilon of the best: "
            f"BestArm({means.size}, epsilon=...), on the command line best-arm:epsilon=..."
        )

    def candidates(self, family: Family, means: Floats) -> Iterator[int]:
        # D(mu, not i) grows with mu_i and falls with the other means: among arms that are alike but for
        # their means the largest wins; else a quieter one within epsilon may
        if not family.arms_alike():
            return self.correct_answers(means)
        return (int(k) for k in np.flatnonzero(nearly(means, means.max())))

    def cell_count(self, code: Code) -> int:
        return self.arms - 1

    def cell(self, code: Code, j: int) -> Gap:
        return Gap(code[0], j if j < code[0] else j + 1, self.epsilon)  # every other arm

    def transport_cost(self, family: Family, data: Data, code: Code, closest: Floats) -> float:
        arm, margin = code[0], self.epsilon
        best, partner = np.inf, 0
        for other in range(self.arms):
            if other == arm:
                continue
            value = pair_cost(family, data, arm, other, margin)
            if value < best:
                best, partner = value, other
        if best < np.inf:
            return Gap(arm, partner, margin).project(family, data, closest)
        assign(closest, data.means)
        return best

    def check(self, family: Family) -> None:
        narrow(self.epsilon, family)

    def grows(self) -> bool:
        return True

    def rank(self) -> int:
        return 2

    def union_bound(self) -> int:
        return self.arms - 1

    def adaptive_bound(self, first: int) -> int:
        """An arm that samples chose may owe it to the bad luck of any arm that was the best before it."""
        added = self.arms - first
        return first - 1 + added * (added + 3) // 2


@jitable(inline=True)
def _dearer(family: Family, data: Data, arm: int, other: int, most: float, memo: Floats) -> bool:
    """Whether a rival is known to cost more; not asked where its cost is remembered."""
    if most == math.inf or _remembers(family, data, other, memo):
        return False
    return bool(pair_floor(family, data, arm, other) > most)


@jitable(inline=True)
def _remembers(family: Family, data: Data, other: int, memo: Floats) -> bool:
    same = memo[COUNT, other] == data.counts[other] and memo[MEAN, other] == data.means[other]
    return bool(family.arms_alike() and same)
