"""The headline: what a proven answer costs, by stopping rule; printed, and as out/headline.png.

Four web pages convert at 50, 45, 43 and 40 %. Which is best, with at most 10 % risk of a wrong answer?
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any, NamedTuple

import stopwise as sw

RATES, RISK, RUNS, SEED = [0.5, 0.45, 0.43, 0.4], 0.1, 100, 2019
RULES = {
    "stopwise (Wealth)": sw.Wealth(),
    "mixture e-process": sw.Mixture(),
    "Kaufmann & Koolen 2021": sw.MixtureMartingale(),
    "the paper's threshold": sw.Conservative(),
}
BLUE, GREY, RED = "#0072b2", "#b8c0c8", "#d55e00"


class Row(NamedTuple):
    name: str
    samples: float
    error: float
    wrong: int


def main(folder: Path) -> None:
    print(f"{__doc__ or ''}".splitlines()[2] + "\n")
    time = sw.oracle(sw.BestArm(4), RATES, family=sw.Bernoulli()).time
    bound = time * (1 - 2 * RISK) * math.log((1 - RISK) / RISK)  # T* kl(delta, 1 - delta)
    print(f"  {'no method needs fewer than':28} {bound:8,.0f} samples on average")
    rows = []
    for name, rule in RULES.items():
        row = measure(name, rule)
        rows.append(row)
        print(f"  {name:28} {row.samples:8,.0f} +- {row.error:,.0f}, {row.wrong} of {RUNS} wrong")
    print(f"\npicture: {picture(rows, bound, folder)}\n")


def measure(name: str, rule: Any) -> Row:
    runs = sw.simulate(
        sw.BestArm(4), RATES, family=sw.Bernoulli(), stopping=rule, delta=RISK,
        repetitions=RUNS, seed=SEED,
    )  # fmt: skip
    times = runs.stopping_times
    return Row(name, times.mean(), times.std(ddof=1) / RUNS**0.5, RUNS - int(runs.correct.sum()))


def picture(rows: list[Row], bound: float, folder: Path) -> Path:
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.9), layout="constrained")
    draw_bars(left, rows, bound)
    draw_run(right)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "headline.png"
    figure.savefig(path, dpi=110)
    return path


def draw_bars(axes: Any, rows: list[Row], bound: float) -> None:
    names = [row.name for row in rows][::-1]
    samples = [row.samples for row in rows][::-1]
    colours = [GREY] * (len(rows) - 1) + [BLUE]
    axes.barh(names, samples, color=colours, height=0.62)
    for place, value in enumerate(samples):
        axes.text(value, place, f"  {value:,.0f}", va="center")
    axes.axvline(bound, color=RED, linestyle="--", linewidth=1.5)
    axes.text(bound, len(rows) - 0.45, " no method needs fewer", color=RED, va="bottom")
    axes.set_xlim(0, 1.2 * max(samples))
    axes.set_ylim(-0.6, len(rows) - 0.1)
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.set_title("Samples until the best page is proven", loc="left", fontweight="bold")


def draw_run(axes: Any) -> None:
    run = sw.run(
        sw.BestArm(4), RATES, family=sw.Bernoulli(), delta=RISK, seed=SEED, trace=True
    )  # fmt: skip
    evidence, level = run.trace.evidence, run.trace.evidence[-1]
    times = range(1, len(evidence) + 1)
    axes.plot(times, evidence, color=BLUE, linewidth=1.6)
    axes.axhline(level, color=RED, linestyle="--", linewidth=1.5)
    axes.text(0, level, "enough", color=RED, va="bottom")
    axes.plot(len(evidence), level, "o", color=BLUE, markersize=9)
    axes.annotate(
        f"page {run.answer + 1} is best:\nstopped after {len(evidence):,} samples",
        (len(evidence), level), xytext=(0.04, 0.6), textcoords="axes fraction", color=BLUE,
    )  # fmt: skip
    axes.set_ylim(0, 1.15 * level)
    axes.set_xlabel("samples")
    axes.set_title("One experiment: look at it whenever you like", loc="left", fontweight="bold")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("out"))
