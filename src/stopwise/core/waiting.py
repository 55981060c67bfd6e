"""Print one message, on standard error, when an operation takes longer than a second."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE = 1.0  # seconds


class _Wait:
    """Prints its message once, unless the operation is over or an inner operation takes the time."""

    def __init__(self, what: str) -> None:
        self.what, self.said = what, False
        self.go_on()

    def go_on(self) -> None:
        self.timer = threading.Timer(PATIENCE, self._say)
        self.timer.daemon = True
        if not self.said:
            self.timer.start()

    def pause(self) -> None:
        self.timer.cancel()

    def _say(self) -> None:
        self.said = True
        print(f"stopwise: {self.what}", file=sys.stderr, flush=True)


class _Here(threading.local):
    """The operations of a thread, outermost first; ``silent``: nobody waits for this thread."""

    def __init__(self) -> None:
        self.waits: list[_Wait] = []
        self.silent = False


_here = _Here()


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Print ``what`` if the block itself takes long; STOPWISE_QUIET=1 prints nothing."""
    if os.environ.get("STOPWISE_QUIET", "0") not in ("", "0") or _here.silent:
        yield
        return
    if _here.waits:
        _here.waits[-1].pause()
    _here.waits.append(_Wait(what))
    try:
        yield
    finally:
        _here.waits.pop().pause()
        if _here.waits:
            _here.waits[-1].go_on()


@contextmanager
def meanwhile() -> Iterator[None]:
    """Print nothing for this thread inside the block: nobody waits for it."""
    before, _here.silent = _here.silent, True
    try:
        yield
    finally:
        _here.silent = before
