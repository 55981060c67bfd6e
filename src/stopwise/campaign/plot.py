"""A campaign as a picture: evidence against threshold, and the arms' means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stopwise.campaign.events import Event
from stopwise.campaign.replay import replay
from stopwise.campaign.spec import CampaignSpec
from stopwise.core.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Curve:
    """The statistic that stops, after each sample from the first at which every arm has one."""

    samples: Ints
    evidence: Floats
    threshold: Floats
    decided: bool


def curve(spec: CampaignSpec, record: Sequence[Event]) -> Curve:
    """What the picture shows."""
    session = spec.session()
    seen = replay(session, record, remember=True)
    told = np.array([event.kind in ("told", "recorded") for event in seen.counted[: seen.used]])
    evidence = seen.past.evidence[: seen.used]
    shown = told & ~np.isnan(evidence) if seen.used else np.zeros(0, dtype=bool)
    numbers = np.cumsum(told) if seen.used else np.zeros(0, dtype=np.int64)
    threshold = spec.design.levels[0] + seen.past.allowance[: seen.used]
    return Curve(numbers[shown], evidence[shown], threshold[shown], session.decision is not None)


def plot_record(spec: CampaignSpec, record: Sequence[Event], axes: Any = None) -> Any:
    """Evidence and threshold over the samples; returns the axes."""
    import matplotlib.pyplot as plt

    found = curve(spec, record)
    if axes is None:
        _, axes = plt.subplots(figsize=(8, 4), layout="constrained")
    axes.plot(found.samples, found.evidence, color="#0072b2", label="evidence")
    axes.plot(found.samples, found.threshold, color="#d55e00", linestyle="--", label="threshold")
    if found.decided:
        axes.plot(found.samples[-1:], found.evidence[-1:], "o", color="#0072b2", label="decided")
    axes.set_xlabel("samples")
    axes.set_ylabel("evidence for the leading answer")
    axes.set_ylim(bottom=0)
    axes.legend()
    return axes
