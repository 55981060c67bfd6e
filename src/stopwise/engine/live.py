"""The same rounds when asks and tells come in any order: for campaigns.

An ask chooses an arm; its sample may arrive late, after others, or never. Samples that are under way
count for tracking, never for the means, the evidence or the region. With one ask and one tell after
another this is exactly the simulation's loop.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from stopwise.arrays import assign, smallest
from stopwise.checks import Floats
from stopwise.engine.plan import Plan
from stopwise.engine.step import State, begin, growth, observe, track, weigh
from stopwise.problems.base import Code
from stopwise.sampling.strategies import aim
from stopwise.sampling.tracking import recount
from stopwise.verbs import jitable

ASKED, TOLD, RELEASED = range(3)  # what replay understands
SENT, SEEN, START, AIMED = range(
    4
)  # marks: asks and tells that count; when all arms had one; last aim
NEVER = 2**62


class Ledger(NamedTuple):
    """A run with samples under way."""

    state: State
    taken: Floats  # samples of each arm, with those under way
    marks: Code
    status: Floats  # evidence, and the data's part of the threshold
    answer: Code  # when the evidence first crossed: the answer


EVIDENCE, GROWTH = range(2)


class History(NamedTuple):
    """What held after each event of a record, as far as there is room."""

    evidence: Floats  # nan until every arm has a sample
    growths: Floats
    pursued: Code
    leading: Code


def history(plan: Plan, room: int) -> History:
    """Room for so many events."""
    codes = [np.zeros((room, plan.code_size), dtype=np.int64) for _ in range(2)]
    return History(np.full(room, math.nan), np.full(room, math.nan), codes[0], codes[1])


def open_ledger(plan: Plan) -> Ledger:
    """Before the first ask."""
    arms = plan.truth.size
    marks = np.array([0, 0, NEVER, -1])
    answer = np.zeros(plan.code_size, dtype=np.int64)
    state = begin(plan.problem, plan.family, plan.strategy)
    return Ledger(state, np.zeros(arms), marks, np.zeros(2), answer)


@jitable
def ask(problem: Any, family: Any, strategy: Any, ledger: Ledger) -> int:
    """The next arm; its sample is under way from now on."""
    state, taken, marks, _, _ = ledger
    if (
        marks[START] == NEVER
    ):  # an arm without a sample has no mean: the arm with the fewest under way
        arm = 0
        for k in range(taken.size):
            if taken[k] < taken[arm]:
                arm = k
        state.totals[arm] += 1.0
    else:
        if marks[AIMED] != marks[SEEN]:
            aim(strategy, problem, family, state.memory, marks[SEEN])
            marks[AIMED] = marks[SEEN]
        recount(strategy.tracker, state.memory.weights, taken, state.totals)
        arm = track(strategy, state, taken, marks[SENT])
    taken[arm] += 1.0
    marks[SENT] += 1
    return arm


@jitable
def give_up(ledger: Ledger, arm: int) -> None:
    """A sample that was under way will not come, as far as anybody knows."""
    ledger.taken[arm] -= 1.0
    ledger.marks[SENT] -= 1


@jitable
def expect(ledger: Ledger, arm: int) -> None:
    """A sample came that nobody waited for: not asked for, or given up."""
    ledger.taken[arm] += 1.0
    ledger.marks[SENT] += 1


@jitable
def tell(
    problem: Any,
    family: Any,
    strategy: Any,
    threshold: Any,
    rank: int,
    ledger: Ledger,
    arm: int,
    sample: float,
) -> float:
    """A sample has arrived; returns the evidence less the data's part of the threshold."""
    state, _, marks, status, answer = ledger
    marks[SEEN] += 1
    if marks[START] == NEVER:
        state.memory.counts[arm] += 1.0
        if smallest(state.memory.counts) > 0.0:
            marks[START] = marks[SEEN]
        state.memory.counts[arm] -= 1.0
    observe(strategy, problem, family, threshold, state, marks[SEEN], marks[START], arm, sample)
    if marks[START] == NEVER:
        return -math.inf
    status[EVIDENCE] = weigh(problem, family, state, 0.0)
    status[GROWTH] = growth(threshold, state, rank, marks[SEEN])
    assign(answer, state.answer)
    return status[EVIDENCE] - status[GROWTH]


@jitable
def replay(
    problem: Any,
    family: Any,
    strategy: Any,
    threshold: Any,
    rank: int,
    constant: float,
    ledger: Ledger,
    kinds: Code,
    arms: Code,
    samples: Floats,
    waited: Code,
    found: Code,
    past: History,
) -> int:
    """Go through a record of events; returns how many were used: all, or up to the one that decides.

    ``waited`` says of a tell whether its sample was under way. ``found`` becomes the arm that each ask
    would choose; where a record says otherwise, the record is followed.
    """
    for place in range(kinds.size):
        arm = arms[place]
        if kinds[place] == ASKED:
            found[place] = ask(problem, family, strategy, ledger)
            if found[place] != arm:
                give_up(ledger, found[place])
                expect(ledger, arm)
        elif kinds[place] == RELEASED:
            give_up(ledger, arm)
        else:
            if waited[place] == 0:
                expect(ledger, arm)
            margin = tell(problem, family, strategy, threshold, rank, ledger, arm, samples[place])
            if margin >= constant:
                _note(ledger, past, place)
                return place + 1
        _note(ledger, past, place)
    return kinds.size


@jitable
def _note(ledger: Ledger, past: History, place: int) -> None:
    if place < past.evidence.size and ledger.marks[START] != NEVER:
        past.evidence[place] = ledger.status[EVIDENCE]
        past.growths[place] = ledger.status[GROWTH]
        assign(past.pursued[place], ledger.state.memory.code)
        assign(past.leading[place], ledger.answer)
