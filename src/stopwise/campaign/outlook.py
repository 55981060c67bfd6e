"""How many more items a paired campaign needs: a range, or nothing while that would be a guess.

The mean difference of each pair that matters is drawn as the items leave it open (a flat prior), and for
each draw its evidence is followed into the future: n (mean difference)^2/(2 variance), less what the
bets fall short of that today. docs/paired.md says how often the truth is in the range.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from stopwise.campaign.remaining import CHANCES, DRAWS, WIDEST, Remaining
from stopwise.core.arrays import Floats
from stopwise.engine.design import generator
from stopwise.paired.comparison import NOBODY
from stopwise.paired.items import Items
from stopwise.paired.status import current_answer, is_open

LEAST = 20  # items before which any range is a guess
STEP, STEPS = 1.04, 180  # looks into the future: up to 1,000 times the items so far
MOST = 12  # pairs that are followed: those with the least evidence


class Pairs(NamedTuple):
    """What is known of some pairs: an entry each. ``ahead``, ``behind``: margins that are proven."""

    size: Floats
    mean: Floats
    variance: Floats
    evidence: Floats
    ahead: float
    behind: float


def items_needed(items: Items) -> Remaining | None:
    """In eight of ten campaigns between these two."""
    pairs = _pairs(items)
    if pairs is None or items.counted < LEAST:
        return None
    named = current_answer(items.what, items.state).named
    pool = float(items.what.pool) if items.what.deterministic else np.inf
    times = _times(pairs, items.what.level, pool)
    together = times.min(0) if items.what.one and named else times.max(0)
    low, high = np.quantile(np.minimum(together, pool), CHANCES, method="nearest")
    least = max(low, items.what.minimum)
    if not high <= WIDEST * least:
        return None
    return Remaining(int(np.ceil(least)) - items.counted, int(np.ceil(high)) - items.counted)


def _pairs(items: Items) -> Pairs | None:
    """Those whose evidence is still missing, the least first; None if one of them has no spread."""
    what, state = items.what, items.state
    control, last, epsilon = what.control, what.margins.size - 1, float(what.margins[-1])
    inside = [k for k in range(what.arms) if is_open(state, k)]
    if control == NOBODY:
        named = set(current_answer(what, state).named)
        found = [(i, k) for i in inside if i in named for k in inside if k not in named]
        proof = {pair: state.evidence[last][pair] for pair in found}
    else:
        proof = {
            (k, control): max(state.evidence[0, k, control], state.evidence[last, control, k])
            for k in inside
            if k != control
        }
    chosen = sorted(proof, key=lambda pair: proof[pair])[:MOST]
    places = tuple(np.array(chosen, dtype=np.int64).reshape(-1, 2).T)
    size = state.counts[places]
    spread = state.squares[places] / np.maximum(size, 1.0)
    if not chosen or not np.all(spread > 0.0):
        return None
    evidence = np.array([proof[pair] for pair in chosen])
    ahead = 0.0 if control != NOBODY else epsilon
    return Pairs(size, state.means[places], spread, evidence, ahead, epsilon)


@lru_cache(maxsize=16)
def _noise(pairs: int) -> tuple[Floats, Floats]:
    """The same for equal data: of the means, and of what is to come, step by step."""
    rng = generator(0, pairs)
    return rng.standard_normal((pairs, DRAWS)), rng.standard_normal((STEPS, pairs, DRAWS))


def _times(pairs: Pairs, level: float, pool: float) -> Floats:
    """Pair x draw: the number of items with which its evidence first reaches the level."""
    size, mean, variance = (each[:, None] for each in pairs[:3])
    wide, steps = _noise(pairs.size.size)
    start = _information(size, pool)
    drawn = mean + np.sqrt(variance / start) * wide
    rest = (pool * drawn - size * mean) / (pool - size) if np.isfinite(pool) else drawn
    short = np.maximum(_gain(pairs, start, mean, variance) - pairs.evidence[:, None], 0.0)
    found, total, done = np.full(drawn.shape, np.inf), size * mean + 0.0 * drawn, size
    for noise in steps:
        ahead = np.minimum(STEP * done, pool)
        fresh = ahead - done
        left = np.maximum(1.0 - fresh / np.maximum(pool - done, 1.0), 0.0)
        total = total + fresh * rest + np.sqrt(fresh * variance * left) * noise
        done = ahead
        gain = _gain(pairs, _information(done, pool), total / done, variance) - short
        found = np.where((found == np.inf) & ((gain >= level) | (done >= pool)), done, found)
    return found


def _information(size: Floats, pool: float) -> Floats:
    """So many items of a pool are worth more, the fewer are left."""
    return size / np.maximum(1.0 - size / pool, 1e-9)


def _gain(pairs: Pairs, size: Floats, mean: Floats, variance: Floats) -> Floats:
    """n (mean difference and margin)^2/(2 variance), for whichever of the two may be ahead."""
    apart = np.maximum(np.maximum(mean + pairs.ahead, pairs.behind - mean), 0.0)
    return size * apart**2 / (2.0 * variance)
