"""Many runs: workers take repetitions one by one and write each into its own row."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stopwise import verbs
from stopwise.checks import Floats
from stopwise.engine.loop import BAD_SAMPLE, BAD_WEIGHTS, FINE, Outcome, Trace, play
from stopwise.engine.plan import Plan, generator
from stopwise.engine.step import State, begin, restart
from stopwise.errors import StopwiseError
from stopwise.problems.base import Code

CHUNK = 32_768  # rounds between chances to stop


class Batch(NamedTuple):
    """The outcome of repetitions ``first``, ``first`` + 1, ...; time 0: undecided."""

    first: int
    times: Code  # repetition x delta
    codes: Code  # repetition x delta x code
    counts: Floats  # repetition x delta x arm
    finished: NDArray[np.bool_]


class Failure(NamedTuple):
    """Why a repetition has no outcome."""

    repetition: int
    error: Exception


def no_trace(code_size: int, room: int = 0) -> Trace:
    """Room for so many rounds."""
    codes = [np.zeros((room, code_size), dtype=np.int64) for _ in range(2)]
    return Trace(
        np.zeros(room, dtype=np.int64),
        np.zeros(room),
        codes[0],
        codes[1],
        np.zeros(room),
        np.zeros(room),
    )


class Desk:
    """A worker's place: the state is used again from run to run."""

    def __init__(self, plan: Plan, trace: Trace | None = None) -> None:
        self.plan = plan
        self.state: State = begin(plan.problem, plan.family, plan.strategy)
        self.trace = no_trace(plan.code_size) if trace is None else trace
        self.kernel = kernel(plan, self.state, self.trace)

    def run(
        self, rng: np.random.Generator, outcome: Outcome, stopped: Callable[[], bool]
    ) -> Iterator[int]:
        """One run, in chunks; yields the rounds done so far."""
        plan = self.plan
        self.state = restart(plan.strategy, self.state)
        while True:
            stop = min(int(outcome.progress[0]) + CHUNK, plan.max_rounds)
            verdict = self.kernel(
                plan.problem,
                plan.family,
                plan.strategy,
                plan.threshold,
                plan.truth,
                plan.rank,
                plan.constants,
                stop,
                rng,
                self.state,
                outcome,
                self.trace,
            )
            if verdict != FINE:
                raise bad_value(plan, self.state, int(verdict), int(outcome.progress[0]))
            yield int(outcome.progress[0])
            over = outcome.progress[1] == plan.constants.size
            if over or outcome.progress[0] >= plan.max_rounds or stopped():
                break
        for place in range(int(outcome.progress[1]), plan.constants.size):
            outcome.counts[place] = self.state.memory.counts


def new_outcome(plan: Plan) -> Outcome:
    """Room for one run."""
    deltas, arms = plan.constants.size, plan.truth.size
    return Outcome(
        np.zeros(deltas, dtype=np.int64),
        np.zeros((deltas, plan.code_size), dtype=np.int64),
        np.zeros((deltas, arms)),
        np.zeros(2, dtype=np.int64),
    )


def run_batch(
    plan: Plan,
    seed: int,
    cell: int,
    first: int,
    count: int,
    workers: int,
    report: Callable[[int], None] | None = None,
) -> tuple[Batch, Failure | None, bool]:
    """Repetitions first to first + count - 1; what failed, if any; whether it was interrupted."""
    batch = new_batch(plan, first, count)
    places, lock, stop = iter(range(count)), threading.Lock(), threading.Event()
    failures: list[Failure] = []
    desks = [Desk(plan) for _ in range(max(1, min(workers, count)))]

    def work(desk: Desk) -> None:
        while not stop.is_set():
            with lock:
                place = next(places, None)
            if place is None:
                return
            failure = _run_row(desk, seed, cell, batch, place, stop.is_set)
            if failure is not None:
                stop.set()
                failures.append(failure)

    interrupted = _supervise(work, desks, stop, lambda: int(batch.finished.sum()), report)
    return batch, min(failures, key=lambda each: each.repetition, default=None), interrupted


def run_block(
    plan: Plan, seed: int, cell: int, first: int, count: int, stopped: Callable[[], bool]
) -> tuple[Batch, Failure | None]:
    """The same repetitions one after the other, in the caller's own thread."""
    batch, desk = new_batch(plan, first, count), Desk(plan)
    for place in range(count):
        failure = _run_row(desk, seed, cell, batch, place, stopped)
        if failure is not None or stopped():
            return batch, failure
    return batch, None


def new_batch(plan: Plan, first: int, count: int) -> Batch:
    """Room for repetitions of which none has finished."""
    deltas, arms = plan.constants.size, plan.truth.size
    return Batch(
        first,
        np.zeros((count, deltas), dtype=np.int64),
        np.zeros((count, deltas, plan.code_size), dtype=np.int64),
        np.zeros((count, deltas, arms)),
        np.zeros(count, dtype=bool),
    )


