"""The public quantities of a problem: answers, cost, evidence, oracle, witness and bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import stopwise.oracles.reaching  # noqa: F401  (registers its verb)
from stopwise import checks
from stopwise.checks import Floats
from stopwise.errors import BadArgument
from stopwise.families import Gaussian
from stopwise.oracles.bound import worst_mixture
from stopwise.oracles.solve import (
    STATUSES,
    Solution,
    degenerate,
    find_witness,
    relative_gap,
    solution,
    weight_vertices,
)
from stopwise.oracles.witness import payoff_table
from stopwise.problems import base
from stopwise.problems.base import Answer
from stopwise.report import html_table, number, text_table

TIE = 1e-9  # values this close, relatively, count as one: ties are sets


@dataclass(frozen=True, eq=False)
class Cost:
    """D(w, mu, not i) with the closest model of the alternative."""

    value: float
    closest: Floats

    def __iter__(self) -> Iterator[Any]:
        return iter((self.value, self.closest))


@dataclass(frozen=True, eq=False)
class AnswerValue:
    """D(mu, not i) for one correct answer, with its oracle weights and their certified gap."""

    value: float
    weights: Floats
    gap: float
    status: str


@dataclass(frozen=True, eq=False)
class Witness:
    """Lemma 2's minimax distribution: models of the (closed) alternative with probabilities.

    ``payoffs`` are sum_m q_m d(mu_k, models[m, k]), none above ``upper``; ``lower`` is what the
    oracle weights secure, so the value lies between, and ``gap`` is their relative distance.
    """

    models: Floats
    probabilities: Floats
    payoffs: Floats
    lower: float
    upper: float

    @property
    def gap(self) -> float:
        """|upper - lower|/upper."""
        return relative_gap(self.lower, self.upper)


@dataclass(frozen=True, eq=False)
class Bound:
    """Theorem 5's bound on E[tau]/log(1/delta) for plain Track-and-Stop with C-tracking.

    ``time`` is 1/D(w, mu) at the worst ``weights`` found in the hull of the oracle weights, ``upper`` a
    proven bound on the worst; ``oracle_time`` is T*(mu), which Sticky Track-and-Stop attains.
    """

    time: float
    upper: float
    weights: Floats
    oracle_time: float

    @property
    def gap(self) -> float:
        """(upper - time)/upper, 0 where the worst weights are proven to be the worst."""
        return (self.upper - self.time) / self.upper if math.isfinite(self.upper) else 0.0


@dataclass(frozen=True, eq=False)
class Oracle:
    """The lower bound at given means: oracle answers, their weights, and the certified gap.

    ``value`` is D(mu), ``time`` is T*(mu) = 1/D(mu); ``weights`` has one vector for each of the
    oracle ``answers``; ``gap`` is the largest certified relative gap among them; ``status`` is "exact"
    (closed form), "converged", "inexact" (gap above 1e-6) or "degenerate" (D = 0).
    """

    problem: Any
    family: Any
    means: Floats
    correct: tuple[Answer, ...]
    answers: tuple[Answer, ...]
    value: float
    weights: tuple[Floats, ...]
    gap: float
    status: str
    _solutions: dict[Answer, Solution] = field(repr=False)

    @property
    def time(self) -> float:
        """T*(mu), the least expected number of samples per unit of log(1/delta)."""
        return 1.0 / self.value if self.value > 0.0 else math.inf

    @cached_property
    def by_answer(self) -> Mapping[Answer, AnswerValue]:
        """Value and weights of each correct answer."""
        found = {}
        for answer in self.correct:
            if answer not in self._solutions:
                code = base.encode(self.problem, answer)
                self._solutions[answer] = solution(self.problem, self.family, self.means, code)
            each = self._solutions[answer]
            found[answer] = AnswerValue(each.value, each.weights, each.gap, each.status)
        return found

    @cached_property
    def vertices(self) -> tuple[Floats, ...]:
        """For each oracle answer the corners of its set of oracle weights, one row each."""
        return tuple(
            weight_vertices(
                self.problem,
                self.family,
                self.means,
                base.encode(self.problem, answer),
                self._solutions[answer],
            )
            for answer in self.answers
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON (an infinite time becomes None)."""
        return {
            "problem": repr(self.problem),
            "family": repr(self.family),
            "means": self.means.tolist(),
            "correct": list(self.correct),
            "answers": list(self.answers),
            "value": self.value,
            "time": self.time if math.isfinite(self.time) else None,
            "weights": [each.tolist() for each in self.weights],
            "vertices": [each.tolist() for each in self.vertices],
            "by_answer": [
                {"answer": answer, "value": each.value, "weights": each.weights.tolist()}
                for answer, each in self.by_answer.items()
            ],
            "gap": self.gap,
            "status": self.status,
        }

    def summary_rows(self) -> list[tuple[str, str]]:
        """Names and values, for tables."""
        return [
            ("problem", repr(self.problem)),
            ("family", repr(self.family)),
            ("correct answers", _listed(self.correct)),
            ("oracle answers", _listed(self.answers)),
            ("value D", number(self.value)),
            ("characteristic time T*", number(self.time)),
            ("certified gap", f"{self.gap:.1e} ({self.status})"),
        ]

    def weight_rows(self) -> tuple[list[str], list[list[str]]]:
        """Header and rows of the table of weights (the first 30 arms)."""
        header = ["arm", "mean", *(f"weight for {answer!r}" for answer in self.answers)]
        rows = [
            [str(k), number(self.means[k]), *(f"{each[k]:.6f}" for each in self.weights)]
            for k in range(min(self.means.size, 30))
        ]
        if self.means.size > 30:
            rows.append(["...", "", *("" for _ in self.weights)])
        return header, rows

    def __repr__(self) -> str:
        lines = [f"{name:<24}{value}" for name, value in self.summary_rows()]
        return "\n".join(["Oracle", *lines, text_table(*self.weight_rows())])

    def _repr_html_(self) -> str:
        return html_table(["", ""], [list(row) for row in self.summary_rows()]) + html_table(
            *self.weight_rows()
        )


