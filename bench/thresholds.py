"""What each stopping rule costs in samples: mean stopping times of Sticky Track-and-Stop, as a table.

``python bench/thresholds.py [repetitions]``. Every rule sees the same seeds. Error rates are those
observed; all rules but Stylized are proven to keep them below delta.

``python bench/thresholds.py wealth [repetitions]``: Wealth against Mixture on the same sampling, against
Stylized at the oracle weights, and what a round costs; each with the limit that it must keep.
"""

from __future__ import annotations

import sys
import time
from typing import Any, NamedTuple

import stopwise as sw
from stopwise.studies.results import Row

DELTA = 0.1
REPETITIONS = 400
SEED = 1
RULES = (sw.Stylized(), sw.Wealth(), sw.Mixture(), sw.MixtureMartingale(), sw.Conservative())


class Setting(NamedTuple):
    """One question with its true means."""

    name: str
    problem: Any
    means: tuple[float, ...]
    family: Any


SETTINGS = (
    Setting("best arm, K = 4", sw.BestArm(4), (0.5, 0.45, 0.43, 0.4), sw.Bernoulli()),
    Setting("any low arm, K = 5", sw.AnyLowArm(5, 0.0), (-0.4, -0.2, 0.2, 0.4, 0.6), sw.Gaussian()),
    Setting(
        "thresholding, K = 5", sw.Thresholding(5, 1.0), (0.5, 0.7, 1.4, 1.6, 2.0), sw.Poisson()
    ),
    Setting(
        "epsilon-best arm, K = 5", sw.BestArm(5, 0.2), (1.5, 1.4, 1.0, 0.8, 0.6), sw.Exponential()
    ),
    Setting("sphere, K = 3", sw.Sphere(3), (0.4, 0.4, 0.4), sw.Gaussian()),
)


def measure(
    setting: Setting, rule: Any, repetitions: int, strategy: Any = None, delta: float = DELTA
) -> Row:
    """Many runs of one setting."""
    found = sw.simulate(
        setting.problem,
        setting.means,
        family=setting.family,
        strategy=sw.StickyTrackAndStop() if strategy is None else strategy,
        stopping=rule,
        delta=delta,
        repetitions=repetitions,
        seed=SEED,
    )
    (row,) = found.summary()
    return row


def lines(repetitions: int) -> list[str]:
    """The table, in Markdown."""
    out = [
        "| problem | arms | stopping rule | mean stopping time | error rate | ratio to Mixture |",
        "|---|---|---|--:|--:|--:|",
    ]
    for setting in SETTINGS:
        rows = [measure(setting, rule, repetitions) for rule in RULES]
        unit = rows[RULES.index(sw.Mixture())].mean
        for rule, row in zip(RULES, rows, strict=True):
            late = f" ({row.undecided} undecided)" if row.undecided else ""
            out.append(
                f"| {setting.name} | {type(setting.family).__name__} | {type(rule).__name__} "
                f"| {row.mean:,.0f} +- {row.standard_error:,.0f}{late} | {row.error_rate:.4f} "
                f"| {row.mean / unit:.2f} |"
            )
    return out


class Promise(NamedTuple):
    """What Wealth may cost at most on a setting: against Mixture, and against Stylized."""

    setting: Setting
    delta: float
    mixture: Any
    most: float


COINS = Setting("coins", sw.BestArm(4), (0.5, 0.45, 0.43, 0.4), sw.Bernoulli())
RARE = Setting("rare coins", sw.BestArm(2), (0.05, 0.03), sw.Bernoulli())
NORMAL = Setting("normal", sw.BestArm(4), (1.0, 0.85, 0.8, 0.7), sw.Gaussian())
PROMISES = (
    Promise(COINS, 0.1, sw.Mixture(), 0.65),
    Promise(COINS, 0.01, sw.Mixture(), 0.65),
    Promise(RARE, 0.05, sw.Mixture(), 0.55),
    Promise(NORMAL, 0.1, sw.Mixture(center=0.84), 0.68),
)
MOST_AGAINST_STYLIZED, MOST_A_ROUND = 1.50, 1.15


def promises(repetitions: int) -> list[str]:
    """Mean stopping times, and their ratios with the limits."""
    out = [
        "| setting | delta | sampling | Wealth | against | ratio | at most |",
        "|---|" + "--:|" * 6,
    ]
    for setting, delta, mixture, most in PROMISES:
        for strategy, other, limit in (
            (sw.TrackAndStop(), mixture, most),
            (sw.StickyTrackAndStop(), mixture, most),
            (sw.OracleWeights(), sw.Stylized(), MOST_AGAINST_STYLIZED),
        ):
            wealth, unit = (
                measure(setting, rule, repetitions, strategy, delta)
                for rule in (sw.Wealth(), other)
            )
            out.append(
                f"| {setting.name} | {delta} | {type(strategy).__name__} | {wealth.mean:,.0f} "
                f"| {type(other).__name__} {unit.mean:,.0f} | {wealth.mean / unit.mean:.3f} | {limit} |"
            )
    return out


def round_costs(repetitions: int) -> list[str]:
    """Nanoseconds a round of best arm, K = 4, with one worker; the best of five."""
    out = []
    for setting in (COINS, NORMAL):
        best = {}
        for rule in (sw.Mixture(center=0.84), sw.Wealth()) * 5:
            begun = time.perf_counter()
            found = sw.simulate(
                *(setting.problem, setting.means),
                **{"family": setting.family, "stopping": rule, "delta": DELTA, "seed": SEED},
                **{"repetitions": repetitions, "workers": 1},
            )
            cost = 1e9 * (time.perf_counter() - begun) / float(found.stopping_times.sum())
            best[type(rule).__name__] = min(cost, best.get(type(rule).__name__, cost))
        ratio = best["Wealth"] / best["Mixture"]
        out.append(f"{setting.name}: {best} ns a round, ratio {ratio:.3f}, at most {MOST_A_ROUND}")
    return out


def main() -> None:
    """Print the table."""
    words = sys.argv[1:]
    if words[:1] == ["wealth"]:
        repetitions = int(words[1]) if len(words) > 1 else 1000
        print("\n".join(promises(repetitions) + round_costs(100)))
        return
    repetitions = int(words[0]) if words else REPETITIONS
    print(f"Sticky Track-and-Stop, delta = {DELTA}, {repetitions} runs each, seed {SEED}.\n")
    print("\n".join(lines(repetitions)))


if __name__ == "__main__":
    main()
