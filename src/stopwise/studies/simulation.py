"""The public way to run strategies: one run, or many."""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stopwise.core import checks
from stopwise.core.arrays import Floats, Ints
from stopwise.core.errors import BadArgument, Costly, StopwiseError
from stopwise.core.optional import load
from stopwise.core.seeds import RngLike, chosen_seed
from stopwise.core.values import needs_family
from stopwise.core.waiting import waiting
from stopwise.engine.batch import Failure, Seeding, run_batch
from stopwise.engine.design import Design, check_deltas, prepare, with_defaults
from stopwise.engine.loop import Trace
from stopwise.engine.truth import ALLOWED
from stopwise.engine.worker import CHUNK, Worker, new_outcome, new_trace
from stopwise.families.family import Family
from stopwise.problems.problem import Answer, Code, Problem
from stopwise.sampling.strategy import Strategy
from stopwise.stopping.rule import StoppingRule
from stopwise.studies.results import Results, collect

MAX_ROUNDS = 10_000_000
DELTA = 0.05
Means = ArrayLike | Sequence[Any] | Mapping[str, ArrayLike]  # numbers, laws, or pilot data
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
    own = os.path.dirname(os.path.dirname(__file__))
    for frame in reversed(frames):
        if not frame.filename.startswith(own) and "numba" not in frame.filename:
            return f" in {frame.name} ({os.path.basename(frame.filename)}, line {frame.lineno})"
    return ""


def _both(axes: Any) -> Any:
    allowed = "two axes of matplotlib, one above the other"
    found = checks.listed("axes", axes, allowed)
    if len(found) != 2 or not all(checks.has(each, "plot", "set_xlabel") for each in found):
        raise BadArgument("axes", axes, allowed)
    return found


@dataclass(frozen=True, eq=False)
class RunTrace:
    """One entry for each round; ``level`` is what the evidence must reach for the smallest delta."""

    arms: Ints
    samples: Floats
    pursued: tuple[Answer, ...]
    leading: tuple[Answer, ...]  # the answer with the most evidence
    evidence: Floats
    level: Floats

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
                "level": self.level,
            }
        )

    def plot(self, axes: Any = None) -> Any:
        """Evidence against the level, round by round, and which arm was sampled; returns the axes."""
        import matplotlib.pyplot as plt

        if axes is None:
            _, axes = plt.subplots(2, 1, figsize=(8, 5), sharex=True, height_ratios=(2, 1))
        top, bottom = _both(axes)
        rounds = np.arange(1, len(self) + 1)
        top.plot(rounds, self.evidence, label="evidence for the leading answer")
        top.plot(rounds, self.level, label="level")
        top.set_ylabel("evidence")
        top.legend()
        bottom.plot(rounds, self.arms, ".", markersize=2, alpha=0.4)
        bottom.set_xlabel("round")
        bottom.set_ylabel("sampled arm")
        bottom.yaxis.get_major_locator().set_params(integer=True)
        return axes