def _listed(answers: tuple[Answer, ...]) -> str:
    shown = ", ".join(repr(answer) for answer in answers[:6])
    return shown + (f", ... ({len(answers)} in all)" if len(answers) > 6 else "")


def _prepare(problem: Any, means: ArrayLike, family: Any, closed: bool = False) -> Floats:
    arms = base.arm_count(problem)
    array = checks.means(means, arms, family, closed)
    base.check(problem, family)
    if not closed and not base.is_model(problem, array):
        raise BadArgument(
            "means", array.tolist(), f"means among the possible models of {problem!r}"
        )
    return array


def answers(problem: Any) -> Iterator[Answer]:
    """The problem's answers in its strict order, lazily (there may be 2^K of them)."""
    return iter(base.answers(problem))


def correct_answers(problem: Any, means: ArrayLike) -> tuple[Answer, ...]:
    """i*(mu): the answers that are correct at these means, in the problem's order."""
    return tuple(
        base.correct_answers(problem, checks.vector("means", means, base.arm_count(problem)))
    )


def cost(
    problem: Any, weights: ArrayLike, means: ArrayLike, answer: Answer, family: Any = Gaussian()
) -> Cost:
    """D(w, mu, not i): what the cheapest model of the alternative costs, and that model."""
    mu = _prepare(problem, means, family, closed=True)
    w = checks.weights("weights", weights, mu.size)
    closest = np.zeros(mu.size)
    value = base.cost(problem, family, w, mu, base.encode(problem, answer), closest)
    return Cost(float(value), closest)


def evidence(
    problem: Any, counts: ArrayLike, means: ArrayLike, family: Any = Gaussian()
) -> dict[Answer, float]:
    """D(N, mu-hat, not i) for each answer that is correct at the estimate; 0 for all others."""
    mu = _prepare(problem, means, family, closed=True)
    n = checks.weights("counts", counts, mu.size)
    closest = np.zeros(mu.size)
    return {
        answer: float(base.cost(problem, family, n, mu, base.encode(problem, answer), closest))
        for answer in base.correct_answers(problem, mu)
    }


