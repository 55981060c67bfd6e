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
from stopwise.timing.blocks import BlockSession

SCALES = ("log", "linear")
LARGEST = 50.0  # times slower than the fastest run of its block, which is what a run counts at most
MOST_WARMUPS = 10**6
Contestant = Callable[[], float]  # one run: a time, or another number


@dataclass(frozen=True)
class Rules:
    """How sure, how close, how long. On the log scale epsilon is a ratio less 1.

    ``largest``: a run counts as at most so many times slower than the fastest of its block, or on the
    linear scale as at most so much worse. None: 50 times; on the linear scale there is no limit, and
    differences are taken for normal.
    """

    delta: float = 0.05
    epsilon: float = 0.02
    warmup: int = 3
    minimum: int = 10  # runs of each
    budget: float = 300.0  # seconds
    scale: str = "log"
    goal: str = "min"
    seed: int = 0
    largest: float | None = None

    def __post_init__(self) -> None:
        self._keep("epsilon", checks.positive("epsilon", self.epsilon))
        self._keep("warmup", checks.whole("warmup", self.warmup, least=0, most=MOST_WARMUPS))
        self._keep("minimum", checks.whole("minimum", self.minimum, least=2))
        self._keep("budget", checks.positive("budget", self.budget))
        self._keep("seed", checks.seed(self.seed))
        checks.choice("scale", self.scale, SCALES, " or ".join(SCALES))
        checks.choice("goal", self.goal, ("max", "min"), '"max" or "min"')
        if self.largest is not None:
            self._keep("largest", checks.finite("largest", self.largest))
        least = self.epsilon + (self.scale == "log")
        if self.largest is not None and not least < self.largest:
            allowed = f"a number above {least:g}"
            hint = "It has to be larger than a difference that matters (epsilon)."
            raise BadArgument("largest", self.largest, allowed, hint)

    def _keep(self, name: str, checked: float) -> None:
        """As a plain number, whatever kind of number was given."""
        object.__setattr__(self, name, checked)

    @property
    def margin(self) -> float:
        """Epsilon on the scale on which differences are taken."""
        return math.log1p(self.epsilon) if self.scale == "log" else self.epsilon

    @property
    def width(self) -> float:
        """The largest difference that counts, on the same scale."""
        if self.scale == "log":
            return math.log(
                max(LARGEST, 2.0 + self.epsilon) if self.largest is None else self.largest
            )
        return math.inf if self.largest is None else self.largest

    def scaled(self, label: str, found: float) -> float:
        """A result on that scale; less is better, whatever the goal."""
        if not math.isfinite(found):
            raise BadArgument(label, found, "a finite number")
        if self.scale == "log" and not found > 0.0:
            hint = "Ratios need numbers above 0: --scale linear compares differences."
            raise BadArgument(label, found, "a number above 0", hint)
        sign = 1.0 if self.goal == "min" else -1.0
        return sign * (math.log(found) if self.scale == "log" else found)


class Race:
    """A comparison of contestants, as far as it has got."""

    def __init__(self, labels: Sequence[str], rules: Rules) -> None:
        if len(set(labels)) < len(labels) or len(labels) < 2:
            raise BadArgument("labels", list(labels), "two different names or more")
        self.labels, self.rules = tuple(labels), rules
        self.session = BlockSession(
            len(labels), rules.delta, rules.margin, rules.width, rules.minimum
        )
        self.blocks: list[Floats] = []  # a row of results each, nan of those that did not run
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
        """A block that is cut short by Ctrl-C does not count: nothing of it is told."""
        arms, row = self.session.taking_part, np.full(len(self.labels), math.nan)
        for arm in rng.permutation(arms):
            prepare()
            row[arm] = contestants[arm]()
        scaled = {arm: self.rules.scaled(self.labels[arm], float(row[arm])) for arm in arms}
        self.blocks.append(row)
        self.session.tell_block(scaled)

    def results(self, arm: int) -> Floats:
        """Of one contestant, in the order measured."""
        found = np.array(self.blocks).reshape(-1, len(self.labels))[:, arm]
        return np.asarray(found[~np.isnan(found)])

    def difference(self, arm: int, other: int) -> float:
        """By how much an arm is better, on the scale: the mean over the blocks that have both."""
        rows = np.array(self.blocks).reshape(-1, len(self.labels))[:, [arm, other]]
        both = rows[~np.isnan(rows).any(axis=1)]
        if not len(both):
            return math.nan
        found = np.log(both) if self.rules.scale == "log" else both
        sign = 1.0 if self.rules.goal == "max" else -1.0
        return float(sign * np.mean(found[:, 0] - found[:, 1]))
