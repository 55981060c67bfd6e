"""How often the number of samples that a campaign still needs lies in the range that it shows.

``python bench/remaining.py [runs]``  prints a table in Markdown: for each setting, how often a range
was shown (of all looks; of those in the second half of a run), how often the truth was in it, below and
above, and the median of (samples so far + high)/(samples so far + low).

Each run is looked at once, at a time that does not depend on how the run went: log-uniform between a
tenth and twice the median length of other runs. Looks after the end of a run do not count.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np

import stopwise as sw
from stopwise.campaign.remaining import Outlook, remaining
from stopwise.core.data import Data
from stopwise.core.values import overrides

RUNS = 400
SEED = 1


class Setting(NamedTuple):
    """A question with its true means."""

    name: str
    problem: Any
    means: tuple[float, ...]
    family: Any
    delta: float = 0.05
    more: dict[str, Any] = {}  # for ``simulate``


SETTINGS = (
    Setting("four coins", sw.BestArm(4), (0.5, 0.45, 0.43, 0.4), sw.Bernoulli(), 0.1),
    Setting("two rare coins", sw.BestArm(2), (0.05, 0.03), sw.Bernoulli()),
    Setting("three coins, easy", sw.BestArm(3), (0.7, 0.5, 0.4), sw.Bernoulli()),
    Setting("four Gaussian arms", sw.BestArm(4), (1.0, 0.85, 0.8, 0.7), sw.Gaussian(1.0), 0.1),
    Setting("two Gaussian arms", sw.BestArm(2), (0.1, 0.0), sw.Gaussian(1.0)),
    Setting(
        *("the same four, equal shares", sw.BestArm(4), (1.0, 0.85, 0.8, 0.7), sw.Gaussian(1.0)),
        *(0.1, {"strategy": sw.Uniform()}),
    ),
    Setting("limits, four coins", sw.Thresholding(4, 0.5), (0.3, 0.45, 0.6, 0.7), sw.Bernoulli()),
    Setting("any low arm", sw.AnyLowArm(3, 0.5), (0.4, 0.45, 0.6), sw.Bernoulli()),
    Setting(
        *("unknown variances", sw.BestArm(3), (1.0, 0.7, 0.6), sw.Gaussian()),
        *(0.1, {"deviations": 1.0}),
    ),
    Setting(
        *("scores in [0, 1]", sw.BestArm(3), (0.7, 0.65, 0.6), sw.Bounded()),
        *(0.05, {"deviations": 0.15}),
    ),
    Setting(
        "waiting times, the least", sw.BestArm(3, goal="min"), (1.0, 1.3, 1.5), sw.Exponential()
    ),
)


class Look(NamedTuple):
    """What a run knew, and how many samples it still needed."""

    outlook: Outlook
    needed: int
    late: bool  # in the second half of the run


class Score(NamedTuple):
    """How often ranges were shown and held."""

    looks: int
    shown: int
    late: float  # the share shown in the second half of the runs
    below: int  # the truth was
    above: int
    width: float

    @property
    def held(self) -> float:
        """How often the truth lay in the range."""
        return 1.0 - (self.below + self.above) / self.shown


def look(setting: Setting, run: Any, time: int) -> Look:
    """A run after so many samples."""
    arms, samples = run.trace.arms[:time], run.trace.samples[:time]
    counts = np.bincount(arms, minlength=setting.problem.arms).astype(float)
    sums = np.bincount(arms, samples, minlength=setting.problem.arms)
    kept = setting.family.init_stats(setting.problem.arms)
    if overrides(setting.family, "update_stats"):
        for arm, sample in zip(arms.tolist(), samples.tolist(), strict=True):
            setting.family.update_stats(kept, arm, sample)
    outlook = Outlook(
        *(setting.problem, setting.family.estimated(kept), Data(counts, sums / counts)),
        run.trace.leading[time - 1],
        float(run.trace.evidence[time - 1]),
        float(run.trace.level[time - 1]),
        "strategy" not in setting.more,
    )
    return Look(outlook, run.stopping_time - time, 2 * time > run.stopping_time)


def looks(setting: Setting, runs: int) -> list[Look]:
    """At most one of each run."""
    given = {"family": setting.family, "delta": setting.delta, **setting.more}
    pilot = sw.simulate(
        setting.problem, setting.means, repetitions=100, seed=SEED, progress=False, **given
    )
    rng, found = np.random.default_rng(SEED), []
    for place in range(runs):
        time = int(np.median(pilot.stopping_times) * np.exp(rng.uniform(np.log(0.1), np.log(2.0))))
        run = sw.run(setting.problem, setting.means, seed=SEED + 1 + place, trace=True, **given)
        if setting.problem.arms * 3 <= time < run.stopping_time:
            found.append(look(setting, run, time))
    return found


def score(setting: Setting, runs: int) -> Score:
    """How the ranges did."""
    taken = looks(setting, runs)
    pairs = [(each, remaining(each.outlook)) for each in taken]
    shown = [(each, found) for each, found in pairs if found is not None]
    done = [each.outlook.data.counts.sum() for each, _ in shown]
    widths = [(t + r.high) / (t + r.low) for t, (_, r) in zip(done, shown, strict=True)]
    late = [found is not None for each, found in pairs if each.late]
    return Score(
        *(len(taken), len(shown), float(np.mean(late))),
        sum(each.needed < found.low for each, found in shown),
        sum(each.needed > found.high for each, found in shown),
        float(np.median(widths)),
    )


def main() -> None:
    """The table."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    print("| setting | looks | shown | in 2nd half | held | below | above | width |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    scores = []
    for setting in SETTINGS:
        scores.append(score(setting, runs))
        _print(setting.name, scores[-1])
    shown = sum(each.shown for each in scores)
    held = 1.0 - sum(each.below + each.above for each in scores) / shown
    print(f"\nall: held {held:.3f} of {shown}")


def _print(name: str, found: Score) -> None:
    shares = found.shown / found.looks, found.late, found.held
    sides = found.below / found.shown, found.above / found.shown
    cells = " | ".join(f"{100.0 * each:.0f} %" for each in (*shares, *sides))
    print(f"| {name} | {found.looks} | {cells} | {found.width:.1f} |", flush=True)


if __name__ == "__main__":
    main()
