"""A campaign as a picture: evidence against threshold."""

from __future__ import annotations

from typing import Any

from stopwise.campaign.spec import AnySession
from stopwise.core import checks
from stopwise.core.errors import BadArgument


def plot_curve(session: AnySession, axes: Any = None) -> Any:
    """Evidence and threshold over the samples; returns the axes."""
    import matplotlib.pyplot as plt

    samples, evidence, threshold = session.curve
    if axes is not None and not checks.has(axes, "plot", "set_xlabel", "legend"):
        raise BadArgument("axes", axes, "axes of Matplotlib")
    if axes is None:
        _, axes = plt.subplots(figsize=(8, 4), layout="constrained")
    axes.plot(samples, evidence, color="#0072b2", label="evidence")
    axes.plot(samples, threshold, color="#d55e00", linestyle="--", label="threshold")
    if session.decision is not None:
        axes.plot(samples[-1:], evidence[-1:], "o", color="#0072b2", label="decided")
    axes.set_xlabel("samples")
    axes.set_ylabel("evidence for the leading answer")
    axes.set_ylim(bottom=0)
    axes.legend()
    return axes
