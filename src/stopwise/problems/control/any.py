"""Find an arm that beats the control, or say that there is none."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from stopwise.cells.gap import balanced, pair_cost
from stopwise.cells.shape import Shape
from stopwise.core.arrays import Floats, fill
from stopwise.core.data import Data
from stopwise.core.verbs import jitable, verb
from stopwise.families.verbs import Logarithmic, arms_alike, divergence, of_arm, variance
from stopwise.problems import rounds, verbs
from stopwise.problems.best_arm.optimum import ROOM, best_arm_bound, best_arm_optimum
from stopwise.problems.control.pairs import (
    AgainstControl,
    arm_of,
    claim_price,
    refuted_by,
    said,
)
from stopwise.problems.limits import nearly, up_to
from stopwise.problems.ranking import Ranking, ranking
from stopwise.problems.rounds import Scratch, Search
from stopwise.problems.verbs import Answer, Code


class AnyBetterThan(AgainstControl):
    """Any arm that beats the ``control``, or "none". Answers: the other arms, then "none".

    An arm that is named is not worse; "none" means that none is better by more than ``epsilon``.
    """

    __slots__ = ()
    title = "Does any option beat the control? Name one"


@verbs.answers.register(AnyBetterThan)
def _answers(problem: AnyBetterThan) -> Iterator[Answer]:
    yield from (arm for arm in range(problem.arms) if arm != problem.control)
    yield "none"


verbs.answer_count.register(AnyBetterThan)(lambda problem: problem.arms)


@jitable
def _is_none(problem: AnyBetterThan, code: Code) -> bool:
    return code[0] == problem.arms - 1


@verbs.correct_answers.register(AnyBetterThan)
def _correct_answers(problem: AnyBetterThan, means: Floats) -> Iterator[Answer]:
    level = means[problem.control]
    yield from (int(k) for k in np.flatnonzero(means >= level) if k != problem.control)
    if means.max() <= level + problem.epsilon:
        yield "none"


@verbs.candidates.register(AnyBetterThan)
def _candidates(problem: AnyBetterThan, family: Any, means: Floats) -> Iterator[Answer]:
    # the farther an arm is above the control the less it takes to show that, if arms are alike
    best = nearly(means, np.delete(means, problem.control).max())
    for answer in _correct_answers(problem, means):
        if answer == "none" or not arms_alike(family) or best[answer]:
            yield answer


@verbs.asked.register(AnyBetterThan)
def _asked(problem: AnyBetterThan) -> str:
    return f"Is any option higher than the control{up_to(problem.epsilon)}?"


@verbs.in_words.register(AnyBetterThan)
def _in_words(problem: AnyBetterThan, answer: Any, labels: Sequence[str]) -> str:
    return said(problem, () if answer == "none" else (answer,), labels, "better")


@ranking.register(AnyBetterThan)
def _ranking(problem: AnyBetterThan) -> Ranking:
    return Ranking(1, problem.epsilon, control=problem.control, one=True)


verbs.named.register(AnyBetterThan)(lambda problem, answer: () if answer == "none" else (answer,))


@verbs.cell_count.register(AnyBetterThan)
def _cell_count(problem: AnyBetterThan, code: Code) -> int:
    return problem.arms - 1 if _is_none(problem, code) else 1


@verbs.shape.register(AnyBetterThan)
def _shape(problem: AnyBetterThan, code: Code, cell: int) -> Shape:
    if _is_none(problem, code):
        return refuted_by(problem, arm_of(problem, cell), False)
    return refuted_by(problem, arm_of(problem, code[0]), True)


# ---------------------------------------------------------------------------------- closed forms


@verb(allocates=True)
def two_arms(family: Any, means: Floats, arm: int, other: int, weights: Floats) -> float:
    """Weights on two arms that tell best that the first is above the other; nan: no closed form.

    Where the model x costs both arms the same, d(mu_i, x) = d(mu_j, x), more weight on neither helps.
    """
    fill(weights, 0.0)
    if not means[arm] > means[other]:
        fill(weights, 1.0 / means.size)
        return 0.0
    own, rival = of_arm(family, arm), of_arm(family, other)
    x = balanced(family, Data(np.ones(means.size), means), arm, other, 0.0)
    pull = (means[arm] - x) / variance(own, x)  # w_i (mu_i - x)/V_i = w_j (x - mu_j)/V_j
    push = (x - means[other]) / variance(rival, x)
    weights[arm], weights[other] = push / (pull + push), pull / (pull + push)
    paid = weights[arm] * divergence(own, means[arm], x)
    return paid + weights[other] * divergence(rival, means[other], x)


@two_arms.register(Logarithmic)
def _no_closed_form(family: Any, means: Floats, arm: int, other: int, weights: Floats) -> float:
    return math.nan


@verbs.optimise.register(AnyBetterThan)
def _optimise(
    problem: AnyBetterThan, family: Any, means: Floats, code: Code, weights: Floats
) -> float:
    """ "None" says that the control is the best arm, up to epsilon."""
    control = problem.control
    if _is_none(problem, code):
        state = np.zeros(ROOM * means.size)
        return best_arm_optimum(family, means, control, problem.epsilon, weights, state)
    return two_arms(family, means, arm_of(problem, code[0]), control, weights)


@verbs.upper_bound.register(AnyBetterThan)
def _upper_bound(problem: AnyBetterThan, family: Any, data: Data, code: Code) -> float:
    if _is_none(problem, code):
        return best_arm_bound(family, data, problem.control, problem.epsilon)
    arm = arm_of(problem, code[0])
    x = balanced(family, Data(np.ones(data.means.size), data.means), arm, problem.control, 0.0)
    control = divergence(of_arm(family, problem.control), data.means[problem.control], x)
    return max(divergence(of_arm(family, arm), data.means[arm], x), control)


# ----------------------------------------------------------------------------- reach, and a round


@verbs.reach.register(AnyBetterThan)
def _reach(
    problem: AnyBetterThan, family: Any, data: Data, code: Code, level: float, point: Floats
) -> float:
    """An arm must be above the control, and the best if arms are alike; "none" be correct."""
    most, point[0] = 0.0, math.nan
    if _is_none(problem, code):
        for place in range(problem.arms - 1):
            arm = arm_of(problem, place)
            most = max(most, claim_price(problem, family, data, arm, False, False))
        return most
    arm = arm_of(problem, code[0])
    for other in range(problem.arms):
        if other == problem.control or (arms_alike(family) and other != arm):
            most = max(most, pair_cost(family, data, other, arm, 0.0))
    return most


@rounds.first_close.register(AnyBetterThan)
def _first_close(
    problem: AnyBetterThan, family: Any, data: Data, sketch: Scratch, search: Search
) -> bool:
    return rounds.close_of_listed(problem, family, data, search)


@rounds.answer_weights.register(AnyBetterThan)
def _answer_weights(
    problem: AnyBetterThan, family: Any, data: Data, sketch: Scratch, code: Code, weights: Floats
) -> None:
    """Where the answer is wrong: those of the best arm, or of "none"."""
    value = rounds.solve_round(problem, family, data.means, code, weights)
    if value == 0.0:
        sketch.code[0] = problem.arms - 1
        for place in range(problem.arms - 1):
            arm = arm_of(problem, place)
            if data.means[arm] > data.means[problem.control]:
                best = sketch.code[0]
                if best == problem.arms - 1 or data.means[arm] > data.means[arm_of(problem, best)]:
                    sketch.code[0] = place
        rounds.solve_round(problem, family, data.means, sketch.code, weights)
