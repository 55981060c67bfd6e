"""Slow, naive and independent strategies by bounds and elimination, from the papers' pseudo-code.

Each has ``choose()``, the next arm (from 0), ``observe(arm, sample)``, and ``answer``, None until it
stops. Roots by bisection, lists for sets, everything from scratch each time; the first of equals wins.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import betaln, xlogy

from naive_engine import Bernoulli

Answer = int | str | None


class Player:
    """Counts and sums, and one first sample of each arm."""

    def __init__(self, arms: int, delta: float) -> None:
        self.arms, self.delta = arms, delta
        self.counts, self.sums = np.zeros(arms), np.zeros(arms)
        self.answer: Answer = None
        self.last = 0, 0.0  # the last arm and its sample

    @property
    def means(self) -> Any:
        return self.sums / self.counts

    @property
    def t(self) -> int:
        return int(self.counts.sum())

    def choose(self) -> int:
        return self.t if self.t < self.arms else self.next_arm()

    def observe(self, arm: int, sample: float) -> None:
        self.counts[arm] += 1
        self.sums[arm] += sample
        if self.t >= self.arms:
            self.last = arm, sample
            self.look()

    def next_arm(self) -> int:
        raise NotImplementedError

    def look(self) -> None:
        raise NotImplementedError


# ----------------------------------------------------------------------------------------- bounds


class Bounded(Player):
    """Upper and lower bounds from the divergence, by the stylized radius or by a mixture."""

    def __init__(self, arms: int, delta: float, family: Any, radius: str) -> None:
        super().__init__(arms, delta)
        self.family, self.radius = family, radius

    def level(self, arm: int) -> float:
        """What d(mean, q) may be."""
        n = float(self.counts[arm])
        if self.radius == "stylized":
            return math.log((1 + math.log(self.t)) / self.delta) / n
        base = math.log(self.arms / self.delta)
        if isinstance(self.family, Bernoulli):  # Jeffreys' prior
            s = float(self.sums[arm])
            fit = xlogy(s, s / n) + xlogy(n - s, 1 - s / n)
            return float(base + fit - betaln(s + 0.5, n - s + 0.5) + betaln(0.5, 0.5)) / n
        return (base + 0.5 * math.log(n + 1)) * (n + 1) / n**2

    def end(self, arm: int, side: int) -> float:
        mean, level = float(self.means[arm]), self.level(arm)

        def excess(q: float) -> float:
            return float(self.family.divergence(mean, q)) - level

        far = self.family.high if side > 0 else self.family.low
        if mean == far:
            return mean
        if math.isinf(far):
            far = mean + side
            while excess(far) < 0:
                far = mean + 2 * (far - mean)
        else:
            far -= side * 1e-15
        return float(brentq(excess, mean, far, xtol=1e-15, rtol=1e-14))

    def apart(self) -> Answer:
        """An arm whose lower bound is above all other upper bounds."""
        low = [self.end(k, -1) for k in range(self.arms)]
        high = [self.end(k, 1) for k in range(self.arms)]
        for k in range(self.arms):
            if all(high[j] < low[k] for j in range(self.arms) if j != k):
                return k
        return None


class KLLUCB(Bounded):
    """Kaufmann & Kalyanakrishnan 2013: sample u_t and l_t, both chosen from the same data."""

    waiting: int | None = None

    def next_arm(self) -> int:
        if self.waiting is not None:
            arm, self.waiting = self.waiting, None
            return arm
        leader = int(np.argmax(self.means))
        ends = [-math.inf if k == leader else self.end(k, 1) for k in range(self.arms)]
        self.waiting = int(np.argmax(ends))
        return leader

    def look(self) -> None:
        self.answer = self.apart()


class UGapE(Bounded):
    """Gabillon et al. 2012, with KL bounds."""

    def next_arm(self) -> int:
        low = [self.end(k, -1) for k in range(self.arms)]
        high = [self.end(k, 1) for k in range(self.arms)]
        gaps = [max(high[:k] + high[k + 1 :]) - low[k] for k in range(self.arms)]
        best = int(np.argmin(gaps))
        high[best] = -math.inf
        rival = int(np.argmax(high))
        return best if self.counts[best] < self.counts[rival] else rival

    def look(self) -> None:
        self.answer = self.apart()


class Race(Bounded):
    """Rounds over the remaining arms; the worst is removed when it is beaten; one a round."""

    def __init__(self, arms: int, delta: float, family: Any, radius: str, kind: str) -> None:
        super().__init__(arms, delta, family, radius)
        self.kind, self.remaining, self.todo = kind, list(range(arms)), list[int]()

    def next_arm(self) -> int:
        if not self.todo:
            self.todo = list(self.remaining)
        return self.todo[0]

    def look(self) -> None:
        if self.todo:
            self.todo.pop(0)
            if not self.todo:
                self.end_of_round()

    def end_of_round(self) -> None:
        means = self.means
        best = max(self.remaining, key=lambda k: (means[k], -k))
        worst = min(self.remaining, key=lambda k: (means[k], k))
        looked = [worst] if self.kind != "elimination" else [k for k in self.remaining if k != best]
        for k in looked:
            if k != best and self.beaten(best, k):
                self.remaining.remove(k)
        if len(self.remaining) == 1:
            self.answer = self.remaining[0]

    def beaten(self, best: int, worst: int) -> bool:
        n, (high, low) = float(self.counts[best]), (self.means[best], self.means[worst])
        if self.kind == "kl":
            return self.end(best, -1) > self.end(worst, 1)
        if self.kind == "elimination":  # samples in [0, 1]
            return bool(
                high - low >= 2 * math.sqrt(math.log(4 * self.arms * n**2 / self.delta) / (2 * n))
            )
        mid = (high + low) / 2
        ratio = n * (self.family.divergence(high, mid) + self.family.divergence(low, mid))
        return bool(ratio > math.log((1 + math.log(self.t)) / self.delta))


class LilUCB(Player):
    """Jamieson et al. 2014, for a variance."""

    def __init__(self, arms: int, delta: float, variance: float, heuristic: bool) -> None:
        super().__init__(arms, delta)
        self.variance, self.heuristic = variance, heuristic

    def next_arm(self) -> int:
        eps, beta, inner = 0.01, 1.0, 0.0
        if self.heuristic:
            eps, beta, inner = 0.0, 0.5, self.delta / 5
        else:  # 4 sqrt(c inner) + 4 c inner = delta
            c = (2 + eps) / eps * (1 / math.log(1 + eps)) ** (1 + eps)
            inner = brentq(
                lambda d: 4 * math.sqrt(c * d) + 4 * c * d - self.delta,
                0,
                1,
                xtol=1e-20,
                rtol=1e-14,
            )
        scores = []
        for n, mean in zip(self.counts, self.means, strict=True):
            log = math.log((1 + eps) * n) / inner
            wide = (
                math.sqrt(2 * self.variance * (1 + eps) * math.log(log) / n)
                if log > 1
                else math.inf
            )
            scores.append(mean + (1 + beta) * (1 + math.sqrt(eps)) * wide)
        return int(np.argmax(scores))

    def look(self) -> None:
        factor = 1 + 10 / self.arms if self.heuristic else 9.0
        for k in range(self.arms):
            if self.counts[k] >= 1 + factor * (self.t - self.counts[k]):
                self.answer = k


# ---------------------------------------------------------- limits: some arm below, unit variance


class Limited(Player):
    """Is some arm below the limit? Written for "above", as the papers are: all numbers are negated."""

    def __init__(self, arms: int, delta: float, limit: float) -> None:
        super().__init__(arms, delta)
        self.xi = -limit

    def observe(self, arm: int, sample: float) -> None:
        super().observe(arm, -sample)


class HDoC(Limited):
    """Kano et al. 2019, for unit variance."""

    def __init__(self, arms: int, delta: float, limit: float) -> None:
        super().__init__(arms, delta, limit)
        self.left = list(range(arms))

    def radius(self, arm: int) -> float:
        n = self.counts[arm]
        return math.sqrt(2 * math.log(4 * self.arms * n**2 / self.delta) / n)

    def index(self, arm: int) -> float:
        return float(self.means[arm] + math.sqrt(2 * math.log(self.t + 1) / self.counts[arm]))

    def next_arm(self) -> int:
        return max(self.left, key=lambda k: (self.index(k), -k))

    def look(self) -> None:
        arm, _ = self.last
        if self.means[arm] + self.radius(arm) < self.xi and arm in self.left:
            self.left.remove(arm)
        if self.means[arm] - self.radius(arm) >= self.xi:
            self.answer = arm
        elif not self.left:
            self.answer = "none"


class LUCBG(HDoC):
    """Kano et al. 2019."""

    def index(self, arm: int) -> float:
        return float(self.means[arm] + self.radius(arm))


class APGAI(Limited):
    """Jourdan & Reda 2023, with the threshold of published experiments."""

    def scores(self) -> tuple[Any, Any]:
        root = np.sqrt(self.counts)
        return root * np.maximum(self.means - self.xi, 0), root * np.maximum(
            self.xi - self.means, 0
        )

    def next_arm(self) -> int:
        above, below = self.scores()
        return int(np.argmax(above)) if self.means.max() > self.xi else int(np.argmin(below))

    def look(self) -> None:
        x = 2 * math.log(self.arms / self.delta) + 4 * math.log(math.log(self.t) + 4) + 0.5
        above, below = self.scores()
        if above.max() > math.sqrt(x + math.log(x)):
            self.answer = int(np.argmax(above))
        elif below.min() > math.sqrt(x + math.log(x)):
            self.answer = "none"


class SEE(Limited):
    """Li & Cheung 2025: two histories and a queue."""

    def __init__(self, arms: int, delta: float, limit: float) -> None:
        super().__init__(arms, delta, limit)
        self.tried: list[list[float]] = [[] for _ in range(arms)]
        self.proof: list[list[float]] = [[] for _ in range(arms)]
        self.queue: list[tuple[int, float]] = []
        self.phase, self.chosen, self.explored = 1, -1, 0

    def wide(self, n: int, tolerance: float) -> float:
        c = max(math.ceil(math.log2(n)), 1)
        return math.sqrt(2 * 2**c * math.log(2 * c**2 / tolerance)) / n

    def upper(self, arm: int) -> float:
        own = self.tried[arm]
        mean = sum(own) / len(own) if own else 0.0
        return mean + self.wide(max(len(own), 1), 3.0**-self.phase / self.arms)

    def good(self, arm: int) -> bool:
        own = self.tried[arm]
        return (
            sum(own) / len(own) - 1.01 * self.wide(len(own), 3.0**-self.phase / self.arms) > self.xi
        )

    def next_arm(self) -> int:
        while self.chosen < 0:
            arm = max(range(self.arms), key=lambda k: (self.upper(k), -k))
            held = [pair for pair in self.queue if pair[0] == arm]
            if not held:
                return arm
            self.queue.remove(held[0])
            self.tried[arm].append(held[0][1])
            if self.good(arm):
                self.queue.append((arm, self.tried[arm].pop()))
                self.chosen = arm
        return self.chosen

    def observe(self, arm: int, sample: float) -> None:
        if self.t < self.arms:
            self.tried[arm].append(-sample)
            self.explored += 1
        super().observe(arm, sample)

    def look(self) -> None:
        arm, sample = self.last
        if self.t == self.arms:
            return
        if self.chosen >= 0:
            self.proof[arm].append(sample)
            own = self.proof[arm]
            tolerance = self.delta / self.arms / 5.0**self.phase
            if sum(own) / len(own) - self.wide(len(own), tolerance) > self.xi:
                self.answer = arm
            elif len(own) >= 250 * 2**self.phase * math.log(
                4 * 5.0**self.phase * self.arms / self.delta
            ):
                self.chosen, self.phase = -1, self.phase + 1
            return
        self.tried[arm].append(sample)
        self.explored += 1
        tolerance = 3.0**-self.phase
        budget = 250 * 2.01**2 * self.arms * 2**self.phase * math.log(4 * self.arms / tolerance)
        if self.good(arm):
            self.queue.append((arm, self.tried[arm].pop()))
            self.chosen = arm
        elif all(self.upper(k) < self.xi for k in range(self.arms)):
            if tolerance < self.delta / 3:
                self.answer = "none"
            self.phase += 1
        elif self.explored >= budget:
            self.phase += 1


def unclear(counts: Any, means: Any, limit: float) -> int:
    """APT (Locatelli et al. 2016)."""
    return int(np.argmin(np.sqrt(counts) * np.abs(means - limit)))


def murphy(draw: Callable[[], Any], side: float, limit: float) -> int:
    """Kaufmann et al. 2018: draw until the condition holds."""
    while True:
        found = side * draw()
        if found.max() >= side * limit:
            return int(np.argmax(found))
