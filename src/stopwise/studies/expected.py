"""What is expected of one strategy at guessed means, and of any: numbers of a plan."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from stopwise.core.arrays import Floats
from stopwise.core.tables import plain
from stopwise.oracles.values import Oracle
from stopwise.sampling.strategy import Strategy
from stopwise.studies.amounts import NOT_KNOWN, amount

QUANTILES = (0.05, 0.5, 0.8, 0.95)
BEYOND = 5  # runs beyond a quantile without which it is not shown


@dataclass(frozen=True, eq=False)
class Instance:
    """Means that the experiment may meet, and the oracle there; ``seed`` is what simulate was given."""

    means: Floats
    seed: int
    oracle: Oracle
    lower_bound: float
    laws: tuple[Any, ...] = ()  # the arms', where samples are not the family's
    cost_bound: float = math.nan  # the lower bound on the expected cost, if samples have one

    @property
    def truth(self) -> Any:
        """What ``simulate`` was given."""
        return list(self.laws) or self.means


@dataclass(frozen=True, eq=False)
class Spread:
    """A number's mean and quantiles over the runs, each with its standard error."""

    mean: float
    standard_error: float
    quantiles: dict[float, float]
    quantile_errors: dict[float, float]  # by bootstrap, of instances if there are several

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values."""
        return plain(vars(self))


@dataclass(frozen=True, eq=False)
class StrategyForecast:
    """What one strategy needs. An undecided run counts with the ``max_rounds`` that it had."""

    name: str
    strategy: Strategy
    runs: int
    undecided: int
    errors: int
    error_interval: tuple[float, float]  # exact (Clopper-Pearson), 95 %
    samples: Spread
    ratio: float  # mean samples / lower bound
    cost: Spread | None  # if costs were given
    arm_means: Floats
    arm_highs: Floats  # 95 % quantiles
    instance_means: Floats  # mean samples at each instance
    between: float  # standard deviation over instances, of their means
    within: float  # standard deviation of runs of one instance
    times: Floats  # samples of every run, rising

    def censored(self, q: float) -> bool:
        """Whether the quantile lies among the undecided runs, so that it is only a lower bound."""
        return q * (self.runs - 1) > self.runs - self.undecided - 1

    def known(self, q: float) -> bool:
        """Whether there are enough runs for this quantile."""
        return self.runs * min(q, 1.0 - q) >= BEYOND - 1e-9

    @property
    def least(self) -> str:
        """What to write before a mean that undecided runs make too low."""
        return "> " if self.undecided else ""

    def at_most(self, q: float) -> str:
        """A quantile of the samples in words: "66,300" or "more than 1,000,000"."""
        if self.censored(q):
            return f"more than {self.times[-1]:,.0f}"
        return amount(self.samples.quantiles[q]) if self.known(q) else NOT_KNOWN

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values."""
        fields = dict(vars(self))
        del fields["times"]
        arms = {"mean": fields.pop("arm_means"), "0.95": fields.pop("arm_highs")}
        return plain({**fields, "arms": arms})
