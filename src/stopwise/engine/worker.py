"""A worker: one run after the other, by the compiled loop."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from stopwise.core.arrays import arrays_in
from stopwise.core.compile import kernels
from stopwise.core.data import State
from stopwise.core.errors import StopwiseError
from stopwise.engine.design import Design, generator
from stopwise.engine.ending import Ending
from stopwise.engine.loop import Outcome, Trace, begin, run_rounds
from stopwise.engine.source import Supply, empty_source

CHUNK = 32_768  # rounds between chances to stop


class Worker:
    """Runs of one design; the state is used again from run to run."""

    def __init__(self, design: Design, trace: Trace | None = None) -> None:
        self.design = design
        self.state: State = begin(design)
        memory = arrays_in(self.state._replace(cache=None))  # a cache is built from data anyway
        self._first = [(each, each.copy()) for each in memory if each.flags.writeable]
        self.trace = new_trace(design.code_size) if trace is None else trace
        self.kernel = kernel(design, self.state, self.trace)

    def run(
        self, seed: int, cell: int, repetition: int, outcome: Outcome, stopped: Callable[[], bool]
    ) -> Iterator[int]:
        """One run, in chunks; yields the rounds done so far."""
        design = self.design
        for each, first in self._first:
            each[...] = first
        rng = strategy_rng = generator(seed, cell, repetition)
        if design.strategy.uses_randomness:
            strategy_rng = generator(seed, cell, repetition, 1)
        supply = Supply(design, seed, cell, repetition)
        while True:
            rounds = int(outcome.progress[0])
            stop = min(rounds + supply.fill(rounds, CHUNK), design.max_rounds)
            ending = self.kernel(
                *(design.setting, supply.source, design.levels, stop, rng, strategy_rng),
                *(self.state, outcome, self.trace),
            )
            if ending != Ending.FINE:
                raise Ending(ending).error(design, self.state, int(outcome.progress[0]))
            yield int(outcome.progress[0])
            over = outcome.progress[1] == design.levels.size
            if over or outcome.progress[0] >= design.max_rounds or stopped():
                break
        for place in range(int(outcome.progress[1]), design.levels.size):
            outcome.counts[place] = self.state.data.counts


def new_trace(code_size: int, room: int = 0) -> Trace:
    """Room for so many rounds."""
    codes = [np.zeros((room, code_size), dtype=np.int64) for _ in range(2)]
    arms = np.zeros(room, dtype=np.int64)
    return Trace(arms, np.zeros(room), codes[0], codes[1], np.zeros(room), np.zeros(room))


def new_outcome(design: Design) -> Outcome:
    """Room for one run."""
    deltas, arms = design.levels.size, design.truth.size
    return Outcome(
        np.zeros(deltas, dtype=np.int64),
        np.zeros((deltas, design.code_size), dtype=np.int64),
        np.zeros((deltas, arms)),
        np.zeros(2, dtype=np.int64),
    )


_kernels: dict[tuple[Any, ...], Callable[..., int]] = {}
_compiling = threading.Lock()


def kernel(design: Design, state: State, trace: Trace) -> Callable[..., int]:
    """The compiled loop; one that may allocate where a user's functions do; plain without a compiler."""
    key = (
        kernels.kind(design.setting),
        kernels.kind(state.strategy_state),
        bool(design.laws),
        kernels.foreign_state(),
    )
    with _compiling:
        if key not in _kernels:
            _kernels[key] = _compile(design, state, trace)
    return _kernels[key]


def _compile(design: Design, state: State, trace: Trace) -> Callable[..., int]:
    try:
        return _compiled(design, state, trace, False)
    except Exception as error:
        if not kernels.from_compiler(error):
            raise
    try:
        return _compiled(design, state, trace, True)
    except Exception as error:
        if not kernels.from_compiler(error):
            raise
        raise CannotCompile(design, error) from error


def _compiled(design: Design, state: State, trace: Trace, allocates: bool) -> Callable[..., int]:
    """The loop, compiled by running no rounds."""
    found = kernels.compiled(run_rounds, allocates)
    rng = generator(0, 0, 0)
    found(
        *(design.setting, empty_source(design), design.levels, 0, rng, rng),
        *(state, new_outcome(design), trace),
    )
    return found


class CannotCompile(StopwiseError, TypeError):
    """A method of one of the values is not code that numba can compile."""

    def __init__(self, design: Design, cause: BaseException) -> None:
        names = ", ".join(type(each).__name__ for each in design.setting)
        super().__init__(
            f"{kernels.why_not(cause)}\n"
            f"So the rounds of {names} cannot be compiled. Use only what numba compiles (numbers, "
            "arrays, loops, functions of your own that are @jitable), or set NUMBA_DISABLE_JIT=1 to "
            "run in plain Python. The whole report of numba is this error's cause."
        )
