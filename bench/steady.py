"""``stopwise bench`` on simulated machines: wrong claims, claims that are held up, and runs needed.

python bench/steady.py [BENCHES] [BLOCKS]: comparisons of each kind, and blocks of each at most.
A comparison is wrong if a program is called faster whose mean logarithm is not less.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.signal import lfilter
from scipy.stats import beta

from stopwise.core.arrays import Floats
from stopwise.core.compile import kernels
from stopwise.core.tables import text_table
from stopwise.paired.comparison import Comparison, State
from stopwise.paired.step import enter
from stopwise.timing.blocks import BlockSession
from stopwise.timing.race import Race, Rules

Rng = np.random.Generator
Law = Callable[[Rng, int], Floats]  # log differences, block by block; above 0: the first is slower


def autoregressive(rng: Rng, blocks: int, memory: float, noise: float) -> Floats:
    """AR(1), stationary, with this standard deviation."""
    news = noise * rng.normal(size=blocks) * math.sqrt(1.0 - memory * memory)
    news[0] = noise * rng.normal()
    return np.asarray(lfilter([1.0], [1.0, -memory], news))


def sine(rng: Rng, blocks: int, size: float, period: float, noise: float) -> Floats:
    """A wave that begins anywhere."""
    phase = 2.0 * math.pi * (np.arange(blocks) / period + rng.random())
    return np.asarray(size * np.sin(phase) + noise * rng.normal(size=blocks))


def ramp(rng: Rng, blocks: int, size: float, length: int, noise: float) -> Floats:
    """From +size to -size, then the same again: the mean is 0."""
    place = np.arange(blocks) % length / (length - 1.0)
    return np.asarray(size * (1.0 - 2.0 * place) + noise * rng.normal(size=blocks))


def slow_runs(rng: Rng, blocks: int, share: float, factor: float, noise: float) -> Floats:
    """Of one program only, which is faster otherwise: the mean is 0."""
    slow = (rng.random(blocks) < share) - share
    return np.asarray(math.log(factor) * slow + noise * rng.normal(size=blocks))


def normal(rng: Rng, blocks: int, gap: float, noise: float) -> Floats:
    """Log-normal times."""
    return np.asarray(gap + noise * rng.normal(size=blocks))


def bimodal(rng: Rng, blocks: int, gap: float, noise: float) -> Floats:
    """Half of the runs of either program take a little longer."""
    modes = rng.integers(2, size=blocks) - rng.integers(2, size=blocks)
    return np.asarray(gap + noise * (modes + 0.2 * rng.normal(size=blocks)))


def heavy(rng: Rng, blocks: int, gap: float, noise: float) -> Floats:
    """Student's t with 4 degrees of freedom."""
    return np.asarray(gap + noise * rng.standard_t(4, size=blocks) / math.sqrt(2.0))


def exponential(rng: Rng, blocks: int, gap: float, noise: float) -> Floats:
    """Exponential delays of both."""
    both = rng.exponential(noise, (blocks, 2))
    return np.asarray(gap + (both[:, 0] - both[:, 1]) / math.sqrt(2.0))


NULL: dict[str, Law] = {
    **{
        f"AR(1), {memory}, noise {noise}": partial(autoregressive, memory=memory, noise=noise)
        for memory, noise in (
            (0.5, 0.05),
            (0.9, 0.05),
            (0.3, 1.0),
            (0.5, 1.0),
            (0.7, 1.0),
            (0.9, 1.0),
        )
    },
    **{
        f"sine of {size:.0%} over {period} blocks, noise {noise}": partial(
            sine, size=size, period=period, noise=noise
        )
        for size, period, noise in (
            (0.01, 200, 0.02),
            (0.02, 50, 0.02),
            (0.05, 400, 0.02),
            (0.2, 100, 0.1),
        )
    },
    **{
        f"ramps of {size:.0%} over {length} blocks, noise {noise}": partial(
            ramp, size=size, length=length, noise=noise
        )
        for size, length, noise in ((0.02, 200, 0.02), (0.1, 300, 0.05))
    },
    **{
        f"{share:.0%} of one program's runs take {factor} times as long": partial(
            slow_runs, share=share, factor=factor, noise=0.03
        )
        for share, factor in ((0.01, 2), (0.01, 50), (0.05, 3), (0.05, 50), (0.2, 1.5), (0.2, 50))
    },
    "log-normal, noise 1": partial(normal, gap=0.0, noise=1.0),
    "heavy tails, noise 1": partial(heavy, gap=0.0, noise=1.0),
}
STEADY: dict[str, Law] = {
    f"{law.__name__}, ratio {ratio}, noise {noise}": partial(law, gap=-math.log(ratio), noise=noise)
    for law in (normal, bimodal, heavy, exponential)
    for ratio, noise in ((2.0, 0.05), (1.34, 0.05), (1.1, 0.1), (1.5, 0.5))
}


