"""Where simulated samples come from, if not from the family at the true means: the arms' laws.

A law is any value with ``mean``, ``deviation``, ``draw`` and ``identity``. It is used in plain Python,
so that every distribution will do.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from stopwise.core.arrays import Floats, Rng
from stopwise.core.errors import BadArgument


@runtime_checkable
class Law(Protocol):
    """The distribution of an arm's samples."""

    @property
    def mean(self) -> float:
        """Of one sample."""

    @property
    def deviation(self) -> float:
        """The standard deviation of one sample."""

    @property
    def identity(self) -> tuple[object, ...]:
        """Words for it, and what tells it from others: numbers, texts and arrays."""

    def draw(self, count: int, rng: Rng) -> Floats:
        """So many samples."""


class NormalLaw(NamedTuple):
    """Normal samples; constant ones where the deviation is 0."""

    mean: float
    deviation: float

    @property
    def identity(self) -> tuple[object, ...]:
        return ("normal", *self)

    def draw(self, count: int, rng: Rng) -> Floats:
        return self.mean + self.deviation * rng.standard_normal(count)


class BetaLaw(NamedTuple):
    """The Beta law on [low, high] with this mean and deviation."""

    mean: float
    deviation: float
    low: float
    high: float

    @property
    def identity(self) -> tuple[object, ...]:
        return ("beta", *self)

    def draw(self, count: int, rng: Rng) -> Floats:
        width = self.high - self.low
        share, spread = (self.mean - self.low) / width, self.deviation / width
        if spread == 0.0:
            return np.full(count, self.mean)
        # a + b: the variance is m (1 - m)/(a + b + 1)
        both = share * (1.0 - share) / spread**2 - 1.0
        found = self.low + width * rng.beta(share * both, (1.0 - share) * both, count)
        return np.clip(found, self.low, self.high)  # rounding


def beta_law(mean: float, deviation: float, low: float, high: float) -> BetaLaw:
    """The Beta law on [low, high] with this mean and deviation, if there is one."""
    most = math.sqrt((mean - low) * (high - mean))
    if not deviation < most:
        raise BadArgument(
            "deviations",
            deviation,
            f"numbers below {most:.6g}, the largest standard deviation that numbers between {low:g} and "
            f"{high:g} with mean {mean:g} can have (all of them at the ends)",
        )
    return BetaLaw(mean, deviation, low, high)


class PilotLaw(NamedTuple):
    """Values from an earlier experiment, drawn at random with replacement."""

    values: Floats

    @property
    def mean(self) -> float:
        return float(self.values.mean())

    @property
    def deviation(self) -> float:
        return float(self.values.std())

    @property
    def identity(self) -> tuple[object, ...]:
        return (f"{self.values.size} pilot values", self.values)

    def draw(self, count: int, rng: Rng) -> Floats:
        return self.values[rng.integers(self.values.size, size=count)]


class FrozenLaw(NamedTuple):
    """A distribution of scipy.stats with its parameters."""

    distribution: Any

    @property
    def mean(self) -> float:
        return float(self.distribution.mean())

    @property
    def deviation(self) -> float:
        return float(self.distribution.std())

    @property
    def identity(self) -> tuple[object, ...]:
        """Its class and parameters; of a class that is not SciPy's the source, too."""
        made = self.distribution.dist
        kind = type(made)
        own = not kind.__module__.startswith("scipy.")
        made_of = {k: v for k, v in made._updated_ctor_param().items() if k != "seed"}
        named = tuple(sorted(self.distribution.kwds.items()))
        whole = (*self.distribution.args, *named, *sorted(made_of.items()))
        words = ", ".join([*map(str, self.distribution.args), *(f"{k}={v}" for k, v in named)])
        return (f"{made.name}({words})", kind.__qualname__, *whole, *((kind,) if own else ()))

    def draw(self, count: int, rng: Rng) -> Floats:
        found = self.distribution.rvs(size=count, random_state=rng)
        return np.asarray(found, dtype=np.float64)


def in_words(law: Law) -> str:
    """A law and its standard deviation: "normal, sd 20"."""
    return f"{law.identity[0]}, sd {law.deviation:.4g}"
