"""How many more samples a campaign needs: a range, or nothing while that would be a guess.

What is uncertain is above all where the means lie. So means are drawn as the samples leave them open (a
flat prior), and for each draw the evidence is followed into the future: new samples go where the oracle
of the drawn means sends them, the estimates move towards what was drawn, with noise, and the number is
noted at which every cell of the alternative costs enough. All cells are taken as half-spaces and all
arms as normal: a few products of matrices. bench/remaining.py says how often the truth is in the range.
"""

from __future__ import annotations

import math
from collections import defaultdict
from functools import lru_cache
from itertools import islice
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from stopwise.core.arrays import Floats
from stopwise.core.data import Data
from stopwise.problems.problem import Answer

DRAWS = 64
CHANCES = 0.1, 0.9
STEP, STEPS = 1.3, 36  # looks into the future: from 1 % of the samples so far to 100 times as many
ROUNDS = 12  # of the iteration for oracle weights
MOST = 64  # cells or arms: more would take long
NEAREST = 12  # cells of an answer that are followed: the others cost more, and hardly matter
TRIED = 64  # correct answers of a draw among which the leading one is looked for
GROUPS = (
    8  # answers that are followed; if more than a tenth of the draws have others, it is a guess
)
EACH = 20  # samples an arm, on average, before which any range is a guess
WIDEST = 10.0  # so is one whose ends, with the samples so far, differ by more than this factor


class Remaining(NamedTuple):
    """Samples still needed: in eight of ten campaigns between these two."""

    low: int
    high: int

    def __str__(self) -> str:
        return f"{self.low:,} to {self.high:,}"


class Outlook(NamedTuple):
    """What is known when somebody asks; the family as the samples show it."""

    problem: Any
    family: Any
    data: Data
    leading: Answer
    evidence: float
    threshold: float
    adapts: bool = True  # whether the strategy follows the means; else its proportions stay


class HalfSpaces(NamedTuple):
    """A row for each cell: normal . mean <= offset; its cost is ``scale`` times that of normal arms."""

    normals: Floats
    offsets: Floats
    scales: Floats


def remaining(now: Outlook) -> Remaining | None:
    """The range, with two digits; None while it would be a guess."""
    done = now.data.counts.sum()
    if done < EACH * now.problem.arms or now.problem.arms > MOST:
        return None
    low, high = np.quantile(forecast(now), CHANCES, method="inverted_cdf")
    if high == math.inf or done + high > WIDEST * (done + low):
        return None
    return Remaining(_rounded(low, math.floor), _rounded(high, math.ceil))


def _rounded(number: float, towards: Any) -> int:
    unit = 10 ** max(0, math.floor(math.log10(max(number, 1.0))) - 1)
    return int(towards(number / unit) * unit)


def forecast(now: Outlook) -> Floats:
    """The samples still needed in each draw; infinite where that is not known."""
    counts, means = now.data
    spread = np.array([_variance(now, arm) for arm in range(means.size)])
    half, noise = _numbers(means.size)
    ends = np.array([now.family.of_arm(arm).interval() for arm in range(means.size)])
    drawn = np.clip(means + np.vstack([half, -half]) * np.sqrt(spread / counts), *ends.T)
    found, short = np.full(DRAWS, math.inf), 0.0
    answers = _answers(now, drawn)
    if not answers or 2 * len(answers[0][1]) < DRAWS:  # who leads is a guess already
        return found
    for answer, places in answers:
        leads = answer == now.leading
        cells = _half_spaces(now, spread, answer, means if leads else drawn[places].mean(axis=0))
        if cells is None:
            continue
        if leads:  # what the stopping rule takes off the cost: it changes slowly
            short = float(_costs(cells, spread, counts, means).min()) - now.evidence
        weights = _weights(cells, spread, drawn[places]) if now.adapts else counts / counts.sum()
        found[places] = _crossings(
            now, cells, spread, short, weights, drawn[places], noise[:, places]
        )
    return found


