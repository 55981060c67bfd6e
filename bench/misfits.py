"""Warnings about samples that contradict their family: how soon, and how often without a reason.

    python bench/misfits.py [campaigns]

Campaigns of two arms that are sampled in turn. For samples that are not the family's: after how many of
them a warning is there. For samples that are: how many campaigns of 400 samples ever warn.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import beta

import stopwise as sw
from stopwise.campaign.fit import LOUD, MOST, Fit

Draw = Callable[[np.random.Generator], float]
LONG = 4000
WRONG: dict[str, tuple[Any, Draw]] = {
    "variance 1; the standard deviation is 40": (sw.Gaussian(1.0), lambda r: r.normal(100, 40)),
    "variance 1; it is 4": (sw.Gaussian(1.0), lambda r: r.normal(0, 2)),
    "variance 1; it is 2": (sw.Gaussian(1.0), lambda r: r.normal(0, math.sqrt(2))),
    "variance 1600; it is 1": (sw.Gaussian(1600.0), lambda r: r.normal(0, 1)),
    "unknown variance; 1 % outliers, 10 deviations away": (
        sw.Gaussian(variance=None),
        lambda r: r.normal() + 10 * (r.random() < 0.01),
    ),
    "unknown variance; log-normal samples": (sw.Gaussian(variance=None), lambda r: r.lognormal()),
    "Poisson; 10 times its variance": (sw.Poisson(), lambda r: r.poisson(9 * r.gamma(10 / 9))),
    "Poisson; twice its variance": (sw.Poisson(), lambda r: r.poisson(r.gamma(10))),
    "100 trials; their chance varies by 0.15": (
        sw.Binomial(100),
        lambda r: r.binomial(100, r.beta(5, 5)),
    ),
    "exponential; deviation a tenth of the mean": (
        sw.Exponential(),
        lambda r: r.normal(100, 10),
    ),
    "exponential; log-normal, deviation 7 times the mean": (
        sw.Exponential(),
        lambda r: r.lognormal(0, 2),
    ),
}
TRUE: dict[str, tuple[Any, Draw]] = {
    "Gaussian(4)": (sw.Gaussian(4.0), lambda r: r.normal(3, 2)),
    "Gaussian(4), rounded to half a deviation": (sw.Gaussian(4.0), lambda r: round(r.normal(3, 2))),
    "Gaussian(None)": (sw.Gaussian(variance=None), lambda r: r.normal(100, 40)),
    "Exponential()": (sw.Exponential(), lambda r: r.exponential(5)),
    "Gamma(3)": (sw.Gamma(3.0), lambda r: r.gamma(3, 2)),
    "InverseGaussian(2)": (sw.InverseGaussian(2.0), lambda r: r.wald(3, 2)),
    "Poisson(), mean 0.3": (sw.Poisson(), lambda r: r.poisson(0.3)),
    "Poisson(), mean 12": (sw.Poisson(), lambda r: r.poisson(12)),
    "Binomial(10)": (sw.Binomial(10), lambda r: r.binomial(10, 0.4)),
    "NegativeBinomial(2)": (sw.NegativeBinomial(2.0), lambda r: r.negative_binomial(2, 0.1)),
    "Geometric()": (sw.Geometric(), lambda r: r.geometric(0.2)),
}


def first_warning(family: Any, draw: Draw, samples: int, seed: int) -> float:
    """After how many samples a campaign warns; infinity: never."""
    fit, rng = Fit(family, 2), np.random.default_rng(seed)
    for place in range(samples):
        fit.note(place % 2, float(draw(rng)))
        if 2.0 * math.exp(-fit.kept[place % 2, MOST]) <= LOUD:
            return place + 1
    return math.inf


def main(campaigns: int) -> None:
    """Two tables."""
    print(f"{'samples until a warning':<54} half of them  nine of ten")
    for name, (family, draw) in WRONG.items():
        found = [first_warning(family, draw, LONG, seed) for seed in range(campaigns // 10)]
        print(f"{name:<54} {np.quantile(found, 0.5):12.0f} {np.quantile(found, 0.9):12.0f}")
    total = 0
    for name, (family, draw) in TRUE.items():
        warned = sum(first_warning(family, draw, 400, run) < math.inf for run in range(campaigns))
        total += warned
        high = beta.ppf(0.975, warned + 1, campaigns - warned)
        print(f"{name:<54} {warned} of {campaigns:,} warn (95 %: at most {high:.2%})")
    runs = campaigns * len(TRUE)
    print(
        f"all: {total} of {runs:,} (95 %: at most {beta.ppf(0.975, total + 1, runs - total):.3%})"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
