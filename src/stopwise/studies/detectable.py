"""What difference can be told with so many samples."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from stopwise.cells.bound import Bound, Side
from stopwise.cells.gap import Gap
from stopwise.core import checks
from stopwise.core.arrays import Floats
from stopwise.core.data import Data
from stopwise.core.errors import BadArgument
from stopwise.engine.design import Setting
from stopwise.oracles.values import Oracle
from stopwise.studies.amounts import TARGET
from stopwise.studies.simulation import simulate

RUNS = 200
CLOSE = 1.03  # the factor within which the difference is found
LEAST = 2.0**-8  # times the guessed differences: where runs end here, they end without any


class Detectable(NamedTuple):
    """The least difference that ``strategy`` finds with so many samples in four of five experiments."""

    samples: int
    difference: float  # 0: also none is settled, up to epsilon
    means: Floats  # such means: the guess, its differences made larger or smaller
    strategy: str

    def __str__(self) -> str:
        means = ", ".join(f"{mean:.4g}" for mean in self.means)
        chance = f"with probability {TARGET:.0%}"
        if self.difference == 0.0:
            return f"{self.samples:,} samples are enough {chance}, however close the means are."
        return (
            f"With {self.samples:,} samples {self.strategy} finds a difference of {self.difference:.3g} "
            f"{chance}: means {means}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values."""
        return {**self._asdict(), "means": self.means.tolist()}


class Experiment(NamedTuple):
    """One experiment at guessed means: what is asked and how, and the oracle and the laws there."""

    setting: Setting
    oracle: Oracle
    laws: tuple[Any, ...]
    delta: float
    seed: int


def detectable(own: Experiment, name: str, samples: int, guessed: float) -> Detectable:
    """The guessed means with all differences scaled, so that four of five runs end in time.

    At the means themselves, that takes ``guessed`` samples; they fall with the square of the scale.
    """
    count = checks.whole("samples", samples, least=own.setting.problem.arms)
    base, difference = _no_difference(own.oracle)

    def means(scale: float) -> Floats:
        return base + scale * (own.oracle.means - base)

    def ends(scale: float) -> bool:
        return not _inside(own, means(scale)) or _decided(own, means(scale), count) >= TARGET

    scale = _least(ends, max(math.sqrt(guessed / count), LEAST))
    if not _inside(own, means(scale)):
        family = own.setting.family
        allowed = f"more: with so few, no difference that {family!r} allows is found"
        raise BadArgument("samples", count, allowed)
    return Detectable(count, scale * difference, means(scale), name)


def _no_difference(found: Oracle) -> tuple[Floats, float]:
    """Where scaled differences vanish, and how large the one is that matters most."""
    means, answer = found.means, found.answers[0]
    code, data = found.problem.encode(answer), Data(found.weights[0], found.means)
    closest = [np.zeros(means.size) for _ in range(found.problem.cell_count(code))]
    costs = [
        found.problem.project(found.family, data, code, cell, point)
        for cell, point in enumerate(closest)
    ]
    cell = int(np.argmin(costs))
    kind = found.problem.cell(code, cell).simplest()
    if isinstance(kind, Gap):  # all arms like the rival
        base = np.full(means.size, means[kind.other])
        return base, float(abs(means[kind.arm] - means[kind.other]))
    if isinstance(kind, Bound | Side):  # all on the limit
        far = np.abs(means - kind.limit)
        chosen = far[kind.arm] if isinstance(kind, Bound) else far.max()
        return np.full(means.size, kind.limit), float(chosen)
    return closest[cell], float(np.abs(means - closest[cell]).max())


def _inside(own: Experiment, means: Floats) -> bool:
    ends = np.array([own.setting.family.of_arm(arm).interval() for arm in range(means.size)])
    return bool(np.all(means > ends[:, 0]) and np.all(means < ends[:, 1]))


def _decided(own: Experiment, means: Floats, samples: int) -> float:
    """How many runs end within so many samples; their random numbers are the same for all means."""
    runs = simulate(
        means=means,
        **own.setting._asdict(),
        deviations=[law.deviation for law in own.laws] if own.laws else None,
        delta=own.delta,
        repetitions=RUNS,
        seed=own.seed,
        max_rounds=samples,
        progress=False,
    )
    return float(1.0 - runs.undecided.mean())


def _least(ends: Callable[[float], bool], start: float) -> float:
    """The least scale at which runs end, to a few percent; 0 if they end at any."""
    low = high = start
    while not ends(high):
        low, high = high, 1.5 * high
    if low == high:
        while ends(low):
            if low < LEAST:
                return 0.0
            low, high = low / 1.5, low
    while high > CLOSE * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if ends(middle) else (middle, high)
    return high
