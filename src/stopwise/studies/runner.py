"""Which blocks are missing, and who computes them: threads here, or anything with ``submit``."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from stopwise.core.errors import StopwiseError
from stopwise.engine.batch import Batch, Seeding, run_block
from stopwise.engine.design import Design
from stopwise.studies.blocks import BadBlock, Blocks
from stopwise.studies.spec import Case, StudySpec

AHEAD = 4  # blocks that wait for each worker, so that none is idle
UNKNOWN = 64  # workers of an executor that does not say how many it has


class Block(NamedTuple):
    """A range of a case's repetitions."""

    case: Case
    number: int
    first: int
    size: int


class StudyFailed(StopwiseError):
    """A repetition failed; stored blocks are kept."""


def blocks(spec: StudySpec) -> Iterator[Block]:
    """All blocks, in order."""
    for case in spec.cases():
        for number, first in enumerate(range(0, spec.repetitions, spec.block)):
            yield Block(case, number, first, min(spec.block, spec.repetitions - first))


def missing(
    spec: StudySpec, kept: Blocks, shard: tuple[int, int], warn: Callable[[str], None]
) -> list[Block]:
    """The shard's blocks that are not stored; damaged ones are named and set aside."""
    found = []
    for place, block in enumerate(blocks(spec)):
        if place % shard[1] == shard[0] - 1 and not _stored(kept, block, warn):
            found.append(block)
    return found


def _stored(kept: Blocks, block: Block, warn: Callable[[str], None]) -> bool:
    case, number, first, size = block
    if not kept.done(case.number, number):
        return False
    try:
        kept.read(case.number, number, first, size)
    except BadBlock as error:
        aside = kept.set_aside(case.number, number)
        warn(f"{error} It is kept as {aside.name} and computed again.")
        return False
    return True


def compute(
    design: Design,
    seeding: Seeding,
    first: int,
    count: int,
    stopped: Callable[[], bool] = lambda: False,
) -> Batch:
    """A block, wherever this runs."""
    batch, failure = run_block(design, seeding, first, count, stopped)
    if failure is not None:
        kind = type(failure.error).__name__
        raise StudyFailed(f"repetition {failure.repetition} failed: {kind}: {failure.error}")
    return batch


def run_blocks(
    spec: StudySpec,
    todo: Sequence[Block],
    kept: Blocks,
    executor: Any,
    workers: int,
    report: Callable[[int], None],
) -> bool:
    """Compute and store blocks; whether all of them are done (Ctrl-C: no)."""
    if executor is not None:
        width = int(getattr(executor, "_max_workers", 0) or UNKNOWN)
        return _drive(spec, todo, kept, executor.submit, width, report)
    stop = threading.Event()
    with ThreadPoolExecutor(workers) as pool:

        def submit(function: Callable[..., Batch], *task: Any) -> Any:
            return pool.submit(function, *task, stop.is_set)

        try:
            return _drive(spec, todo, kept, submit, workers, report)
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)


def _drive(
    spec: StudySpec,
    todo: Sequence[Block],
    kept: Blocks,
    submit: Callable[..., Any],
    width: int,
    report: Callable[[int], None],
) -> bool:
    """Keep the workers busy, and store what they bring; only this thread writes."""
    arrived: queue.SimpleQueue[tuple[Block, Any]] = queue.SimpleQueue()
    waiting, stored = iter(todo), 0
    running: dict[int, Any] = {}
    designs: dict[int, Design] = {}

    def send() -> None:
        block = next(waiting, None)
        if block is None:
            return
        number = block.case.number
        if number not in designs:
            designs.clear()  # cases come one after the other
            design = spec.design(block.case)
            plain = design.setting  # what the user gave may hold a function, which cannot be sent
            designs[number] = design._replace(given=plain, strategy=plain.strategy)
        seeding = Seeding(spec.seed, number)
        future = submit(compute, designs[number], seeding, block.first, block.size)
        running[id(future)] = future
        future.add_done_callback(lambda done, block=block: arrived.put((block, done)))

    try:
        for _ in range(min(len(todo), AHEAD * width)):
            send()
        for _ in todo:
            block, future = _next(arrived, report, stored)
            running.pop(id(future), None)
            batch = _brought(block, future)
            kept.write(block.case.number, block.number, batch)
            stored += block.size
            report(stored)
            send()
    except KeyboardInterrupt:
        return False
    finally:
        for future in running.values():
            future.cancel()
    return True


def _next(arrived: Any, report: Callable[[int], None], stored: int) -> tuple[Block, Any]:
    """What arrives next; meanwhile the clock of the progress bar goes on, and Ctrl-C is heard."""
    while True:
        try:
            return arrived.get(timeout=0.25)
        except queue.Empty:
            report(stored)


def _brought(block: Block, future: Any) -> Batch:
    case = block.case
    try:
        return future.result()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        place = f"{case.instance.name}, {case.strategy[0]}, {case.stopping[0]}"
        kind = "" if isinstance(error, StudyFailed) else f"{type(error).__name__}: "
        raise StudyFailed(
            f"case {case.number} ({place}), block {block.number}: {kind}{error} Stored blocks are kept."
        ) from error
