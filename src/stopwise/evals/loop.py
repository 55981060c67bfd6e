"""``best_of``: every option answers the same items, until one is proven to be the best."""

from __future__ import annotations

import asyncio
import inspect
import math
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from os import PathLike
from typing import Any

from stopwise.core import checks
from stopwise.core.errors import BadArgument
from stopwise.core.seeds import RngLike, chosen_seed
from stopwise.core.spelling import family as spelled_family
from stopwise.evals.report import EvalReport
from stopwise.evals.score import scored, scored_async
from stopwise.evals.work import Call, EvalFailed as EvalFailed, StoredWork, Work, open_campaign
from stopwise.families.family import Family
from stopwise.paired.session import PairedSession

Score = Callable[[Any, Any], float] | Callable[[Any, Any], Awaitable[float]]
DELTA = 0.05
MOST_ITEMS = 10**8
PAUSE = 1.0  # seconds between two looks for results that somebody else has in flight


def _begin(
    options: Mapping[str, Any] | Sequence[Any],
    items: Sequence[Any],
    workers: int,
    family: Family | None = None,
    delta: float = DELTA,
    epsilon: float = 0.0,
    pool: bool = True,
    goal: str = "max",
    seed: int | None = None,
    rng: RngLike | None = None,
    storage: str | PathLike[str] | None = None,
    name: str | None = None,
    lease: float | None = None,
    deterministic: bool = False,
) -> Work:
    crew = checks.workers(workers)
    _check_items(items)
    options = _named(options)
    if len(items) == 0 or len(options) < 2:
        given = f"{len(options)} options, {len(items)} items"
        raise BadArgument("options", given, "two options or more, and an item at least")
    chosen = spelled_family("bounded") if family is None else family
    fixed = checks.truth("deterministic", deterministic)
    size = len(items) if checks.truth("pool", pool) and fixed else None
    asked = {"delta": delta, "epsilon": epsilon, "pool": size, "goal": goal, "deterministic": fixed}
    session = PairedSession(chosen, len(options), **asked)  # type: ignore[arg-type]
    made = options, items, session, crew, chosen_seed(seed, rng, 0)
    if storage is None:
        return Work(*made)
    spec = {
        "question": {"kind": "best-arm", "epsilon": epsilon, "goal": goal},
        "arms": [str(each) for each in options],
        "family": _spelled(chosen),
        "delta": delta,
        "paired": True,
        **({"items": size} if size is not None else {}),
        **({"deterministic": True} if fixed else {}),
    }
    limit = None if lease is None else checks.positive("lease", lease)
    return StoredWork(*made, open_campaign(spec, storage, name), limit)


def _check_items(items: Any) -> None:
    """A list, or anything else with a length and places from 0: it may be long, or on a disk."""
    allowed = f"a list of at most {MOST_ITEMS:,} items"
    good = checks.has(items, "__getitem__", "__len__") and not isinstance(items, Mapping | type)
    try:
        good = good and len(items) <= MOST_ITEMS and (len(items) == 0 or items[0] is not items)
    except Exception:  # no such place, or whatever a stranger's object raises
        good = False
    if not good:
        raise BadArgument("items", items, allowed, "Use list(items).")


def _named(options: Any) -> dict[str, Any]:
    """Options by their names: those of a dict, or what ``str`` says of each."""
    allowed = "a list of options that differ, or a dict from names to options"
    if isinstance(options, Mapping):
        keys, values = list(options), list(options.values())
    else:
        keys = values = checks.listed("options", options, allowed)
    try:
        found = dict(zip(map(str, keys), values, strict=True))
    except Exception:  # of an option that cannot say its name
        raise BadArgument("options", options, allowed) from None
    if len(found) < len(keys):
        raise BadArgument("options", list(found), allowed)
    return found


def _spelled(family: Family) -> Any:
    """A family that differences are known for, as a spec has it."""
    low, high = family.interval()
    if not math.isfinite(high - low):
        return {"kind": "gaussian", "variance": "unknown"}
    coin = family == spelled_family("bernoulli")
    return "bernoulli" if coin else {"kind": "bounded", "low": low, "high": high}


