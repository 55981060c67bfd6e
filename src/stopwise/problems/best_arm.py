"""Which arm is best, up to epsilon?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from stopwise.cells.bound import precision, total_divergence
from stopwise.cells.gap import Gap, floor_is_cheaper, pair_bound, pair_cost, pair_floor
from stopwise.cells.two_minima import minima
from stopwise.core.arrays import Floats, argmax, assign, fill, largest
from stopwise.core.checks import arm_count, margin
from stopwise.core.data import Data
from stopwise.core.functions import variant, variants
from stopwise.core.options import NOT_NEGATIVE, Option
from stopwise.families.family import Family, Logarithmic
from stopwise.problems.best_arm_weights import (
    ROOM,
    FewArms,
    answer_share,
    best_arm_bound,
    best_arm_optimum,
    few_arms,
)
from stopwise.problems.limits import arms_in_words, narrow, nearly, up_to
from stopwise.problems.lowest import GOALS, with_goal
from stopwise.problems.many_arms import MANY, many_arms
from stopwise.problems.problem import Code, Problem, Ranking, Refutation, Search


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
        return with_goal(goal, cls._make((size, close)))

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
                p = answer_share(family, data, arm, j)
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

    def init_cache(self, family: Family) -> FewArms:
        return few_arms(self.arms) if self.arms < MANY else many_arms(self.arms)

    def rebuild_cache(self, family: Family, data: Data, cache: FewArms) -> None:
        cache.owner[0] = 0
        fill(cache.weakest, 0)

    def first_oracle(
        self, family: Family, data: Data, cache: FewArms, code: Code, weights: Floats
    ) -> None:
        code[0] = argmax(data.means)
        if self.epsilon > 0.0 and not family.arms_alike():
            self.best_of_several(family, data, cache, code, weights)
        else:
            cache.solve(family, data.means, code[0], self.epsilon, weights)

    def best_of_several(
        self, family: Family, data: Data, cache: FewArms, code: Code, weights: Floats
    ) -> None:
        """The arm within epsilon of the largest mean that is the cheapest to prove."""
        best, top = -1.0, data.means[code[0]]
        for arm in range(data.means.size):
            if data.means[arm] >= top - self.epsilon:
                value = cache.solve_cold(family, data.means, arm, self.epsilon)
                if value > best:
                    best, code[0] = value, arm
                    assign(weights, cache.weights)

    def first_close(self, family: Family, data: Data, cache: FewArms, search: Search) -> bool:
        """Where arms differ in variance, one within epsilon may be easier to prove than the best."""
        if self.epsilon == 0.0 or family.arms_alike():
            return False
        means, values = data.means, search.trial
        top = means[argmax(means)]
        for arm in range(means.size):
            values[arm] = -1.0
            if means[arm] >= top - self.epsilon:
                values[arm] = cache.solve_cold(family, means, arm, self.epsilon)
        least = (1.0 - search.slack) * largest(values)
        for turn in range(search.order.size):
            if values[search.order[turn]] >= least:
                search.code[0] = search.order[turn]
                break
        return True

    def answer_weights(
        self, family: Family, data: Data, cache: FewArms, code: Code, weights: Floats
    ) -> None:
        """Where the answer is wrong, the weights of the best arm."""
        means = data.means
        arm, best = code[0], argmax(means)
        if not means[arm] + self.epsilon > means[best]:
            arm = best
        cache.solve(family, means, arm, self.epsilon, weights)

    def best_evidence(
        self, family: Family, data: Data, cache: FewArms, enough: float, code: Code
    ) -> float:
        """Only arms within epsilon of the largest mean have evidence.

        For each of them the search ends at the first rival below ``enough``.
        """
        best, top = 0.0, data.means[argmax(data.means)]
        for arm in range(data.means.size):
            if data.means[arm] >= top - self.epsilon:
                value = self.arm_evidence(family, data, cache, enough, arm)
                if arm == 0 or not value <= best:
                    best = value
                    code[0] = arm
        return best

    def arm_evidence(
        self, family: Family, data: Data, cache: FewArms, enough: float, arm: int
    ) -> float:
        """The least over the rivals, or a bound on it that is less than enough."""
        least, last = math.inf, cache.weakest[arm]
        for turn in range(-1, data.means.size):  # first the rival that was weak before
            other = last if turn < 0 else turn
            if other == arm:
                continue
            value = math.inf
            if self.epsilon > 0.0:  # else the cost is as cheap as its bound
                value = pair_bound(family, data, arm, other, self.epsilon)
            if not value < enough:
                value = pair_cost(family, data, arm, other, self.epsilon)
            if not value >= least:
                least = value
            if value < enough:
                cache.weakest[arm] = other
                break
        return least

    def sole_answer(self, family: Family, data: Data, cache: FewArms, code: Code) -> bool:
        """An arm whose mean is larger than any other by more than epsilon."""
        best, rivals = argmax(data.means), 0
        for k in range(data.means.size):
            rivals += data.means[k] >= data.means[best] - self.epsilon
        code[0] = best
        return rivals == 1

    def leading_answer(self, family: Family, data: Data, cache: FewArms, code: Code) -> bool:
        code[0] = argmax(data.means)
        return True  # the best arms are all correct

    def answer_at(self, family: Family, data: Data, cache: FewArms, code: Code) -> None:
        code[0] = argmax(data.means)

    def refute(
        self,
        family: Family,
        data: Data,
        cache: FewArms,
        code: Code,
        penalty: float,
        found: Refutation,
    ) -> float:
        """The penalty is for the rival's samples alone; of rivals at the same price, the best one."""
        arm, best, other = code[0], math.inf, 1 if code[0] == 0 else 0
        most = self.cost_limit(family, data, arm, penalty, found.arms)
        for k in range(data.means.size):
            if k == arm or (most < math.inf and pair_floor(family, data, arm, k) > most):
                continue
            price = pair_cost(family, data, arm, k, self.epsilon)
            if penalty > 0.0:
                price += penalty * math.log(data.counts[k])
            if price < best or (price == best and data.means[k] > data.means[other]):
                best, other = price, k
        fill(found.arms, 0.0)
        found.arms[arm] = found.arms[other] = 1.0
        return Gap(arm, other, self.epsilon).project(family, data, found.model)

    def cost_limit(
        self, family: Family, data: Data, arm: int, penalty: float, last: Floats
    ) -> float:
        """An upper bound on the cheapest rival's cost; infinite if floors save no time.

        It is the cost of the rival that was the cheapest before, which ``last`` marks.
        """
        if self.epsilon > 0.0 or not floor_is_cheaper(family):
            return math.inf
        for k in range(data.means.size):
            if k != arm and last[k] > 0.0:
                price = pair_cost(family, data, arm, k, self.epsilon)
                return price + penalty * math.log(data.counts[k]) if penalty > 0.0 else price
        return math.inf

    def answers(self) -> Iterator[int]:
        return iter(range(self.arms))

    def correct_answers(self, means: Floats) -> Iterator[int]:
        return (int(k) for k in np.flatnonzero(means >= means.max() - self.epsilon))

    def several_answers(self) -> bool:
        return self.epsilon > 0.0

    def answer_text(self, answer: int, labels: Sequence[str]) -> str:
        return f"{labels[answer]} is best{up_to(self.epsilon)}"

    def question_text(self) -> str:
        return f"Which option has the highest mean{up_to(self.epsilon)}?"

    def goal_sign(self) -> int:
        return 1

    def best_arm_sign(self) -> float:
        return 1.0

    def ranking(self) -> Ranking | None:
        return Ranking(1, self.epsilon)

    def with_slack(self, slack: float) -> Problem:
        return BestArm(self.arms, self.epsilon + slack)

    def named_arms(self, answer: int) -> tuple[int, ...]:
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
        """As the default, without a model for every rival."""
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