@dataclass(frozen=True, eq=False)
class Run:
    """One run. Undecided: it reached ``max_rounds``, and ``answer`` is None."""

    problem: Problem
    family: Family
    strategy: Strategy
    stopping: StoppingRule
    delta: float
    seed: int
    proven: bool
    guarantee: str  # the same in words
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
        lines = [
            ("problem", repr(self.problem)),
            ("family", repr(self.family)),
            ("strategy", repr(self.strategy)),
            ("stopping", f"{self.stopping!r} ({self.guarantee})"),
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


@needs_family
def run(
    problem: Problem,
    means: Means,
    *,
    family: Family,
    deviations: float | ArrayLike | None = None,
    strategy: Strategy | None = None,
    stopping: StoppingRule | None = None,
    delta: float = DELTA,
    seed: int | None = None,
    rng: RngLike | None = None,
    max_rounds: int = MAX_ROUNDS,
    costs: float | ArrayLike | None = None,
    trace: bool = False,
) -> Run:
    """One run from its first sample to its answer; with ``trace``, every round of it.

    ``means``, ``deviations`` and ``costs`` are those of ``simulate``; ``strategy`` and ``stopping`` are
    by default those that suit the problem and the family. ``seed`` and ``rng`` as in ``simulate``.
    """
    (only,) = check_deltas(checks.finite("delta", delta))
    setting = with_defaults(problem, family, strategy, stopping)
    checks.truth("trace", trace)
    design = prepare(setting, _given(means), (only,), max_rounds, deviations, costs)
    _warn(design)
    used = chosen_seed(seed, rng)
    room = min(CHUNK, design.max_rounds) if trace else 0
    worker = Worker(design, new_trace(design.code_size, room))
    outcome = new_outcome(design)
    for rounds in worker.run(used, 0, 0, outcome, lambda: False):
        if trace and rounds + CHUNK > worker.trace.arms.size:
            worker.trace = _larger(worker.trace, design)
    rounds, decided = int(outcome.progress[0]), bool(outcome.progress[1])
    answer = problem.decode(outcome.codes[0]) if decided else None
    return Run(
        *design.given,
        only,
        used,
        design.proven,
        design.guarantee,
        rounds,
        answer,
        decided,
        decided and answer in set(problem.correct_answers(design.truth)),
        worker.state.data.counts.copy(),
        worker.state.data.means.copy(),
        _readable(worker.trace, design, rounds) if trace else None,
    )


def _given(means: Means) -> Means:
    """Without means there is nothing to simulate: only campaigns have none."""
    if means is None:
        raise BadArgument("means", means, ALLOWED)
    return means


def _warn(design: Design) -> None:
    """Say that the stopping rule was made for other means, where the caller's code stands."""
    if remark := design.misplaced_warning(design.truth):
        warnings.warn(remark, Costly, stacklevel=4)


def _larger(trace: Trace, design: Design) -> Trace:
    """The same trace with twice the room."""
    bigger = new_trace(design.code_size, 2 * trace.arms.size)
    for old, new in zip(trace, bigger, strict=True):
        new[: len(old)] = old
    return bigger


def _readable(trace: Trace, design: Design, rounds: int) -> RunTrace:
    def named(codes: Code) -> tuple[Answer, ...]:
        table, places = np.unique(codes, axis=0, return_inverse=True)
        names = [design.problem.decode(code) for code in table]
        return tuple(names[place] for place in places.reshape(-1))

    return RunTrace(
        trace.arms[:rounds],
        trace.samples[:rounds],
        named(trace.pursued[:rounds]),
        named(trace.leading[:rounds]),
        trace.evidence[:rounds],
        design.levels[-1] + trace.allowance[:rounds],
    )


@needs_family
def simulate(
    problem: Problem,
    means: Means,
    *,
    family: Family,
    deviations: float | ArrayLike | None = None,
    strategy: Strategy | None = None,
    stopping: StoppingRule | None = None,
    delta: float | Sequence[float] = DELTA,
    repetitions: int = 1000,
    seed: int | None = None,
    rng: RngLike | None = None,
    max_rounds: int = MAX_ROUNDS,
    costs: float | ArrayLike | None = None,
    workers: int | None = None,
    progress: bool | Callable[[int], None] | None = None,
) -> Results:
    """Many independent runs. The results depend on the seed alone, not on the number of workers.

    ``means`` are the arms' true means: samples are the family's. Samples of other laws: a frozen
    distribution of scipy.stats for each arm; or pilot data, which are resampled (a dict from labels to
    values, a list of arrays, or a pandas table with a column for each arm); or ``deviations``, the arms'
    standard deviations (one number, or one each): normal for Gaussian arms, Beta for Bounded ones.
    ``strategy`` and ``stopping`` are by default those that suit the problem and the family. A list of
    deltas gets all its stopping times from one trajectory. ``costs`` is what a sample of each arm costs
    (one number for all, or one each): strategies that track oracle weights save money, not samples, and
    the results have a ``cost`` for each run. In place of ``seed``, a number, there may be ``rng``: a
    number, a numpy SeedSequence, or a numpy Generator, from which a seed is drawn; without either the
    seed is random. ``workers`` is the number of threads (default: one for each processor). ``progress``:
    True or False, or a function that is told how many runs have finished; by default a bar in terminals,
    for anything over 2 seconds. Ctrl-C returns the runs that have finished, with ``complete`` False.
    """
    deltas = check_deltas(delta)
    setting = with_defaults(problem, family, strategy, stopping)
    design = prepare(setting, _given(means), deltas, max_rounds, deviations, costs)
    count = checks.repetitions(repetitions)
    _warn(design)
    used = chosen_seed(seed, rng)
    threads = processors() if workers is None else checks.workers(workers)
    with reporter(progress, count) as report:
        batch, failure, interrupted = run_batch(design, Seeding(used), 0, count, threads, report)
    asked = deltas if checks.is_list(delta) else deltas[0]
    results = collect(design, asked, used, batch, not interrupted and failure is None)
    if costs is not None:
        results = replace(results, costs=checks.costs(costs, problem.arms))
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
) -> Iterator[Callable[[int], None]]:
    """What to tell about finished runs: a function that is given, a bar, or nothing."""
    if progress is not None and not isinstance(progress, bool):
        yield checks.function("progress", progress, "true, false, or a function of the runs done")
    elif progress is False:
        yield lambda done: None
    elif progress is None and not sys.stderr.isatty():
        with waiting(f"{count:,} runs"):
            yield lambda done: None
    else:
        from stopwise.studies.progress import progress_bar

        with progress_bar("runs", count, PATIENCE) as report:
            yield report