def oracle(problem: Any, means: ArrayLike, family: Any = Gaussian()) -> Oracle:
    """The lower bound at these means: oracle answers, characteristic time and oracle weights."""
    mu = _prepare(problem, means, family)
    correct = tuple(base.correct_answers(problem, mu))
    if not correct:
        raise BadArgument("means", mu.tolist(), f"means at which {problem!r} has a correct answer")
    solved = {
        answer: solution(problem, family, mu, base.encode(problem, answer))
        for answer in base.candidates(problem, mu)
    }
    value = max(each.value for each in solved.values())
    if value == 0.0:
        flat = degenerate(mu.size)
        chosen = dict.fromkeys(correct, flat)
        return _assemble(problem, family, mu, correct, chosen, chosen)
    chosen = {a: each for a, each in solved.items() if each.value >= value * (1.0 - TIE)}
    return _assemble(problem, family, mu, correct, chosen, solved)


def _assemble(
    problem: Any,
    family: Any,
    means: Floats,
    correct: tuple[Answer, ...],
    chosen: dict[Answer, Solution],
    solved: dict[Answer, Solution],
) -> Oracle:
    return Oracle(
        problem,
        family,
        means,
        correct,
        tuple(chosen),
        max(each.value for each in chosen.values()),
        tuple(each.weights for each in chosen.values()),
        max(each.gap for each in chosen.values()),
        max((each.status for each in chosen.values()), key=STATUSES.index),
        dict(solved),
    )


def witness(problem: Any, means: ArrayLike, answer: Answer, family: Any = Gaussian()) -> Witness:
    """Lemma 2's minimax distribution on the alternative to an answer, and the gap it certifies."""
    mu = _prepare(problem, means, family)
    code = base.encode(problem, answer)
    solved = solution(problem, family, mu, code)
    if solved.value == 0.0:  # the means themselves lie in the closed alternative
        return Witness(mu[None].copy(), np.ones(1), np.zeros(mu.size), 0.0, 0.0)
    models, shares = find_witness(problem, family, mu, code, solved)
    payoffs = shares @ payoff_table(family, mu, models)
    return Witness(models, shares, payoffs, solved.lower, float(payoffs.max()))


def track_and_stop_bound(
    problem: Any,
    means: ArrayLike,
    family: Any = Gaussian(),
    tolerance: float = 1e-6,
    nodes: int = 300,
) -> Bound:
    """Theorem 5: the worst 1/D(w, mu) over the convex hull of the oracle weights."""
    checks.not_negative("tolerance", tolerance)
    checks.whole("nodes", nodes, least=1)
    found = oracle(problem, means, family)
    if found.value == 0.0:
        return Bound(math.inf, math.inf, found.weights[0], math.inf)
    codes = [base.encode(problem, answer) for answer in found.correct]
    closest = np.zeros(found.means.size)

    def costs(weights: Floats) -> Floats:
        return np.array(
            [base.cost(problem, family, weights, found.means, code, closest) for code in codes]
        )

    corners = np.unique(np.concatenate(found.vertices), axis=0)
    worst = worst_mixture(costs, corners, tolerance, nodes)
    upper = 1.0 / worst.least if worst.least > 0.0 else math.inf
    return Bound(1.0 / worst.value, upper, worst.weights, found.time)


def reachable_answers(
    problem: Any,
    counts: ArrayLike,
    means: ArrayLike,
    level: float,
    family: Any = Gaussian(),
    limit: int | None = None,
) -> tuple[Answer, ...]:
    """Answers that are oracle answers at some model mu' with D(N, mu-hat, mu') <= level, in order.

    At most ``limit`` of them are looked for. Where a problem has no exact formula this is an outer
    approximation (docs/notation.md says which).
    """
    mu = _prepare(problem, means, family, closed=True)
    n = checks.weights("counts", counts, mu.size)
    top = checks.not_negative("level", level)
    if limit is not None:
        limit = checks.whole("limit", limit, least=0)
    return tuple(islice(base.reachable(problem, family, n, mu, top), limit))


def rank(problem: Any) -> int:
    """The most arms that a cell constrains when it holds the truth and an answer is wrong."""
    return int(base.rank(problem))


def events(problem: Any) -> int:
    """How many cells can be to blame for a wrong answer at one truth."""
    return int(base.events(problem))
