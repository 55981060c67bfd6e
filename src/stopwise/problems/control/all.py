"""Which arms beat the control? All of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from stopwise.cells.shape import Shape
from stopwise.core.arrays import Floats, Ints
from stopwise.core.data import Data
from stopwise.core.verbs import jitable
from stopwise.problems import rounds, verbs
from stopwise.problems.arm_sets import ArmSets, encode_arms
from stopwise.problems.control.pairs import (
    AgainstControl,
    arm_of,
    by_gap,
    claim_price,
    refuted_by,
    said,
    support,
)
from stopwise.problems.limits import up_to
from stopwise.problems.ranking import Ranking, ranking
from stopwise.problems.rounds import Search
from stopwise.problems.verbs import Answer, Code


class BetterThan(AgainstControl, ArmSets):
    """Every arm that beats the ``control``. Answers: tuples of arms, 2^(K-1) of them, never listed.

    Arms that are better by at most ``epsilon`` may be named or not. With ``goal="min"`` lower is better.
    """

    __slots__ = ()
    title = "Which options beat the control? All of them"


@verbs.answers.register(BetterThan)
def _answers(problem: BetterThan) -> Iterator[Answer]:
    codes = product((1, 0), repeat=problem.arms - 1)
    return (tuple(arm_of(problem, k) for k, named in enumerate(code) if named) for code in codes)


@verbs.encode.register(BetterThan)
def _encode(problem: BetterThan, answer: Any) -> Code:
    code = encode_arms(problem, answer)
    if code[problem.control] == 1:
        raise verbs.unknown_answer(problem, answer)
    return code


verbs.several_answers.register(BetterThan)(lambda problem: problem.epsilon > 0.0)


@verbs.correct_answers.register(BetterThan)
def _correct_answers(problem: BetterThan, means: Floats) -> Iterator[Answer]:
    return _between(problem, means, 0.0, problem.epsilon)


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


@verbs.candidates.register(BetterThan)
def _candidates(problem: BetterThan, family: Any, means: Floats) -> Iterator[Answer]:
    # each arm's cell depends on the claim about it alone: where gaps decide, the larger one
    if not by_gap(family):
        return _correct_answers(problem, means)
    middle, tied = 0.5 * problem.epsilon, 1e-9 * max(1.0, float(np.abs(means).max()))
    return _between(problem, means, max(0.0, middle - tied), min(problem.epsilon, middle + tied))


@verbs.asked.register(BetterThan)
def _asked(problem: BetterThan) -> str:
    return f"Which options are higher than the control{up_to(problem.epsilon)}?"


@verbs.in_words.register(BetterThan)
def _in_words(problem: BetterThan, answer: Any, labels: Sequence[str]) -> str:
    return said(problem, answer, labels, "better")


@ranking.register(BetterThan)
def _ranking(problem: BetterThan) -> Ranking:
    return Ranking(1, problem.epsilon, control=problem.control)


verbs.named.register(BetterThan)(lambda problem, answer: answer)
verbs.cell_count.register(BetterThan)(lambda problem, code: problem.arms - 1)


@verbs.shape.register(BetterThan)
def _shape(problem: BetterThan, code: Code, cell: int) -> Shape:
    arm = arm_of(problem, cell)
    return refuted_by(problem, arm, code[arm] == 1)


@verbs.reach.register(BetterThan)
def _reach(
    problem: BetterThan, family: Any, data: Data, code: Code, level: float, point: Floats
) -> float:
    """The dearest of the claims, a lower bound."""
    most, point[0] = 0.0, math.nan
    for place in range(problem.arms - 1):
        arm = arm_of(problem, place)
        most = max(most, claim_price(problem, family, data, arm, code[arm] == 1, True))
    return most


@verbs.reachable.register(BetterThan)
def _reachable(problem: BetterThan, family: Any, data: Data, level: float) -> Iterator[Answer]:
    sides = []
    for place in range(problem.arms - 1):
        arm = arm_of(problem, place)
        prices = {n: claim_price(problem, family, data, arm, n == 1, True) for n in (1, 0)}
        sides.append([named for named, price in prices.items() if price <= level])
    return _sets(problem, sides)


class Claims(NamedTuple):
    """The arm that last kept the evidence low; and scratch."""

    weakest: Ints
    trial: Code
    ones: Floats
    weights: Floats


@rounds.sketch.register(BetterThan)
def _sketch(problem: BetterThan, family: Any) -> Claims:
    arms = problem.arms
    weakest, trial = (np.zeros(size, dtype=np.int64) for size in (1, arms))
    return Claims(weakest, trial, np.ones(arms), np.zeros(arms))


@rounds.rebuild.register(BetterThan)
def _rebuild(problem: BetterThan, family: Any, data: Data, sketch: Claims) -> None:
    sketch.weakest[0] = 0


@jitable
def _likelier(problem: BetterThan, family: Any, data: Data, code: Code) -> None:
    """For each arm the claim that is dearer to refute."""
    code[problem.control] = 0
    for place in range(problem.arms - 1):
        arm = arm_of(problem, place)
        named = support(problem, family, data, arm, True)
        code[arm] = 1 if named >= support(problem, family, data, arm, False) else 0


@rounds.first_oracle.register(BetterThan)
def _first_oracle(
    problem: BetterThan, family: Any, data: Data, sketch: Claims, code: Code, weights: Floats
) -> None:
    """Claims by their costs at equal weights: exact where gaps decide, and where epsilon is 0."""
    _likelier(problem, family, Data(sketch.ones, data.means), code)
    rounds.solve_round(problem, family, data.means, code, weights)


@rounds.answer_weights.register(BetterThan)
def _answer_weights(
    problem: BetterThan, family: Any, data: Data, sketch: Claims, code: Code, weights: Floats
) -> None:
    """Where a claim is wrong, those of the other: the evidence grows for what looks right."""
    at_once = Data(sketch.ones, data.means)
    _likelier(problem, family, at_once, sketch.trial)
    for place in range(problem.arms - 1):
        arm = arm_of(problem, place)
        if support(problem, family, at_once, arm, code[arm] == 1) > 0.0:
            sketch.trial[arm] = code[arm]
    rounds.solve_round(problem, family, data.means, sketch.trial, weights)


@rounds.best_evidence.register(BetterThan)
def _best_evidence(
    problem: BetterThan, family: Any, data: Data, sketch: Claims, enough: float, code: Code
) -> float:
    """The least over the arms of what its better claim has."""
    least = math.inf
    for turn in range(-1, problem.arms - 1):
        place = sketch.weakest[0] if turn < 0 else turn
        arm = arm_of(problem, place)
        value = support(problem, family, data, arm, True)
        value = max(value, support(problem, family, data, arm, False))
        if not value >= least:
            least = value
        if value < enough:
            sketch.weakest[0] = place
            break
    _likelier(problem, family, data, code)
    return least


@rounds.answer_at.register(BetterThan)
def _answer_at(problem: BetterThan, family: Any, data: Data, sketch: Claims, code: Code) -> None:
    _likelier(problem, family, data, code)


@rounds.first_reachable.register(BetterThan)
def _first_reachable(
    problem: BetterThan,
    family: Any,
    data: Data,
    sketch: Claims,
    level: float,
    held: bool,
    search: Search,
) -> float:
    """Arm by arm, named where that can be reached: the first in the order."""
    barrier, search.point[0] = math.inf, math.nan
    if search.slack >= 0.0 and rounds.first_close(problem, family, data, sketch, search):
        return rounds.BY_VALUE
    search.code[problem.control] = 0
    for place in range(problem.arms - 1):
        arm = arm_of(problem, place)
        price = claim_price(problem, family, data, arm, True, True)
        search.code[arm] = 1 if price <= level else 0
        if price > level:
            barrier = min(barrier, price)
    return barrier
