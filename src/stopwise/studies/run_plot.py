"""A plot of one run."""

from __future__ import annotations

from typing import Any


def plot_trace(trace: Any, axes: Any = None) -> Any:
    """Of a RunTrace: evidence and its level over the rounds, and below which arm was sampled."""
    import matplotlib.pyplot as plt
    import numpy as np

    if axes is None:
        _, axes = plt.subplots(2, 1, figsize=(8, 5), sharex=True, height_ratios=(2, 1))
    top, bottom = axes
    rounds = np.arange(1, len(trace) + 1)
    top.plot(rounds, trace.evidence, label="evidence for the leading answer")
    top.plot(rounds, trace.level, label="level")
    top.set_ylabel("evidence")
    top.legend()
    bottom.plot(rounds, trace.arms, ".", markersize=2, alpha=0.4)
    bottom.set_xlabel("round")
    bottom.set_ylabel("sampled arm")
    bottom.yaxis.get_major_locator().set_params(integer=True)
    return axes
