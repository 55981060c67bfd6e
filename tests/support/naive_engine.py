"""A slow, naive and independent run of Track-and-Stop and Sticky Track-and-Stop.

Written from the paper (Degenne & Koolen 2019, Algorithm 1) and from the definitions alone, to be
compared with the package round by round. Every round starts from scratch: all answers are listed,
games and regions are solved by root finding and enumeration. Numbers within ``TIE`` of each other
count as equal, and the first of equals wins.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq, minimize_scalar
from scipy.special import rel_entr

Array = NDArray[np.float64]
Answer = Any  # an arm, a word or a tuple, as in the package

TIE = 1e-9


def first_largest(values: ArrayLike, scale: float | None = None) -> int:
    """The first place whose value is the largest, up to rounding (of numbers of this scale)."""
    x = np.asarray(values, dtype=float)
    return int(np.argmax(x >= x.max() - TIE * (abs(x.max()) if scale is None else scale)))


# --- families -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Gaussian:
    """Normal rewards with a known variance."""

    variance: float = 1.0
    low: float = -math.inf
    high: float = math.inf

    def divergence(self, mean: float, x: float) -> float:
        """d(mean, x)."""
        return (mean - x) ** 2 / (2 * self.variance)

    def slope(self, mean: float, x: float) -> float:
        """The derivative of d(mean, x) in x."""
        return (x - mean) / self.variance

    def draw(self, rng: np.random.Generator, mean: float) -> float:
        """One reward."""
        return float(mean + math.sqrt(self.variance) * rng.standard_normal())


@dataclass(frozen=True)
class Bernoulli:
    """Success or failure."""

    low: float = 0.0
    high: float = 1.0

    def divergence(self, mean: float, x: float) -> float:
        """d(mean, x), infinite where x cannot have led to the mean."""
        return float(rel_entr(mean, x) + rel_entr(1 - mean, 1 - x))

    def slope(self, mean: float, x: float) -> float:
        """The derivative of d(mean, x) in x; infinite at ends that cannot have led to the mean."""
        up = (1 - mean) / (1 - x) if x < 1 else math.inf
        down = mean / x if x > 0 else math.inf
        return (up if mean < 1 else 0.0) - (down if mean > 0 else 0.0)

    def draw(self, rng: np.random.Generator, mean: float) -> float:
        """One reward."""
        return 1.0 if rng.random() < mean else 0.0


Family = Gaussian | Bernoulli


def root(f: Callable[[float], float], left: float, right: float) -> float:
    """Where an increasing function crosses zero; an end if it does not cross."""
    if f(left) >= 0:
        return left
    if f(right) <= 0:
        return right
    return float(brentq(f, left, right, xtol=1e-15, rtol=1e-15, maxiter=500))


# --- problems -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Problem(ABC):
    """A question about the means of arms of one family."""

    family: Family

    @abstractmethod
    def answers(self) -> list[Answer]:
        """All answers, in order."""

    @abstractmethod
    def evidence(self, w: Array, mu: Array, answer: Answer) -> float:
        """D(w, mu, not answer): the least cost of a model on which the answer is wrong."""

    @abstractmethod
    def weights(self, mu: Array, answer: Answer) -> Array:
        """The maximiser of D(., mu, not answer), or the agreed choice where all give 0."""

    @abstractmethod
    def reach(self, n: Array, mu: Array, answer: Answer) -> float:
        """The least cost of a model that has this answer among its oracle answers."""

    def value(self, mu: Array, answer: Answer) -> float:
        """D(mu, not answer), the maximum over weights; 0 where the answer is wrong."""
        if self.evidence(np.ones(mu.size), mu, answer) == 0:
            return 0.0
        return self.evidence(self.weights(mu, answer), mu, answer)

    def total(self, n: Array, mu: Array, model: ArrayLike) -> float:
        """sum_k n_k d(mu_k, model_k)."""
        rows = zip(n, mu, np.asarray(model, dtype=float), strict=True)
        return math.fsum(c * self.family.divergence(m, x) for c, m, x in rows if m != x)

    def cheapest(self, cost: Callable[[float], float], left: float, right: float) -> float:
        """The minimum of a convex function of one variable on an interval, ends included."""
        ends = min(cost(left), cost(right))
        if right <= left:
            return ends
        found = minimize_scalar(
            cost, bounds=(left, right), method="bounded", options={"xatol": 1e-12}
        )
        return min(ends, float(found.fun))


@dataclass(frozen=True)
class BestArm(Problem):
    """An arm whose mean is within epsilon of the largest."""

    arms: int
    epsilon: float = 0.0

    def answers(self) -> list[Answer]:
        """The arms."""
        return list(range(self.arms))

    def wrong(self, mu: Array, i: int) -> bool:
        """Whether another arm beats arm i by epsilon; for epsilon = 0, also if it is as good."""
        others = np.delete(mu, i)
        return bool(others.max() >= mu[i] + self.epsilon - 1e-12)

    def interval(self, mu: Array, i: int, j: int) -> tuple[float, float]:
        """Where arm i may meet arm j, which is then epsilon above: between their means."""
        left = max(self.family.low, mu[j] - self.epsilon)
        return left, min(mu[i], self.family.high - self.epsilon)

    def evidence(self, w: Array, mu: Array, answer: Answer) -> float:
        """The cheapest pair: arm i falls to x and arm j rises to x + epsilon."""
        i = int(answer)
        if self.wrong(mu, i):
            return 0.0
        costs = []
        for j in range(self.arms):
            if j != i:
                costs.append(self.pair(w, mu, i, j))
        return min(costs)

    def pair(self, w: Array, mu: Array, i: int, j: int) -> float:
        """min over x of w_i d(mu_i, x) + w_j d(mu_j, x + epsilon)."""
        d, slope = self.family.divergence, self.family.slope
        left, right = self.interval(mu, i, j)
        margin = 1e-15 * (right - left)  # slopes may be infinite at the ends
        arms = ((float(w[i]), float(mu[i]), 0.0), (float(w[j]), float(mu[j]), self.epsilon))

        def rise(x: float) -> float:
            return sum(v * slope(m, x + up) for v, m, up in arms if v > 0)

        def cost(x: float) -> float:
            return sum(v * d(m, x + up) for v, m, up in arms if v > 0)

        if right <= left:
            return cost(left)
        x = root(rise, left + margin, right - margin)
        return min(cost(x), cost(left), cost(right))

    def weights(self, mu: Array, answer: Answer) -> Array:
        """The equilibrium: all rivals equally costly, and nothing to gain from arm i or others.

        With y the common cost at w_i = 1, rival j meets arm i at x_j(y) and needs the weight
        r_j(y); y / (1 + sum r) is largest where sum_j d(mu_i, x_j) / d(mu_j, x_j + epsilon) = 1.
        """
        i = int(answer)
        d = self.family.divergence
        rivals = [j for j in range(self.arms) if j != i]
        if self.wrong(mu, i):
            best = int(np.argmax(mu))
            if not self.wrong(mu, best):
                return self.weights(mu, best)
            return np.full(self.arms, 1.0 / self.arms)
        w = np.zeros(self.arms)
        if mu[i] <= self.family.low:  # arm i cannot fall: only the rivals move
            for j in rivals:
                w[j] = 1 / d(mu[j], self.family.low + self.epsilon)
            return np.asarray(w / w.sum())
        w[i] = 1.0
        spans = [self.interval(mu, i, j) for j in rivals]
        if any(right <= left for left, right in spans):  # a rival that cannot rise needs no samples
            return w
        least = d(mu[i], spans[0][1])  # without samples of the rivals
        most = min(d(mu[i], left) for left, _ in spans)

        def level(z: float) -> float:
            return least + (z / (1 - z) if math.isinf(most) else (most - least) * z)

        def balance(z: float) -> float:
            if z in (0.0, 1.0):
                return z - 0.5
            ratio = 0.0
            for j in rivals:
                x = self.meeting(mu, i, j, level(z))
                below = d(mu[j], x + self.epsilon)
                ratio += d(mu[i], x) / below if below > 0 else math.inf
            return 0.5 - 1 / (1 + ratio)

        y = level(float(brentq(balance, 0.0, 1.0, xtol=1e-15, rtol=1e-15, maxiter=500)))
        for j in rivals:
            w[j] = self.ratio(mu, i, j, self.meeting(mu, i, j, y))
        return np.asarray(w / w.sum())

    def ratio(self, mu: Array, i: int, j: int, x: float) -> float:
        """The weight of rival j, against 1 for arm i, for which they meet at x."""
        return -self.family.slope(mu[i], x) / self.family.slope(mu[j], x + self.epsilon)

    def meeting(self, mu: Array, i: int, j: int, y: float) -> float:
        """The x for which the pair (i, j) costs y, at weight 1 for arm i."""
        d = self.family.divergence
        left, right = self.interval(mu, i, j)

        def excess(x: float) -> float:
            if x == left:
                cost = d(mu[i], left)
            elif x == right:
                cost = d(mu[i], right)
            else:
                cost = d(mu[i], x) + self.ratio(mu, i, j, x) * d(mu[j], x + self.epsilon)
            return 1 / (1 + cost) - 1 / (1 + y)

        return root(excess, left, right)

    def reach(self, n: Array, mu: Array, answer: Answer) -> float:
        """Arm i and all arms above it meet at x."""
        i = int(answer)

        def cost(x: float) -> float:
            model = np.minimum(mu, x)
            model[i] = x
            return self.total(n, mu, model)

        return self.cheapest(cost, float(mu[i]), float(mu.max()))


@dataclass(frozen=True)
class AnyLowArm(Problem):
    """Any arm with mean at most the threshold, or "none"."""

    arms: int
    threshold: float

    def answers(self) -> list[Answer]:
        """The arms, then "none"."""
        return [*range(self.arms), "none"]

    def evidence(self, w: Array, mu: Array, answer: Answer) -> float:
        """One arm moves to the threshold."""
        costs = [
            float(v) * self.family.divergence(m, self.threshold) for v, m in zip(w, mu, strict=True)
        ]
        if answer == "none":
            return min(costs) if mu.min() > self.threshold else 0.0
        return costs[answer] if mu[answer] < self.threshold else 0.0

    def weights(self, mu: Array, answer: Answer) -> Array:
        """For a low arm that arm; where the answer is wrong, for the lowest, or for "none"."""
        w = np.zeros(self.arms)
        if answer == "none" or mu[answer] >= self.threshold:
            answer = int(np.argmin(mu)) if mu.min() <= self.threshold else "none"
        if answer == "none":
            w[:] = [1 / self.family.divergence(m, self.threshold) for m in mu]
            return np.asarray(w / w.sum())
        w[answer] = 1.0
        return w

    def reach(self, n: Array, mu: Array, answer: Answer) -> float:
        """The lowest arm is the oracle answer if it is low, and "none" if it is not."""
        if answer == "none":
            return self.total(n, mu, np.maximum(mu, self.threshold))
        arm = int(answer)

        def cost(x: float) -> float:
            model = np.maximum(mu, x)
            model[arm] = x
            return self.total(n, mu, model)

        highest = min(float(mu[arm]), self.threshold)
        return self.cheapest(cost, min(float(mu.min()), highest), highest)


@dataclass(frozen=True)
class Thresholding(Problem):
    """The set of arms with mean at most the threshold."""

    arms: int
    threshold: float

    def answers(self) -> list[Answer]:
        """Sets of arms; arm 0 decides first, low before high."""
        sides = product((True, False), repeat=self.arms)
        return [tuple(k for k in range(self.arms) if low[k]) for low in sides]

    def wrong(self, mu: Array, answer: Answer) -> NDArray[np.bool_]:
        """The arms on the wrong side."""
        low = np.isin(np.arange(self.arms), answer)
        return np.where(low, mu > self.threshold, mu < self.threshold)

    def price(self, mu: Array) -> Array:
        """d(mu_k, threshold) for every arm."""
        return np.array([self.family.divergence(m, self.threshold) for m in mu])

    def evidence(self, w: Array, mu: Array, answer: Answer) -> float:
        """One arm moves to the threshold."""
        return 0.0 if self.wrong(mu, answer).any() else float(np.min(w * self.price(mu)))

    def weights(self, mu: Array, answer: Answer) -> Array:
        """All arms equally costly, whatever the answer."""
        w = 1 / self.price(mu)
        return np.asarray(w / w.sum())

    def reach(self, n: Array, mu: Array, answer: Answer) -> float:
        """Every arm on the wrong side moves to the threshold."""
        return float(np.sum((n * self.price(mu))[self.wrong(mu, answer)]))


@dataclass(frozen=True, eq=False)
class AnyHalfSpace(Problem):
    """Any plane (of the rows) with the side on which the means lie. Gaussian arms only."""

    family: Gaussian
    normals: Array
    offsets: Array

    def answers(self) -> list[Answer]:
        """(plane, +1), then (plane, -1), for every plane."""
        return [(m, side) for m in range(len(self.normals)) for side in (1, -1)]

    def height(self, mu: Array, answer: Answer) -> float:
        """How far the means are on the answer's side of the plane, in units of the normal."""
        m, side = answer
        return float(side * (self.normals[m] @ mu - self.offsets[m]))

    def evidence(self, w: Array, mu: Array, answer: Answer) -> float:
        """The weighted distance to the plane."""
        above = max(self.height(mu, answer), 0.0)
        normal = self.normals[answer[0]]
        with np.errstate(divide="ignore", invalid="ignore"):
            size = np.sum(np.where(normal == 0, 0.0, normal**2 / w))
        return float(above**2 / (2 * self.family.variance * size))

    def weights(self, mu: Array, answer: Answer) -> Array:
        """Proportional to |normal|, as all arms have the same variance; also where it is wrong."""
        size = np.abs(self.normals[answer[0]])
        return np.asarray(size / size.sum())

    def reach(self, n: Array, mu: Array, answer: Answer) -> float:
        """The projection on {the answer's D is the largest}, by trying all sets of active faces.

        D is (height / sum |normal|)^2 / (2 variance) on the answer's side, so the set is a
        polyhedron: A x >= b with a row for every other answer.
        """
        scale = np.abs(self.normals).sum(axis=1)
        rows, levels = self.normals / scale[:, None], self.offsets / scale
        m, side = answer
        others = [(k, s) for k, s in self.answers() if k != m]
        A = np.array([side * rows[m], *(side * rows[m] - s * rows[k] for k, s in others)])
        b = np.array([side * levels[m], *(side * levels[m] - s * levels[k] for k, s in others)])
        best = math.inf
        for size in range(mu.size + 1):
            for active in combinations(range(len(b)), size):
                x = self.face(n, mu, A[list(active)], b[list(active)])
                if np.all(A @ x >= b - 1e-10):
                    best = min(best, self.total(n, mu, x))
        return best

    def face(self, n: Array, mu: Array, rows: Array, levels: Array) -> Array:
        """The point of {rows @ x = levels} nearest to mu in the norm sum_k n_k (x_k - mu_k)^2."""
        if not len(levels):
            return mu
        inverse = rows.T / n[:, None]
        return np.asarray(mu + inverse @ np.linalg.lstsq(rows @ inverse, levels - rows @ mu)[0])


