"""A question about the largest mean, asked about the smallest: which arm is fastest, or cheapest?

With l' = -l and the family's mirror image everything that is known about the largest mean holds for the
smallest: a cell lambda_j >= lambda_i + epsilon becomes lambda_i >= lambda_j + epsilon. Data keep
their sign; only what is asked of the problem inside goes through the mirror.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from stopwise.cells.shape import GAP, Shape
from stopwise.core.arrays import Floats
from stopwise.core.checks import choice
from stopwise.core.data import Curve, Data
from stopwise.core.values import Problem
from stopwise.core.verbs import jitable, verb
from stopwise.families.mirror import mirrored
from stopwise.problems import rounds, verbs
from stopwise.problems.ranking import Ranking, ranking
from stopwise.problems.rounds import Search
from stopwise.problems.verbs import Answer, Code

GOALS = ("max", "min")


class _Lowest(NamedTuple):
    problem: Any


class Lowest(_Lowest, Problem, listed=False):
    """``BestArm(K, goal="min")`` is ``Lowest(BestArm(K))``. Answers are those of the problem inside."""

    __slots__ = ()

    @property
    def arms(self) -> int:
        """K, the number of arms."""
        return int(self.problem.arms)

    def __repr__(self) -> str:
        return f"{repr(self.problem)[:-1]}, goal='min')"


def asked_for(goal: Any, problem: Any) -> Any:
    """The problem, or its mirror image, as the goal says."""
    allowed = '"max" (the largest mean) or "min" (the smallest)'
    return problem if choice("goal", goal, GOALS, allowed) == "max" else Lowest(problem)


@verb
def lowest_in_words(problem: Any, answer: Any, labels: Sequence[str]) -> str:
    """What an answer says if the smallest mean is asked for."""
    return f"{verbs.in_words(problem, answer, labels)} (less is better)"


@jitable
def _mirror(values: Floats) -> None:
    for k in range(values.size):
        values[k] = -values[k]


@jitable(allocates=True)
def _image(data: Data) -> Data:
    return Data(data.counts, -data.means)


# ------------------------------------------------------------------------------------ the question

verbs.answers.register(Lowest)(lambda problem: verbs.answers(problem.problem))
verbs.encode.register(Lowest)(lambda problem, answer: verbs.encode(problem.problem, answer))
verbs.decode.register(Lowest)(lambda problem, code: verbs.decode(problem.problem, code))
verbs.answer_count.register(Lowest)(lambda problem: verbs.answer_count(problem.problem))
verbs.code_size.register(Lowest)(lambda problem: verbs.code_size(problem.problem))
verbs.several_answers.register(Lowest)(lambda problem: verbs.several_answers(problem.problem))
verbs.is_model.register(Lowest)(lambda problem, means: verbs.is_model(problem.problem, -means))
verbs.check.register(Lowest)(lambda problem, family: verbs.check(problem.problem, family))
verbs.grows.register(Lowest)(lambda problem: verbs.grows(problem.problem))
verbs.adaptive_bound.register(Lowest)(
    lambda problem, first: verbs.adaptive_bound(problem.problem, first)
)
verbs.rank.register(Lowest)(lambda problem: verbs.rank(problem.problem))
verbs.union_bound.register(Lowest)(lambda problem: verbs.union_bound(problem.problem))
verbs.features.register(Lowest)(lambda problem: verbs.features(problem.problem))
verbs.tie.register(Lowest)(lambda problem, means: verbs.tie(problem.problem, -means))
verbs.asked.register(Lowest)(lambda problem: verbs.asked(problem.problem).replace("high", "low"))
verbs.named.register(Lowest)(lambda problem, answer: verbs.named(problem.problem, answer))
verbs.sense.register(Lowest)(lambda problem: -verbs.sense(problem.problem))
verbs.contest.register(Lowest)(lambda problem: -verbs.contest(problem.problem))
verbs.in_words.register(Lowest)(
    lambda problem, answer, labels: lowest_in_words(problem.problem, answer, labels)
)


@ranking.register(Lowest)
def _ranking(problem: Lowest) -> Ranking | None:
    inside = ranking(problem.problem)
    return None if inside is None else inside._replace(sense=-inside.sense)


@verbs.with_slack.register(Lowest)
def _with_slack(problem: Lowest, slack: float) -> Lowest | None:
    inside = verbs.with_slack(problem.problem, slack)
    return None if inside is None else Lowest(inside)


@verbs.correct_answers.register(Lowest)
def _correct_answers(problem: Lowest, means: Floats) -> Iterator[Answer]:
    return verbs.correct_answers(problem.problem, -means)


@verbs.candidates.register(Lowest)
def _candidates(problem: Lowest, family: Any, means: Floats) -> Iterator[Answer]:
    return verbs.candidates(problem.problem, mirrored(family), -means)


# ------------------------------------------------------------------------------------------- costs

verbs.cell_count.register(Lowest)(lambda problem, code: verbs.cell_count(problem.problem, code))
verbs.simple.register(Lowest)(lambda problem: verbs.simple(problem.problem))


@verbs.shape.register(Lowest)
def _shape(problem: Lowest, code: Code, cell: int) -> Shape:
    """The sides change; of a pair, who must be above whom."""
    kind, arm, other, side, limit = verbs.shape(problem.problem, code, cell)
    if kind == GAP:
        return Shape(kind, other, arm, side, limit)
    return Shape(kind, arm, other, -side, -limit)


@verbs.project.register(Lowest)
def _project(
    problem: Lowest, family: Any, data: Data, code: Code, cell: int, closest: Floats
) -> float:
    found = verbs.project(problem.problem, mirrored(family), _image(data), code, cell, closest)
    _mirror(closest)
    return found


@verbs.add_hessian.register(Lowest)
def _add_hessian(
    problem: Lowest, family: Any, data: Data, code: Code, cell: int, closest: Floats, curve: Curve
) -> None:
    verbs.add_hessian(problem.problem, mirrored(family), _image(data), code, cell, -closest, curve)


@verbs.mixed_evidence.register(Lowest)
def _mixed_evidence(
    problem: Lowest, family: Any, data: Data, code: Code, cell: int, gap: float
) -> float:
    image = _image(data)
    return verbs.mixed_evidence(problem.problem, mirrored(family), image, code, cell, gap)


@verbs.cost.register(Lowest)
def _cost(problem: Lowest, family: Any, data: Data, code: Code, closest: Floats) -> float:
    found = verbs.cost(problem.problem, mirrored(family), _image(data), code, closest)
    _mirror(closest)
    return found


@verbs.optimise.register(Lowest)
def _optimise(problem: Lowest, family: Any, means: Floats, code: Code, weights: Floats) -> float:
    return verbs.optimise(problem.problem, mirrored(family), -means, code, weights)


@verbs.models.register(Lowest)
def _models(problem: Lowest, family: Any, data: Data, code: Code) -> Floats:
    return -verbs.models(problem.problem, mirrored(family), _image(data), code)


@verbs.upper_bound.register(Lowest)
def _upper_bound(problem: Lowest, family: Any, data: Data, code: Code) -> float:
    return verbs.upper_bound(problem.problem, mirrored(family), _image(data), code)


@verbs.vertices.register(Lowest)
def _vertices(problem: Lowest, family: Any, data: Data, code: Code) -> Floats:
    return verbs.vertices(problem.problem, mirrored(family), _image(data), code)


@verbs.reach.register(Lowest)
def _reach(
    problem: Lowest, family: Any, data: Data, code: Code, level: float, point: Floats
) -> float:
    found = verbs.reach(problem.problem, mirrored(family), _image(data), code, level, point)
    _mirror(point)
    return found


# -------------------------------------------------------------------------------------- one round


class Image(NamedTuple):
    """The sketch of the problem inside, and the mirrored means."""

    sketch: Any
    means: Floats


@rounds.sketch.register(Lowest)
def _sketch(problem: Lowest, family: Any) -> Image:
    return Image(rounds.sketch(problem.problem, mirrored(family)), np.zeros(problem.arms))


@rounds.rebuild.register(Lowest)
def _rebuild(problem: Lowest, family: Any, data: Data, sketch: Image) -> None:
    for k in range(data.means.size):
        sketch.means[k] = -data.means[k]
    image = Data(data.counts, sketch.means)
    rounds.rebuild(problem.problem, mirrored(family), image, sketch.sketch)


@rounds.absorb.register(Lowest)
def _absorb(
    problem: Lowest, family: Any, data: Data, sketch: Image, arm: int, before: float
) -> None:
    sketch.means[arm] = -data.means[arm]
    image = Data(data.counts, sketch.means)
    rounds.absorb(problem.problem, mirrored(family), image, sketch.sketch, arm, -before)


@rounds.solve_round.register(Lowest)
def _solve_round(problem: Lowest, family: Any, means: Floats, code: Code, weights: Floats) -> float:
    return rounds.solve_round(problem.problem, mirrored(family), -means, code, weights)


@rounds.first_oracle.register(Lowest)
def _first_oracle(
    problem: Lowest, family: Any, data: Data, sketch: Image, code: Code, weights: Floats
) -> None:
    image = Data(data.counts, sketch.means)
    rounds.first_oracle(problem.problem, mirrored(family), image, sketch.sketch, code, weights)


@rounds.answer_weights.register(Lowest)
def _answer_weights(
    problem: Lowest, family: Any, data: Data, sketch: Image, code: Code, weights: Floats
) -> None:
    image = Data(data.counts, sketch.means)
    rounds.answer_weights(problem.problem, mirrored(family), image, sketch.sketch, code, weights)


@rounds.best_evidence.register(Lowest)
def _best_evidence(
    problem: Lowest, family: Any, data: Data, sketch: Image, enough: float, code: Code
) -> float:
    image = Data(data.counts, sketch.means)
    return rounds.best_evidence(
        problem.problem, mirrored(family), image, sketch.sketch, enough, code
    )


@rounds.front_runner.register(Lowest)
def _front_runner(problem: Lowest, family: Any, data: Data, sketch: Image, code: Code) -> bool:
    image = Data(data.counts, sketch.means)
    return rounds.front_runner(problem.problem, mirrored(family), image, sketch.sketch, code)


@rounds.answer_at.register(Lowest)
def _answer_at(problem: Lowest, family: Any, data: Data, sketch: Image, code: Code) -> None:
    _mirror(data.means)  # and back: a change of sign loses nothing
    rounds.answer_at(problem.problem, mirrored(family), data, sketch.sketch, code)
    _mirror(data.means)


@rounds.fitted.register(Lowest)
def _fitted(problem: Lowest, family: Any, data: Data, means: Floats) -> None:
    _mirror(data.means)
    rounds.fitted(problem.problem, mirrored(family), data, means)
    _mirror(data.means)
    _mirror(means)


@rounds.refute.register(Lowest)
def _refute(
    problem: Lowest,
    family: Any,
    data: Data,
    sketch: Image,
    code: Code,
    penalty: float,
    found: rounds.Refutation,
) -> float:
    _mirror(data.means)
    cost = rounds.refute(
        problem.problem, mirrored(family), data, sketch.sketch, code, penalty, found
    )
    _mirror(data.means)
    _mirror(found.model)
    return cost


rounds.listed_answers.register(Lowest)(lambda problem: rounds.listed_answers(problem.problem))


@rounds.first_reachable.register(Lowest)
def _first_reachable(
    problem: Lowest,
    family: Any,
    data: Data,
    sketch: Image,
    level: float,
    held: bool,
    search: Search,
) -> float:
    image = Data(data.counts, sketch.means)
    _mirror(search.point)
    barrier = rounds.first_reachable(
        problem.problem, mirrored(family), image, sketch.sketch, level, held, search
    )
    _mirror(search.point)
    return barrier
