"""Paired comparisons against separate samples, pools, Rasch items, and how often claims are wrong."""

from __future__ import annotations

import numpy as np

import stopwise as sw
from stopwise.core.tables import text_table
from stopwise.engine.design import prepare, with_defaults
from stopwise.engine.live import RECORDED, Record

COIN = sw.Bernoulli()
RUNS = 1_000


def discordant() -> np.ndarray:
    """Accuracies .75 and .72: 8 % only the first, 5 % only the second."""
    return np.array([[1.0, 0.0]] * 8 + [[0.0, 1.0]] * 5 + [[1.0, 1.0]] * 67 + [[0.0, 0.0]] * 20)


def rasch(abilities: list[float], items: int = 200_000, seed: int = 1) -> np.ndarray:
    """Answers to items whose difficulty is uniform in logit -2..2."""
    rng = np.random.default_rng(seed)
    logit = np.array(abilities) - rng.uniform(-2.0, 2.0, (items, 1))
    return (rng.random(logit.shape) < 1.0 / (1.0 + np.exp(-logit))).astype(float)


def row(name: str, found: sw.PairedResults) -> list[str]:
    error = found.items.std(ddof=1) / np.sqrt(len(found))
    numbers = f"{found.items.mean():,.0f} +- {error:,.0f}", f"{found.used.sum(1).mean():,.0f}"
    return [name, *numbers, f"{found.errors}"]


def apart(means: np.ndarray, strategy: sw.Strategy | None, runs: int) -> list[str]:
    found = sw.simulate(
        *(sw.BestArm(means.size), means), family=COIN, strategy=strategy, repetitions=runs, seed=1
    )
    times = found.stopping_times
    name = "separate samples, " + ("uniform" if strategy is not None else "Track-and-Stop")
    items = f"{times.mean() / means.size:,.0f} +- {times.std() / means.size / runs**0.5:,.0f}"
    return [name, items, f"{times.mean():,.0f}", f"{int(np.sum(~found.correct))}"]


def same_rows(rows: np.ndarray, runs: int) -> list[str]:
    """The paired rows, told to a campaign that takes the arms for separate."""
    rng, used, wrong = np.random.default_rng(2), [], 0
    setting = with_defaults(sw.BestArm(2), COIN, sw.Uniform())
    design = prepare(setting, rows.mean(0), (0.05,), 10**7)
    for _ in range(runs):
        session = sw.Session(design)
        some = rows[rng.integers(len(rows), size=50_000)]
        size, arms = some.size, np.tile([0, 1], len(some))
        whole = np.zeros(size, dtype=np.int64)
        session.replay(Record(whole + RECORDED, arms, some.reshape(-1), whole, whole))
        used.append(session.decision.samples / 2)
        wrong += session.decision.answer != 0
    error = np.std(used) / runs**0.5
    items = f"{np.mean(used):,.0f} +- {error:,.0f}"
    return ["the same items, taken for separate", items, f"{2 * np.mean(used):,.0f}", f"{wrong}"]


def not_normal() -> None:
    """Timings with equal mean logarithms that are not normal: how often one is called faster."""
    rng, size = np.random.default_rng(1), 20_000

    def spiky(share: float, log: float) -> np.ndarray:
        return 0.02 * rng.normal(size=size) + log * (rng.random(size) < share)

    laws = {
        "normal": 0.05 * rng.normal(size=(size, 2)),
        "exponential tails": rng.exponential(0.1, (size, 2)),
        "5 % of the runs take 3 times as long": np.column_stack(
            [spiky(0.05, 1.1), spiky(0.05, 1.1)]
        ),
        "the same, in one program only": np.column_stack([spiky(0.05, 1.1), spiky(0.0, 0.0)]),
        "20 % take 1.5 times as long, one only": np.column_stack(
            [spiky(0.2, 0.4), spiky(0.0, 0.0)]
        ),
    }
    rows = []
    for name, law in laws.items():
        wrong = []
        for minimum in (10, 30, 200):
            found = sw.simulate_paired(
                law - law.mean(0),
                family=sw.Gaussian(variance=None),
                epsilon=1e-9,
                ties=True,
                minimum=minimum,
                repetitions=RUNS,
                max_items=500,
                seed=2,
            )
            wrong.append(f"{np.mean(~found.named.all(1)):.3f}")
        rows.append([name, *wrong])
    header = ["called faster, delta = .05", "10 runs at least", "30 runs", "200 runs"]
    print(f"\n{text_table(header, rows)}")


def random_pools() -> None:
    """Answers that are sampled: taken for fixed numbers of a pool, and for draws."""
    rng, rows = np.random.default_rng(3), []
    for means in ((0.6, 0.6), (0.6, 0.63), (0.6, 0.75)):
        for deterministic in (True, False):
            found = []
            for _ in range(RUNS):
                session = sw.PairedSession(COIN, 2, pool=300, deterministic=deterministic)
                session.compile()
                while not session.decided and not session.exhausted:
                    item, arms = session.ask()
                    for arm in arms:
                        session.tell(item, arm, float(rng.random() < means[arm]))
                found.append(session.verdict())
            named = [each.winners for each in found]
            equal = means[0] == means[1]
            wrong = sum(len(each) == 1 if equal else each == (0,) for each in named)
            right = 0 if equal else named.count((1,))
            items = f"{np.mean([each.items for each in found]):,.0f}"
            claim = "just these" if deterministic else "like these"
            rows.append([f"{means[0]} and {means[1]}", claim, f"{wrong:,}", f"{right:,}", items])
    header = ["sampled answers, pools of 300", "claim", "wrong", "right", "items"]
    print(f"\n{RUNS:,} runs, delta = .05\n{text_table(header, rows)}")


def table(title: str, rows: list[list[str]]) -> None:
    print(f"\n{title}\n{text_table(['', 'items', 'results', 'wrong'], rows)}")


def main() -> None:
    """Print all of it."""
    two = discordant()
    paired = sw.simulate_paired(two, family=COIN, repetitions=RUNS, seed=1)
    pool = sw.simulate_paired(
        *(np.repeat(two, 10, axis=0),),
        **{"family": COIN, "pool": True, "deterministic": True, "repetitions": RUNS, "seed": 1},
    )
    table(
        f".75 against .72, delta = .05, {RUNS:,} runs",
        [
            row("paired", paired),
            row("paired, a pool of 1,000 deterministic results", pool),
            same_rows(two, 60),
            apart(two.mean(0), sw.Uniform(), 300),
        ],
    )
    print(f"pool: decided before its end in {np.mean(pool.items < 1_000):.1%} of the runs")
    random_pools()
    not_normal()
    five = rasch([1.2, 1.0, 0.9, 0.8, 0.5])
    print(f"\nRasch items, means {five.mean(0).round(4).tolist()}")
    for epsilon in (0.0, 0.02):
        settings = {"family": COIN, "epsilon": epsilon, "repetitions": 300, "seed": 1}
        rows = [
            row("paired, all arms that are in", sw.simulate_paired(five, **settings)),
            row("paired, duels", sw.simulate_paired(five, duels=True, **settings)),
        ]
        if epsilon == 0.0:
            rows += [apart(five.mean(0), sw.Uniform(), 30), apart(five.mean(0), None, 30)]
        table(f"K = 5, epsilon = {epsilon:g}, delta = .05", rows)


if __name__ == "__main__":
    main()
