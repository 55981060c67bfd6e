"""What questions share whose answers are sets of arms: their codes, and sets that are closed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from stopwise.core.arrays import Ints, fill
from stopwise.core.functions import jitable
from stopwise.problems.problem import Answer, Code, Problem, unknown_answer


class ArmSets(Problem, listed=False):
    """Answers are tuples of arms; their codes have a 1 for each arm that is named. Never listed."""

    def encode(self, answer: Answer) -> Code:
        """A tuple of different arms, in their order."""
        if not isinstance(answer, tuple) or not all(
            isinstance(arm, int | np.integer) and not isinstance(arm, bool) for arm in answer
        ):
            raise unknown_answer(self, answer)
        if list(answer) != [arm for arm in range(self.arms) if arm in answer]:
            raise unknown_answer(self, answer)
        code = np.zeros(self.arms, dtype=np.int64)
        code[list(answer)] = 1
        return code

    def decode(self, code: Code) -> Answer:
        return tuple(int(k) for k in np.flatnonzero(code))

    def code_size(self) -> int:
        return self.arms

    def answer_count(self) -> int:
        return 0


def listed(arms: Iterable[int], labels: Sequence[str]) -> str:
    """The arms' labels, as a list in a sentence."""
    *most, last = (labels[k] for k in arms)
    return f"{', '.join(most)} and {last}" if most else last


@jitable
def closed_set(forces: Ints, order: Ints, size: int, code: Code) -> bool:
    """Name arms in this order, each with all that it forces, while they are at most ``size``; whether
    they are as many in the end.
    """
    fill(code, 0)
    named = 0
    for turn in range(order.size):
        if named < size and code[order[turn]] == 0:
            named = _with_forced(forces, order[turn], named, size, code)
    return named == size


NAMED, WAITING, SEEN = 1, 2, 3


@jitable
def _with_forced(forces: Ints, arm: int, named: int, size: int, code: Code) -> int:
    """How many are named with the arm and all that it forces; as before if they would be too many."""
    code[arm], count, found = WAITING, named + 1, True
    while found:
        found = False
        for k in range(code.size):
            if code[k] == WAITING:
                code[k], found = SEEN, True
                for j in range(code.size):
                    if forces[k, j] > 0 and code[j] == 0:
                        code[j] = WAITING
                        count += 1
    for k in range(code.size):
        if code[k] == SEEN:
            code[k] = NAMED if count <= size else 0
    return count if count <= size else named
