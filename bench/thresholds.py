"""What stopping rules cost: the tables of docs/thresholds.md, in Markdown.

``python bench/thresholds.py [runs]``         every rule on every setting, and thresholds side by side
``python bench/thresholds.py wealth [runs]``  Wealth's limits: against Mixture on the same sampling,
                                              against Stylized at the oracle weights, cost of a round
``python bench/thresholds.py rounds``         a round of ten arms, bounded or with unknown variances
``python bench/thresholds.py intervals``      how wide intervals are, beside ordinary ones

Every rule sees the same seeds. Error rates are those observed; all rules but Stylized are proven to keep
them below delta.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

import stopwise as sw
from stopwise.core.data import Data
from stopwise.engine.design import prepare, with_defaults
from stopwise.engine.loop import begin
from stopwise.stopping.intervals import mean_intervals
from stopwise.stopping.wealth_state import wealth_state
from stopwise.studies.results import Row

RUNS = 400
SEED = 1
COINS, NORMAL = (0.5, 0.45, 0.43, 0.4), (1.0, 0.85, 0.8, 0.7)


class Setting(NamedTuple):
    """A question with its true means, and a Mixture that is centred right."""

    name: str
    problem: Any
    means: tuple[float, ...]
    family: Any
    delta: float = 0.1
    mixture: Any = sw.Mixture()

    def __str__(self) -> str:
        return f"{self.name}, {type(self.family).__name__} | {self.delta:g}"


PAIRED = sw.Product([(sw.BestArm(2), [0, 2]), (sw.Thresholding(2, 0.5), [1, 3])])
TENS = sw.AllHalfSpaces([[0.7, 0.3, 0.0], [0.0, 0.5, 0.5]])
SETTINGS = (
    Setting("best arm, K = 4", sw.BestArm(4), COINS, sw.Bernoulli()),
    Setting("best arm, K = 4", sw.BestArm(4), COINS, sw.Bernoulli(), 0.01),
    Setting("best arm, K = 2, rare", sw.BestArm(2), (0.05, 0.03), sw.Bernoulli(), 0.05),
    Setting("best arm, K = 4", sw.BestArm(4), NORMAL, sw.Gaussian(), 0.1, sw.Mixture(0.84)),
    Setting(
        *(
            "best arm, K = 3, variances",
            sw.BestArm(3),
            (1.0, 0.8, 0.5),
            sw.Gaussian([1.0, 4.0, 0.25]),
        ),
        *(0.1, sw.Mixture(0.77)),
    ),
    Setting(
        "epsilon-best arm, K = 5", sw.BestArm(5, 0.2), (1.5, 1.4, 1.0, 0.8, 0.6), sw.Exponential()
    ),
    Setting("any low arm, K = 5", sw.AnyLowArm(5, 0.0), (-0.4, -0.2, 0.2, 0.4, 0.6), sw.Gaussian()),
    Setting(
        "thresholding, K = 5", sw.Thresholding(5, 1.0), (0.5, 0.7, 1.4, 1.6, 2.0), sw.Poisson()
    ),
    Setting("lowest mean, K = 3", sw.MinimumThreshold(3, 0.5), (0.4, 0.45, 0.6), sw.Bernoulli()),
    Setting("product, K = 4", PAIRED, (0.7, 0.35, 0.5, 0.6), sw.Bernoulli()),
    Setting("half-spaces, K = 3", TENS, (0.4, 0.5, 0.3), sw.Gaussian()),
    Setting("sphere, K = 3", sw.Sphere(3), (0.4, 0.4, 0.4), sw.Gaussian()),
)


def rules(setting: Setting) -> tuple[Any, ...]:
    """Stylized, which is the unit, comes first."""
    return sw.Stylized(), sw.Wealth(), setting.mixture, sw.MixtureMartingale(), sw.Conservative()


def measure(setting: Setting, rule: Any, runs: int, strategy: Any = None) -> Row:
    """Many runs of one setting."""
    found = sw.simulate(
        setting.problem,
        setting.means,
        family=setting.family,
        strategy=sw.StickyTrackAndStop() if strategy is None else strategy,
        stopping=rule,
        delta=setting.delta,
        repetitions=runs,
        seed=SEED,
    )
    (row,) = found.summary()
    return row


def costs(runs: int) -> Iterator[str]:
    """Every rule on every setting: samples +- standard error (ratio to Stylized; wrong answers)."""
    names = [type(rule).__name__ for rule in rules(SETTINGS[0])]
    yield f"| setting | delta | {' | '.join(names)} | Wealth/Mixture |"
    yield "|---|--:|" + "--:|" * (len(names) + 1)
    for setting in SETTINGS:
        rows = [measure(setting, rule, runs) for rule in rules(setting)]
        cells = " | ".join(_cost(row, rows[0]) for row in rows)
        yield f"| {setting} | {cells} | {rows[1].mean / rows[2].mean:.2f} |"


def _cost(row: Row, unit: Row) -> str:
    late = f"; {row.undecided} undecided" if row.undecided else ""
    ratio = f"{row.mean / unit.mean:.2f}; {row.errors}{late}"
    return f"{row.mean:,.0f} +- {row.standard_error:,.0f} ({ratio})"


# ------------------------------------------------------------------------------------ thresholds


def equivalents(arms: int = 4, delta: float = 0.1, count: float = 2000.0) -> Iterator[str]:
    """What D must reach for best arm if the two arms in question have so many samples each."""
    problem, rounds = sw.BestArm(arms), 2.0 * count
    rows = [("Stylized (not proven)", *_fixed(sw.Stylized(), problem, delta, rounds))]
    rows += [("**Wealth**", *(wealth_equivalent(*each, delta, count) for each in PLACES))]
    rows += [("Mixture", *(_mixture(each, problem, delta, count) for each in PLACES))]
    rows += [
        (
            "Garivier & Kaufmann (2016), log(2 t (K - 1)/delta)",
            _bernoulli(arms, delta, rounds),
            None,
        )
    ]
    rows += [
        (
            "MixtureMartingale (Kaufmann & Koolen 2021)",
            *_fixed(sw.MixtureMartingale(), problem, delta, rounds, count),
        )
    ]
    rows += [("Conservative (the paper's)", *_fixed(sw.Conservative(), problem, delta, rounds))]
    yield "| rule | Bernoulli | Gaussian |"
    yield "|---|--:|--:|"
    for name, *values in rows:
        yield f"| {name} | {' | '.join('' if x is None else f'{x:.1f}' for x in values)} |"


PLACES = ((sw.Bernoulli(), 0.5, 0.5), (sw.Gaussian(), 0.0, 1.0))  # a family, a mean, its deviation


def _fixed(rule: Any, problem: Any, delta: float, rounds: float, count: float = 0.0) -> list[float]:

    return [
        rule.level(problem, family, delta)
        + rule.common_growth(rounds)
        + (2.0 * family.martingale_growth(count) if count else 0.0)
        for family, _, _ in PLACES
    ]


def _bernoulli(arms: int, delta: float, rounds: float) -> float:
    return math.log(2.0 * rounds * (arms - 1) / delta)


def _mixture(place: tuple[Any, float, float], problem: Any, delta: float, count: float) -> float:
    family, mean, _ = place
    return sw.Mixture().level(problem, family, delta) + 2 * sw.Mixture().arm_growth(
        family, count, mean
    )


def wealth_equivalent(
    family: Any,
    mean: float,
    deviation: float,
    delta: float,
    count: float,
    other: float | None = None,
) -> float:
    """D at the smallest gap with which the bets on two arms of K = 4 reach the level."""
    problem, counts = sw.BestArm(2), np.array([count, other or count])
    enough = sw.Wealth().level(sw.BestArm(4), family, delta)
    state, code = wealth_state(family, problem), np.array([0])
    near, far = 0.0, deviation
    for _ in range(60):
        gap = 0.5 * (near + far)
        data = Data(counts, np.array([mean + 0.5 * gap, mean - 0.5 * gap]))
        reached = problem.cell(code, 0).evidence(family, data, state, -math.inf) >= enough
        near, far = (near, gap) if reached else (gap, far)
    middle = float(np.average(data.means, weights=counts))
    return sum(n * family.divergence(x, middle) for n, x in zip(*data, strict=True))


# ------------------------------------------------------------------------------------ what is promised


LIMITS = ((SETTINGS[0], 0.65), (SETTINGS[1], 0.65), (SETTINGS[2], 0.55), (SETTINGS[3], 0.68))
AGAINST_STYLIZED, A_ROUND = 1.50, 1.30


def promises(runs: int) -> Iterator[str]:
    """Mean stopping times, and their ratios with the limits."""
    yield "| setting | delta | sampling | Wealth | against | ratio | at most |"
    yield "|---|" + "--:|" * 6
    for setting, most in LIMITS:
        for strategy, other, limit in (
            (sw.TrackAndStop("D"), setting.mixture, most),
            (sw.StickyTrackAndStop(), setting.mixture, most),
            (sw.OracleWeights(), sw.Stylized(), AGAINST_STYLIZED),
        ):
            wealth, unit = (measure(setting, rule, runs, strategy) for rule in (sw.Wealth(), other))
            yield (
                f"| {setting} | {type(strategy).__name__} | {wealth.mean:,.0f} "
                f"| {type(other).__name__} {unit.mean:,.0f} | {wealth.mean / unit.mean:.3f} | {limit} |"
            )


def round_costs(runs: int) -> Iterator[str]:
    """Nanoseconds of CPU a round of best arm, K = 4, with one worker; the best of five."""
    for setting in (SETTINGS[0], SETTINGS[3]):
        best: dict[str, float] = {}
        for rule in (setting.mixture, sw.Wealth()) * 5:
            begun = time.process_time()
            found = sw.simulate(
                *(setting.problem, setting.means),
                **{
                    "family": setting.family,
                    "stopping": rule,
                    "delta": setting.delta,
                    "seed": SEED,
                },
                **{"repetitions": runs, "workers": 1},
            )
            cost = 1e9 * (time.process_time() - begun) / float(found.stopping_times.sum())
            best[type(rule).__name__] = min(cost, best.get(type(rule).__name__, cost))
        ratio = best["Wealth"] / best["Mixture"]
        rounded = {name: round(cost) for name, cost in best.items()}
        yield f"{setting.name}: {rounded} ns a round, ratio {ratio:.3f}, at most {A_ROUND}"


# ------------------------------------------------------------------------------- rounds of ten arms


TEN = np.linspace(0.25, 0.7, 10)
ASKED = (
    ("best arm", sw.BestArm(10), TEN),
    ("best arm, epsilon .02", sw.BestArm(10, 0.02), TEN),
    ("thresholding", sw.Thresholding(10, 0.475), TEN),
    ("any low arm", sw.AnyLowArm(10, 0.475), TEN),
    ("lowest mean, low", sw.MinimumThreshold(10, 0.475), TEN),
    ("lowest mean, high", sw.MinimumThreshold(10, 0.2), TEN),
)
TEN_ARMS = 20.0  # microseconds


def rounds_of_ten(turns: int = 5) -> Iterator[str]:
    """Microseconds of CPU a round with the usual strategy, one worker: the best of some turns."""
    yield f"| CPU a round, K = 10, at most {TEN_ARMS:.0f} | Bounded | variances unknown |"
    yield "|---|--:|--:|"
    for name, problem, means in ASKED:
        found = [
            min(_round_cost(problem, means, family) for _ in range(turns))
            for family in (sw.Bounded(), sw.Gaussian(variance=None))
        ]
        yield f"| {name} | {' | '.join(f'{x:.1f}' for x in found)} |"


def _round_cost(problem: Any, means: Any, family: Any) -> float:
    asked = {"family": family, "deviations": 0.2, "delta": 0.05, "seed": SEED, "workers": 1}
    sw.simulate(problem, means, repetitions=1, max_rounds=30, **asked)  # compiled from here on
    begun = time.process_time()
    found = sw.simulate(problem, means, repetitions=50, max_rounds=10_000, **asked)
    return 1e6 * (time.process_time() - begun) / float(found.counts.sum())


# --------------------------------------------------------------------------------------- intervals


COUNTS = (10, 100, 1_000, 10_000, 1_000_000)
WIDTHS = (
    ("Gaussian", sw.Gaussian(), 0.0),
    ("Bernoulli, 0.5", sw.Bernoulli(), 0.5),
    ("Bernoulli, 0.1", sw.Bernoulli(), 0.1),
    ("Poisson, 4", sw.Poisson(), 4.0),
    ("Exponential, 1", sw.Exponential(), 1.0),
)


def widths() -> Iterator[str]:
    """Beside mean +- 1.96 standard errors, which hold at one time: 95 %, one arm, and four together."""

    yield "| width, ordinary = 1 | arms | " + " | ".join(f"n = {n:,}" for n in COUNTS) + " |"
    yield "|---|--:|" + "--:|" * len(COUNTS)
    for name, family, mean in WIDTHS:
        for arms in (1, 4):
            ratios = []
            for count in COUNTS:
                question = sw.Thresholding(arms, mean)
                asked = with_defaults(question, family, sw.Uniform(), sw.Wealth())
                state = begin(prepare(asked, None, (0.05,), 10**6))
                state.data.counts[:], state.data.means[:] = count, mean
                low, high = mean_intervals(family, state, 0.05)
                ordinary = 2 * 1.959964 * math.sqrt(family.variance_at(mean) / count)
                ratios.append(float(high[0] - low[0]) / ordinary)
            yield f"| {name} | {arms} | " + " | ".join(f"{x:.2f}" for x in ratios) + " |"


def missed(runs: int = 2000, samples: int = 10_000) -> Iterator[str]:
    """How often intervals of a Gaussian arm miss its mean at some time, if one looks at every sample."""
    rng, n = np.random.default_rng(SEED), np.arange(1, samples + 1)
    kappas = 8.0 ** np.arange(-1, 7)
    weights = np.maximum(np.arange(8) - 4.0, 1.0) ** -1.5
    weights /= weights.sum()
    ordinary = always = 0
    for _ in range(runs):
        z = rng.standard_normal(samples).cumsum() / np.sqrt(n)
        parts = [
            w * np.exp(0.5 * z**2 * n / (n + k)) / np.sqrt(1 + n / k)
            for w, k in zip(weights, kappas, strict=True)
        ]
        ordinary += bool(np.any(np.abs(z) > 1.959964))
        always += bool(np.any(np.sum(parts, axis=0) >= 20.0))
    shares = f"ordinary {ordinary / runs:.0%}, these {always / runs:.1%}"
    yield f"miss the mean at some time up to {samples:,}: {shares}"


def main() -> None:
    """Print what is asked for."""
    words = sys.argv[1:]
    table = words.pop(0) if words and not words[0].isdigit() else "costs"
    runs = int(words[0]) if words else {"costs": RUNS, "wealth": 1000}.get(table, 0)
    made = {
        "costs": lambda: chain(costs(runs), [""], equivalents()),
        "thresholds": equivalents,
        "wealth": lambda: chain(promises(runs), round_costs(100)),
        "rounds": rounds_of_ten,
        "intervals": lambda: chain(widths(), missed()),
    }
    for line in made[table]():
        print(line, flush=True)


if __name__ == "__main__":
    main()
