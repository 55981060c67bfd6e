"""``best_of``: every option answers the same items, until one is proven to be the best."""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any

import numpy as np

from stopwise.core import checks
from stopwise.core.errors import BadArgument, StopwiseError
from stopwise.core.spelling import family as spelled_family
from stopwise.core.values import Family
from stopwise.evals.report import EvalReport
from stopwise.paired.session import PairedSession

Score = Callable[[Any, Any], float] | Callable[[Any, Any], Awaitable[float]]
Call = tuple[int, int]  # item, arm
DELTA = 0.05


class EvalFailed(StopwiseError):
    """A score could not be had; ``report`` says what was known by then."""

    def __init__(self, label: str, place: int, error: BaseException, report: EvalReport) -> None:
        self.report = report
        super().__init__(f"{label} on items[{place}]: {type(error).__name__}: {error}")


class _Work:
    """Which calls to make next, and what they brought. Items are in a random order of their own."""

    def __init__(
        self, options: Any, items: Sequence[Any], session: PairedSession, workers: int, seed: int
    ) -> None:
        named = options if isinstance(options, Mapping) else {str(each): each for each in options}
        self.labels, self.options = list(named), list(named.values())
        self.items, self.session, self.workers = items, session, workers
        self.order = np.random.default_rng(seed).permutation(len(items))
        self.calls = [0] * len(self.labels)
        self._waiting: deque[Call] = deque()

    def next(self) -> Call | None:
        """A call for an arm that is in; None if there is nothing to do, now or at all."""
        while not self.session.decided:
            if not self._waiting:
                ahead = self.session.in_flight >= self.workers  # a slow call holds the others up
                if ahead or self.session.asked >= len(self.items):
                    return None
                item, arms = self.session.ask()
                self._waiting.extend((item, arm) for arm in arms)
            item, arm = self._waiting.popleft()
            if self.session.is_in(arm):
                self.calls[arm] += 1
                return item, arm
        return None

    def arguments(self, call: Call) -> tuple[Any, Any]:
        return self.options[call[1]], self.items[self.order[call[0]]]

    def told(self, call: Call, value: Any) -> None:
        item, arm = call
        try:
            number = float(value)
            self.session.tell(item, arm, number)
        except (TypeError, ValueError) as error:
            raise self.failed(call, error) from error

    def failed(self, call: Call, error: BaseException) -> EvalFailed:
        place = int(self.order[call[0]])
        return EvalFailed(self.labels[call[1]], place, error, self.report("failed"))

    def report(self, ended: str = "") -> EvalReport:
        usual = "decided" if self.session.decided else "items"
        return EvalReport(self.labels, self.session, ended or usual, self.calls)


def _begin(
    options: Mapping[str, Any] | Sequence[Any],
    items: Sequence[Any],
    workers: int,
    family: Family | None = None,
    delta: float = DELTA,
    epsilon: float = 0.0,
    pool: bool = True,
    goal: str = "max",
    seed: int = 0,
) -> _Work:
    checks.whole("workers", workers, least=1)
    if not isinstance(items, Sequence) and not hasattr(items, "__getitem__"):
        raise BadArgument("items", items, "a list of items", "Use list(items).")
    if len(items) == 0 or len(options) < 2:
        given = f"{len(options)} options, {len(items)} items"
        raise BadArgument("options", given, "two options or more, and an item at least")
    if not isinstance(options, Mapping) and len({str(each) for each in options}) < len(options):
        raise BadArgument("options", list(map(str, options)), "options that differ, or a dict")
    session = PairedSession(
        spelled_family("bounded") if family is None else family,
        len(options),
        delta=delta,
        epsilon=epsilon,
        pool=len(items) if pool else None,
        goal=goal,
    )
    return _Work(options, items, session, workers, checks.whole("seed", seed, least=0))


def best_of(
    options: Mapping[str, Any] | Sequence[Any],
    items: Sequence[Any],
    score: Score,
    *,
    family: Family | None = None,
    delta: float = DELTA,
    epsilon: float = 0.0,
    pool: bool = True,
    goal: str = "max",
    workers: int = 1,
    seed: int = 0,
    progress: bool | None = None,
) -> EvalReport:
    """Which option scores best on the same items? ``score(option, item)`` gives a number from 0 to 1.

    Items are taken in a random order, each by all options that are in, with ``workers`` calls at a time
    (threads; tasks if ``score`` is a coroutine function). It stops when an option is proven to be beaten
    by none by epsilon or more. With ``pool`` that is about just these items; without it about the
    population that they are a random sample of. Other numbers than 0 to 1: ``family=sw.Bounded(0, 10)``,
    or ``sw.Gaussian(variance=None)`` (no pool). Ctrl-C returns what is known.
    """
    work = _begin(options, items, workers, family, delta, epsilon, pool, goal, seed)
    with _bar(work, progress) as step:
        try:
            if inspect.iscoroutinefunction(score):
                return asyncio.run(_async(work, score, workers, step))
            return _threads(work, score, workers, step)
        except KeyboardInterrupt:
            return work.report("interrupted")


async def best_of_async(
    options: Mapping[str, Any] | Sequence[Any],
    items: Sequence[Any],
    score: Callable[[Any, Any], Awaitable[float]],
    *,
    workers: int = 1,
    progress: bool | None = None,
    **settings: Any,
) -> EvalReport:
    """``best_of``, with its settings, where an event loop is running already, as in a notebook."""
    work = _begin(options, items, workers, **settings)
    with _bar(work, progress) as step:
        return await _async(work, score, workers, step)


def _threads(work: _Work, score: Any, workers: int, step: Callable[[], None]) -> EvalReport:
    """Calls that run when it is decided, or at Ctrl-C, are not waited for."""
    crew, running = ThreadPoolExecutor(workers), dict[Future[Any], Call]()
    try:
        while True:
            while len(running) < workers and (call := work.next()) is not None:
                running[crew.submit(score, *work.arguments(call))] = call
            if not running or work.session.decided:
                return work.report()
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for each in done:
                _take(work, running.pop(each), each)
            step()
    finally:
        crew.shutdown(wait=False, cancel_futures=True)


async def _async(work: _Work, score: Any, workers: int, step: Callable[[], None]) -> EvalReport:
    running: dict[asyncio.Future[Any], Call] = {}
    try:
        while True:
            while len(running) < workers and (call := work.next()) is not None:
                running[asyncio.ensure_future(score(*work.arguments(call)))] = call
            if not running or work.session.decided:
                return work.report()
            done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for each in done:
                _take(work, running.pop(each), each)
            step()
    finally:
        for each in running:
            each.cancel()


def _take(work: _Work, call: Call, done: Any) -> None:
    try:
        value = done.result()
    except Exception as error:
        raise work.failed(call, error) from error
    work.told(call, value)


@contextmanager
def _bar(work: _Work, progress: bool | None) -> Iterator[Callable[[], None]]:
    """A bar on standard error: items, and who leads with how much of the evidence."""
    if progress is False or (progress is None and not sys.stderr.isatty()):
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (
        TextColumn("items"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[led]}"),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("items", total=len(work.items), led="")

        def step() -> None:
            now = work.session.verdict()
            share = max(0.0, min(1.0, now.evidence / now.level))
            led = f"{work.labels[now.leader]} leads, {share:.0%} of the evidence"
            bar.update(task, completed=now.items, led=led)

        yield step
