"""What each stopping rule costs in samples: mean stopping times of Sticky Track-and-Stop, as a table.

``python bench/thresholds.py [repetitions]``. Every rule sees the same seeds. Error rates are those
observed; all rules but Stylized are proven to keep them below delta.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import stopwise as sw
from stopwise.studies.results import Row

DELTA = 0.1
REPETITIONS = 400
SEED = 1
RULES = (sw.Stylized(), sw.Mixture(), sw.MixtureMartingale(), sw.Conservative())


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


def measure(setting: Setting, rule: Any, repetitions: int) -> Row:
    """Many runs of one setting."""
    found = sw.simulate(
        setting.problem,
        setting.means,
        family=setting.family,
        strategy=sw.StickyTrackAndStop(),
        stopping=rule,
        delta=DELTA,
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


def main() -> None:
    """Print the table."""
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else REPETITIONS
    print(f"Sticky Track-and-Stop, delta = {DELTA}, {repetitions} runs each, seed {SEED}.\n")
    print("\n".join(lines(repetitions)))


if __name__ == "__main__":
    main()
