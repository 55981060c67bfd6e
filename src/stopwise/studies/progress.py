"""Progress bars. Nothing here is loaded before it is asked for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar(what: str, count: int, patience: float) -> Iterator[Callable[[int], None]]:
    """A bar on standard error with rate and remaining time, once ``patience`` seconds have passed.

    Until the first report it says that code is being compiled.
    """
    from rich import progress
    from rich.console import Console

    bar = progress.Progress(
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TextColumn("{task.fields[rate]}"),
        progress.TimeElapsedColumn(),
        progress.TextColumn("left"),
        progress.TimeRemainingColumn(),
        console=Console(stderr=True),
    )
    task = bar.add_task("compiling", total=count, rate="")
    begun = time.monotonic()
    later = threading.Timer(patience, bar.start)
    later.daemon = True

    def report(done: int) -> None:
        rate = done / max(time.monotonic() - begun, 1e-9)
        bar.update(task, completed=done, rate=f"{rate:,.1f}/s", description=what)

    later.start()
    try:
        yield report
    finally:
        later.cancel()
        later.join()
        bar.stop()
