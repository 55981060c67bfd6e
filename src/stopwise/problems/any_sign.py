"""On which side of a threshold is some arm? Any arm will do."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from stopwise.cells.bound import Bound, box_ends, divergence_from
from stopwise.core.arrays import Floats, fill
from stopwise.core.data import Data
from stopwise.core.options import NUMBER, Option
from stopwise.families.family import Family
from stopwise.problems.limits import ArmSides, alone, beyond
from stopwise.problems.problem import Answer, Code, Scratch, close_of_listed


class AnySign(ArmSides):
    """Any arm with its side: (arm, "low") if mean <= threshold, (arm, "high") if >=.

    Ordered by arm, low before high.
    """

    title = "Name any one arm, and its side of a threshold"
    options = {"threshold": Option(NUMBER, "The level that means are compared with; 0 if empty")}

    def __init__(self, arms: int, threshold: float = 0.0) -> None:
        ArmSides.__init__(self, arms, threshold)

    def answers(self) -> Iterator[Answer]:
        return ((arm, side) for arm in range(self.arms) for side in ("low", "high"))

    def correct_answers(self, means: Floats) -> Iterator[Answer]:
        for arm in range(self.arms):
            if means[arm] <= self.threshold:
                yield (arm, "low")
            if means[arm] >= self.threshold:
                yield (arm, "high")

    def answer_text(self, answer: tuple[int, str], labels: Sequence[str]) -> str:
        arm, side = answer
        where = "below" if side == "low" else "above"
        return f"{labels[arm]} is {where} {self.threshold:g}"

    def question_text(self) -> str:
        return f"On which side of {self.threshold:g} is any one option?"

    def named_arms(self, answer: tuple[int, str]) -> tuple[int, ...]:
        return (answer[0],)

    def cell_count(self, code: Code) -> int:
        return 1

    def cell(self, code: Code, j: int) -> Bound:
        side = 1.0 if code[0] % 2 == 0 else -1.0  # the alternative to "low" is "high"
        return Bound(code[0] // 2, side, self.threshold)

    def reach(self, family: Family, data: Data, code: Code, level: float, point: Floats) -> float:
        # D of an answer is d(mu_arm, threshold) on its side; compare its most with the others' least,
        # over the box around the region
        point[0] = math.nan
        most, least = -1.0, 0.0
        for k in range(self.arms):
            own = family.of_arm(k)
            left, right = box_ends(family, data, k, level)
            if k == code[0] // 2:
                end = left if code[0] % 2 == 0 else right
                side = -1.0 if code[0] % 2 == 0 else 1.0
                if side * (end - self.threshold) >= 0.0:
                    most = divergence_from(own, end, self.threshold)
            elif left > self.threshold:
                least = max(least, divergence_from(own, left, self.threshold))
            elif right < self.threshold:
                least = max(least, divergence_from(own, right, self.threshold))
        return 0.0 if most >= least else math.inf

    def optimise(self, family: Family, means: Floats, code: Code, weights: Floats) -> float:
        arm, side = code[0] // 2, 1.0 if code[0] % 2 == 0 else -1.0
        return alone(arm, beyond(family, means, arm, side, self.threshold), weights)

    first_close = close_of_listed

    def answer_weights(
        self, family: Family, data: Data, cache: Scratch, code: Code, weights: Floats
    ) -> None:
        fill(weights, 0.0)
        weights[code[0] // 2] = 1.0
