"""What the public quantities return."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from stopwise.core.arrays import Floats
from stopwise.core.tables import html_table, number, text_table
from stopwise.families.family import Family
from stopwise.families.priced import in_money, in_samples
from stopwise.oracles.solve import Solution, relative_gap, solution, weight_vertices
from stopwise.problems.problem import Answer, Problem


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

    problem: Problem
    family: Family
    means: Floats
    correct: tuple[Answer, ...]
    answers: tuple[Answer, ...]
    value: float
    weights: tuple[Floats, ...]
    gap: float
    status: str
    _solutions: dict[Answer, Solution] = field(repr=False)
    costs: Floats | None = None  # of a sample of each arm, where they are minimised

    @property
    def time(self) -> float:
        """T*(mu), the least expected number of samples (or cost) per unit of log(1/delta)."""
        return 1.0 / self.value if self.value > 0.0 else math.inf

    @cached_property
    def by_answer(self) -> Mapping[Answer, AnswerValue]:
        """Value and weights of each correct answer."""
        found, (view, price) = {}, in_money(self.family, self.costs)
        for answer in self.correct:
            if answer not in self._solutions:
                code = self.problem.encode(answer)
                self._solutions[answer] = solution(self.problem, view, self.means, code)
            each = self._solutions[answer]
            weights = in_samples(each.weights, self.costs)
            found[answer] = AnswerValue(each.value / price, weights, each.gap, each.status)
        return found

    @cached_property
    def vertices(self) -> tuple[Floats, ...]:
        """For each oracle answer the corners of its set of oracle weights, one row each."""
        instance = self.problem, in_money(self.family, self.costs)[0], self.means
        codes = [self.problem.encode(answer) for answer in self.answers]
        return tuple(
            in_samples(weight_vertices(*instance, code, self._solutions[answer]), self.costs)
            for code, answer in zip(codes, self.answers, strict=True)
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON (an infinite time becomes None)."""
        return {
            "problem": repr(self.problem),
            "family": repr(self.family),
            "means": self.means.tolist(),
            **({} if self.costs is None else {"costs": self.costs.tolist()}),
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
            (
                "characteristic time T*" if self.costs is None else "T*, as a cost",
                number(self.time),
            ),
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
