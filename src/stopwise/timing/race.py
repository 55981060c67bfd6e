"""Runs in blocks: each contestant that is in runs once, in random order, until it is clear."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from stopwise.core import checks
from stopwise.core.arrays import Floats
from stopwise.core.errors import BadArgument
from stopwise.core.spelling import family
from stopwise.paired.session import PairedSession

SCALES = ("log", "linear")
Contestant = Callable[[], float]  # one run: a time, or another number


@dataclass(frozen=True)
class Rules:
    """How sure, how close, how long. On the log scale epsilon is a ratio less 1."""

    delta: float = 0.05
    epsilon: float = 0.02
    warmup: int = 3
    minimum: int = 10  # runs of each
    budget: float = 300.0  # seconds
    scale: str = "log"
    goal: str = "min"
    seed: int = 0

    def __post_init__(self) -> None:
        checks.positive("epsilon", self.epsilon)
        checks.whole("warmup", self.warmup, least=0)
        checks.whole("minimum", self.minimum, least=2)
        checks.positive("budget", self.budget)
        checks.whole("seed", self.seed, least=0)
        if self.scale not in SCALES:
            raise BadArgument("scale", self.scale, " or ".join(SCALES))

    @property
    def margin(self) -> float:
        """Epsilon on the scale on which differences are taken."""
        return math.log1p(self.epsilon) if self.scale == "log" else self.epsilon


class Race:
    """A comparison of contestants, as far as it has got."""

    def __init__(self, labels: Sequence[str], rules: Rules) -> None:
        if len(set(labels)) < len(labels) or len(labels) < 2:
            raise BadArgument("labels", list(labels), "two different names or more")
        self.labels, self.rules = tuple(labels), rules
        self.session = PairedSession(
            family("gaussian:variance=unknown"),
            len(labels),
            delta=rules.delta,
            epsilon=rules.margin,
            ties=True,
            goal=rules.goal,
            minimum=rules.minimum,
        )
        self.ended = ""  # "decided", "budget" or "interrupted"
        self.seconds = 0.0

    def run(
        self,
        contestants: Sequence[Contestant],
        prepare: Callable[[], object] = lambda: None,
        watch: Callable[[Race], None] = lambda race: None,
    ) -> Race:
        """Warm up, then block after block; ``watch`` is told after each. Ctrl-C keeps what there is."""
        begun, rng = time.monotonic(), np.random.default_rng(self.rules.seed)
        try:
            for _ in range(self.rules.warmup):
                for contestant in contestants:
                    prepare()
                    contestant()
            while not self.ended:
                self._block(contestants, prepare, rng)
                self.seconds = time.monotonic() - begun
                if self.session.decided:
                    self.ended = "decided"
                elif self.seconds >= self.rules.budget:
                    self.ended = "budget"
                watch(self)
        except KeyboardInterrupt:
            self.ended = "interrupted"
        self.seconds = time.monotonic() - begun
        return self

    def _block(
        self,
        contestants: Sequence[Contestant],
        prepare: Callable[[], object],
        rng: np.random.Generator,
    ) -> None:
        """A block that is cut short by Ctrl-C does not count: its item is not complete."""
        item, arms = self.session.ask()
        for arm in rng.permutation(arms):
            prepare()
            found = contestants[arm]()
            self.session.tell(item, int(arm), self._scaled(self.labels[arm], found))

    def _scaled(self, label: str, found: float) -> float:
        if self.rules.scale == "linear":
            return found
        if not found > 0.0:
            hint = "Ratios need numbers above 0: --scale linear compares differences."
            raise BadArgument(label, found, "a number above 0", hint)
        return math.log(found)

    def results(self, arm: int) -> Floats:
        """Of one contestant, in the order measured; a block counts when all that are in have run."""
        rows = np.array(self.session.rows).reshape(-1, len(self.labels))
        found = rows[: int(self.session.state.used[arm]), arm]
        return np.exp(found) if self.rules.scale == "log" else found
