"""A session's rounds: in plain Python at first, compiled where that pays. Both give the same bits."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from stopwise import verbs
from stopwise.engine import live
from stopwise.engine.live import open_ledger
from stopwise.engine.plan import Plan

LONG = 5000  # records from which on compiling pays
WIDE = 50  # arms from which on it pays at once
SOON = 200  # asks of a process after which it pays, meanwhile


class Rounds:
    """``ask`` and ``tell`` for one kind of plan."""

    def __init__(self, plan: Plan) -> None:
        self.ask: Callable[..., int] = live.ask
        self.tell: Callable[..., float] = live.tell
        self._left = SOON
        if plan.truth.size >= WIDE:
            self._compile(plan)

    def pay_off(self, plan: Plan) -> None:
        """Count an ask; a process that makes many of them gets compiled ones, without waiting."""
        self._left -= 1
        if self._left == 0 and self.ask is live.ask:
            # not a daemon: a process must not end in the middle of a compiler
            thread = threading.Thread(target=self._compile_meanwhile, args=(plan,), daemon=False)
            _under_way[:] = [thread]
            thread.start()

    def _compile_meanwhile(self, plan: Plan) -> None:
        if _swaps_stdout():
            return
        with alone() as mine:
            if mine:
                self._compile(plan)
            else:
                self._left = SOON  # another process compiles the same, most likely

    def _compile(self, plan: Plan) -> None:
        values, ledger = (plan.problem, plan.family, plan.strategy), open_ledger(plan)
        told = (*values, plan.threshold, plan.rank, ledger, 0, 0.0)
        ask, tell = _compiled(live.ask, plan, (*values, ledger)), _compiled(live.tell, plan, told)
        self.ask, self.tell = ask, tell


def _swaps_stdout() -> bool:
    """With colours numba puts another sys.stdout in its place now and then: what is printed is lost.

    The package switches them off, unless numba was imported before it.
    """
    from numba.core import errors

    return hasattr(errors, "ColorShell")


@contextmanager
def alone() -> Iterator[bool]:
    """Whether no other process of this user compiles; it will not while the block runs."""
    try:
        import fcntl

        folder = verbs.cache_folder()
        folder.mkdir(parents=True, exist_ok=True)
        file = os.open(folder / "compiling", os.O_RDWR | os.O_CREAT, 0o600)
    except (ImportError, OSError):  # no such locks, or no cache to share
        yield True
        return
    mine = False
    try:
        with suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            mine = True
        yield mine
    finally:
        os.close(file)


_known: dict[tuple[Any, ...], Rounds] = {}
_kernels: dict[tuple[Any, ...], Callable[..., Any]] = {}
_compiling = threading.Lock()
_under_way: list[threading.Thread] = []


def finish() -> None:
    """Wait until nothing is compiled any more."""
    for thread in _under_way:
        if thread.is_alive():
            thread.join()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=finish)  # the child would wait for ever for the compiler's lock


def rounds_of(plan: Plan) -> Rounds:
    """The rounds of a plan's kind, shared by all sessions of a process."""
    key = (_kind(plan), plan.truth.size >= WIDE)
    if key not in _known:
        _known[key] = Rounds(plan)
    return _known[key]


def replay_of(plan: Plan, size: int) -> Callable[..., int]:
    """``live.replay`` for records of such a size."""
    if size <= LONG and plan.truth.size < WIDE:
        return live.replay
    values = (plan.problem, plan.family, plan.strategy, plan.threshold, plan.rank)
    whole, real, past = np.zeros(0, dtype=np.int64), np.zeros(0), live.history(plan, 0)
    rest = (plan.constants[0], open_ledger(plan), whole, whole, real, whole, whole, past)
    found: Callable[..., int] = _compiled(live.replay, plan, (*values, *rest))
    return found


def _compiled(function: Callable[..., Any], plan: Plan, arguments: tuple[Any, ...]) -> Any:
    """The function compiled once in a process, by calling it with arguments that may be spoilt."""
    key = (function, _kind(plan))
    with _compiling:
        if key not in _kernels:
            fast = verbs.compiled(function, allocates=False)
            try:
                fast(*arguments)
            except Exception as error:
                if not type(error).__module__.startswith("numba"):
                    raise
                fast = function  # somebody's own function that cannot be compiled so
            _kernels[key] = fast
    return _kernels[key]


def _kind(plan: Plan) -> Any:
    """What compiled code depends on."""
    values = (plan.problem, plan.family, plan.strategy, plan.threshold)
    return (*map(_type, values), verbs.has_foreign())


def _type(value: Any) -> Any:
    """The type of a value and of all that is in it."""
    return (type(value), *map(_type, value)) if isinstance(value, tuple) else type(value)