def _run_row(
    desk: Desk, seed: int, cell: int, batch: Batch, place: int, stopped: Callable[[], bool]
) -> Failure | None:
    """One repetition into its row."""
    plan, repetition = desk.plan, batch.first + place
    try:
        progress = np.zeros(2, dtype=np.int64)
        outcome = Outcome(batch.times[place], batch.codes[place], batch.counts[place], progress)
        for _ in desk.run(generator(seed, cell, repetition), outcome, stopped):
            pass
        over = progress[1] == plan.constants.size or progress[0] >= plan.max_rounds
        batch.finished[place] = over
    except Exception as error:
        return Failure(repetition, explain(plan, seed, cell, repetition, error))
    return None


def explain(plan: Plan, seed: int, cell: int, repetition: int, error: Exception) -> Exception:
    """The same error from plain Python, where it says which function raised it."""
    desk = Desk(plan)
    if isinstance(error, StopwiseError) or desk.kernel is play:
        return error
    desk.kernel = play
    try:
        for _ in desk.run(generator(seed, cell, repetition), new_outcome(plan), lambda: False):
            pass
    except Exception as again:
        return again
    return error


def _supervise(
    work: Callable[[Desk], None],
    desks: list[Desk],
    stop: threading.Event,
    finished: Callable[[], int],
    report: Callable[[int], None] | None,
) -> bool:
    """Threads do the work (compiled code runs without the interpreter's lock); whether Ctrl-C came."""
    threads = [threading.Thread(target=work, args=(desk,), daemon=True) for desk in desks]
    interrupted = False
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(0.1)
                if report is not None:
                    report(finished())
    except KeyboardInterrupt:
        interrupted = True
        stop.set()
        for thread in threads:
            thread.join()
    if report is not None:
        report(finished())
    return interrupted


_kernels: dict[tuple[Any, ...], Callable[..., int]] = {}
_compiling = threading.Lock()


def kernel(plan: Plan, state: State, trace: Trace) -> Callable[..., int]:
    """The compiled loop; one that may allocate where a user's functions do; plain without a compiler."""
    values = (plan.problem, plan.family, plan.strategy, plan.threshold)
    key = (*map(_kind, values), verbs.has_foreign())
    with _compiling:
        if key not in _kernels:
            _kernels[key] = _compile(plan, state, trace)
    return _kernels[key]


def _kind(value: Any) -> Any:
    """The type of a value and of all that is in it."""
    return (type(value), *map(_kind, value)) if isinstance(value, tuple) else type(value)


def _compile(plan: Plan, state: State, trace: Trace) -> Callable[..., int]:
    problem = None
    for allocates in (False, True):
        found = verbs.compiled(play, allocates)
        try:
            _call_once(found, plan, state, trace)
            return found
        except Exception as error:
            if not type(error).__module__.startswith("numba"):
                raise
            problem = error
    raise CannotCompile(plan, problem) from problem


def _call_once(found: Callable[..., int], plan: Plan, state: State, trace: Trace) -> None:
    """Compile by playing no rounds."""
    found(
        plan.problem,
        plan.family,
        plan.strategy,
        plan.threshold,
        plan.truth,
        plan.rank,
        plan.constants,
        0,
        generator(0, 0, 0),
        state,
        new_outcome(plan),
        trace,
    )


class CannotCompile(StopwiseError, TypeError):
    """A function registered for one of the values is not code that numba can compile."""

    def __init__(self, plan: Plan, cause: BaseException | None) -> None:
        names = ", ".join(
            type(each).__name__
            for each in (plan.problem, plan.family, plan.strategy, plan.threshold)
        )
        lines = [line.strip() for line in str(cause).splitlines() if line.strip()]
        super().__init__(
            f"the functions registered for {names} could not be compiled: {' | '.join(lines[:12])}. "
            "Use only what numba compiles (numbers, arrays, loops), or set NUMBA_DISABLE_JIT=1 to run "
            "in plain Python."
        )


def bad_value(plan: Plan, state: State, verdict: int, rounds: int) -> StopwiseError:
    """Which function gave a number that makes no sense, and for which data."""
    memory = state.memory
    data = f"after {rounds} rounds, counts {memory.counts.tolist()}, means {memory.means.tolist()}"
    if verdict == BAD_SAMPLE:
        name = f"draw of {type(plan.family).__name__} gave a sample that is not finite"
    elif verdict == BAD_WEIGHTS:
        name = (
            f"aim of {type(plan.strategy).__name__} (or the oracle of {type(plan.problem).__name__}) "
            f"gave weights that are not >= 0 with sum 1: {memory.weights.tolist()}"
        )
    else:
        name = (
            f"the evidence (cost or project of {type(plan.problem).__name__}) is not a number >= 0"
        )
    return StopwiseError(f"{name}, {data}.")