# --- tracking -------------------------------------------------------------------------------


def raised(w: Array, floor: float) -> Array:
    """The projection of w, in sup norm, on the weights of at least the floor."""
    if w.min() >= floor:
        return w
    # what arms above the floor give away, all the same amount, pays for those below
    give = brentq(lambda c: np.maximum(w - c, floor).sum() - 1.0, 0.0, 1.0, xtol=1e-16)
    return np.asarray(np.maximum(w - give, floor))


class CTracking:
    """Follow the sum of all weights so far."""

    def __init__(self, arms: int) -> None:
        self.sums = np.ones(arms)

    def choose(self, w: Array, n: Array) -> int:
        """The arm that is furthest behind."""
        self.sums += raised(w, 1 / (2 * math.sqrt(n.size**2 + n.sum())))
        return first_largest(self.sums - n, 1.0)


class DTracking:
    """Follow the present weights; explore arms that have few samples."""

    def __init__(self, arms: int) -> None:
        pass

    def choose(self, w: Array, n: Array) -> int:
        """The least sampled arm if it has too few samples, or the one that is furthest behind."""
        t = n.sum()
        if n.min() <= math.sqrt(t) - n.size / 2:
            return first_largest(-n)
        return first_largest(t * w - n, 1.0)


# --- strategies and runs --------------------------------------------------------------------


