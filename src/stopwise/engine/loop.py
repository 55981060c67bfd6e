"""Exactly one loop: a run from its first sample to its last stopping time."""

from __future__ import annotations

from typing import Any

import numpy as np

from stopwise.checks import Floats
from stopwise.engine.step import begin, choose, observe, statistic
from stopwise.families.base import draw
from stopwise.problems.base import Code
from stopwise.verbs import jitable


@jitable
def play(
    problem: Any,
    family: Any,
    strategy: Any,
    threshold: Any,
    truth: Floats,
    rank: int,
    code_size: int,
    constants: Floats,
    max_rounds: int,
    rng: np.random.Generator,
    times: Floats,
    answers: Code,
    counts: Floats,
) -> None:
    """One run. ``constants`` rise; row d of the outputs is for constants[d]; time 0: undecided."""
    state = begin(truth.size, code_size)
    done = 0
    for rounds in range(max_rounds):
        arm = choose(strategy, problem, family, state, rounds)
        observe(threshold, family, state, arm, draw(family, truth[arm], rng))
        if rounds + 1 < truth.size:
            continue
        score = statistic(problem, family, threshold, rank, state, rounds + 1)
        while done < constants.size and score >= constants[done]:
            times[done] = rounds + 1
            answers[done] = state.answer
            counts[done] = state.memory.counts
            done += 1
        if done == constants.size:
            break
    for d in range(done, constants.size):
        counts[d] = state.memory.counts