def advance(what: Comparison, state: State, rows: Floats, place: int) -> int:
    """Enter rows until one lets a pair pass; the place after it."""
    for k in range(place, rows.shape[0]):
        before = state.passed.sum()
        enter(what, state, rows[k])
        if state.passed.sum() != before:
            return k + 1
    return int(rows.shape[0])


quick_advance = kernels.compiled(advance, allocates=False)


def compare(law: Law, blocks: int, seed: int) -> BlockSession:
    """One comparison: the blocks of a race, entered many at a time."""
    rules = Rules()
    session = BlockSession(2, rules.delta, rules.margin, rules.width, rules.minimum)
    logs = law(np.random.default_rng(seed), blocks)
    behind = np.minimum(np.column_stack([np.maximum(logs, 0), np.maximum(-logs, 0)]), rules.width)
    place, state = 0, session.state
    while place < blocks and not session.decided:
        before, start = state.passed.copy(), place
        place = quick_advance(session.what, state, session.sense * behind, place)
        session.rows.extend(behind[start:place])
        session.decided = session.settle(before)
    return session


def raced(law: Law, blocks: int, seed: int) -> BlockSession:
    """The same by a race, block by block."""
    logs = iter(law(np.random.default_rng(seed), blocks))

    def first() -> float:
        found = next(logs, None)
        if found is None:
            raise KeyboardInterrupt
        return math.exp(found)

    return Race(["first", "second"], Rules(warmup=0, budget=1e9)).run([first, lambda: 1.0]).session


def interval(errors: int, runs: int) -> str:
    """Exact, 95 % (Clopper and Pearson)."""
    low = beta.ppf(0.025, errors, runs - errors + 1) if errors else 0.0
    high = beta.ppf(0.975, errors + 1, runs - errors) if errors < runs else 1.0
    return f"{errors / runs:.3f} ({low:.3f} to {high:.3f})"


def main(benches: int, blocks: int) -> None:
    """Print both tables."""
    rows = []
    for name, law in NULL.items():
        found = [compare(law, blocks, seed) for seed in range(benches)]
        wrong = sum(len(each.verdict().winners) == 1 for each in found)
        held = sum(not each.decided and each.held for each in found)
        rows.append([name, interval(wrong, benches), f"{held / benches:.1%}"])
        print(*rows[-1], flush=True)
        assert raced(law, blocks, 0).verdict().winners == found[0].verdict().winners
    print(text_table(["equal programs", "called faster", "held up at the end"], rows))
    rows = []
    for name, law in STEADY.items():
        found = [compare(law, blocks, seed) for seed in range(benches)]
        right = sum(each.verdict().winners == (0,) for each in found)
        runs = [each.counted for each in found]
        cells = f"{np.median(runs):.0f}", f"{np.quantile(runs, 0.99):.0f}"
        rows.append([name, f"{right / benches:.1%}", *cells])
        print(*rows[-1], flush=True)
    print(text_table(["steady", "right", "runs", "99 %"], rows))


if __name__ == "__main__":
    given = [int(each) for each in sys.argv[1:]] + [1_000, 400][len(sys.argv) - 1 :]
    main(*given)