def oracle_answer(problem: Problem, mu: Array) -> Answer:
    """The first answer with the largest D(mu, not i)."""
    answers = problem.answers()
    return answers[first_largest([problem.value(mu, i) for i in answers])]


def region_level(t: int) -> float:
    """beta(s, s^-5) for the stylized threshold, at the next s = 2^(j/8) from t on."""
    j = 1
    while 2 ** (j / 8) < t:
        j += 1
    log_s = math.log(2 ** (j / 8))
    return 5 * log_s + math.log(1 + log_s)


def sticky_answer(problem: Problem, n: Array, mu: Array) -> Answer:
    """The first answer that is an oracle answer of some model in the region."""
    level = region_level(int(n.sum()))
    return next(i for i in problem.answers() if problem.reach(n, mu, i) <= level)


@dataclass(frozen=True)
class Outcome:
    """A run from its first sample to its answer, with what it did in every round."""

    time: int
    answer: Answer
    counts: tuple[int, ...]
    arms: tuple[int, ...]
    pursued: tuple[Answer, ...]  # from round K on
    evidence: tuple[float, ...]  # from round K - 1 on


def run(
    problem: Problem,
    sticky: bool,
    tracking: str,
    means: ArrayLike,
    delta: float,
    seed: int,
    repetition: int,
    max_rounds: int = 2000,
) -> Outcome:
    """One run with the threshold log((1 + log t) / delta)."""
    truth = np.asarray(means, dtype=float)
    rng = np.random.Generator(
        np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(0, repetition)))
    )
    tracker = (CTracking if tracking == "C" else DTracking)(truth.size)
    answers = problem.answers()
    n, sums = np.zeros(truth.size), np.zeros(truth.size)
    arms: list[int] = []
    pursued: list[Answer] = []
    largest: list[float] = []
    for t in range(max_rounds):
        if t < truth.size:
            arm = t
        else:
            mu = sums / n
            target = sticky_answer(problem, n, mu) if sticky else oracle_answer(problem, mu)
            pursued.append(target)
            arm = tracker.choose(problem.weights(mu, target), n)
        arms.append(arm)
        n[arm] += 1
        sums[arm] += problem.family.draw(rng, float(truth[arm]))
        if t + 1 < truth.size:
            continue
        evidence = [problem.evidence(n, sums / n, i) for i in answers]
        place = first_largest(evidence)
        largest.append(evidence[place])
        if evidence[place] >= math.log((1 + math.log(t + 1)) / delta):
            counts = tuple(int(c) for c in n)
            return Outcome(
                t + 1, answers[place], counts, tuple(arms), tuple(pursued), tuple(largest)
            )
    raise RuntimeError(f"no answer after {max_rounds} rounds")
