"""A session's rounds: in plain Python at first, compiled where that pays. Both give the same bits."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from stopwise.core.compile import kernels
from stopwise.core.waiting import meanwhile
from stopwise.engine import live
from stopwise.engine.design import Design, generator
from stopwise.engine.live import Record, open_ledger
from stopwise.engine.loop import begin

LONG = 5000  # events of a record from which on compiling pays at once
WIDE = 50  # arms from which on it does
# seconds that a process spends on asks, tells and looks after which, meanwhile, compiled rounds are
# looked for on disk; after which they are compiled; and the latter in a process that goes on for days
EARLY, SOON, SOONER = 0.05, 0.5, 0.1


class Rounds:
    """``live.replay`` and ``live.take`` for one kind of design: all that a session does."""

    def __init__(self, design: Design) -> None:
        self.replay: Callable[..., int] = live.replay
        self.take: Callable[..., int] = live.take
        self._left, self._looked = EARLY, False
        if design.truth.size >= WIDE:
            self.compile(design)

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Asks, tells or looks, which take time; in plain Python as silent as compiled code."""
        begun = time.thread_time()
        with np.errstate(all="ignore"):
            yield
        self._left -= time.thread_time() - begun

    def pay_off(self, design: Design) -> None:
        """A process that asks or looks, and has spent long on it, gets compiled rounds, meanwhile."""
        if self._left <= 0.0 and self.replay is live.replay:
            self._left = math.inf
            work = self._compile_meanwhile if self._looked else self._look_meanwhile
            # not a daemon: a process must not end in the middle of a compiler
            thread = threading.Thread(target=work, args=(design,), daemon=False)
            _threads[:] = [*(each for each in _threads if each.is_alive()), thread]
            thread.start()

    def _look_meanwhile(self, design: Design) -> None:
        with meanwhile():
            self.compile(design, anew=False)
        self._looked, self._left = True, SOON

    def _compile_meanwhile(self, design: Design) -> None:
        if _swaps_stdout():
            return
        with alone() as mine, meanwhile():
            if mine:
                self.compile(design)
            else:
                self._left = SOON  # another process compiles the same, most likely

    def compile(self, design: Design, anew: bool = True) -> None:
        """Compiled from now on; without ``anew`` only if an earlier process has compiled them."""
        if self.replay is live.replay:
            whole = np.zeros(0, dtype=np.int64)
            record = Record(whole, whole, np.zeros(0), whole, whole)
            arguments = (design.setting, design.levels[0], open_ledger(design), record)
            self.take = _compiled(live.take, design, arguments, anew)
            self.replay = _compiled(live.replay, design, (*arguments, whole, generator(0)), anew)


def expect_days() -> None:
    """This process goes on for long: compiling pays sooner."""
    global SOON
    SOON = SOONER


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

        folder = kernels.cache_folder()
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
_threads: list[threading.Thread] = []


def finish() -> None:
    """Wait until nothing is compiled any more."""
    for thread in _threads:
        if thread.is_alive():
            thread.join()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=finish)  # the child would wait for ever for the compiler's lock


def rounds_of(design: Design) -> Rounds:
    """The rounds of a design's kind, shared by all sessions of a process."""
    key = (_kind(design), design.truth.size >= WIDE)
    if key not in _known:
        _known[key] = Rounds(design)
    return _known[key]


def _compiled(
    function: Callable[..., Any], design: Design, arguments: tuple[Any, ...], anew: bool
) -> Any:
    """The function compiled once in a process, by calling it with arguments that may be spoilt."""
    key = (function, _kind(design))
    with _compiling:
        if key not in _kernels:
            fast = kernels.compiled(function, allocates=False, anew=anew)
            try:
                fast(*arguments)
            except kernels.NotOnDisk:
                return function
            except Exception as error:
                if not kernels.from_compiler(error):
                    raise
                fast = function  # somebody's own function that cannot be compiled so
            _kernels[key] = fast
    return _kernels[key]


def _kind(design: Design) -> Any:
    """What compiled code depends on: the types of the setting and of the state, and users' functions."""
    return (kernels.kind(design.setting), kernels.kind(begin(design)), kernels.foreign_state())