@lru_cache(8)
def _numbers(arms: int) -> tuple[Floats, Floats]:
    """Random numbers, the same every time: half of the draws (the others mirror them), and noise."""
    rng = np.random.default_rng(0)
    return rng.standard_normal((DRAWS // 2, arms)), rng.standard_normal((STEPS, DRAWS, arms))


def _variance(now: Outlook, arm: int) -> float:
    """Of a sample; at an estimate on the end of the interval, half a sample inside it."""
    own, mean = now.family.of_arm(arm), now.data.means[arm]
    low, high = own.interval()
    inside = 0.5 * (high - low if math.isfinite(high - low) else 1.0) / now.data.counts[arm]
    return float(own.variance_at(min(max(mean, low + inside), high - inside)))


def _answers(now: Outlook, drawn: Floats) -> list[tuple[Answer, list[int]]]:
    """The answers that draws will lead to, the leading one first, then by the number of draws."""
    found: dict[Answer, list[int]] = defaultdict(list)
    for place, means in enumerate(drawn):
        correct = list(islice(now.problem.correct_answers(means), TRIED))
        if correct:
            found[now.leading if now.leading in correct else correct[0]].append(place)
    order = sorted(found, key=lambda answer: (answer != now.leading, -len(found[answer])))
    return [(answer, found[answer]) for answer in order[:GROUPS]]


def _half_spaces(now: Outlook, spread: Floats, answer: Answer, means: Floats) -> HalfSpaces | None:
    """The cells against an answer, each cut off at its closest model to these means."""
    code, data, closest = (
        now.problem.encode(answer),
        Data(now.data.counts, means),
        np.zeros(means.size),
    )
    if now.problem.cell_count(code) > MOST:
        return None
    rows = []
    for cell in range(now.problem.cell_count(code)):
        cost = now.problem.project(now.family, data, code, cell, closest)
        if 0.0 < cost < math.inf:
            normal = data.counts * (means - closest) / spread
            straight = 0.5 * normal @ (means - closest)
            rows.append((cost, normal, normal @ closest, cost / straight))
    _, *columns = zip(*sorted(rows, key=itemgetter(0))[:NEAREST], strict=True) if rows else ((),)
    return HalfSpaces(*map(np.array, columns)) if rows else None


def _costs(cells: HalfSpaces, spread: Floats, counts: Floats, means: Floats) -> Floats:
    """Of each cell (the last axis): (normal . mean - offset)^2 / (2 sum of normal_k^2 V_k/N_k)."""
    heights = np.maximum(means @ cells.normals.T - cells.offsets, 0.0)
    return cells.scales * heights**2 / (2.0 * (spread / counts) @ (cells.normals**2).T)


def _weights(cells: HalfSpaces, spread: Floats, means: Floats) -> Floats:
    """Oracle weights at each row of means.

    They minimise over w the most over cells of sum_k table_k/(height^2 w_k). For given shares of the
    cells w_k ~ sqrt(sum of share table_k/height^2); shares grow in proportion to what their cell needs.
    """
    heights = np.maximum(means @ cells.normals.T - cells.offsets, 1e-9)
    table, ease = cells.normals**2 * spread, cells.scales * heights**2
    shares = np.full(ease.shape, 1.0 / len(table))
    for _ in range(ROUNDS):
        weights = np.sqrt((shares / ease) @ table)
        weights /= weights.sum(axis=-1, keepdims=True)
        shares *= (1.0 / np.maximum(weights, 1e-12)) @ table.T / ease
        shares /= shares.sum(axis=-1, keepdims=True)
    return weights


def _crossings(
    now: Outlook,
    cells: HalfSpaces,
    spread: Floats,
    short: float,
    weights: Floats,
    drawn: Floats,
    noise: Floats,
) -> Floats:
    """When all cells cost enough: half-way between two looks; infinite if that is beyond the last."""
    counts, means = now.data
    looks = max(1.0, counts.sum() / 100.0) * STEP ** np.arange(STEPS)
    more = looks[:, None, None] * weights * np.ones_like(drawn)
    walk = np.cumsum(noise * np.sqrt(np.diff(more, axis=0, prepend=0.0) * spread), axis=0)
    then = counts + more
    costs = _costs(cells, spread, then, (counts * means + more * drawn + walk) / then)
    enough = costs.min(axis=-1) >= now.threshold + short
    middles = 0.5 * (looks + np.concatenate([[0.0], looks[:-1]]))
    return np.where(enough.any(axis=0), middles[enough.argmax(axis=0)], math.inf)
