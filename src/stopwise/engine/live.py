"""The same rounds when asks and tells come in any order: for campaigns.

An ask chooses an arm; its sample may arrive late, after others, or never. Samples in flight count for
tracking, never for the means, the evidence or the region. With one ask and one tell after another this
is exactly the simulation's loop.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from stopwise.core.arrays import Floats, Ints, Rng, assign, smallest
from stopwise.core.data import ALLOWANCE, EVIDENCE, State
from stopwise.core.verbs import jitable
from stopwise.engine.design import Design
from stopwise.engine.step import begin, observe
from stopwise.sampling.verbs import aim, catch_up, pick
from stopwise.stopping.verbs import weigh

ASKED, TOLD, RELEASED = range(3)  # what replay understands
# marks: asks and tells that count; with which tell every arm had one; tells at the last aim; all asks
SENT, SEEN, START, AIMED, ASKS = range(5)
NEVER = 2**62


class Ledger(NamedTuple):
    """A run with samples in flight."""

    state: State
    marks: Ints


class Record(NamedTuple):
    """Events to be replayed: what happened, to which arm, with which sample."""

    kinds: Ints
    arms: Ints
    samples: Floats
    waited: Ints  # of a tell: whether its sample was in flight


class History(NamedTuple):
    """What held after each event of a record, as far as there is room."""

    evidence: Floats  # nan until every arm has a sample
    allowance: Floats
    pursued: Ints  # codes
    leading: Ints  # codes


def new_history(design: Design, room: int) -> History:
    """Room for so many events."""
    codes = [np.zeros((room, design.code_size), dtype=np.int64) for _ in range(2)]
    return History(np.full(room, math.nan), np.full(room, math.nan), codes[0], codes[1])


def open_ledger(design: Design) -> Ledger:
    """Before the first ask."""
    return Ledger(begin(design.setting, live=True), np.array([0, 0, NEVER, -1, 0]))


@jitable
def ask(setting: Any, ledger: Ledger, rng: Rng) -> int:
    """The next arm; its sample is in flight from now on."""
    problem, family, strategy, _ = setting
    state, marks = ledger
    if marks[START] == NEVER:  # an arm without a sample has no mean: the one with the fewest comes
        arm = 0
        for k in range(state.taken.size):
            if state.taken[k] < state.taken[arm]:
                arm = k
        state.pursuit.totals[arm] += 1.0
    else:
        if marks[AIMED] != marks[SEEN]:
            aim(strategy, problem, family, state, marks[SEEN], rng)
            marks[AIMED] = marks[SEEN]
        catch_up(strategy, state)
        arm = pick(strategy, problem, family, state, marks[SENT], rng)
    state.taken[arm] += 1.0
    marks[SENT] += 1
    marks[ASKS] += 1
    return arm


@jitable
def give_up(ledger: Ledger, arm: int) -> None:
    """A sample that was in flight will not come, as far as anybody knows."""
    ledger.state.taken[arm] -= 1.0
    ledger.marks[SENT] -= 1


@jitable
def expect(ledger: Ledger, arm: int) -> None:
    """A sample came that nobody waited for: not asked for, or given up."""
    ledger.state.taken[arm] += 1.0
    ledger.marks[SENT] += 1


@jitable
def tell(setting: Any, ledger: Ledger, arm: int, sample: float) -> float:
    """A sample has arrived; returns the evidence less the data's part of the level."""
    problem, family, _, rule = setting
    state, marks = ledger
    marks[SEEN] += 1
    if marks[START] == NEVER:
        state.data.counts[arm] += 1.0
        if smallest(state.data.counts) > 0.0:
            marks[START] = marks[SEEN]
        state.data.counts[arm] -= 1.0
    observe(setting, state, marks[SEEN], marks[START], arm, sample)
    if marks[START] == NEVER:
        return -math.inf
    return weigh(rule, problem, family, state, marks[SEEN], -math.inf)


@jitable
def replay(
    setting: Any,
    level: float,
    ledger: Ledger,
    record: Record,
    found: Ints,
    past: History,
    rng: Rng,
) -> int:
    """Go through a record of events; returns how many were used: all, or up to the one that decides.

    ``found`` becomes the arm that each ask would choose; where a record says otherwise, the record is
    followed.
    """
    for place in range(record.kinds.size):
        arm = record.arms[place]
        if record.kinds[place] == ASKED:
            found[place] = ask(setting, ledger, rng)
            if found[place] != arm:
                give_up(ledger, found[place])
                expect(ledger, arm)
        elif record.kinds[place] == RELEASED:
            give_up(ledger, arm)
        else:
            if record.waited[place] == 0:
                expect(ledger, arm)
            margin = tell(setting, ledger, arm, record.samples[place])
            if margin >= level:
                _note(ledger, past, place)
                return place + 1
        _note(ledger, past, place)
    return record.kinds.size


@jitable
def _note(ledger: Ledger, past: History, place: int) -> None:
    state = ledger.state
    if place < past.evidence.size and ledger.marks[START] != NEVER:
        past.evidence[place] = state.scale[EVIDENCE]
        past.allowance[place] = state.scale[ALLOWANCE]
        assign(past.pursued[place], state.pursuit.code)
        assign(past.leading[place], state.answer)
