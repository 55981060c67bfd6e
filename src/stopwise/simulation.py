"""The public way to run strategies: one run, or many."""

from __future__ import annotations

import os
import secrets
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stopwise import checks
from stopwise.checks import Floats
from stopwise.engine.batch import CHUNK, Desk, Failure, new_outcome, no_trace, run_batch
from stopwise.engine.loop import Trace
from stopwise.engine.plan import Plan, check_deltas, generator, prepare
from stopwise.errors import StopwiseError
from stopwise.families import Gaussian
from stopwise.problems import base
from stopwise.problems.base import Answer, Code
from stopwise.results import Results, collect, load
from stopwise.stopping import Mixture

MAX_ROUNDS = 10_000_000
PATIENCE = 2.0  # seconds before a progress bar appears


class RunFailed(StopwiseError):
    """A repetition failed; ``results`` holds those that had finished."""

    def __init__(self, failure: Failure, seed: int, results: Results) -> None:
        self.repetition, self.results = failure.repetition, results
        kind, place = type(failure.error).__name__, _place(failure.error)
        super().__init__(
            f"repetition {failure.repetition} (seed {seed}) failed{place}: {kind}: {failure.error} "
            f"The {len(results)} finished runs are in this error's ``results``."
        )


def _place(error: BaseException) -> str:
    """Where an error was raised, if outside this package: the user's function and line."""
    frames = traceback.extract_tb(error.__traceback__)
    own = os.path.dirname(__file__)
    for frame in reversed(frames):
        if not frame.filename.startswith(own) and "numba" not in frame.filename:
            return f" in {frame.name} ({os.path.basename(frame.filename)}, line {frame.lineno})"
    return ""


@dataclass(frozen=True, eq=False)
class RunTrace:
    """One entry for each round; the threshold is that of the smallest delta."""

    arms: Code
    samples: Floats
    pursued: tuple[Answer, ...]
    leading: tuple[Answer, ...]  # the answer with the most evidence
    evidence: Floats
    threshold: Floats

    def __len__(self) -> int:
        return int(self.arms.size)

    def to_pandas(self) -> Any:
        """A table with a row for each round."""
        return load("pandas", "to_pandas").DataFrame(
            {
                "arm": self.arms,
                "sample": self.samples,
                "pursued": [str(answer) for answer in self.pursued],
                "leading": [str(answer) for answer in self.leading],
                "evidence": self.evidence,
                "threshold": self.threshold,
            }
        )

    def plot(self, axes: Any = None) -> Any:
        """Evidence against threshold, round by round; returns the axes."""
        from stopwise.pictures import plot_trace

        return plot_trace(self, axes)


@dataclass(frozen=True, eq=False)
class Run:
    """One run. Undecided: it reached ``max_rounds``, and ``answer`` is None."""

    problem: Any
    family: Any
    strategy: Any
    threshold: Any
    delta: float
    seed: int
    proven: bool
    stopping_time: int  # rounds done, also when undecided
    answer: Answer | None
    decided: bool
    correct: bool
    counts: Floats
    estimates: Floats
    trace: RunTrace | None

    @property
    def status(self) -> str:
        """ "decided" or "undecided"."""
        return "decided" if self.decided else "undecided"

    def __repr__(self) -> str:
        word = "proven" if self.proven else "not proven"
        lines = [
            ("problem", repr(self.problem)),
            ("family", repr(self.family)),
            ("strategy", repr(self.strategy)),
            ("threshold", f"{self.threshold!r} ({word} delta-correct)"),
            ("delta", f"{self.delta:g}"),
            ("seed", str(self.seed)),
            (
                "answer",
                f"{self.answer!r} ({self.status}, {'correct' if self.correct else 'not correct'})",
            ),
            ("rounds", f"{self.stopping_time:,}"),
            ("counts", str(self.counts.astype(int).tolist())),
        ]
        return "\n".join(["Run", *(f"{name:<12}{value}" for name, value in lines)])


def _seed(seed: int | None) -> int:
    return secrets.randbits(64) if seed is None else checks.whole("seed", seed, least=0)


