"""A question with everything that a run needs, checked before the first sample."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from stopwise import checks
from stopwise.checks import Floats
from stopwise.errors import BadArgument, MissingVerb
from stopwise.problems import base
from stopwise.sampling.strategies import Question, aim, settle
from stopwise.sampling.tracking import follow
from stopwise.stopping.thresholds import common_growth, constant, proven


class Plan(NamedTuple):
    """What is asked and how: the strategy is settled, the constants rise."""

    problem: Any
    family: Any
    strategy: Any
    threshold: Any
    truth: Floats
    deltas: Floats  # falling
    constants: Floats  # of the threshold, one for each delta
    rank: int
    code_size: int
    proven: bool
    max_rounds: int


class _AllArms(NamedTuple):
    """All arms at once: what the region is about."""

    arms: int


@base.arm_count.register(_AllArms)
@base.rank.register(_AllArms)
def _every_arm(problem: _AllArms) -> int:
    return problem.arms


@base.events.register(_AllArms)
def _one_event(problem: _AllArms) -> int:
    return 1


def region_level(threshold: Any, arms: int, family: Any) -> Callable[[float], float]:
    """log f(t) = beta(t, t^-5) for all arms together, but for the arms' own growths."""

    def log_f(rounds: float) -> float:
        fixed = constant(threshold, _AllArms(arms), family, max(rounds, 1.0) ** -5.0)
        return float(fixed) + float(common_growth(threshold, max(rounds, 1.0)))

    return log_f


def check_deltas(delta: float | ArrayLike) -> tuple[float, ...]:
    """Error probabilities strictly between 0 and 1, as given."""
    many = np.ndim(delta) > 0
    values = checks.vector("delta", delta) if many else [checks.finite("delta", delta)]
    for value in values:
        if not 0.0 < value < 1.0:
            raise BadArgument("delta", float(value), "a probability strictly between 0 and 1")
    if len(set(values)) < len(values):
        raise BadArgument("delta", delta, "probabilities that all differ")
    return tuple(float(value) for value in values)


def prepare(
    problem: Any,
    strategy: Any,
    means: ArrayLike | None,
    family: Any,
    deltas: tuple[float, ...],
    threshold: Any,
    max_rounds: int,
) -> Plan:
    """Refuse what cannot run, and compute what is the same for every run (without means: a live one)."""
    arms = base.arm_count(problem)
    truth = np.full(arms, np.nan) if means is None else checks.means(means, arms, family)
    base.check(problem, family)
    if means is not None and not base.is_model(problem, truth):
        raise BadArgument(
            "means", truth.tolist(), f"means among the possible models of {problem!r}"
        )
    most = checks.whole("max_rounds", max_rounds, least=arms)
    if len(deltas) > 1 and hasattr(strategy, "delta"):
        raise BadArgument(
            "delta",
            list(deltas),
            f"a single number for {strategy!r}, which looks at delta",
            "One trajectory has many stopping times only when the sampling rule is the same for all.",
        )
    falling = np.sort(np.array(deltas))[::-1].copy()
    constants = np.array([constant(threshold, problem, family, delta) for delta in falling])
    if not np.all(np.isfinite(constants)) or np.any(np.diff(constants) < 0.0):
        raise BadArgument("threshold", threshold, "one whose constant is finite and falls in delta")
    question = Question(problem, family, truth, region_level(threshold, arms, family), most)
    settled = settle(strategy, question)
    check_strategy(settled)
    return Plan(
        problem,
        family,
        settled,
        threshold,
        truth,
        falling,
        constants,
        int(base.rank(problem)),
        int(base.code_size(problem)),
        bool(proven(threshold, problem, family)),
        most,
    )


def check_strategy(strategy: Any) -> None:
    """It must know how to aim, and have a tracker that knows how to follow."""
    if aim.dispatch(type(strategy)) is aim.dispatch(object):
        raise MissingVerb("aim", strategy)
    if not hasattr(strategy, "tracker"):
        raise BadArgument("strategy", strategy, "one with a field ``tracker``, such as CTracking()")
    if follow.dispatch(type(strategy.tracker)) is follow.dispatch(object):
        raise MissingVerb("follow", strategy.tracker)


def generator(seed: int, cell: int, repetition: int) -> np.random.Generator:
    """Each repetition has its own stream, whatever the workers and blocks."""
    sequence = np.random.SeedSequence(seed, spawn_key=(cell, repetition))
    return np.random.Generator(np.random.PCG64(sequence))


__all__ = ["Plan", "check_deltas", "generator", "prepare", "region_level"]
