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
    """Run repetitions ``first`` to ``first + count - 1`` in threads.

    Returns the batch, the failure of the earliest repetition that failed (the others stop then), and
    whether Ctrl-C interrupted them. ``report`` gets the number of finished repetitions now and then.
    """
    batch = new_batch(design, first, count)
    rows, lock, stop = iter(range(count)), threading.Lock(), threading.Event()
    failures: list[Failure] = []

    def work(worker: Worker) -> None:
        while not stop.is_set():
            with lock:
                row = next(rows, None)
            if row is None:
                return
            failure = _run_row(worker, seeding, batch, row, stop.is_set)
            if failure is not None:
                stop.set()
                failures.append(failure)

    threads = [
        threading.Thread(target=work, args=(Worker(design),), daemon=True)
        for _ in range(max(1, min(workers, count)))
    ]
    interrupted = _wait_for(threads, stop, lambda: report(int(batch.finished.sum())))
    return batch, min(failures, key=lambda each: each.repetition, default=None), interrupted


def run_block(
    design: Design, seeding: Seeding, first: int, count: int, stopped: Callable[[], bool]
) -> tuple[Batch, Failure | None]:
    """The same repetitions one after the other, in the caller's own thread."""
    batch, worker = new_batch(design, first, count), Worker(design)
    for row in range(count):
        failure = _run_row(worker, seeding, batch, row, stopped)
        if failure is not None or stopped():
            return batch, failure
    return batch, None


def new_batch(design: Design, first: int, count: int) -> Batch:
    """A batch of repetitions of which none has finished."""
    deltas, arms = design.levels.size, design.truth.size
    return Batch(
        first,
        np.zeros((count, deltas), dtype=np.int64),
        np.zeros((count, deltas, design.code_size), dtype=np.int64),
        np.zeros((count, deltas, arms)),
        np.zeros(count, dtype=bool),
    )


def _run_row(
    worker: Worker, seeding: Seeding, batch: Batch, row: int, stopped: Callable[[], bool]
) -> Failure | None:
    """One repetition into its row of the batch."""
    design, repetition = worker.design, batch.first + row
    try:
        progress = np.zeros(2, dtype=np.int64)
        outcome = Outcome(batch.times[row], batch.codes[row], batch.counts[row], progress)
        for _ in worker.run(*seeding, repetition, outcome, stopped):
            pass
        rounds, crossed = progress
        batch.finished[row] = crossed == design.levels.size or rounds >= design.max_rounds
    except Exception as error:
        return Failure(repetition, _plain_error(design, seeding, repetition, error))
    return None


def _plain_error(design: Design, seeding: Seeding, repetition: int, error: Exception) -> Exception:
    """The same error from plain Python, whose traceback says which function raised it."""
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


def _wait_for(
    threads: list[threading.Thread], stop: threading.Event, report: Callable[[], None]
) -> bool:
    """Start threads and wait for them (compiled code runs without the interpreter's lock).

    Returns whether Ctrl-C came, which sets ``stop``.
    """
    interrupted = False
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(0.1)
                report()
    except KeyboardInterrupt:
        interrupted = True
        stop.set()
        for thread in threads:
            thread.join()
    report()
    return interrupted
