"""Questions about pairs of an arm and the control: what they share.

An arm that is named is not worse than the control, and one that is not named is not better by more than
epsilon: differences between 0 and epsilon may be decided either way. Each claim about an arm is refuted
by one pair, the arm and the control.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from stopwise.cells.gap import add_gap_hessian, pair_cost, project_gap, separation_beyond
from stopwise.cells.shape import Shape, gap_shape
from stopwise.core.arrays import Floats
from stopwise.core.checks import arm_count, margin, whole
from stopwise.core.data import Curve, Data
from stopwise.core.errors import BadArgument
from stopwise.core.options import NOT_NEGATIVE, Option
from stopwise.core.values import Problem
from stopwise.core.verbs import jitable, verb
from stopwise.families.mirror import Mirror
from stopwise.families.verbs import Logarithmic, Quadratic
from stopwise.problems import verbs
from stopwise.problems.arm_sets import ArmSets, listed
from stopwise.problems.limits import arms_in_words, narrow, up_to
from stopwise.problems.lowest import GOALS, asked_for, lowest_in_words
from stopwise.problems.verbs import Code


class _Control(NamedTuple):
    arms: int
    control: int
    epsilon: float


class AgainstControl(_Control, Problem, listed=False):
    """Questions about pairs of an arm and the ``control``."""

    __slots__ = ()
    options = {
        "control": Option(
            {"type": "integer", "minimum": 0}, "Which option is the control: 0 is the first"
        ),
        "epsilon": Option(
            NOT_NEGATIVE, "By how much one that is not named may be better; empty: not at all"
        ),
        "goal": Option({"enum": list(GOALS)}, "max: better is higher; min: better is lower"),
    }

    def __new__(cls, arms: int, control: int = 0, epsilon: float = 0.0, goal: str = "max") -> Self:
        size, place = arm_count(arms, least=2), whole("control", control, least=0)
        if place >= size:
            raise BadArgument("control", control, f"an arm, a whole number from 0 to {size - 1}")
        close = margin(epsilon)
        found: Self = asked_for(goal, super().__new__(cls, size, place, close))
        return found


verbs.check.register(AgainstControl)(narrow)
verbs.simple.register(AgainstControl)(lambda problem: True)
verbs.rank.register(AgainstControl)(lambda problem: 2)
verbs.sense.register(AgainstControl)(lambda problem: 1)
# docs/thresholds.md: each arm has one false claim, if any
verbs.union_bound.register(AgainstControl)(lambda problem: problem.arms - 1)


@verbs.tie.register(AgainstControl)
def _tie(problem: AgainstControl, means: Floats) -> tuple[str, str]:
    tied = [k for k in np.flatnonzero(means == means[problem.control]) if k != problem.control]
    if problem.epsilon > 0.0 or not tied:
        return f"the means lie on the boundary of {problem!r}", verbs.OFF_THE_BOUNDARY
    verb = "equals" if len(tied) == 1 else "equal"
    return f"{arms_in_words(tied)} {verb} the control", (
        "Guess means that differ, or let differences of up to epsilon be decided either way: "
        f"{type(problem).__name__}({means.size}, epsilon=...)"
    )


@lowest_in_words.register(AgainstControl)
def _lowest_in_words(problem: AgainstControl, answer: Any, labels: Sequence[str]) -> str:
    named = answer if isinstance(answer, tuple) else () if answer == "none" else (answer,)
    return said(problem, named, labels, "lower")


def said(problem: AgainstControl, answer: Any, labels: Sequence[str], what: str) -> str:
    """What an answer says of the arms that it names."""
    control = labels[problem.control]
    if not answer:
        return f"no option is {what} than {control}{up_to(problem.epsilon)}"
    verb = "is" if len(answer) == 1 else "are"
    found = f"{listed(answer, labels)} {verb} {what} than {control}"
    if isinstance(problem, ArmSets) and len(answer) < problem.arms - 1:
        return f"{found}, the others are not{up_to(problem.epsilon)}"
    return found


@jitable
def arm_of(problem: AgainstControl, place: int) -> int:
    """The arm in this place, the control left out."""
    return place if place < problem.control else place + 1


@jitable
def refuted_by(problem: AgainstControl, arm: int, better: bool) -> Shape:
    """The cell in which a claim about an arm is false."""
    if better:
        return gap_shape(arm, problem.control, 0.0)
    return gap_shape(problem.control, arm, problem.epsilon)


@jitable
def support(problem: AgainstControl, family: Any, data: Data, arm: int, better: bool) -> float:
    """What it costs to refute a claim about an arm."""
    _, first, second, _, margin = refuted_by(problem, arm, better)
    return pair_cost(family, data, first, second, margin)


@verbs.project.register(AgainstControl)
def _project(
    problem: AgainstControl, family: Any, data: Data, code: Code, cell: int, closest: Floats
) -> float:
    _, arm, other, _, margin = verbs.shape(problem, code, cell)
    return project_gap(family, data, arm, other, margin, closest)


@verbs.add_hessian.register(AgainstControl)
def _add_hessian(
    problem: AgainstControl,
    family: Any,
    data: Data,
    code: Code,
    cell: int,
    closest: Floats,
    curve: Curve,
) -> None:
    _, arm, other, _, _ = verbs.shape(problem, code, cell)
    add_gap_hessian(family, data, arm, other, closest, curve)


@verb
def by_gap(family: Any) -> bool:
    """Whether of two gaps between the same arms the larger one costs more, whatever the weights."""
    return False


by_gap.register(Quadratic)(lambda family: True)
by_gap.register(Logarithmic)(lambda family: True)
by_gap.register(Mirror)(lambda mirror: by_gap(mirror.family))


@jitable
def claim_price(
    problem: AgainstControl, family: Any, data: Data, arm: int, better: bool, halved: bool
) -> float:
    """A lower bound on what it costs to make a claim about an arm true; with ``halved`` the better one
    of the two claims, where gaps decide that: half of epsilon is where they are alike.
    """
    slack = problem.epsilon
    if halved and by_gap(family):
        slack = 0.5 * problem.epsilon
        if better:
            return pair_cost(family, data, problem.control, arm, slack)
    elif better:
        return pair_cost(family, data, problem.control, arm, 0.0)
    if slack == 0.0 or by_gap(family):
        return pair_cost(family, data, arm, problem.control, -slack)
    return separation_beyond(family, data, arm, problem.control, slack)
