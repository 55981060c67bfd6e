"""The same rounds when asks and tells come in any order: for campaigns.

An ask chooses an arm; its sample may arrive late, after others, or never. Samples in flight count for
tracking, never for the means, the evidence or the region. With one ask and one tell after another this
is exactly the simulation's loop.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from stopwise.core.arrays import Floats, Ints, Rng, argmin, smallest, total
from stopwise.core.data import State
from stopwise.core.functions import jitable
from stopwise.engine.design import Design, Setting
from stopwise.engine.loop import Clock, begin, instance_of, observe

# kinds of events in a ``Record``:
ASKED = 0  # an arm was chosen
TOLD = 1  # a sample came that was asked for
RECORDED = 2  # a sample came that nobody asked for
RELEASED = 3  # a sample that was in flight will not come
LOOKED = 4  # somebody looked: the evidence is exact from here on, and nothing else changes
MISSING = 5  # a value that was asked for has not come, and counts at its worst from here on
FOUND = 6  # a missing value has come after all

# entries of ``Ledger.marks``:
SENT = 0  # samples, told or in flight
SEEN = 1  # samples told
START = 2  # SEEN when every arm had its first samples; NEVER before
TARGETED = 3  # SEEN when the strategy last chose its target
ASKS = 4  # asks, including those whose samples were given up
LEAST = 5  # samples of each arm without which there is no decision
EXACT = 6  # SEEN when the evidence was last exact
NEVER = 2**62

# entries of ``History.sizes``:
EVENTS = 0  # events so far
POINTS = 1  # points of the curve
STEP = 2  # samples between two points
CHANGES = 3  # changes of the pursued answer
MOST_POINTS = 256
MOST_CHANGES = 100
ROOM = 4096  # numbers that the rows of changes may take (but there are at least two rows)


class History(NamedTuple):
    """What a report shows of the past, in memory that does not grow."""

    sizes: Ints  # EVENTS, POINTS, ...
    arms: Ints  # of each arm: asks, and samples that nobody asked for
    curve: Floats  # a row a point: samples, evidence, the data's part of the level
    changes: Ints  # the last ones, in a ring: event, samples, the code pursued from there on


class Ledger(NamedTuple):
    """A run with samples in flight: a function of its events."""

    state: State
    marks: Ints  # SENT, SEEN, ...
    history: History
    missing: Floats  # values of each arm that were asked for, count, and have not come


class Record(NamedTuple):
    """Events to go through: what happened, to which arm, with which sample."""

    kinds: Ints
    arms: Ints
    samples: Floats
    waited: Ints  # of a tell: 1 if its sample was in flight
    numbers: Ints  # of an ask: its number among all events; 0: the next one


def open_ledger(design: Design) -> Ledger:
    """Before the first ask."""
    state, marks = begin(design, live=True), np.array([0, 0, NEVER, -1, 0, 0, 0])
    width = 2 + design.code_size
    rows = max(2, min(MOST_CHANGES, ROOM // width))
    history = History(
        np.array([0, 0, 1, 0]),
        np.zeros((state.taken.size, 2), dtype=np.int64),
        np.zeros((MOST_POINTS, 3)),
        np.zeros((rows, width), dtype=np.int64),
    )
    return Ledger(state, marks, history, np.zeros(state.taken.size))


@jitable
def ask(setting: Setting, ledger: Ledger, rng: Rng) -> int:
    """The next arm; its sample is in flight from now on."""
    strategy, (state, marks, history, _) = setting.strategy, ledger
    if marks[START] == NEVER:  # arms need their first samples: the one with the fewest comes
        arm = argmin(state.taken)
        state.plan.totals[arm] += 1.0
    else:
        instance = instance_of(setting, state)
        if marks[TARGETED] != marks[SEEN]:
            strategy.target(instance, state, marks[SEEN], rng)
            marks[TARGETED] = marks[SEEN]
        strategy.recount(state)
        arm = strategy.next_arm(instance, state, marks[SENT], rng)
    state.taken[arm] += 1.0
    marks[SENT] += 1
    marks[ASKS] += 1
    history.sizes[EVENTS] += 1
    history.arms[arm, 0] += 1
    if marks[START] != NEVER:
        _note_pursued(ledger)
    return arm


@jitable
def give_up(ledger: Ledger, arm: int) -> None:
    """A sample that was in flight will not come, as far as anybody knows."""
    ledger.state.taken[arm] -= 1.0
    ledger.marks[SENT] -= 1
    ledger.history.sizes[EVENTS] += 1


@jitable
def miss(ledger: Ledger, arm: int) -> None:
    """A value that has not come counts from now on, at its worst."""
    ledger.missing[arm] += 1.0
    ledger.marks[EXACT] = -1


@jitable
def expect(ledger: Ledger, arm: int, unasked: bool) -> None:
    """Count a sample as in flight, just before it is told: nobody asked for it, or it was given up."""
    ledger.state.taken[arm] += 1.0
    ledger.marks[SENT] += 1
    if unasked:
        ledger.history.arms[arm, 1] += 1


@jitable
def tell(setting: Setting, ledger: Ledger, arm: int, sample: float) -> None:
    """A sample has arrived."""
    state, marks, history, _ = ledger
    marks[SEEN] += 1
    history.sizes[EVENTS] += 1
    if marks[START] == NEVER:
        state.data.counts[arm] += (
            1.0  # as ``observe`` will do: is this the last of the first samples?
        )
        if smallest(state.data.counts) >= setting.family.first_samples():
            marks[START] = marks[SEEN]
        state.data.counts[arm] -= 1.0
    clock = Clock(marks[SEEN], marks[START])
    observe(setting, instance_of(setting, state), state, clock, arm, sample)


@jitable
def current_margin(setting: Setting, ledger: Ledger, enough: float) -> float:
    """The rule's margin, to be compared with the level; below ``enough`` any smaller number will do.

    An exact margin takes long: it is for decisions, for points of the curve and for those who look.
    """
    rule, (state, marks, history, missing) = setting.stopping, ledger
    if marks[START] == NEVER:
        return -math.inf
    on_curve = marks[SEEN] % history.sizes[STEP] == 0
    if on_curve:
        enough = -math.inf
    instance = instance_of(setting, state)
    if total(missing) > 0.0:
        margin = rule.margin_missing(instance, state, marks[SEEN], missing, enough)
    else:
        margin = rule.margin(instance, state, marks[SEEN], enough)
    if margin >= enough:
        marks[EXACT] = marks[SEEN]
    if on_curve:
        _add_point(ledger)
    return margin


@jitable
def _add_point(ledger: Ledger) -> None:
    """Add the evidence to the curve; when the curve is full, keep every other point and double the step."""
    samples, sizes, curve = ledger.marks[SEEN], ledger.history.sizes, ledger.history.curve
    if sizes[POINTS] == curve.shape[0]:
        sizes[STEP] *= 2
        sizes[POINTS] = 0
        for row in range(curve.shape[0]):
            if curve[row, 0] % sizes[STEP] == 0.0:
                for k in range(3):
                    curve[sizes[POINTS], k] = curve[row, k]
                sizes[POINTS] += 1
        if samples % sizes[STEP] != 0:
            return
    point = sizes[POINTS]
    curve[point, 0] = samples
    curve[point, 1] = ledger.state.report.evidence[0]
    curve[point, 2] = ledger.state.report.allowance[0]
    sizes[POINTS] += 1


@jitable
def _note_pursued(ledger: Ledger) -> None:
    """Add a change if the pursued answer is another than after the last ask."""
    code, sizes, changes = ledger.state.plan.pursued, ledger.history.sizes, ledger.history.changes
    before = (sizes[CHANGES] - 1) % changes.shape[0]
    same = sizes[CHANGES] > 0
    for k in range(code.size):
        same = same and changes[before, 2 + k] == code[k]
    if same:
        return
    row = sizes[CHANGES] % changes.shape[0]
    changes[row, 0] = sizes[EVENTS]
    changes[row, 1] = ledger.marks[SEEN]
    for k in range(code.size):
        changes[row, 2 + k] = code[k]
    sizes[CHANGES] += 1


@jitable
def replay(
    setting: Setting, level: float, ledger: Ledger, record: Record, found: Ints, rng: Rng
) -> int:
    """Go through a record of events; returns how many were used: all, or up to the one that decides.

    ``found`` gets the arm that each ask would choose. If the record has another arm, the record is
    followed (-1: the record has none).
    """
    for place in range(record.kinds.size):
        arm, kind = record.arms[place], record.kinds[place]
        if kind == ASKED:
            if record.numbers[place] > 0:
                ledger.history.sizes[EVENTS] = record.numbers[place] - 1
            found[place] = ask(setting, ledger, rng)
            if arm >= 0 and arm != found[place]:
                _ask_instead(ledger, found[place], arm)
        elif kind == RELEASED:
            give_up(ledger, arm)
        elif _take_one(setting, level, ledger, record, place):
            return place + 1
    return record.kinds.size


@jitable
def take(setting: Setting, level: float, ledger: Ledger, record: Record) -> int:
    """``replay`` without asks, and so without a generator, which takes long to pass from Python."""
    for place in range(record.kinds.size):
        if _take_one(setting, level, ledger, record, place):
            return place + 1
    return record.kinds.size


@jitable
def decides(ledger: Ledger, margin: float, level: float) -> bool:
    """Whether the evidence is enough, and every arm has as many samples as were asked for."""
    return margin >= level and smallest(ledger.state.data.counts) >= ledger.marks[LEAST]


@jitable
def _take_one(setting: Setting, level: float, ledger: Ledger, record: Record, place: int) -> bool:
    """Enter a sample, a missing value or a look; returns whether that decides."""
    arm, kind = record.arms[place], record.kinds[place]
    if kind == MISSING:
        miss(ledger, arm)
        return False
    if kind != LOOKED:
        if kind == FOUND:
            ledger.missing[arm] -= 1.0
        if record.waited[place] == 0:
            expect(ledger, arm, kind == RECORDED)
        tell(setting, ledger, arm, record.samples[place])
    margin = current_margin(setting, ledger, -math.inf if kind == LOOKED else level)
    return decides(ledger, margin, level)


@jitable
def _ask_instead(ledger: Ledger, chosen: int, arm: int) -> None:
    """Count the last ask as one for ``arm``, not for the chosen one."""
    ledger.state.taken[chosen] -= 1.0
    ledger.state.taken[arm] += 1.0
    ledger.history.arms[chosen, 0] -= 1
    ledger.history.arms[arm, 0] += 1
