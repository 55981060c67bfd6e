"""Single steps of a run, in plain Python: for tests that look between two rounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from stopwise.core.arrays import Rng
from stopwise.core.data import State
from stopwise.core.functions import jitable
from stopwise.engine import loop
from stopwise.engine.design import Design, Setting
from stopwise.engine.loop import Clock, instance_of
from stopwise.problems.instance import Instance, Question
from stopwise.stopping.wealth import Wealth


def begin(asked: Any) -> State:
    """The state before the first sample, of a design or of four values, which are not checked."""
    return loop.begin(asked if isinstance(asked, Design) else _unchecked(Setting(*asked)))


def _unchecked(asked: Setting) -> Design:
    problem, family, strategy, rule = asked
    question = _question(problem, family.estimated(family.init_stats(problem.arms)))
    numbers = question.truth, np.array([0.05]), np.zeros(1), int(problem.code_size()), False, 10**6
    return Design(*asked, asked, *numbers, strategy.init(question), rule.init(question))


def _question(problem: Any, family: Any) -> Question:
    truth = np.full(problem.arms, np.nan)
    return Question(problem, family, family, truth, np.nan, lambda rounds: 0.0, 10**6)


def wealth_state(problem: Any, family: Any) -> Any:
    """What Wealth keeps of a question, before the first sample; ``family`` is the estimated one."""
    return Wealth().init(_question(problem, family))


@jitable
def choose(setting: Any, state: State, rounds: int, rng: Rng) -> int:
    """The arm after so many rounds."""
    whole = Setting(setting[0], setting[1], setting[2], setting[3])
    clock = Clock(rounds, whole.family.first_samples() * state.taken.size)
    return loop.choose(whole, instance_of(whole, state), state, clock, rng)


@jitable
def observe(setting: Any, state: State, rounds: int, start: int, arm: int, sample: float) -> None:
    """Enter the sample that completes this many rounds."""
    whole = Setting(setting[0], setting[1], setting[2], setting[3])
    clock = Clock(rounds, start)
    loop.observe(whole, instance_of(whole, state), state, clock, arm, sample)


@jitable
def instance(problem: Any, family: Any, state: State) -> Instance:
    """The problem with a run's data; ``family`` is the estimated one."""
    return Instance(problem, family, state.data, state.cache)