def run(
    problem: Any,
    strategy: Any,
    means: ArrayLike,
    family: Any = Gaussian(),
    delta: float = 0.1,
    threshold: Any = Mixture(),
    seed: int | None = None,
    max_rounds: int = MAX_ROUNDS,
    trace: bool = False,
) -> Run:
    """One run from its first sample to its answer; with ``trace``, every round of it."""
    (only,) = check_deltas(checks.finite("delta", delta))
    plan = prepare(problem, strategy, means, family, (only,), threshold, max_rounds)
    used = _seed(seed)
    room = min(CHUNK, plan.max_rounds) if trace else 0
    desk = Desk(plan, no_trace(plan.code_size, room))
    outcome = new_outcome(plan)
    for rounds in desk.run(generator(used, 0, 0), outcome, lambda: False):
        if trace and rounds + CHUNK > desk.trace.arms.size:
            desk.trace = _larger(desk.trace, plan)
    rounds, decided = int(outcome.progress[0]), bool(outcome.progress[1])
    answer = base.decode(problem, outcome.codes[0]) if decided else None
    return Run(
        plan.problem,
        plan.family,
        strategy,
        threshold,
        only,
        used,
        plan.proven,
        rounds,
        answer,
        decided,
        decided and answer in set(base.correct_answers(problem, plan.truth)),
        desk.state.memory.counts.copy(),
        desk.state.memory.means.copy(),
        _readable(desk.trace, plan, rounds) if trace else None,
    )


def _larger(trace: Trace, plan: Plan) -> Trace:
    """The same trace with twice the room."""
    bigger = no_trace(plan.code_size, 2 * trace.arms.size)
    for old, new in zip(trace, bigger, strict=True):
        new[: len(old)] = old
    return bigger


def _readable(trace: Trace, plan: Plan, rounds: int) -> RunTrace:
    def named(codes: Code) -> tuple[Answer, ...]:
        table, places = np.unique(codes, axis=0, return_inverse=True)
        names = [base.decode(plan.problem, code) for code in table]
        return tuple(names[place] for place in places.reshape(-1))

    return RunTrace(
        trace.arms[:rounds],
        trace.samples[:rounds],
        named(trace.pursued[:rounds]),
        named(trace.codes[:rounds]),
        trace.evidence[:rounds],
        plan.constants[-1] + trace.growths[:rounds],
    )


def simulate(
    problem: Any,
    strategy: Any,
    means: ArrayLike,
    family: Any = Gaussian(),
    delta: float | Sequence[float] = 0.1,
    threshold: Any = Mixture(),
    repetitions: int = 1000,
    seed: int | None = None,
    max_rounds: int = MAX_ROUNDS,
    workers: int | None = None,
    progress: bool | Callable[[int], None] | None = None,
) -> Results:
    """Many independent runs. The results depend on the seed alone, not on the number of workers.

    A list of deltas gets all its stopping times from one trajectory. ``workers`` is the number of
    threads (default: one for each processor). ``progress``: True or False, or a function that is
    told how many runs have finished; by default a bar in terminals, for anything over 2 seconds.
    Ctrl-C returns the runs that have finished, with ``complete`` False.
    """
    deltas = check_deltas(delta)
    plan = prepare(problem, strategy, means, family, deltas, threshold, max_rounds)
    count = checks.whole("repetitions", repetitions, least=1)
    used = _seed(seed)
    threads = processors() if workers is None else checks.whole("workers", workers, least=1)
    with reporter(progress, count) as report:
        batch, failure, interrupted = run_batch(plan, used, 0, 0, count, threads, report)
    asked = deltas if np.ndim(delta) > 0 else deltas[0]
    results = collect(plan, strategy, asked, used, batch, not interrupted and failure is None)
    if failure is not None:
        raise RunFailed(failure, used, results) from failure.error
    return results


def processors() -> int:
    """How many this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def reporter(
    progress: bool | Callable[[int], None] | None, count: int
) -> Iterator[Callable[[int], None] | None]:
    """What to tell about finished runs: a function that is given, a bar, or nothing."""
    if callable(progress):
        yield progress
    elif progress is False or (progress is None and not sys.stderr.isatty()):
        yield None
    else:
        from stopwise.pictures import progress_bar

        with progress_bar("runs", count, PATIENCE) as report:
            yield report
