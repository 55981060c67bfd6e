"""Nobody waits without a word: what takes more than a second says so, once, on standard error."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE = 1.0  # seconds
_here = threading.local()  # ``silent`` in threads for which nobody waits


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Say what it is, should the block take long. STOPWISE_QUIET=1 says nothing."""
    if os.environ.get("STOPWISE_QUIET", "0") not in ("", "0") or getattr(_here, "silent", False):
        yield
        return
    later = threading.Timer(PATIENCE, _say, (what,))
    later.daemon = True
    later.start()
    try:
        yield
    finally:
        later.cancel()


@contextmanager
def meanwhile() -> Iterator[None]:
    """Nobody waits for what this thread does in the block."""
    before = getattr(_here, "silent", False)
    _here.silent = True
    try:
        yield
    finally:
        _here.silent = before


def _say(what: str) -> None:
    print(f"stopwise: {what}", file=sys.stderr, flush=True)
