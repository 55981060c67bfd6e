"""A design: problem, family, strategy and stopping rule, checked and ready to run."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from stopwise.cells.bound import Bound, Side
from stopwise.core import checks, registry, spelling
from stopwise.core.arrays import Floats, Rng
from stopwise.core.errors import BadArgument
from stopwise.core.functions import is_foreign
from stopwise.core.values import check_role
from stopwise.engine.region import region_level
from stopwise.engine.truth import known_family, read_truth
from stopwise.families.family import Family
from stopwise.families.laws import Law
from stopwise.oracles.quantities import check_instance
from stopwise.problems.instance import Question
from stopwise.problems.problem import Problem
from stopwise.sampling.cost_aware import cost_aware
from stopwise.sampling.strategy import Strategy, check_strategy
from stopwise.stopping.rule import StoppingRule


class Setting(NamedTuple):
    """What is asked and how: four values, which compiled code gets as one."""

    problem: Problem
    family: Family
    strategy: Strategy
    stopping: StoppingRule


class Design(NamedTuple):
    """A setting that is ready to run, and all that is the same for every run."""

    problem: Problem
    family: Family  # that which the stopping rule works with
    strategy: Strategy  # aware of costs, if there are any
    stopping: StoppingRule
    given: Setting  # the four values as the user gave them
    truth: Floats  # the arms' means; nan in a campaign
    deltas: Floats  # falling
    levels: Floats  # of the stopping rule, one for each delta: rising
    code_size: int  # of an answer
    proven: bool  # whether the stopping rule is, for this problem and family
    max_rounds: int
    strategy_state: Any  # what ``init`` of the strategy gave
    rule_state: Any  # what ``init`` of the stopping rule gave
    laws: tuple[Law, ...] = ()  # of the arms, where samples do not come from the family

    @property
    def setting(self) -> Setting:
        """The four as compiled code gets them."""
        return Setting(self.problem, self.family, self.strategy.compilable(), self.stopping)

    @property
    def guarantee(self) -> str:
        """How sure it is that a wrong answer has probability at most delta, in words."""
        if not self.proven:
            return "not proven"
        return (
            "proven if its rank and union bound are right"
            if user_defined(self.problem)
            else "proven"
        )

    def misplaced_warning(self, means: Iterable[float]) -> str:
        """A warning if the stopping rule was made for means far from these; else an empty text."""
        return self.stopping.misplaced_warning(self.family, [float(mean) for mean in means])

    @property
    def limits(self) -> list[float]:
        """The limits in the problem's cells: the user expects means near these."""
        found: set[float] = set()
        for answer in islice(self.problem.answers(), 2):  # few of each will do
            code = self.problem.encode(answer)
            for j in range(min(self.problem.cell_count(code), 9)):
                cell = self.problem.cell(code, j).simplest()
                if isinstance(cell, Bound | Side):
                    found.add(cell.limit)
        return sorted(found)


def user_defined(problem: Problem) -> bool:
    """Whether the problem, or a part of it, is a user's: its rank and union bound are taken on trust."""
    if isinstance(problem, Problem) and is_foreign(type(problem)):
        return True
    return isinstance(problem, tuple) and any(map(user_defined, tuple.__iter__(problem)))


def default_stopping(family: Family) -> StoppingRule:
    """The stopping rule that suits the family."""
    return registry.find("stopping", family.default_stopping_name())()


def default_strategy_spec(problem: Problem) -> str | dict[str, str]:
    """The strategy that suits the problem, as files spell it: the league's choice (docs/league.md).

    Where arms compete for the highest mean a second correct answer, up to epsilon, is no issue: the
    oracle's is the best arm. Elsewhere several answers may be oracle answers, and one has to be kept to.
    """
    if problem.several_answers() and problem.best_arm_sign() == 0.0:
        # D-tracking where arms are compared: an answer has one vector of oracle weights there
        compared = problem.goal_sign() != 0
        chosen = {"close": "bounded", "tracking": "D"} if compared else {"close": "always"}
        return {"kind": "sticky-track-and-stop", **chosen}
    return {"kind": "track-and-stop", "tracking": "D"}


def default_strategy(problem: Problem) -> Strategy:
    """The strategy that suits the problem."""
    return spelling.strategy(default_strategy_spec(problem))


def check_deltas(delta: float | ArrayLike, name: str = "delta") -> tuple[float, ...]:
    """Error probabilities strictly between 0 and 1, as given."""
    given = checks.vector(name, delta) if checks.is_list(delta) else [delta]
    values = [checks.probability(name, value) for value in given]
    if len(set(values)) < len(values):
        raise BadArgument(name, delta, "probabilities that all differ")
    return tuple(values)


def with_defaults(
    problem: Problem,
    family: Family,
    strategy: Strategy | None = None,
    stopping: StoppingRule | None = None,
) -> Setting:
    """The setting, with the defaults for a missing strategy or stopping rule."""
    check_role("problem", problem, Problem)
    check_role("family", family, Family)
    chosen = default_strategy(problem) if strategy is None else strategy
    return Setting(
        problem, family, chosen, default_stopping(family) if stopping is None else stopping
    )


def prepare(
    given: Setting,
    means: Any,
    deltas: tuple[float, ...],
    max_rounds: int,
    deviations: Any = None,
    costs: Any = None,
) -> Design:
    """Refuse what cannot run, and compute what is the same for every run.

    ``means``: of the arms, or their laws, or pilot data; None for a campaign, where nobody knows them.
    """
    for value, role in zip(given, (Problem, Family, Strategy, StoppingRule), strict=True):
        check_role(role.role, value, role)
    problem, strategy, stopping = given.problem, given.strategy, given.stopping
    family = stopping.working_family(given.family)
    laws: tuple[Law, ...] = ()
    if means is None:
        family.check_arms(problem.arms)
        problem.check(family)
        truth = np.full(problem.arms, np.nan)
    else:
        stated, laws, _ = read_truth(means, given.family, deviations)
        truth = check_instance(problem, stated, family, closed=bool(laws))
    most = checks.whole("max_rounds", max_rounds, least=problem.arms)
    if strategy.looks_at_delta and len(deltas) > 1:
        raise BadArgument(
            "delta",
            list(deltas),
            f"a single number for {strategy!r}, which looks at delta",
            "One trajectory has many stopping times only when the sampling rule is the same for all.",
        )
    falling = np.sort(np.array(deltas))[::-1].copy()
    levels = np.array([stopping.level(problem, family, delta) for delta in falling])
    if not np.all(np.isfinite(levels)) or np.any(np.diff(levels) < 0.0):
        raise BadArgument("stopping", stopping, "a rule whose level is finite and falls in delta")
    question = Question(
        problem,
        known_family(family, laws),
        family.estimated(family.init_stats(problem.arms)),
        truth,
        deltas[0] if strategy.looks_at_delta else np.nan,
        region_level(stopping, problem.arms, family),
        most,
        checks.costs(costs, problem.arms),
    )
    check_strategy(strategy)
    running = cost_aware(strategy, question)
    return Design(
        problem,
        family,
        running,
        stopping,
        given,
        truth,
        falling,
        levels,
        int(problem.code_size()),
        bool(stopping.proven(problem, family)),
        most,
        running.init(question),
        stopping.init(question),
        laws,
    )


def generator(seed: int, *place: int) -> Rng:
    """A generator for this place (a cell, a repetition, ...), independent of those of other places."""
    sequence = np.random.SeedSequence(seed, spawn_key=place)
    return np.random.Generator(np.random.PCG64(sequence))
