"""How often the number of items that a paired campaign still needs lies in the range that it shows.

``python bench/remaining_items.py [runs]``: each run is looked at once, at a time that does not depend on
how it went, log-uniform between a tenth and twice the median length of the runs before it. Prints, for
each setting, looks before the end, how often a range was shown, and where the truth was.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np

import stopwise as sw
from stopwise.campaign.outlook import items_needed
from stopwise.paired.comparison import asked_of, comparison
from stopwise.paired.items import Items

RUNS = 60
POOL = 1_500
MOST = 20_000
COIN, REAL, SCORE = sw.Bernoulli(), sw.Gaussian(variance=None), sw.Bounded(0.0, 1.0)


def alike(rng: np.random.Generator, size: int) -> Any:
    """Accuracies .75 and .72 that differ on 13 % of the items."""
    rows = np.array([[1, 0]] * 8 + [[0, 1]] * 5 + [[1, 1]] * 67 + [[0, 0]] * 20, dtype=float)
    return rows[rng.integers(100, size=size)]


def rasch(rng: np.random.Generator, size: int) -> Any:
    """Five options of different ability on questions of different difficulty."""
    logit = np.array([1.2, 1.0, 0.9, 0.8, 0.5]) - rng.uniform(-2.0, 2.0, (size, 1))
    return (rng.random(logit.shape) < 1.0 / (1.0 + np.exp(-logit))).astype(float)


def normal(rng: np.random.Generator, size: int) -> Any:
    """Three options that share most of what varies."""
    return 3.0 * rng.normal(size=(size, 1)) + rng.normal(size=(size, 3)) + [0.3, 0.1, 0.0]


def scores(rng: np.random.Generator, size: int) -> Any:
    """Two scores between 0 and 1."""
    return np.clip(rng.beta(5, 2, (size, 1)) + 0.1 * rng.normal(size=(size, 2)) + [0.02, 0.0], 0, 1)


class Setting(NamedTuple):
    """A law of items, and what is asked."""

    name: str
    law: Any
    family: Any
    epsilon: float = 0.0
    pool: bool = False
    control: bool = False


SETTINGS = (
    Setting("two alike", alike, COIN),
    Setting("two alike, up to .01", alike, COIN, 0.01),
    Setting("two alike, a pool", alike, COIN, pool=True),
    Setting("Rasch", rasch, COIN),
    Setting("Rasch, up to .02", rasch, COIN, 0.02),
    Setting("Rasch, a pool", rasch, COIN, pool=True),
    Setting("Rasch, against a control", rasch, COIN, control=True),
    Setting("normal", normal, REAL),
    Setting("normal, up to .1", normal, REAL, 0.1),
    Setting("scores", scores, SCORE),
    Setting("scores, up to .01", scores, SCORE, 0.01),
    Setting("scores, a pool", scores, SCORE, pool=True),
)


class Look(NamedTuple):
    """A run at one moment: items so far, items still needed, and the range that it showed."""

    done: int
    needed: int
    shown: Any


def one_run(setting: Setting, rng: np.random.Generator, time: float) -> tuple[int, Look | None]:
    """How long it took, and the look at it."""
    size = POOL if setting.pool else MOST
    rows = setting.law(rng, size)
    arms = rows.shape[1]
    problem = sw.BetterThan(arms) if setting.control else None
    asked = asked_of(problem, arms, setting.epsilon, False)
    pool = POOL if setting.pool else None
    fixed = {"pool": pool, "deterministic": setting.pool}
    what = comparison(setting.family, arms, 0.05, setting.epsilon, asked=asked, **fixed)
    items, seen = Items(what), None
    items.compile()
    for place, row in enumerate(rows, 1):
        item = items.begin()
        for arm in range(arms):
            items.enter(item, arm, row[arm])
        if items.decided:
            break
        if seen is None and place >= time:
            seen = place, items_needed(items)
    return place, None if seen is None else Look(seen[0], place - seen[0], seen[1])


def main() -> None:
    """The table."""
    runs, all_shown, all_held = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS, 0, 0
    print("| setting | items | looks | shown | truth in range | below | above | width |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for setting in SETTINGS:
        rng, times, looks = np.random.default_rng(1), [1], list[Look]()
        for _ in range(runs):
            moment = np.median(times) * np.exp(rng.uniform(np.log(0.1), np.log(2.0)))
            time, look = one_run(setting, rng, moment)
            times.append(time)
            looks += [] if look is None else [look]
        shown = [each for each in looks if each.shown is not None]
        below = sum(each.needed < each.shown.low for each in shown)
        above = sum(each.needed > each.shown.high for each in shown)
        wide = [(e.done + e.shown.high) / (e.done + e.shown.low) for e in shown]
        held = len(shown) - below - above
        all_shown, all_held = all_shown + len(shown), all_held + held
        cells = " | ".join(f"{100.0 * n / max(len(shown), 1):.0f} %" for n in (held, below, above))
        size = f"{np.median(times[1:]):,.0f} | {len(looks)} | {100 * len(shown) / len(looks):.0f} %"
        print(f"| {setting.name} | {size} | {cells} | {np.median(wide):.1f} |", flush=True)
    print(f"\nall: in the range {all_held / all_shown:.3f} of {all_shown}")


if __name__ == "__main__":
    main()