def best_of(
    options: Mapping[str, Any] | Sequence[Any],
    items: Sequence[Any],
    score: Score,
    *,
    family: Family | None = None,
    delta: float = DELTA,
    epsilon: float = 0.0,
    deterministic: bool = False,
    pool: bool = True,
    goal: str = "max",
    workers: int = 1,
    retries: int = 0,
    seed: int | None = None,
    rng: RngLike | None = None,
    storage: str | PathLike[str] | None = None,
    name: str | None = None,
    lease: float | None = None,
    progress: bool | None = None,
) -> EvalReport:
    """Which option scores best on the same items? ``score(option, item)`` gives a number from 0 to 1.

    Items are taken in a random order, each by all options that are in, with ``workers`` calls at a time
    (threads; tasks if ``score`` is a coroutine function). The order is that of ``seed``, by default 0,
    or of ``rng``: a number, a numpy SeedSequence or Generator. It stops when an option is proven to be
    beaten by none by epsilon or more, on items like these: they are taken for a random sample, and may
    be too few for an answer. ``deterministic=True`` says that an option always has the same score on an
    item (no sampled answers, no model as a judge): then the answer is about just these items, unless
    ``pool=False``, and the first 5 scores of each option are made twice to check that. Other numbers
    than 0 to 1: ``family=sw.Bounded(0, 10)``, or ``sw.Gaussian(variance=None)``. A call that fails ends
    the comparison, unless it succeeds with ``retries``. Ctrl-C returns what is known.

    With a ``storage`` (a file such as "evals.db") and a ``name`` a paired campaign keeps every score:
    the same call goes on where an earlier one was interrupted, items may be appended to the list,
    several processes may make the call at once, and ``stopwise serve`` shows it. A score may take any
    time, unless there is a ``lease`` of so many seconds.
    """
    asked = family, delta, epsilon, pool, goal, seed, rng, storage, name, lease, deterministic
    again = checks.whole("retries", retries, least=0)
    work = _begin(options, items, workers, *asked)
    with _bar(work, progress) as step:
        try:
            if inspect.iscoroutinefunction(score):
                return asyncio.run(_async(work, score, workers, again, step))
            return _threads(work, score, workers, again, step)
        except KeyboardInterrupt:
            return work.report("interrupted")


async def best_of_async(
    options: Mapping[str, Any] | Sequence[Any],
    items: Sequence[Any],
    score: Callable[[Any, Any], Awaitable[float]],
    *,
    workers: int = 1,
    retries: int = 0,
    progress: bool | None = None,
    **settings: Any,
) -> EvalReport:
    """``best_of``, with its settings, where an event loop is running already, as in a notebook."""
    again = checks.whole("retries", retries, least=0)
    work = _begin(options, items, workers, **settings)
    with _bar(work, progress) as step:
        return await _async(work, score, workers, again, step)


def _threads(
    work: Work, score: Any, workers: int, retries: int, step: Callable[[], None]
) -> EvalReport:
    """Calls that run when it is decided, or at Ctrl-C, are not waited for."""
    crew, running = ThreadPoolExecutor(workers), dict[Future[Any], Call]()
    try:
        while True:
            while len(running) < workers and (call := work.next()) is not None:
                made = score, work.arguments(call), retries, call.twice
                running[crew.submit(scored, *made)] = call
            if work.decided or not (running or work.others_work()):
                return work.report()
            if not running:
                time.sleep(PAUSE)
                continue
            done, _ = wait(running, timeout=work.beat, return_when=FIRST_COMPLETED)
            work.keep(running.values())
            for each in done:
                _take(work, running.pop(each), each)
            step()
    finally:
        work.give_up(list(running.values()))
        crew.shutdown(wait=False, cancel_futures=True)


async def _async(
    work: Work, score: Any, workers: int, retries: int, step: Callable[[], None]
) -> EvalReport:
    running: dict[asyncio.Future[Any], Call] = {}
    try:
        while True:
            while len(running) < workers and (call := work.next()) is not None:
                made = score, work.arguments(call), retries, call.twice
                running[asyncio.ensure_future(scored_async(*made))] = call
            if work.decided or not (running or work.others_work()):
                return work.report()
            if not running:
                await asyncio.sleep(PAUSE)
                continue
            done, _ = await asyncio.wait(
                running, timeout=work.beat, return_when=asyncio.FIRST_COMPLETED
            )
            work.keep(running.values())
            for each in done:
                _take(work, running.pop(each), each)
            step()
    finally:
        work.give_up(list(running.values()))
        for each in running:
            each.cancel()


def _take(work: Work, call: Call, done: Any) -> None:
    try:
        found = done.result()
    except Exception as error:
        raise work.failed(call, error) from error
    work.told(call, found)


@contextmanager
def _bar(work: Work, progress: bool | None) -> Iterator[Callable[[], None]]:
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
            items, led = work.progress()
            bar.update(task, completed=items, led=led)

        yield step
