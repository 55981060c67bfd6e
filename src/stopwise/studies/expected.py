"""What a forecast is made of: where runs were simulated, and how numbers spread over them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from stopwise.core.arrays import Floats
from stopwise.core.tables import plain
from stopwise.oracles.values import Oracle


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
