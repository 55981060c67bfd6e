"""Many runs: workers take repetitions one by one and write each into its own row."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stopwise.core.arrays import Floats, Ints
from stopwise.core.errors import StopwiseError
from stopwise.engine.design import Design
from stopwise.engine.loop import Outcome, run_rounds
from stopwise.engine.worker import Worker, new_outcome


class Batch(NamedTuple):
    """The outcome of repetitions ``first``, ``first`` + 1, ...; time 0: undecided."""

    first: int
    times: Ints  # repetition x delta
    codes: Ints  # repetition x delta x code
    counts: Floats  # repetition x delta x arm
    finished: NDArray[np.bool_]


class Failure(NamedTuple):
    """Why a repetition has no outcome."""

    repetition: int
    error: Exception


class Seeding(NamedTuple):
    """Where random numbers come from: the seed, and which cell of a study it is."""

    seed: int
    cell: int = 0


def run_batch(
    design: Design,
    seeding: Seeding,
    first: int,
    count: int,
    workers: int,
    report: Callable[[int], None] = lambda done: None,
) -> tuple[Batch, Failure | None, bool]:
    """Repetitions first to first + count - 1; what failed, if any; whether it was interrupted."""
    batch = new_batch(design, first, count)
    places, lock, stop = iter(range(count)), threading.Lock(), threading.Event()
    failures: list[Failure] = []
    crew = [Worker(design) for _ in range(max(1, min(workers, count)))]

    def work(worker: Worker) -> None:
        while not stop.is_set():
            with lock:
                place = next(places, None)
            if place is None:
                return
            failure = _run_row(worker, seeding, batch, place, stop.is_set)
            if failure is not None:
                stop.set()
                failures.append(failure)

    interrupted = _supervise(work, crew, stop, lambda: int(batch.finished.sum()), report)
    return batch, min(failures, key=lambda each: each.repetition, default=None), interrupted


def run_block(
    design: Design, seeding: Seeding, first: int, count: int, stopped: Callable[[], bool]
) -> tuple[Batch, Failure | None]:
    """The same repetitions one after the other, in the caller's own thread."""
    batch, worker = new_batch(design, first, count), Worker(design)
    for place in range(count):
        failure = _run_row(worker, seeding, batch, place, stopped)
        if failure is not None or stopped():
            return batch, failure
    return batch, None


def new_batch(design: Design, first: int, count: int) -> Batch:
    """Room for repetitions of which none has finished."""
    deltas, arms = design.levels.size, design.truth.size
    return Batch(
        first,
        np.zeros((count, deltas), dtype=np.int64),
        np.zeros((count, deltas, design.code_size), dtype=np.int64),
        np.zeros((count, deltas, arms)),
        np.zeros(count, dtype=bool),
    )


def _run_row(
    worker: Worker, seeding: Seeding, batch: Batch, place: int, stopped: Callable[[], bool]
) -> Failure | None:
    """One repetition into its row."""
    design, repetition = worker.design, batch.first + place
    try:
        progress = np.zeros(2, dtype=np.int64)
        outcome = Outcome(batch.times[place], batch.codes[place], batch.counts[place], progress)
        for _ in worker.run(*seeding, repetition, outcome, stopped):
            pass
        over = progress[1] == design.levels.size or progress[0] >= design.max_rounds
        batch.finished[place] = over
    except Exception as error:
        return Failure(repetition, explain(design, seeding, repetition, error))
    return None


def explain(design: Design, seeding: Seeding, repetition: int, error: Exception) -> Exception:
    """The same error from plain Python, where it says which function raised it."""
    worker = Worker(design)
    if isinstance(error, StopwiseError) or worker.kernel is run_rounds:
        return error
    worker.kernel = run_rounds
    try:
        for _ in worker.run(*seeding, repetition, new_outcome(design), lambda: False):
            pass
    except Exception as again:
        return again
    return error


def _supervise(
    work: Callable[[Worker], None],
    crew: list[Worker],
    stop: threading.Event,
    finished: Callable[[], int],
    report: Callable[[int], None],
) -> bool:
    """Threads do the work (compiled code runs without the interpreter's lock); whether Ctrl-C came."""
    threads = [threading.Thread(target=work, args=(worker,), daemon=True) for worker in crew]
    interrupted = False
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(0.1)
                report(finished())
    except KeyboardInterrupt:
        interrupted = True
        stop.set()
        for thread in threads:
            thread.join()
    report(finished())
    return interrupted
