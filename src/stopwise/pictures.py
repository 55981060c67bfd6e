"""What people look at: progress bars and plots. Nothing here is loaded before it is asked for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stopwise.simulation import RunTrace


@contextmanager
def progress_bar(what: str, count: int, patience: float) -> Iterator[Callable[[int], None]]:
    """A bar on standard error with rate and remaining time, once ``patience`` seconds have passed.

    Until the first report it says that code is being compiled.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
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


def plot_trace(trace: RunTrace, axes: Any = None) -> Any:
    """Evidence and threshold over the rounds, and below which arm was sampled."""
    import matplotlib.pyplot as plt
    import numpy as np

    if axes is None:
        _, axes = plt.subplots(2, 1, figsize=(8, 5), sharex=True, height_ratios=(2, 1))
    top, bottom = axes
    rounds = np.arange(1, len(trace) + 1)
    top.plot(rounds, trace.evidence, label="evidence for the leading answer")
    top.plot(rounds, trace.threshold, label="threshold")
    top.set_ylabel("evidence")
    top.legend()
    bottom.plot(rounds, trace.arms, ".", markersize=2, alpha=0.4)
    bottom.set_xlabel("round")
    bottom.set_ylabel("sampled arm")
    bottom.yaxis.get_major_locator().set_params(integer=True)
    return axes
