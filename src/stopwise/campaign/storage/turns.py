"""Writers of one SQLite file take turns.

Whoever waits for SQLite's lock looks now and then whether it is free; a process that takes it again at
once is nearly always faster. Here whoever wants the lock first takes a second one, on a file beside the
storage, and gives it back as soon as it has SQLite's. So the one that has just written waits behind the
one that waited. Where there are no such locks, things are as SQLite has them.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

PAUSE = 0.001  # seconds between two looks


class Turnstile:
    """The second lock, on a file beside the storage: for whoever may use the storage."""

    def __init__(self, storage: Path) -> None:
        self._path, self._mode = f"{storage}-turn", stat.S_IMODE(storage.stat().st_mode)

    @contextmanager
    def turn(self, patience: float) -> Iterator[None]:
        """Nobody else asks for the storage's lock meanwhile, or for no longer than so many seconds."""
        file = None if fcntl is None else self._opened()
        if file is None:
            yield
            return
        try:
            end = time.monotonic() + patience
            while not _locked(file) and time.monotonic() < end:
                time.sleep(PAUSE)
            yield
        finally:
            os.close(file)  # which gives it back

    def _opened(self) -> int | None:
        with suppress(OSError):  # such as a folder that is not ours: then without turns
            return os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, self._mode)
        return None


def _locked(file: int) -> bool:
    with suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False
