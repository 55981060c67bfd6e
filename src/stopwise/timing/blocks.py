"""Who is proven to be better, from blocks of runs: evidence for any law, and only if blocks are steady.

A block's results count by how far each is behind the best of the block, up to a largest width. So the
difference of two is at most the width, and bets on bounded differences need no other assumption about
the law (docs/paired.md). What they do assume, that a block is news, ``steady`` looks after.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from stopwise.core.arrays import Floats, Ints
from stopwise.core.spelling import family
from stopwise.paired.comparison import Comparison
from stopwise.paired.session import PairedSession
from stopwise.paired.status import decided, update_status
from stopwise.paired.step import enter
from stopwise.timing.steady import is_steady


class BlockSession(PairedSession):
    """A paired comparison: less is better, ties are an answer, and claims wait for steady blocks."""

    def __init__(self, arms: int, delta: float, margin: float, width: float, minimum: int) -> None:
        bounded = {"kind": "bounded", "low": 0.0, "high": width}
        kind = family(bounded if math.isfinite(width) else "gaussian:variance=unknown")
        super().__init__(
            kind, arms, delta=delta, epsilon=margin, ties=True, goal="min", minimum=minimum
        )
        self.width = width
        if math.isfinite(width):
            self.what = self.what._replace(
                kind=self.what.kind._replace(weights=_weights(self.what))
            )
        self._look: dict[tuple[int, int, int], int] = {}  # from which block on a pair is looked at

    def compile(self) -> None:
        """Nothing: a block of runs takes longer than what is done with it."""

    @property
    def taking_part(self) -> tuple[int, ...]:
        """The arms that get the next block."""
        return tuple(arm for arm in range(self.what.arms) if self.is_in(arm))

    def tell_block(self, results: Mapping[int, float]) -> bool:
        """The results of all arms that take part; whether it is decided now."""
        item, best = self.ask()[0], min(results.values())
        for arm, found in results.items():
            self.tell(item, arm, min(found - best, self.width))
        return self.decided

    @property
    def held(self) -> bool:
        """Whether a claim has evidence enough and waits for steady blocks."""
        inside = np.ix_(range(len(self.what.margins)), self.taking_part, self.taking_part)
        enough = self.state.evidence[inside] >= self.what.level
        late = self.counted >= self.what.minimum
        return late and bool(np.any(enough & (self.state.passed[inside] == 0)))

    def _absorb(self, item: int, row: Floats, absent: list[int]) -> None:
        """A block counts, but a pair does not pass as long as the blocks are not steady."""
        before = self.state.passed.copy()
        enter(self.what, self.state, self.sense * row)
        self.rows.append(row)
        self.decided = self.settle(before)

    def settle(self, before: Ints) -> bool:
        """Settle what has passed since ``before``, if the blocks are steady; whether it is decided."""
        state = self.state
        if np.array_equal(before, state.passed):
            return False  # nothing is claimed that was not before
        for m, i, j in np.argwhere(state.passed > before).tolist():
            state.passed[m, i, j] = self._is_steady(m, i, j)
        update_status(self.what, state)
        return bool(decided(self.what, state))

    def _is_steady(self, m: int, i: int, j: int) -> bool:
        """A look is at all blocks: after one in vain the next waits until there are 2 % more."""
        blocks = len(self.rows)
        if blocks < self._look.get((m, i, j), 0):
            return False
        self._look[m, i, j] = blocks + blocks // 50
        margin = float(self.what.margins[m])
        return is_steady(self.differences(i, j), margin, self.what.level)

    def after(self, row: Floats) -> None:
        """It is kept already."""


def _weights(what: Comparison) -> Floats:
    """Half on the largest bet, the best one where noise is small beside the largest difference."""
    count = len(what.kind.gaps)
    return np.array([0.5] + (count - 1) * [0.5 / (count - 1)])
