"""A worker: one run after the other, by the compiled loop; and the errors of runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import numpy as np

from stopwise.core.arrays import arrays_in
from stopwise.core.compile import kernels
from stopwise.core.data import State
from stopwise.core.errors import StopwiseError
from stopwise.engine.design import Design, generator
from stopwise.engine.loop import (
    BAD_ARM,
    BAD_EVIDENCE,
    BAD_SAMPLE,
    BAD_WEIGHTS,
    FINE,
    Outcome,
    Trace,
    begin,
    run_rounds,
)
from stopwise.engine.source import Supply, empty_source

CHUNK = 32_768  # rounds between chances to stop


class Worker:
    """Runs of one design, one after the other, in the same memory."""

    def __init__(self, design: Design, trace: Trace | None = None) -> None:
        self.design = design
        self.state: State = begin(design)
        memory = arrays_in(self.state._replace(cache=None))  # a cache is built from data anyway
        # each array of the state, with a copy of what is in it before the first sample
        self._memory = [(each, each.copy()) for each in memory if each.flags.writeable]
        self.trace = new_trace(design.code_size) if trace is None else trace
        self.kernel = kernel(design, self.state, self.trace)

    def run(
        self, seed: int, cell: int, repetition: int, outcome: Outcome, stopped: Callable[[], bool]
    ) -> Iterator[int]:
        """One run into ``outcome``, in chunks of rounds; yields the rounds done so far after each.

        The run depends on the seed, the cell of a study and the repetition alone.
        """
        design = self.design
        for array, content in self._memory:
            array[...] = content
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
            if ending != FINE:
                raise bad_number(ending, design, self.state, int(outcome.progress[0]))
            yield int(outcome.progress[0])
            over = outcome.progress[1] == design.levels.size
            if over or outcome.progress[0] >= design.max_rounds or stopped():
                break
        outcome.counts[int(outcome.progress[1]) :] = self.state.data.counts  # of undecided levels


def bad_number(ending: int, design: Design, state: State, rounds: int) -> StopwiseError:
    """Which function gave a number that makes no sense, and for which data."""
    problem, family, strategy, rule = (type(each).__name__ for each in design.setting)
    source = "an arm's law" if design.laws else f"draw of {family}"
    weights, arms = state.plan.weights.tolist(), state.taken.size
    sentence = {
        BAD_SAMPLE: f"{source} gave a sample that is not finite",
        BAD_WEIGHTS: (
            f"target of {strategy} (or the oracle of {problem}) gave weights that are not >= 0 with sum 1: "
            f"{weights}"
        ),
        BAD_ARM: f"next_arm of {strategy} gave an arm that is none of 0 to {arms - 1}",
        BAD_EVIDENCE: (
            f"margin of {rule} gave nan: the evidence (cost or project of {problem}) is not a number >= 0"
        ),
    }[ending]
    counts, means = state.data.counts.tolist(), state.data.means.tolist()
    return StopwiseError(f"{sentence}, after {rounds} rounds, counts {counts}, means {means}.")


def new_trace(code_size: int, rounds: int = 0) -> Trace:
    """An empty trace for so many rounds."""
    pursued, leading = np.zeros((2, rounds, code_size), dtype=np.int64)
    arms = np.zeros(rounds, dtype=np.int64)
    return Trace(arms, np.zeros(rounds), pursued, leading, np.zeros(rounds), np.zeros(rounds))


def new_outcome(design: Design) -> Outcome:
    """The outcome of a run that has not begun."""
    deltas, arms = design.levels.size, design.truth.size
    return Outcome(
        np.zeros(deltas, dtype=np.int64),
        np.zeros((deltas, design.code_size), dtype=np.int64),
        np.zeros((deltas, arms)),
        np.zeros(2, dtype=np.int64),
    )


Kernel = Callable[..., int]  # ``run_rounds``, compiled or not
_kernels: dict[tuple[object, ...], Kernel] = {}  # by what they were compiled for
_compiling = threading.Lock()


def kernel(design: Design, state: State, trace: Trace) -> Kernel:
    """``run_rounds``, compiled for this design; itself where compilation is switched off."""
    key = (
        kernels.kind(design.setting),
        kernels.kind(state),
        bool(design.laws),
        kernels.foreign_state(),
    )
    with _compiling:
        if key not in _kernels:
            _kernels[key] = _compile(design, state, trace)
    return _kernels[key]


def _compile(design: Design, state: State, trace: Trace, allocates: bool = False) -> Kernel:
    """Compile by running no rounds; if users' methods create arrays, again as a loop that may do so."""
    found, rng = kernels.compiled(run_rounds, allocates), generator(0, 0, 0)
    try:
        found(
            *(design.setting, empty_source(design), design.levels, 0, rng, rng),
            *(state, new_outcome(design), trace),
        )
    except Exception as error:
        if not kernels.from_compiler(error):
            raise
        if allocates:
            raise CannotCompile(design, error) from error
        return _compile(design, state, trace, allocates=True)
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
